"""Everything that a report computes; what comes after only words it and draws it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import norm
from sklearn.base import clone

from doublelogit._types import Floats
from doublelogit.estimators import AveragedClassifier, JointClassifier
from doublelogit.exceptions import TableError
from doublelogit.inference import Estimate, Inference, ScarTest, infer, scar_test
from doublelogit.inference.estimate import of_share
from doublelogit.tables.model import TableModel, fit_classifier, fit_table, probabilities
from doublelogit.tables.roles import Table

SMALL = 50_000  # cells of a table of which a sample is fitted in some hundredths of a second
LARGE = 20_000  # rows above which nothing is drawn again and again
BENT = 1.5  # times the interval of the curvature: that of a ridge that bends
FALSE_SHARES = (0.01, 0.05, 0.1)  # of the labels that might be wrong
Progress = Callable[[str, float], None]


def silent(step: str, share: float) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True)
class Chances:
    """Of every row: y(x), e(x), s(x) and P(Y=1 | x, S=0)."""

    positive: Floats
    propensity: Floats
    label: Floats
    hidden: Floats


@dataclass(frozen=True)
class Answer:
    """A prevalence and what was assumed for it; no interval where the method has none."""

    assumption: str
    value: float
    low: float | None = None
    high: float | None = None
    how: str = ""


@dataclass(frozen=True)
class Analysis:
    """A fitted table from all sides.

    ``inference`` is None for methods that maximise no likelihood; ``swapped`` where there is no
    exchanged solution; ``test`` where it was not asked for.
    """

    table: Table
    model: TableModel
    X: Any
    chances: Chances
    seed: int
    test: ScarTest | None
    inference: Inference | None
    main: Answer
    naive: Answer
    scar: Answer
    swapped: Answer | None
    groups: dict[str, Answer]
    false_labels: dict[float, Answer]

    @property
    def weight(self) -> Floats:
        """How many times each row counts."""
        return np.ones(len(self.table)) if self.table.weight is None else self.table.weight

    @property
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence, so that curvature misleads."""
        return self.inference is not None and weakly_determined(self.inference, self.main)

    @property
    def orientation(self) -> Any:
        """What told outcome and propensity apart; None if the method has no rule."""
        return getattr(self.model.classifier, "orientation_", None)


def analyse(
    table: Table,
    *,
    method: str,
    seed: int = 0,
    n_resamples: int | None = None,
    n_jobs: int = -1,
    progress: Progress = silent,
) -> Analysis:
    """Fit a table and everything that its report compares the fit with.

    Parameters
    ----------
    table : Table
        Rows with their roles.
    method : str
        One of the names of ``doublelogit.registry.METHODS``.
    seed : int, default=0
        Of everything that is drawn.
    n_resamples : int, default=None
        Samples of the test of SCAR; from 199 down to 39 by the size of the table if not given,
        and none above 20,000 rows, where the chi-square law takes their place.
    n_jobs : int, default=-1
        Worker processes of the test.
    progress : callable, default=silent
        Called with the name of a step and the share of it that is done.
    """
    progress("fitting", 0.0)
    model = fit_table(table, table.roles, method=method, **_settings(method, table, seed))
    X, _ = model.encoder.encode(table.features)
    test = scar_result(
        table,
        X,
        seed=seed,
        n_resamples=n_resamples,
        n_jobs=n_jobs,
        progress=lambda share: progress("testing SCAR", share),
    )
    progress("intervals", 0.0)
    inference = inference_of(model.classifier, X, table)
    main = answer(BIASED, model.classifier, X, table, inference)
    progress("other assumptions", 0.0)
    return Analysis(
        table=table,
        model=model,
        X=X,
        chances=Chances(*probabilities(model.classifier, X)),
        seed=seed,
        test=test,
        inference=inference,
        main=main,
        naive=_naive(table),
        scar=_under_scar(model, X, table),
        swapped=_swapped(model.classifier, X, table),
        groups=_by_group(model.classifier, X, table, inference, main),
        false_labels=_with_false_labels(model.classifier, X, table, main.value, progress),
    )


BIASED = "labelling may depend on the features"
SCAR = "labelling at random (SCAR)"
NAIVE = "every unlabelled row negative"
SWAPPED = "class and labelling exchanged"


def _settings(method: str, table: Table, seed: int) -> dict[str, Any]:
    """Parameters of a fit that depend on the table."""
    if method != "joint":
        return {}
    # in large samples the starts end in one optimum, and each costs as much as the fit
    return {"random_state": seed, **({"n_starts": 1} if len(table) > LARGE else {})}


