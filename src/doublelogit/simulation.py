"""Hide the positives of a table whose class is known, and see how well methods find them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from doublelogit._types import Floats
from doublelogit.exceptions import TableError
from doublelogit.findings import ranking as sentences
from doublelogit.labelling import draw
from doublelogit.metrics import approximation_error
from doublelogit.registry import Method, suited
from doublelogit.table_models.table_model import make_classifier, quietly
from doublelogit.tables import Roles, TableEncoder, TableEncoding, code_labels


@dataclass(frozen=True)
class Simulated:
    """A table with labels drawn, and what is true of it."""

    frame: Any
    label: str
    y: Floats
    s: Floats
    e_x: Floats
    X: Any
    encoding: TableEncoding

    @property
    def sentence(self) -> str:
        """What was hidden, in words."""
        low, high = np.quantile(self.e_x[self.y == 1], [0.1, 0.9])
        return sentences.simulated(
            len(self.y), int(self.y.sum()), int(self.s.sum()), float(low), float(high)
        )


@dataclass(frozen=True)
class Score:
    """One method compared with the truth."""

    method: str
    accuracy: float
    error: float  # mean distance of y(x) from the oracle's
    prevalence: float
    seconds: float
    note: str = ""


def simulate_labels(
    frame: Any,
    truth: str,
    *,
    positive: str | None = None,
    drivers: tuple[str, ...] = (),
    strength: float = 1.0,
    label_frequency: float = 0.5,
    label: str = "label",
    ignore: tuple[str, ...] = (),
    random_state: int = 0,
) -> Simulated:
    """Label some of the positives of a table, with a probability that depends on its columns.

    Parameters
    ----------
    frame : DataFrame
        With the true class in the column ``truth``.
    truth : str
        That column, coded like labels.
    positive : str, default=None
        Its value that means positive.
    drivers : tuple of str, default=()
        Columns that labelling depends on; none is labelling at random.
    strength : float, default=1.0
        Standard deviation of the logit of the propensity.
    label_frequency : float, default=0.5
        Share of the positives that get a label, on average.
    label : str, default="label"
        Name of the new column, which takes the place of the truth.
    ignore : tuple of str, default=()
        Columns that are no features, such as an id.
    random_state : int, default=0
        Seed of the draw.
    """
    for name in (truth, *drivers, *ignore):
        if name not in frame.columns:
            raise TableError(f"{name!r} is no column of the table.")
    if not 0 < label_frequency <= 1:
        raise TableError(f"`label_frequency` must be in (0, 1]; got {label_frequency}.")
    y, _ = code_labels(frame[truth], positive)
    features = frame.drop(columns=[truth, *ignore])
    encoding = TableEncoder().fit(features).encoding_
    X, _ = encoding.encode(features)
    e_x = propensities(X, encoding.features_of(drivers, "drivers"), y, strength, label_frequency)
    s = draw(y, e_x, random_state)
    labelled = frame.drop(columns=[truth]).assign(**{label: np.where(s == 1, "yes", "")})
    return Simulated(labelled, label, y, s, e_x, X, encoding)


def propensities(
    X: Any, columns: list[str], y: Floats, strength: float, label_frequency: float
) -> Floats:
    """e(x), logistic in some encoded columns, with this mean over the positives."""
    if not columns:
        return np.full(len(X), float(label_frequency))
    direction = X[columns].to_numpy().sum(axis=1)
    direction = strength * (direction - direction.mean()) / max(direction.std(), 1e-12)
    if label_frequency == 1:
        return np.ones(len(X))
    positives = direction[y == 1]
    intercept = brentq(lambda b: expit(positives + b).mean() - label_frequency, -50.0, 50.0)
    return np.asarray(expit(direction + intercept))


def evaluate(
    simulated: Simulated,
    propensity_features: tuple[str, ...] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[Score]:
    """Every method compared with the truth and with the oracle, which knows every class."""
    X, y = simulated.X, simulated.y
    oracle = LogisticRegression(C=1.0, tol=1e-6, solver="newton-cholesky")
    start = time.perf_counter()
    reference = oracle.fit(X, y).predict_proba(X)[:, 1]
    seconds = time.perf_counter() - start
    accuracy = float(((reference > 0.5) == (y == 1)).mean())
    scores = [Score("truth (oracle)", accuracy, 0.0, float(y.mean()), seconds)]
    methods = suited(X.shape[1])
    for i, method in enumerate(methods):
        scores.append(_score(method, simulated, propensity_features, reference))
        progress((i + 1) / len(methods))
    return scores


def _score(
    method: Method, simulated: Simulated, named: tuple[str, ...] | None, reference: Floats
) -> Score:
    roles = Roles(simulated.label, propensity_features=named if method.has_propensity else None)
    model = make_classifier(method, roles, simulated.encoding)
    start = time.perf_counter()
    quietly(model.fit, simulated.X, simulated.s)
    seconds = time.perf_counter() - start
    y_x = model.predict_positive(simulated.X)
    unclear = any(finding.topic == "orientation" for finding in model.findings_)
    return Score(
        method.name,
        float(((y_x > 0.5) == (simulated.y == 1)).mean()),
        approximation_error(y_x, reference),
        float(y_x.mean()),
        seconds,
        sentences.HARDLY_TOLD_APART if unclear else "",
    )
