"""``infer``: how sure a fitted model is of its coefficients and of the numbers people act on."""

import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit._types import Column, Floats
from doublelogit.estimators.out_of_core import is_distant
from doublelogit.exceptions import OrientationWarning, WeakIdentificationWarning
from doublelogit.inference import shares
from doublelogit.inference.bootstrap import bootstrap
from doublelogit.inference.covariance import check_clusters, covariance
from doublelogit.inference.diagnosis import Diagnosis, diagnose
from doublelogit.inference.estimate import Estimate, check_level, of_draws, of_share
from doublelogit.inference.fitted_problem import Fitted, bind
from doublelogit.inference.profile import Profile, profile
from doublelogit.inference.summary import Summary
from doublelogit.methods.prevalence import label_frequency_at
from doublelogit.rows import row_count, weighted_mean

KINDS = ("observed", "robust", "cluster")
# Beyond this standard error of logit(prevalence) the ridge bends before the Wald interval ends: in
# designs where that covers as it should it is below .15, in the others above (make coverage).
WEAK = 0.25
RATES = (0.0, 0.001, 0.005, 0.01, 0.02)  # of false labels
WALKED = 0.99  # level to which the profile is walked and kept


def infer(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    audited_y: Any = None,
    kind: str = "observed",
    cluster: Any = None,
) -> "Inference":
    """Inference for a fitted maximum-likelihood model.

    Parameters
    ----------
    model : JointClassifier or EMClassifier
        Fitted.
    X, y, sample_weight, audited_y : array-like
        The rows it was fitted to, as in ``fit``; also Dask inputs and scans of Parquet files.
    kind : {"observed", "robust", "cluster"}, default="observed"
        Covariance: from the observed information, robust to a wrong model (sandwich), or robust
        to dependence within clusters as well.
    cluster : array-like of shape (n_samples,), default=None
        The cluster of each row; implies ``kind="cluster"``.

    Returns
    -------
    result : Inference

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import JointClassifier, infer
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> s = y & (rng.random(2000) < 1 / (1 + np.exp(-X[:, 1])))
    >>> model = JointClassifier(outcome_features=[0], propensity_features=[1]).fit(X, s)
    >>> print(infer(model, X, s).prevalence())
    prevalence 0.451, 95% interval 0.389 to 0.514 (delta method)
    """
    if cluster is not None:
        kind = "cluster"
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    if kind == "cluster" and cluster is None:
        raise ValueError("kind='cluster' needs cluster, the cluster of each row; got None.")
    fitted = bind(model, X, y, sample_weight, audited_y)
    if cluster is not None:
        check_clusters(cluster, row_count(fitted.problem.rows))
    data = {"X": X, "y": y, "sample_weight": sample_weight, "audited_y": audited_y}
    return Inference(model, fitted, kind, cluster, data)