def scar_result(
    table: Table,
    X: Any,
    *,
    seed: int,
    progress: Callable[[float], None],
    n_resamples: int | None = None,
    n_jobs: int = -1,
) -> ScarTest:
    """The likelihood-ratio test, its p-value from samples unless there are too many rows."""
    progress(0.0)
    if len(table) > LARGE and n_resamples is None:
        return scar_test(X.to_numpy(), table.s, asymptotic=True)
    work = X.shape[0] * X.shape[1]
    # the fewest samples that can reject at 5% with some room, and more where they are cheap
    enough = 199 if work < SMALL else 99 if work < 5 * SMALL else 39
    return scar_test(
        X.to_numpy(),
        table.s,
        n_resamples=n_resamples or enough,
        random_state=seed,
        n_jobs=1 if work < SMALL else n_jobs,  # workers would take longer to start than to work
        progress=progress,
    )


def inference_of(classifier: Any, X: Any, table: Table) -> Inference | None:
    """Inference for a method that maximises a likelihood; None for others."""
    try:
        return infer(classifier, X, table.s, sample_weight=table.weight, audited_y=table.audited)
    except (TypeError, ValueError):  # another kind of method, or a fit that has not converged
        return None


def answer(
    assumption: str, classifier: Any, X: Any, table: Table, inference: Inference | None
) -> Answer:
    """The prevalence by a fitted model, its interval by the profile likelihood if affordable."""
    if isinstance(classifier, AveragedClassifier):
        ends = classifier.prevalence_interval(0.95)
        return Answer(assumption, classifier.prevalence_, *ends, "posterior")
    if inference is None:
        value = np.average(classifier.predict_positive(X), weights=table.weight)
        return Answer(assumption, float(value))
    # where curvature and profile differ the profile is right; in large samples they seldom do
    profiled = inference.weak or len(table) <= LARGE
    return _of_estimate(assumption, inference.prevalence(method="profile" if profiled else "delta"))


def weakly_determined(inference: Inference, found: Answer) -> bool:
    """Whether intervals from the curvature do not hold: it is flat, or the ridge bends."""
    if inference.weak or found.low is None or found.high is None:
        return inference.weak
    reach = np.subtract(*logit(np.clip([found.high, found.low], 1e-12, 1 - 1e-12)))
    return bool(reach > BENT * 2 * norm.ppf(0.975) * inference.logit_error)


def _of_estimate(assumption: str, found: Estimate) -> Answer:
    return Answer(assumption, found.value, found.low, found.high, found.method)


def _naive(table: Table) -> Answer:
    share = float(np.average(table.s, weights=table.weight))
    se = float(np.sqrt(share * (1 - share) / len(table)))
    return _of_estimate(NAIVE, of_share("labelled share", share, se, 0.95, "binomial"))


def _under_scar(model: TableModel, X: Any, table: Table) -> Answer:
    outcome = getattr(model.classifier, "outcome_features", None)
    classifier = JointClassifier(propensity_features=[], outcome_features=outcome, n_starts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_classifier(classifier, X, table)
    return answer(SCAR, classifier, X, table, inference_of(classifier, X, table))


def _swapped(classifier: Any, X: Any, table: Table) -> Answer | None:
    if not hasattr(classifier, "swapped") or np.isinf(classifier.orientation_.gap):
        return None
    if isinstance(classifier, AveragedClassifier) and classifier.orientation_.rule != "norm":
        return None  # both pairs are in the average
    other = classifier.swapped()
    return answer(SWAPPED, other, X, table, inference_of(other, X, table))


def _by_group(
    classifier: Any, X: Any, table: Table, inference: Inference | None, main: Answer
) -> dict[str, Answer]:
    """By group, with intervals from the curvature where those hold."""
    if table.group is None:
        return {}
    if inference is not None and not weakly_determined(inference, main):
        found = inference.prevalence(by=table.group)
        return {str(group): _of_estimate(BIASED, estimate) for group, estimate in found.items()}
    y_x = classifier.predict_positive(X)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    inside = {group: table.group == group for group in np.unique(table.group)}
    return {
        str(group): Answer(BIASED, float(np.average(y_x[rows], weights=weight[rows])))
        for group, rows in inside.items()
    }


def _with_false_labels(
    classifier: Any, X: Any, table: Table, prevalence: float, progress: Progress
) -> dict[float, Answer]:
    """The prevalence if a share of the labels were wrong; empty for methods that cannot."""
    if not isinstance(classifier, JointClassifier) or classifier.false_label_rate > 0:
        return {}
    labelled = float(np.average(table.s, weights=table.weight))
    shares = FALSE_SHARES if len(table) <= LARGE else FALSE_SHARES[1:2]
    found = {}
    for i, share in enumerate(shares):
        rate = share * labelled / (1 - prevalence)
        refitted = clone(classifier).set_params(false_label_rate=rate, n_starts=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_classifier(refitted, X, table)
        text = f"{share:.0%} of the labels wrong"
        found[share] = answer(text, refitted, X, table, inference_of(refitted, X, table))
        progress("other assumptions", (i + 1) / len(shares))
    return found


def check_enough(table: Table, fewest: int = 10) -> None:
    """Refuse what no method can learn from."""
    labelled = int(table.s.sum())
    if labelled < fewest:
        raise TableError(
            f"at least {fewest} rows must be labelled to fit anything; got {labelled}. "
            "Collect more labels."
        )
