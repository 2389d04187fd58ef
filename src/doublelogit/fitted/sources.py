"""Labelling by several sources: a model whose propensity is p*(x), the chance of any label."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.design import predictor
from doublelogit.core.patterns import Law, law_named
from doublelogit.fitted.linear import LinearPair
from doublelogit.fitted.mixture import PosteriorMixture
from doublelogit.fitted.protocol import Coefficients

FAR = 40.0  # guard: logit of a p* that rounds to 0 or 1


def logit_any(log_none: Floats) -> Floats:
    """Logit of p*, from log(1 - p*)."""
    log_none = np.minimum(log_none, 0.0)  # but for rounding
    with np.errstate(divide="ignore"):
        return np.clip(np.log(-np.expm1(log_none)) - log_none, -FAR, FAR)


@dataclass(frozen=True)
class SourceLaw:
    """Sources with their coefficients: the law of their patterns, by name, and its parameters."""

    name: str
    gammas: Floats  # (sources, terms), intercept last
    phi: Floats
    coef: None = None

    @property
    def law(self) -> Law:
        """How likely each pattern is."""
        return law_named(self.name, len(self.gammas))

    def logit_any(self, X: Matrix, seen: Floats | None = None) -> Floats:
        """Logit of p*(x); ``seen`` is 1 where a source looks at a row, else 0."""
        b = predictor(X, self.gammas.T)
        seen = np.ones_like(b) if seen is None else seen
        return logit_any(self.law.log_none(b, self.phi, seen))

    def logit(self, X: Matrix) -> Floats:
        return self.logit_any(X)

    def each(self, X: Matrix) -> Floats:
        """P(S_j=1 | Y=1, x) of every source, (n, m)."""
        return self.law.each(predictor(X, self.gammas.T), self.phi)

    def uncentred(self, shift: Floats) -> "SourceLaw":
        """The sources of features x, from those of x - shift."""
        gammas = self.gammas.copy()
        gammas[:, -1] -= gammas[:, :-1] @ shift
        return replace(self, gammas=gammas)


@dataclass(frozen=True)
class SourcesSide:
    """The propensity of any label in the components of a posterior: each has one of some laws."""

    laws: tuple[SourceLaw, ...]
    number: Floats  # of the law of each component
    share: Floats
    share_sd: Floats

    @property
    def covariance(self) -> Floats:
        """Laws are held in their components: there is no spread within one."""
        size = self.laws[0].gammas.shape[1]
        return np.zeros((len(self.share), size, size))

    @property
    def lines(self) -> None:
        return None

    @property
    def constant(self) -> bool:
        return not any(law.gammas[:, :-1].any() for law in self.laws)

    def features(self, X: Matrix) -> Matrix:
        return X

    def deviation(self, X: Matrix) -> Floats:
        return np.zeros((X.shape[0], len(self.share)))

    def predictor(self, X: Matrix) -> Floats:
        """Logit of p*(x) in every component."""
        each = np.column_stack([law.logit_any(X) for law in self.laws])
        return each[:, self.number.astype(np.intp)]

    def mean_predictor(self, X: Matrix, weight: Floats) -> Floats:
        by_law = zip(self.by_law(weight), self.laws, strict=True)
        return np.asarray(sum(part * law.logit_any(X) for part, law in by_law))

    def beside(self, other: Any, X: Matrix) -> tuple[Floats, Floats]:
        return self.predictor(X), other.predictor(X)

    def for_new_rows(self) -> "SourcesSide":
        return self

    def by_law(self, weight: Floats) -> Floats:
        """Weights of the laws, from those of the components."""
        return np.bincount(self.number.astype(np.intp), weight, len(self.laws)).astype(float)

    def each(self, X: Matrix, by_law: Any) -> Floats:
        """Mean propensity of every source, by the weights of the laws."""
        pairs = zip(by_law, self.laws, strict=True)
        return np.asarray(sum(part * law.each(X) for part, law in pairs))

    def uncentred(self, shift: Floats) -> "SourcesSide":
        return replace(self, laws=tuple(law.uncentred(shift) for law in self.laws))


@dataclass(frozen=True)
class SourcesPosterior(PosteriorMixture):
    """The posterior of a class that several sources have labelled; e(x) is p*(x), of any label.

    ``overlaps`` is the weight of the rows that two sources labelled; dependence of the sources was
    ``learned`` from patterns, or with too few of these left to its prior.
    """

    overlaps: float = 0.0
    learned: bool = True

    def coefficients(self) -> Coefficients:
        """Coefficients of the class; those of the sources are many, and no mean of them is p*."""
        return Coefficients(self.outcome_model.mean_coef(self.weight), None)

    @property
    def n_sources(self) -> int:
        """Number of label sources."""
        return len(self._sides[0].laws[0].gammas)

    def source_propensity(self, X: Matrix) -> Floats:
        """P(S_j=1 | Y=1, x) of every source, (n, m)."""
        sides, weight = self._sides, self.propensity_model.split(self.weight)
        by_law = sum(side.by_law(part) for side, part in zip(sides, weight, strict=True))
        return sides[0].each(X, by_law)

    @property
    def _sides(self) -> tuple[SourcesSide, ...]:
        """How sources label under each shape of the class; all hold the same laws."""
        return cast(tuple[SourcesSide, ...], self.propensity_model.sides)


@dataclass(frozen=True)
class SourcesPair(LinearPair):
    """A class and the sources that label it; e(x) is p*(x), of any label."""

    def source_propensity(self, X: Matrix) -> Floats:
        """P(S_j=1 | Y=1, x) of every source, (n, m)."""
        side: Any = self.propensity_model
        return np.asarray(side.each(X))
