"""One draw: split, label, fit the methods asked for, measure them on the test part."""

import json
import time
import warnings
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.model_selection import train_test_split

from doublelogit._types import Floats
from doublelogit.labelling import draw as draw_labels
from doublelogit.metrics import approximation_error
from doublelogit.studies.experiments.measures import Judged, measured
from doublelogit.studies.experiments.plan import DataSet, Draw, PlanMethod, features_of, importable

AUDITED = 100  # rows whose class an audit finds out


class Data(NamedTuple):
    """A data set, standardised, with what its errors are measured against."""

    X: Floats
    y: Any
    reference: Floats | None


def run_draw(
    draw: Draw, methods: tuple[PlanMethod, ...], oracle: PlanMethod
) -> list[dict[str, Any]]:
    """Result rows of some methods on one draw; one that fails is a row with its reason."""
    data = labelled_draw(draw, oracle)
    common = {
        "mode": draw.mode,
        "dataset": draw.dataset.name,
        "scenario": draw.scenario.id,
        "value": draw.value,
        "repetition": draw.repetition,
        "seed": draw.stream("labels"),
        "n_labelled": int(data.s.sum()),
        "versions": versions(),
    }
    results = []
    for method in methods:
        measured = _measure(method, data, draw)
        names = {"method": method.name, "parameters": parameters(draw, method, oracle)}
        results.append(common | names | measured)
    return results


class Labelled(NamedTuple):
    """What a method is given of a draw, labels of the training part, and what it is judged by.

    ``frequency`` is the mean propensity of the training part's positives, ``columns`` are the
    features that labelling depends on.
    """

    X: Floats
    y: Any
    s: Any
    train: Any
    test: Any
    reference: Floats
    frequency: float
    columns: list[int]


def labelled_draw(draw: Draw, oracle: PlanMethod) -> Labelled:
    """Split the data of a draw and label its training part."""
    data = prepared(draw)
    options = dict(draw.scenario.options) | features_of(draw.scenario, data.X, data.y)
    options[draw.scenario.parameter] = draw.value
    slopes = np.atleast_2d(options.get("slopes", 0.0))[:, : data.X.shape[1]]  # no intercept
    columns = np.flatnonzero(np.any(slopes != 0, axis=0))
    e_x = importable(draw.scenario.mechanism)(**options).propensity(data.X)
    rng = draw.rng("labels")
    split = {"test_size": draw.test_size, "random_state": int(rng.integers(2**31))}
    train, test = train_test_split(np.arange(len(data.y)), **split)
    s = draw_labels(data.y[train], e_x[train], rng)
    reference = data.reference
    if reference is None:
        fitted = oracle.make().fit(data.X[train], data.y[train])
        reference = positive(fitted, data.X)
    frequency = float(e_x[train][data.y[train] == 1].mean())
    return Labelled(data.X, data.y, s, train, test, reference, frequency, columns.tolist())


