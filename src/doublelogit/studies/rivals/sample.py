"""What a rival is given: standardised features and labels, in memory."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from doublelogit._types import Floats, Ints
from doublelogit.core.design import Terms, predictor
from doublelogit.engines.memory import MemoryRows, memory_rows
from doublelogit.fitted import LinearSide
from doublelogit.methods import Problem
from doublelogit.methods.logistic import label_model

FOLDS = 5


@dataclass(frozen=True)
class Sample:
    """Standardised features Z of the columns that vary, labels s, and the way back.

    Penalties are on slopes of standardised features, so that no rival depends on units.
    """

    Z: Floats
    s: Floats
    l2: float
    terms: Terms
    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, problem: Problem) -> "Sample":
        """The sample of a problem; sparse features are made dense."""
        rows, terms = problem.rows, problem.outcome
        if not isinstance(rows, MemoryRows):
            raise TypeError("a rival needs its rows in memory")
        X = terms.select(rows.X)
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        centre, spread = X.mean(axis=0), X.std(axis=0)
        return cls((X - centre) / spread, rows.labels.any, problem.l2, terms, centre, spread)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.s)

    @property
    def labelled(self) -> Ints:
        """Indices of the labelled rows."""
        return np.flatnonzero(self.s == 1)

    @property
    def unlabelled(self) -> Ints:
        """Indices of the other rows."""
        return np.flatnonzero(self.s == 0)

    @property
    def mean_s(self) -> float:
        """Share of labelled rows."""
        return float(self.s.mean())

    def logistic(self, target: Floats) -> Floats:
        """Coefficients of a penalised logistic regression of a (soft) target on Z."""
        rows = memory_rows(self.Z, self.s)
        model = label_model(Problem(rows, self.l2))
        model.solve(target)
        return model.coef

    @cached_property
    def naive(self) -> Floats:
        """Coefficients of NAIVE on Z."""
        return self.logistic(self.s)

    def coef(self, theta: Floats) -> Floats:
        """Full-length coefficients for features as they were, given those on Z."""
        slopes = theta[:-1] / self.spread
        return self.terms.embed(np.append(slopes, theta[-1] - self.centre @ slopes))

    def side(self, theta: Floats) -> LinearSide:
        """A logistic model with these coefficients on Z."""
        return LinearSide(self.coef(theta))

    def constant(self, probability: float) -> LinearSide:
        """A model that gives every row the same probability."""
        theta = np.zeros(self.Z.shape[1] + 1)
        theta[-1] = np.log(probability) - np.log(max(1 - probability, 1e-12))
        return self.side(theta)

    def held_out_scores(self, random_state: np.random.RandomState) -> Floats:
        """Logit of s(x) by NAIVE fitted to the other folds."""
        smaller = min(len(self.labelled), len(self.unlabelled))
        if smaller < 2:
            raise ValueError(
                "scores on rows set aside need at least 2 labelled and 2 unlabelled rows; got "
                f"{len(self.labelled)} and {len(self.unlabelled)}."
            )
        folds = StratifiedKFold(min(FOLDS, smaller), shuffle=True, random_state=random_state)
        scores = np.empty(self.n)
        for train, test in folds.split(self.Z, self.s):
            training = replace(self, Z=self.Z[train], s=self.s[train])
            scores[test] = predictor(self.Z[test], training.naive)
        return scores
