"""Labelling by several sources as a graph: the logit of p*(x), the chance of any label.

Of log-linear patterns it is the logarithm of the sum of exp(eta_s) over patterns s with a label; of
a shared effort, that of 1 - p*, a sum over the points of a rule, and its odds.
"""

from collections.abc import Callable

import numpy as np

from doublelogit.core.patterns import Pairs, effort_points
from doublelogit.export.graph import Value
from doublelogit.fitted.sources import SourceLaw, SourcesSide

FAR = 1e-17  # of 1 - p* below which p* is one in double precision

Function = Callable[[Value], Value]


def any_label(source: SourceLaw, X: Value, log_sigmoid: Function) -> Value:
    """Logit of p*(x) under one law."""
    law, last = source.law, np.array([1])
    if isinstance(law, Pairs):
        patterns, together = law.patterns[1:], law.together[1:]
        coef = patterns @ source.gammas
        coef[:, -1] += together @ source.phi
        return X.linear(coef).node("ReduceLogSumExp", last, keepdims=1)
    effort, log_weight = effort_points(source.phi)
    m, points = len(source.gammas), len(effort)
    coef = np.tile(source.gammas, (points, 1))
    coef[:, -1] += np.repeat(effort, m)
    by_point = log_sigmoid(-X.linear(coef)) @ np.kron(np.eye(points), np.ones((m, 1)))
    log_none = (by_point + log_weight).node("ReduceLogSumExp", last, keepdims=1)
    some = (1.0 - log_none.node("Exp")).node("Max", FAR)
    return some.node("Log") - log_none


def any_label_by_component(side: SourcesSide, X: Value, log_sigmoid: Function) -> Value:
    """Logit of p*(x) in every component."""
    laws = [any_label(one, X, log_sigmoid) for one in side.laws]
    which = np.eye(len(laws))[:, side.number.astype(np.intp)]
    return X.graph.node("Concat", *laws, axis=1) @ which