def positive(model: Any, X: Floats) -> Floats:
    """P(Y=1 | x) by one of our classifiers, or by any other of scikit-learn's kind."""
    if hasattr(model, "predict_positive"):
        return np.asarray(model.predict_positive(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def parameters(draw: Draw, method: PlanMethod, oracle: PlanMethod) -> str:
    """All that a plan says of a cell beyond its key; a cell whose parameters change is run anew."""
    dataset, scenario = draw.dataset, draw.scenario
    settings = {
        "dataset": [dataset.load, dataset.options, dataset.seeded, dataset.reference],
        "scenario": [
            scenario.mechanism,
            scenario.parameter,
            scenario.options,
            scenario.features,
        ],
        "method": [method.estimator, method.options, method.given],
        "plan": [draw.seed, draw.test_size],
    }
    if scenario.slopes is not None:
        settings["slopes"] = scenario.slopes
    if draw.measures:
        settings["measures"] = [*draw.measures, method.interval]
    if dataset.reference == "oracle":  # what errors are measured against
        settings["oracle"] = [oracle.estimator, oracle.options]
    return json.dumps(settings, sort_keys=True)


@cache
def versions() -> str:
    """Versions of the packages that numbers depend on."""
    names = ("doublelogit", "numpy", "scipy", "scikit-learn")
    return ", ".join(f"{name} {version(name)}" for name in names)


def prepared(draw: Draw) -> Data:
    """The data of a draw: generated for it, or a table read once."""
    if draw.dataset.seeded:
        return _prepare(draw.dataset, {"random_state": draw.rng("data")})
    return _bundled(_Hashable(draw.dataset))


class _Hashable(NamedTuple):
    """A data set that can be a key of a cache: its options are known by their text."""

    dataset: DataSet

    def __hash__(self) -> int:
        return hash(repr(self.dataset))


@lru_cache(maxsize=4)
def _bundled(key: _Hashable) -> Data:
    return _prepare(key.dataset, {})


def _prepare(dataset: DataSet, seed: dict[str, Any]) -> Data:
    bunch = importable(dataset.load)(**dataset.options, **seed)
    X = np.asarray(bunch.data, dtype=np.float64)
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return Data(Z, np.asarray(bunch.target), _reference(dataset, bunch))


def _reference(dataset: DataSet, bunch: Any) -> Floats | None:
    """What predictions are compared with, if it is known before any fit."""
    if dataset.reference == "logistic":
        return np.asarray(expit(bunch.data @ bunch.coef))
    return np.asarray(bunch.posterior) if dataset.reference == "posterior" else None


def _fitted(method: PlanMethod, data: Labelled, draw: Draw) -> Any:
    """The estimator, fitted to what the method is given."""
    X, y = data.X[data.train], data.y[data.train]
    if method.given == "class":
        return method.make().fit(X, y)
    if method.given == "frequency":
        return method.make(label_frequency=data.frequency).fit(X, data.s)
    if method.given == "features":
        return method.make(propensity_features=data.columns).fit(X, data.s)
    if method.given == "audit":
        rows = draw.rng("audit").permutation(len(y))[:AUDITED]
        audited = np.full(len(y), np.nan)
        audited[rows] = y[rows]
        return method.make().fit(X, data.s, audited_y=audited)
    return method.make().fit(X, data.s)


def _measure(method: PlanMethod, data: Labelled, draw: Draw) -> dict[str, Any]:
    test = data.test
    start = time.process_time()  # other work on the machine does not count
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # convergence is a column of the result
            model = _fitted(method, data, draw)
            seconds = time.process_time() - start
            judged = _judged(method, model, data)
            further = measured(draw.measures, judged)
        y_x = judged.y_x
        return {
            "accuracy": _digits(((y_x > 0.5) == data.y[test]).mean()),
            "approximation_error": _digits(approximation_error(y_x, data.reference[test])),
            "prevalence": _digits(judged.train_y_x.mean()),
            **{name: _digits(value) for name, value in further.items()},
            "n_iter": int(np.max(getattr(model, "n_iter_", -1))),
            "converged": bool(getattr(model, "converged_", True)),
            "seconds": _digits(seconds),
            "status": "ok",
            "reason": "",
        }
    except Exception as error:  # a cell that fails must not stop the run, whatever the reason
        return {
            "seconds": _digits(time.process_time() - start),
            "status": "failed",
            "reason": f"{type(error).__name__}: {error}",
        }


def _judged(method: PlanMethod, model: Any, data: Labelled) -> Judged:
    X, train, test = data.X, data.train, data.test
    y_x, train_y_x = positive(model, X[test]), positive(model, X[train])
    return Judged(
        model, y_x, data.y[test], X[train], data.s, data.y[train], train_y_x, method.interval
    )


def _digits(value: float) -> float:
    """As many digits as anyone reads: the others would be most of a store's bytes."""
    return round(float(value), 6)
