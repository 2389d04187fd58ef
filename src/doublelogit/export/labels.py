"""Label models as graphs, and the class and labelling that they are divided into.

A graph cannot know which rows a model has seen: it predicts every row as a new one, by the models
of all folds.
"""

from functools import reduce, singledispatch
from operator import add
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.shapes.divided import (
    LEAST_LEVEL,
    RAREST,
    SURE,
    DividedLabelling,
    DividedSide,
    Division,
)
from doublelogit.export.graph import Value, log_sigmoid, sigmoid
from doublelogit.export.trees import added_trees
from doublelogit.label_models import (
    LabelModel,
    LinearPredictor,
    ProductModel,
    TreesPredictor,
)
from doublelogit.label_models.basis import Scale, Smooths


def divided_predictors(side: DividedSide, X: Value) -> Value:
    """Predictors of each row in the components of a class of any shape, or of its labelling."""
    X = X if side.origin is None else X - side.origin
    seen = X if side.columns is None else X.node("Gather", side.columns, axis=1)
    s = label_probability(side.labels, seen)
    y = _positive(side.division, s, seen)
    if isinstance(side, DividedLabelling):
        hidden = (y - s).node("Max", s * SURE)
        return s.node("Log") - hidden.node("Log")
    return _log_odds(y)


def label_probability(model: LabelModel, X: Value) -> Value:
    """P(S=1 | x) by the models of all folds."""
    used = np.flatnonzero(model.weight)
    parts = [
        probability(models[j], X) * (model.weight[j] / len(model.models))
        for models in model.models
        for j in used
    ]
    p = reduce(add, parts)
    if (model.line.shift, model.line.slope) != (0.0, 1.0):
        p = sigmoid(_log_odds(p) * model.line.slope + model.line.shift)
    return _clipped(p)


def _clipped(p: Value) -> Value:
    return p.node("Max", SURE).node("Min", 1 - SURE)


def _log_odds(p: Value) -> Value:
    p = _clipped(p)
    return p.node("Log") - (1.0 - p).node("Log")


def _positive(division: Division, s: Value, X: Value) -> Value:
    """y(x) of each row at the levels of a division."""
    level = division.level[None, :]
    if division.cap is not None:
        most = s * (1 - division.cap) + division.cap
        return (s * np.exp(np.maximum(level, 0.0))).node("Min", most)
    shift: Any = np.maximum(level, LEAST_LEVEL)
    if division.labelling is not None:
        along = log_sigmoid(X.linear(division.labelling)).node("Max", float(np.log(RAREST)))
        shift = (-along + level).node("Max", LEAST_LEVEL)
    return sigmoid(_log_odds(s) + shift)


@singledispatch
def probability(model: Any, X: Value) -> Value:
    """P(S=1 | x) by a model of one kind."""
    raise TypeError(
        "a graph cannot hold a label model of another library. Convert it by its own means, such "
        'as skl2onnx, or fit with label_model="auto".'
    )


@probability.register
def _(model: LinearPredictor, X: Value) -> Value:
    p = len(model.scale.unit)
    a = X.linear(_unscaled(model.scale, model.coef[:p], model.intercept))
    if model.smooths is not None and model.bends is not None and len(model.coef) > p:
        bent = _unscaled(model.bends, model.coef[p:], 0.0)
        a = a + _smooth(model.smooths, X, bent)
    return sigmoid(a)


@probability.register
def _(model: ProductModel, X: Value) -> Value:
    one, other = (
        X.linear(_unscaled(model.scale, coef[:-1], coef[-1])) for coef in (model.one, model.other)
    )
    return sigmoid(one) * sigmoid(other)


@probability.register
def _(model: TreesPredictor, X: Value) -> Value:
    total = added_trees([model.forest], X)
    return sigmoid(total) if model.logit else total.node("Max", 0.0).node("Min", 1.0)


def _unscaled(scale: Scale, coef: Floats, intercept: float) -> Floats:
    """Coefficients of columns as they are, intercept last, from those of scaled columns."""
    slopes = coef / scale.unit
    return np.append(slopes, intercept - scale.shift @ slopes)


def _smooth(smooths: Smooths, X: Value, coef: Floats) -> Value:
    """Natural splines times their coefficients: cubes beyond knots, and a matrix."""
    columns = np.repeat(smooths.columns, [len(knots) for knots in smooths.knots])
    knots = np.concatenate(smooths.knots)
    span = np.concatenate([np.full(len(k), k[-1] - k[0]) for k in smooths.knots])
    beyond = ((X.node("Gather", columns, axis=1) - knots) / span).node("Max", 0.0)
    cubes = beyond * beyond * beyond
    return cubes.linear(np.append(smooths.terms_of_cubes @ coef[:-1], coef[-1]))
