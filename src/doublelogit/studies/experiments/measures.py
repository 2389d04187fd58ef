"""What a fitted method is judged by beyond accuracy and error: a plan names what it wants.

Every measure is a function of what was fitted and of the draw, and gives columns of a result row.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, f1_score, log_loss
from sklearn.metrics import roc_auc_score as auc

from doublelogit._types import Floats

FIRST = 50  # rows of a list that are looked at
LEVEL = 0.9  # of the intervals
SURE = 1e-6  # probabilities are clipped to [SURE, 1 - SURE] before their logarithm is taken


class Judged(NamedTuple):
    """A fitted method beside the truth.

    ``y_x`` and ``y`` are its probabilities and the classes of the test part; ``X``, ``s`` and
    ``truth`` are features, labels and classes of the training part, ``train_y_x`` its
    probabilities there. ``interval`` says how its interval is made, None if it has none.
    """

    model: Any
    y_x: Floats
    y: Any
    X: Floats
    s: Any
    truth: Any
    train_y_x: Floats
    interval: str | None


def _ranks(judged: Judged) -> dict[str, float]:
    return {"auc": auc(judged.y, judged.y_x)}  # NaN where the test part has one class only


def _decisions(judged: Judged) -> dict[str, float]:
    """Decisions cut at one half, and at the method's own share of positives.

    The cut at the share is what maximises the balanced accuracy if the probabilities are right;
    the cut at one half maximises the accuracy.
    """
    decided, balanced = judged.y_x > 0.5, judged.y_x > judged.train_y_x.mean()
    return {
        "balanced_accuracy": balanced_accuracy_score(judged.y, decided),
        "balanced_accuracy_at_share": balanced_accuracy_score(judged.y, balanced),
        "f1": f1_score(judged.y, decided, zero_division=0.0),
    }


def _probabilities(judged: Judged) -> dict[str, float]:
    y_x = np.clip(judged.y_x, SURE, 1 - SURE)
    brier = brier_score_loss(judged.y, judged.y_x, pos_label=1)
    return {"brier": brier, "log_loss": log_loss(judged.y, y_x, labels=[0, 1])}


def _share(judged: Judged) -> dict[str, float]:
    """Share of positives among the training rows, and how far the estimate is from it."""
    share, n = float(np.mean(judged.truth)), len(judged.truth)
    error = abs(float(judged.train_y_x.mean()) - share)
    return {"n_train": n, "share": share, "prevalence_error": error}


def _list(judged: Judged) -> dict[str, float]:
    """Share of positives among the first unlabelled rows, and accuracy of the rule for them.

    An unlabelled row is more likely positive than not where P(Y=1 | x, S=0) > 1/2.
    """
    unlabelled = judged.s == 0
    truth = np.asarray(judged.truth)[unlabelled]
    if len(truth) == 0:
        return {}
    hidden = _hidden(judged.model, judged.X[unlabelled], judged.train_y_x[unlabelled])
    first = np.argsort(-hidden, kind="stable")[:FIRST]
    scores = {"precision_at_50": truth[first].mean(), "claimed_at_50": hidden[first].mean()}
    scores["unlabelled_accuracy"] = ((hidden > 0.5) == truth).mean()
    if len(np.unique(truth)) == 2:
        scores["unlabelled_auc"] = auc(truth, hidden)
    return scores


def _hidden(model: Any, X: Floats, y_x: Floats) -> Floats:
    """P(Y=1 | x, S=0); methods without a model of the labelling give P(Y=1 | x) instead.

    Where nothing is hidden by assumption (NAIVE) rows are ordered by P(Y=1 | x) too.
    """
    if not hasattr(model, "predict_hidden"):
        return y_x
    hidden = np.asarray(model.predict_hidden(X))
    return hidden if np.ptp(hidden) > 0 else y_x


def _interval(judged: Judged) -> dict[str, float]:
    """Interval of the share of positives among the training rows."""
    if judged.interval is None:
        return {}
    from doublelogit.inference import infer

    options = {} if judged.interval == "posterior" else {"method": judged.interval}
    estimate = infer(judged.model, judged.X, judged.s).prevalence(level=LEVEL, **options)
    return {"low": estimate.low, "high": estimate.high}


MEASURES: dict[str, Callable[[Judged], dict[str, float]]] = {
    "ranks": _ranks,
    "decisions": _decisions,
    "probabilities": _probabilities,
    "share": _share,
    "list": _list,
    "interval": _interval,
}


def measured(names: tuple[str, ...], judged: Judged) -> dict[str, float]:
    """Columns of all measures asked for."""
    columns: dict[str, float] = {}
    for name in names:
        columns |= MEASURES[name](judged)
    return columns
