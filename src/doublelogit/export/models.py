"""Fitted models as graphs: what each kind says of y(x), e(x), s(x) and t(x).

As in ``fitted``, a side is the logit of a probability. Runtimes round the sigmoid in the tails, so
that exponentials and logarithms that cannot overflow stand in its place.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.averaged.shapes import Shape, shape_named
from doublelogit.averaged.shapes.divided import DividedSide
from doublelogit.export.graph import Value, log_sigmoid, sigmoid
from doublelogit.export.label_sources import any_label, any_label_by_component
from doublelogit.export.labels import divided_predictors
from doublelogit.fitted import (
    CertainLabel,
    HalfwayLabel,
    ImpliedPropensity,
    LinearPair,
    LinearSide,
    MixtureSide,
    PosteriorMixture,
    ScaledLabel,
    SelectedComponents,
    Selection,
)
from doublelogit.fitted.label import SUREST
from doublelogit.fitted.sources import SourceLaw, SourcesSide

Four = tuple[Value, Value, Value, Value]  # y(x), e(x), s(x) and t(x) of every row


def _log_odds(log_p: Value) -> Value:
    log_p = log_p.node("Min", SUREST)
    return log_p - (1.0 - log_p.node("Exp")).node("Log")


@singledispatch
def logit(side: Any, X: Value) -> Value:
    """Logit of one of the two models."""
    raise TypeError(
        f"a graph cannot hold a {type(side).__name__}; it holds models of this library. Convert "
        "a classifier of another one by its own means, such as skl2onnx."
    )


@logit.register
def _(side: LinearSide, X: Value) -> Value:
    a = X.linear(side.coef)
    if side.link == "logit":
        return a
    from onnx import TensorProto

    # runtimes have the error function in single precision only
    single = (a / np.sqrt(2.0)).node("Cast", to=TensorProto.FLOAT)
    p, rest = (
        (z.node("Erf").node("Cast", to=TensorProto.DOUBLE) + 1.0) / 2.0
        for z in (single, single.node("Neg"))
    )
    return p.node("Log") - rest.node("Log")


@logit.register
def _(side: HalfwayLabel, X: Value) -> Value:
    return -log_sigmoid(-(X.linear(side.alpha) + np.log(2.0)))


@logit.register
def _(side: CertainLabel, X: Value) -> Value:
    return X.node("ReduceSum", np.array([1]), keepdims=1) * 0.0 + np.inf


@logit.register
def _(side: ScaledLabel, X: Value) -> Value:
    log_s = log_sigmoid(X.linear(side.alpha))
    return _log_odds((log_s - np.log(side.level)) * side.power)


@logit.register
def _(side: ImpliedPropensity, X: Value) -> Value:
    log_y = log_sigmoid(logit(side.outcome_model, X))
    return _log_odds(log_sigmoid(X.linear(side.alpha)) - log_y)


@logit.register
def _(side: SourceLaw, X: Value) -> Value:
    return any_label(side, X, log_sigmoid)


@singledispatch
def answers(model: Any, X: Value) -> Four:
    """What a fitted model says of every row."""
    raise TypeError(f"a graph cannot hold a {type(model).__name__}.")


@answers.register
def _(model: LinearPair, X: Value) -> Four:
    a, b = (logit(side, X) for side in (model.outcome_model, model.propensity_model))
    y, e, rate = sigmoid(a), sigmoid(b), model.false_label_rate
    hidden = sigmoid(a + log_sigmoid(-b) - np.log1p(-rate))
    label = y * e + sigmoid(-a) * rate if rate else y * e
    return y, e, label, hidden


@answers.register
def _(model: PosteriorMixture, X: Value) -> Four:
    shapes = [shape_named(name) for name in model.shapes]
    a, b = (
        X.graph.node("Concat", *_by_shape(shapes, side, X), axis=1)
        for side in (model.outcome_model, model.propensity_model)
    )
    pools, tiny = model.outcome_model.pools, np.finfo(float).tiny
    together, apart = (np.where(which, model.weight, 0.0)[:, None] for which in (pools, ~pools))
    y = sigmoid(a)
    not_labelled = y * sigmoid(-b)
    pooled = _pooled(model.outcome_model, a, together)
    unlabelled = (not_labelled @ together) / (y @ together).node("Max", tiny)
    positive = pooled + y @ apart
    hidden = pooled * unlabelled.node("Min", 1.0) + not_labelled @ apart
    label = positive - hidden
    if pools.all():
        propensity = _pooled(model.propensity_model, b, together)
    elif model.propensity_model.constant:
        propensity = positive * 0.0 + model.label_frequency
    else:
        propensity = (label / positive.node("Max", tiny)).node("Max", 0.0).node("Min", 1.0)
    return positive, propensity, label, hidden / (1.0 - positive + hidden).node("Max", tiny)


def _by_shape(shapes: list[Shape], side: MixtureSide, X: Value) -> list[Value]:
    """Predictors of each row in the components of each shape."""
    pairs = zip(shapes, side.sides, strict=True)
    return [_of_shape(shape, one, X) for shape, one in pairs]


def _of_shape(shape: Shape, side: Any, X: Value) -> Value:
    if not isinstance(side, SelectedComponents):
        return shape.graph(side, X, _predictors)
    return shape.graph(side.inner, _selected(side.selection, X), _predictors)


def _selected(selection: Selection, X: Value) -> Value:
    """The selected columns and the index of the others."""
    Z = X.node("Gather", selection.columns, axis=1)
    if not selection.has_rest:
        return Z
    others = X.node("Gather", selection.rest_columns, axis=1)
    index = others @ selection.rest_coef[:, None] - selection.rest_level
    return X.graph.node("Concat", Z, index, axis=1)


def _predictors(side: Any, X: Value) -> Value:
    """Predictor of each row in each component."""
    if isinstance(side, SourcesSide):
        return any_label_by_component(side, X, log_sigmoid)
    return divided_predictors(side, X) if isinstance(side, DividedSide) else X.linear(side.coef)


def _pooled(side: MixtureSide, logits: Value, weight: Floats) -> Value:
    """The probability that the pooled components mean together, times their weight."""
    share = weight.sum()
    return sigmoid(logits @ (weight / share) + side.level) * share
