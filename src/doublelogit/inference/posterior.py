"""Inference from a posterior: credible intervals over a mixture of normals.

Every component k has a prevalence in every group g: mean and gradient come from one pass over the
rows, for all components and groups together. The posterior of a share is then the mixture of its
normals, as everywhere in AVERAGED.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from doublelogit._types import Floats, Matrix
from doublelogit.averaged.level import SHARE_GUARD, average_at, level_of
from doublelogit.averaged.readings import ShapeShare, by_shape
from doublelogit.common.thresholds import UNDETERMINED
from doublelogit.core.design import Terms
from doublelogit.core.labels import Labels
from doublelogit.core.likelihood import positive_given_label
from doublelogit.core.rows import row_count
from doublelogit.findings.fit import summary_notes
from doublelogit.fitted import MixtureSide, PosteriorMixture
from doublelogit.fitted.mixture import credible
from doublelogit.fitted.sources import SourcesPosterior
from doublelogit.inference.base import Inference
from doublelogit.inference.diagnosis import PosteriorDiagnosis, diagnose_posterior
from doublelogit.inference.estimate import Estimate, check_level
from doublelogit.inference.fitted_problem import feature_names
from doublelogit.inference.groups import Groups, gathered, gathered_terms
from doublelogit.inference.summary import Summary
from doublelogit.methods.problem import Problem

METHOD = "posterior"


class ComponentSums(NamedTuple):
    """Sums over the rows of each group, for each component."""

    counts: Floats  # (groups, 3): weight, labelled, unlabelled
    positive: Floats  # (groups, components): sum of w y
    squares: Floats  # (groups, components): sum of w y^2
    # (components, groups, terms) for each shape of the class: gradient of the sum of w y
    slopes: tuple[Floats, ...]
    hidden: Floats  # (groups, components): sum of w t over unlabelled rows


MeansAndErrors = tuple[Floats, Floats]  # with standard deviations, (groups, components) each


@dataclass(frozen=True)
class GroupPosterior:
    """The posterior of what is wanted of each group."""

    mixture: PosteriorMixture
    sums: ComponentSums

    @property
    def labelled_share(self) -> Floats:
        """Share of labelled rows in each group."""
        return self.sums.counts[:, 1] / self.sums.counts[:, 0]

    def prevalence(self) -> MeansAndErrors:
        """Mean of y(x) in each group, by component."""
        n = self.sums.counts[:, :1]
        mean = self._expected
        by_theta = self._quadratic(self.sums.slopes)
        by_rows = np.maximum(self.sums.squares / n - mean**2, 0.0) / n
        # within a cell the ridge goes on; each group moves along it as far on the logit scale
        along = self._ridge_deviation * mean * (1 - mean)
        return mean, np.sqrt(by_theta / n**2 + by_rows + along**2)

    @cached_property
    def _ridge_deviation(self) -> Floats:
        """Standard deviation of the logit of the prevalence within each component's cell."""
        (share, sd), n = self._overall, self.sums.counts[:, 0].sum()
        total = tuple(slopes.sum(axis=1, keepdims=True) for slopes in self.sums.slopes)
        by_theta = self._quadratic(total)[0] / n**2
        by_rows = np.maximum(self.sums.squares.sum(axis=0) / n - share**2, 0.0) / n
        beyond = np.maximum(sd**2 - by_theta - by_rows, 0.0)
        return np.sqrt(beyond) / (share * (1 - share))

    def _quadratic(self, slopes: tuple[Floats, ...]) -> Floats:
        """Variances of sums by those of the coefficients, (groups, components)."""
        sides = self.mixture.outcome_model.sides
        columns = [
            np.einsum("gi,ij,gj->g", one, V, one)
            for side, those in zip(sides, slopes, strict=True)
            for one, V in zip(those, side.covariance, strict=True)
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _expected(self) -> Floats:
        """Expected mean of y(x) in each group, by component.

        A share in expectation, and over a cell, differs from that of the centre, by as much in
        each group on the logit scale; groups add up to all rows.
        """
        counts, positive = self.sums.counts[:, :1], self.sums.positive
        share = np.clip(self._overall[0], SHARE_GUARD, 1 - SHARE_GUARD)
        weight = counts[:, 0] / counts.sum()
        logits = logit(np.clip(positive / counts, SHARE_GUARD, 1 - SHARE_GUARD))
        level = level_of(partial(average_at, logits, weight), share, SHARE_GUARD)
        return np.asarray(expit(logits + level))

    @property
    def _overall(self) -> tuple[Floats, Floats]:
        side = self.mixture.outcome_model
        return side.share, side.share_sd

    def hidden(self) -> MeansAndErrors:
        """Positives among the unlabelled rows of each group, by component."""
        return self.sums.hidden, self.sums.counts[:, :1] * self.prevalence()[1]


class PosteriorInference(Inference):
    """Credible intervals of an averaged model; made by :func:`infer`."""

    def __init__(self, model: Any, problem: Problem, names: tuple[str, ...]) -> None:
        self.model = model
        self._problem, self._names = problem, names
        shift = problem.shift
        mixture: PosteriorMixture = model.model_
        self._mixture = mixture if shift is None else mixture.uncentred(-shift)

    def prevalence(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with a credible interval.

        Its probability is at least ``level``: half as much lies below it as above.
        """
        _only_posterior(options)
        names, groups = self._found(by)
        bounds = groups.labelled_share[:, None], np.ones((len(names), 1))
        return self._estimates("prevalence", names, groups.prevalence(), bounds, level, by)

    def label_frequency(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """P(S=1 | Y=1), the share of positives that are labelled; see :meth:`prevalence`."""
        estimates, groups = self.prevalence(by=by, level=level, **options), self._found(by)[1]
        each = {None: estimates} if by is None else estimates
        shares = zip(each.items(), groups.labelled_share, groups.prevalence()[0], strict=True)
        inverted = {}
        for (group, pi), mean_s, means in shares:
            value = float(self._mixture.weight @ (mean_s / means))
            se, low, high = mean_s / pi.value**2 * pi.se, mean_s / pi.high, mean_s / pi.low
            numbers = (value, float(se), float(low), float(high))
            inverted[group] = Estimate("label frequency", *numbers, level, METHOD)
        return inverted[None] if by is None else inverted

    def hidden(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """Number of positives among the unlabelled rows, with a credible interval."""
        _only_posterior(options)
        names, groups = self._found(by)
        unlabelled = groups.sums.counts[:, 2:]
        bounds = (np.zeros_like(unlabelled), unlabelled)
        return self._estimates("hidden positives", names, groups.hidden(), bounds, level, by)

    def summary(self, level: float = 0.95) -> Summary:
        """Posterior means, standard deviations, credible intervals and odds ratios."""
        check_level(level)
        mixture, model, problem = self.model.model_, self.model, self._problem
        names = np.array([*self._names, "intercept"], dtype=object)
        sides = {
            "outcome": (problem.outcome, mixture.outcome_model),
            "propensity": (problem.propensity, mixture.propensity_model),
        }
        terms, values = [], []
        if mixture.coefficients().gamma is None:  # sources have coefficients under each law
            del sides["propensity"]
        for which, (used, side) in sides.items():
            terms += [(which, str(name)) for name in used.take(names)]
            values.append(_coefficient_columns(mixture, side, level)[_positions(used)])
        rows = problem.rows
        n, labelled = row_count(rows), int(rows.sum_columns(np.sum, rows.labels.any))
        heading = (
            f"{type(model).__name__}: {n} rows, {labelled} labelled; posterior of "
            f"{len(mixture.weight)} components"
        )
        notes = summary_notes(swap=not model.orientation_.clear)
        return Summary.from_posterior(terms, np.vstack(values), heading, level, notes)

    def diagnose(self) -> PosteriorDiagnosis:
        """What in this fit may not be trusted; prints as sentences, ``plot()`` shows it."""
        return diagnose_posterior(self._problem, self._mixture, self.model)

    def reliable_prevalence(self) -> Estimate:
        """The prevalence with its credible interval."""
        return self.prevalence()

    @property
    def shapes(self) -> list[ShapeShare]:
        """The shapes of the class that the answer is an average of."""
        return by_shape(self._mixture)

    @property
    def undetermined(self) -> bool:
        """Credible intervals of groups are as wide as they must be, so they always hold."""
        return False

    @property
    def profile(self) -> None:
        """A posterior has no profile likelihood."""
        return None

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence."""
        low, high = self._mixture.prevalence_interval(0.9)
        return high - low > UNDETERMINED

    def _found(self, by: Any) -> tuple[tuple[Any, ...], GroupPosterior]:
        if by is None:
            return self._of_everyone
        return self._of_groups(Groups.from_values(by, self._problem.rows, "by"))

    @cached_property
    def _of_everyone(self) -> tuple[tuple[Any, ...], GroupPosterior]:
        """All rows as one group: one pass for every question about them."""
        return self._of_groups(Groups.everyone(self._problem.rows))

    def _of_groups(self, groups: Groups) -> tuple[tuple[Any, ...], GroupPosterior]:
        rows = self._problem.rows
        fn = partial(_sums, self._mixture, len(groups))
        sums = rows.sum_rows(fn, rows.labels, rows.weight, groups.codes)
        return groups.names, GroupPosterior(self._mixture, sums)

    def _estimates(
        self,
        name: str,
        names: tuple[Any, ...],
        numbers: MeansAndErrors,
        bounds: tuple[Floats, Floats],
        level: float,
        by: Any,
    ) -> Any:
        check_level(level)
        mean, sd = numbers
        ends = np.clip(self._mixture.credible_share(mean, sd, level), *bounds)
        weight = self._mixture.weight
        value = mean @ weight
        se = np.sqrt((sd**2 + (mean - value[:, None]) ** 2) @ weight)
        columns = zip(names, value.tolist(), se.tolist(), ends.tolist(), strict=True)
        estimates = {
            group: Estimate(name, v, e, low, high, level, METHOD)
            for group, v, e, (low, high) in columns
        }
        return estimates[None] if by is None else estimates


def posterior_inference(
    model: Any, data: dict[str, Any], *, cov_type: str, groups: Any
) -> PosteriorInference:
    """Inference for a classifier that averages over a posterior, given the rows of its fit."""
    if cov_type != "observed" or groups is not None:
        raise ValueError(
            "cov_type and groups are for maximum-likelihood models: a posterior takes rows as "
            "independent. Leave them out, or use JointClassifier."
        )
    kind = PosteriorInference
    if isinstance(model.model_, SourcesPosterior):
        from doublelogit.inference.sources import SourcesInference

        kind = SourcesInference
    return kind(model, model.bind(**data), feature_names(model))


def _positions(terms: Terms) -> Any:
    """Positions of a model's terms in full-length coefficients."""
    return terms.take(np.arange(terms.n_features + 1.0)).astype(np.intp)


def _only_posterior(options: dict[str, Any]) -> None:
    if options:
        name, value = next(iter(options.items()))
        raise ValueError(f"intervals of a posterior take no options; got {name}={value!r}.")


def _coefficient_columns(mixture: PosteriorMixture, side: MixtureSide, level: float) -> Floats:
    """Mean, standard deviation, P(coef > 0), interval and odds ratio of each coefficient."""
    weight, lines = side.lines(mixture.weight)
    mean = weight @ lines.coef
    sd = np.sqrt(weight @ (lines.errors**2 + (lines.coef - mean) ** 2))
    ends = credible(weight, lines.coef.T, lines.errors.T, level)
    with np.errstate(over="ignore"):  # the intercept of a slice is given
        sure = lines.coef / np.maximum(lines.errors, np.finfo(float).tiny)
    above = weight @ ndtr(sure)
    above = np.clip(above, 0.0, 1.0)  # weights add up to one but for rounding
    with np.errstate(over="ignore"):
        return np.column_stack([mean, sd, above, ends, np.exp(mean)])


def _sums(
    mixture: PosteriorMixture,
    n: int,
    X: Matrix,
    labels: Labels,
    weight: Floats,
    codes: Floats,
) -> ComponentSums:
    a, b = mixture.predictors(X)
    y = expit(a)
    t = positive_given_label(labels.known[:, None], a, b)
    kinds = np.column_stack([np.ones(len(y)), labels.any == 1, labels.any == 0])
    outcome = mixture.outcome_model
    slopes = tuple(
        _slopes(codes, n, side.features(X), weight, free)
        for side, free in zip(outcome.sides, outcome.split(y * (1 - y)), strict=True)
    )
    return ComponentSums(
        counts=gathered(codes, n, kinds, weight),
        positive=gathered(codes, n, y, weight),
        squares=gathered(codes, n, y**2, weight),
        slopes=slopes,
        hidden=gathered(codes, n, t, weight * (labels.any == 0)),
    )


def _slopes(codes: Floats, n: int, Z: Matrix, weight: Floats, free: Floats) -> Floats:
    """Gradients of sums of y(x) over the rows of each group, by component."""
    return np.array([gathered_terms(codes, n, Z, weight * column) for column in free.T])