class Inference:
    """Standard errors and intervals of a fitted model; made by :func:`infer`."""

    def __init__(
        self, model: Any, fitted: Fitted, kind: str, cluster: Any, data: dict[str, Any]
    ) -> None:
        self.model, self.kind = model, kind
        self._fitted, self._cluster, self._data = fitted, cluster, data

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of all coefficients, outcome then propensity, intercepts last in each."""
        to_original = self._fitted.to_original()
        return to_original @ covariance(self._fitted, self.kind, self._cluster) @ to_original.T

    @cached_property
    def coefficients(self) -> Floats:
        """The coefficients in the order of ``covariance``."""
        return self._fitted.to_original() @ self._fitted.theta

    @cached_property
    def profile(self) -> Profile:
        """Profile likelihood of the prevalence."""
        return profile(self._fitted, WALKED)

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients of both models with standard errors, tests, intervals and odds ratios."""
        check_level(level)
        problem = self._fitted.problem
        free = replace(problem, l2=0.0, propensity_l2=0.0, beliefs=())
        value = -problem.n * free.likelihood.value_grad(self._fitted.theta).value
        n, labelled = row_count(problem.rows), problem.rows.sum_columns(np.sum, problem.rows.s)
        heading = (
            f"{type(self.model).__name__}: {n} rows, {int(labelled)} labelled; "
            f"log-likelihood {value:.2f}; {self.kind} covariance"
        )
        notes = []
        if problem.l2 > 0 or problem.propensity_l2 > 0:
            notes.append(
                "A penalty shrinks these coefficients a little towards zero; C=np.inf removes it."
            )
        decided = getattr(self.model, "orientation_", None)
        if decided is not None and not decided.clear:
            notes.append("The two models may have changed places: see orientation_.")
        if problem.link is not None:
            notes.append("exp(coef) is no odds ratio here: the link is not the logit.")
        terms, coef = self._fitted.terms(), self.coefficients
        return Summary.of(terms, coef, self.covariance, heading, level, tuple(notes))

    def prevalence(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
    ) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with an interval.

        Parameters
        ----------
        by : array-like of shape (n_samples,), default=None
            Group of each row; the answer is then a dict by group.
        level : float, default=0.95
            Nominal coverage.
        method : {"delta", "profile", "bootstrap"}, default="delta"
            delta: from the curvature at the maximum, on the logit scale. profile: from the
            likelihood itself, valid along flat ridges, for all rows together. bootstrap:
            refits; n_resamples, random_state and n_jobs may be given.

        Returns
        -------
        estimate : Estimate or dict of Estimate
        """
        if method == "profile":
            if by is not None:
                raise ValueError(
                    "method='profile' is for all rows together; got by. Use bootstrap."
                )
            return self._profiled(level)
        return self._shares("prevalence", shares.prevalence, by, level, method, options)

    def label_frequency(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
    ) -> Any:
        """P(S=1 | Y=1), the share of positives that are labelled; as :meth:`prevalence`."""
        if method == "profile" and by is None:
            pi = self._profiled(level)
            problem = self._fitted.problem
            mean_s = weighted_mean(problem.rows, problem.rows.s)
            rate = problem.false_label_rate
            value, low, high = (
                label_frequency_at(p, mean_s, rate) for p in (pi.value, pi.high, pi.low)
            )
            se = (mean_s - rate) / pi.value**2 * pi.se
            return Estimate("label frequency", value, se, low, high, level, pi.method)
        return self._shares("label frequency", shares.label_frequency, by, level, method, options)

    def hidden(
        self, *, by: Any = None, level: float = 0.95, method: str = "delta", **options: Any
    ) -> Any:
        """Number of positives among the unlabelled rows, with a prediction interval."""
        return self._shares("hidden positives", shares.hidden, by, level, method, options)

    def sensitivity(self, rates: Any = None) -> dict[float, Estimate]:
        """The prevalence if negatives were labelled too: false labels, S=1 with Y=0.

        Parameters
        ----------
        rates : sequence of float, default=None
            Chances of a negative to be labelled, whatever its features. None: up to two in a
            hundred, from zero unless an audit found a labelled negative.

        Returns
        -------
        prevalence : dict of Estimate, by rate
        """
        if "false_label_rate" not in self.model.get_params():
            name = type(self.model).__name__
            raise TypeError(f"sensitivity to false labels needs a JointClassifier; got {name}.")
        if rates is None:
            rows = self._fitted.problem.rows
            rates = (
                RATES[1:] if rows.sum_columns(_labelled_negatives, rows.s, rows.known) else RATES
            )
        found = {}
        for rate in rates:
            refitted = clone(self.model).set_params(false_label_rate=float(rate))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OrientationWarning)  # the fit itself has shown it
                refitted.fit(**self._data)
            again = infer(refitted, **self._data, kind=self.kind, cluster=self._cluster)
            found[float(rate)] = again.prevalence()
        return found

    def diagnose(self, n_starts: int = 8) -> Diagnosis:
        """What in this fit may not be trusted; prints as sentences, ``plot()`` shows it."""
        return diagnose(self._fitted, getattr(self.model, "orientation_", None), n_starts)

    def _shares(
        self, name: str, share: Any, by: Any, level: float, method: str, options: dict[str, Any]
    ) -> Any:
        check_level(level)
        groups = self._groups(by)
        if method == "delta":
            self._warn_if_weak()
            found = {g: self._delta(name, share, inside, level) for g, inside in groups.items()}
        elif method == "bootstrap":
            found = self._bootstrapped(name, share, groups, level, options)
        else:
            raise ValueError(
                f"method must be delta or bootstrap (profile: for the prevalence and the label "
                f"frequency of all rows together); got {method!r}."
            )
        return found[None] if by is None else found

    def _groups(self, by: Any) -> dict[Any, Floats | None]:
        if by is None:
            return {None: None}
        n, by = row_count(self._fitted.problem.rows), np.asarray(by)
        if any(group is None or group != group for group in by.tolist()):
            raise ValueError("by must name a group for every row; got missing values.")
        if len(by) != n:
            raise ValueError(f"by must have one value per row; got {len(by)} for {n} rows.")
        return {value: (by == value).astype(float) for value in np.unique(by).tolist()}

    def _delta(self, name: str, share: Any, inside: Floats | None, level: float) -> Estimate:
        rows, found = self._fitted.problem.rows, share(self._fitted, inside)
        if name == "hidden positives":
            V = covariance(self._fitted, self.kind, self._cluster)
            variance = found.gradient @ V @ found.gradient + self._summed(found.direct)
            w = shares.weight_inside(rows, inside)
            total = float(rows.sum_columns(_unlabelled_weight, w, rows.s))
            return of_share(name, found.value, np.sqrt(variance), level, "delta method", total)
        psi, from_beliefs = shares.influence(self._fitted, found)
        se = float(np.sqrt(self._summed(psi) + from_beliefs))
        return of_share(name, found.value, se, level, "delta method")

    def _summed(self, psi: Column) -> float:
        """Variance of a sum of contributions: of counted rows, of weighted ones, of clusters."""
        rows = self._fitted.problem.rows
        if self.kind == "cluster":
            codes = np.unique(np.asarray(self._cluster), return_inverse=True)[1]
            fn = partial(_within, int(codes.max()) + 1)
            sums = rows.sum_columns(fn, rows.scatter(codes), psi)
            return float((sums**2).sum() * len(sums) / (len(sums) - 1))
        return rows.sum_columns(_counted if self.kind == "observed" else _squared, psi, rows.weight)

    def _bootstrapped(
        self, name: str, share: Any, groups: dict[Any, Floats | None], level: float, options: Any
    ) -> dict[Any, Estimate]:
        data = self._data
        if is_distant(data["X"]):
            raise ValueError(
                "method='bootstrap' draws rows that are in memory; got "
                f"{type(data['X']).__name__}. Use method='delta' or 'profile'."
            )

        def statistic(refitted: Any, weight: Floats) -> Floats:
            again = bind(refitted, data["X"], data["y"], weight, data["audited_y"])
            return np.array([share(again, inside).value for inside in groups.values()])

        draws = bootstrap(self.model, statistic=statistic, cluster=self._cluster, **data, **options)
        return {
            g: of_draws(name, share(self._fitted, inside).value, draws[:, i], level, "bootstrap")
            for i, (g, inside) in enumerate(groups.items())
        }

    def _profiled(self, level: float) -> Estimate:
        check_level(level)
        found = self._delta("prevalence", shares.prevalence, self._groups(None)[None], level)
        walked = self.profile if level <= WALKED else profile(self._fitted, level)
        low, high = walked.interval(level)
        return Estimate("prevalence", found.value, found.se, low, high, level, "profile likelihood")

    @cached_property
    def logit_error(self) -> float:
        """Standard error of the logit of the prevalence."""
        found = self._delta("prevalence", shares.prevalence, self._groups(None)[None], 0.95)
        return found.se / (found.value * (1 - found.value))

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence: then only the profile holds."""
        return self.logit_error > WEAK

    def _warn_if_weak(self) -> None:
        if self.weak:
            se = self.logit_error
            warnings.warn(
                f"the labels hardly determine the prevalence (standard error of its logit "
                f"{se:.1f}, reliable up to {WEAK}): an interval from the curvature at the maximum "
                "does not hold along such a ridge. Use method='profile' or 'bootstrap', audit some "
                "rows, or give prevalence=(mean, sd) to JointClassifier.",
                WeakIdentificationWarning,
                stacklevel=4,
            )


def _unlabelled_weight(w: Floats, s: Floats) -> float:
    return float(w[s == 0].sum())


def _within(n: int, codes: Floats, psi: Floats) -> Floats:
    return np.bincount(codes.astype(np.intp), psi, n).astype(np.float64)


def _counted(psi: Floats, weight: Floats) -> float:
    """A row that counts w times is w rows, each with its share of the contribution."""
    return float(np.divide(psi**2, weight, out=np.zeros_like(psi), where=weight > 0).sum())


def _squared(psi: Floats, _: Floats) -> float:
    return float(psi @ psi)


def _labelled_negatives(s: Floats, known: Floats) -> int:
    return int(np.count_nonzero((s == 1) & (known == 0)))
