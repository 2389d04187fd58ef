"""AVERAGED with several label sources: the propensity by their patterns, then the class.

Algorithm::

    nodes <- laws of the sources with weights, by the patterns of labelled rows (``nodes.py``)
    for each node
        p*(x) <- chance of any label, held for each row
        N(u, V) <- gaussian of the class, for each scale of its slopes (``gaussian.py``)
        line <- these, their masses within the node by evidence
        any  <- a class of any shape: its level by Horvitz and Thompson, sum of w / p* over the
                labelled rows; its y(x) the mean logit of the lines at that level
    mass <- that of the node times the prior of the prevalence and what audited rows say

The cut rule: labels weigh nodes by their patterns only, never by how well a class explains them.
In the likelihood of everything a class that bends passes for dependence of the sources.

Levels come from p*: the label frequency that tables have with one source is not used, for the same
labels would count twice. Class and labelling can not swap, for part 1 does not know the class.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import log_expit, log_ndtr, logsumexp, softmax

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.averaged.beliefs import log_belief
from doublelogit.averaged.level import Average, average_at, level_of
from doublelogit.averaged.mechanisms.protocol import Odds
from doublelogit.averaged.mechanisms.sources import SOURCES
from doublelogit.averaged.mixture import levelled, lines_of
from doublelogit.averaged.nodes import Node, Nodes, source_nodes
from doublelogit.averaged.posteriors import posterior_under
from doublelogit.averaged.prior import log_prevalence
from doublelogit.averaged.scales import Start, gaussians_of_slice
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.shapes.any import AnyShape
from doublelogit.averaged.shapes.line import Line
from doublelogit.averaged.shapes.protocol import Lines
from doublelogit.averaged.span import Span, span_of
from doublelogit.averaged.weights import TINY, Component, log_weight
from doublelogit.core.labels import Labels
from doublelogit.core.rows import labelled_share
from doublelogit.fitted import MixtureSide, PosteriorSide
from doublelogit.fitted.fit import Orientation, PUFit
from doublelogit.fitted.sources import SourceLaw, SourcesPosterior, SourcesSide
from doublelogit.methods.patterns import looked
from doublelogit.methods.problem import Problem
from doublelogit.methods.sources import logits_seen

ANY = 0.5  # share of a node's mass that is kept for a class of any shape
HELD = Odds(1.0, 1.0)
CELL = (1.0, 2.0)  # any: a node has no cells of the prevalence
LARGEST = 1 - 1e-6  # guard: a prevalence that has a logit
LEVEL_TOLERANCE = 1e-9


def averaged_by_sources(
    problem: Problem, settings: Settings, dependence: float | None = None
) -> PUFit:
    """Integrate over how sources label, and over the class given that.

    With a ``dependence``, a log odds ratio, that of all pairs of sources is held there.
    """
    mean_s, span = labelled_share(problem.rows), span_of(problem)
    found = source_nodes(problem, dependence)
    nodes: list[Node] = []
    components: list[Component] = []
    number: list[int] = []
    start = None
    for node in found.nodes:
        here = _class(problem, node, settings, span, len(nodes), start)
        if not here and start is not None:  # from a class that holds all rows no way leads back
            here = _class(problem, node, settings, span, len(nodes), None)
        if not here:
            continue
        best = max(here, key=_mass).gaussian
        start = Start(best.u, best.prior.node)
        number += [len(nodes)] * len(here)
        components += here
        nodes.append(node)
    complete = len(nodes) == len(found.nodes)
    found = found._replace(nodes=nodes)
    stalled = softmax([c.log_mass for c in components]) @ [c.gaussian.stalled for c in components]
    lines = lines_of(components, mean_s)
    if span is not None:
        lines = span.lifted(lines)
    model = _mixture(problem, found, lines, np.array(number), mean_s)
    converged = found.converged and complete and stalled <= settings.light
    told = Orientation("sources", np.inf, "log-evidence", True)
    return PUFit(model, len(components), converged, orientation=told, stalled=float(stalled))


def _class(
    problem: Problem,
    node: Node,
    settings: Settings,
    span: Span | None,
    number: int,
    start: Start | None,
) -> list[Component]:
    """The gaussians of a logistic class under one node, by scales of its slopes."""
    rows = problem.rows
    offset = rows.map_rows(partial(logits_seen, node.source), rows.labels)
    mechanism = SOURCES[node.source.name].holding(offset)
    inside = problem if span is None else span.problem
    posterior = posterior_under(inside, mechanism, HELD, settings, span, number)
    start = start or Start(np.zeros(posterior.size), len(posterior.priors) // 2)
    gaussians = gaussians_of_slice(posterior, 0.0, [], start, lambda _: 0.0)
    weights = np.array([log_weight(gaussian) for gaussian in gaussians])
    by_scale = weights - logsumexp(weights)  # nodes are not weighed by how well a class fits
    return [
        Component(one.compact, node.log_mass + mass, (0.0, 0.0), *CELL, (0, number, one.prior.node))
        for one, mass in zip(gaussians, by_scale.tolist(), strict=True)
        if mass > -np.inf
    ]


def _mixture(
    problem: Problem, found: Nodes, lines: Lines, number: Ints, mean_s: float
) -> SourcesPosterior:
    """Lines and classes of any shape, weighed and at their mean level."""
    nodes = found.nodes
    within = np.array([node.within for node in nodes])[number] * (lines.outcome.share - mean_s)
    line = replace(lines.outcome, share_sd=np.hypot(lines.outcome.share_sd, within))
    inside = number == np.arange(len(nodes))[:, None]
    by_node = softmax(np.where(inside, lines.log_mass, -np.inf), axis=1)
    node_mass = logsumexp(np.where(inside, lines.log_mass, -np.inf), axis=1)
    bent = _any_shape(problem, nodes, lines, by_node, mean_s)
    side = MixtureSide((line, bent))
    place = np.append(number, np.arange(len(nodes)))
    log_mass = np.append(lines.log_mass + np.log1p(-ANY), node_mass + np.log(ANY))
    # a law by which there were more positives than rows is none
    log_mass += np.array([log_ndtr((1 - node.share) / node.share_sd) for node in nodes])[place]
    if problem.audited:
        log_mass += _of_audited(problem, nodes, bent)[place]
    pi = np.clip(side.share, TINY, 1.0)
    log_mass += log_prevalence(pi) + log_belief(problem.beliefs, pi, mean_s / pi)
    weight, labelling = softmax(log_mass), _labelling(nodes, mean_s, number, side)
    outcome, propensity = (levelled(problem, weight, one) for one in (side, labelling))
    return SourcesPosterior(
        mean_s,
        weight,
        tuple(SOURCES[nodes[i].source.name].name for i in place.tolist()),
        (Line.name, AnyShape.name),
        np.zeros(len(place)),
        np.append(lines.class_scale, by_node @ lines.class_scale),
        log_mass,
        outcome,
        propensity,
        overlaps=found.overlaps,
        learned=found.learned,
    )


def _labelling(nodes: list[Node], mean_s: float, number: Ints, side: MixtureSide) -> MixtureSide:
    """p*(x) beside the class in the components of either shape."""
    laws = tuple(node.source for node in nodes)
    places = (number.astype(float), np.arange(len(nodes), dtype=float))
    pairs = zip(places, side.sides, strict=True)
    return MixtureSide(
        tuple(SourcesSide(laws, at, mean_s / one.share, np.zeros(len(at))) for at, one in pairs)
    )


def _any_shape(
    problem: Problem, nodes: list[Node], lines: Lines, by_node: Floats, mean_s: float
) -> PosteriorSide:
    """A class of any shape under each node, at its level by Horvitz and Thompson."""
    rows, outcome = problem.rows, lines.outcome
    share = np.clip([node.share for node in nodes], mean_s, LARGEST)
    within = np.array([node.within for node in nodes]) * (share - mean_s)
    coef = by_node @ outcome.coef
    mean = PosteriorSide(coef, np.tensordot(by_node, outcome.covariance, axes=1), share, within)

    def average(level: Floats) -> Average:
        sums = rows.sum_rows(partial(_averages, mean, level), rows.weight)
        return sums[0] / problem.n, sums[1] / problem.n

    coef[:, -1] += level_of(average, share, LEVEL_TOLERANCE)
    share_sd = np.hypot([node.share_sd for node in nodes], within)
    return replace(mean, coef=coef, share_sd=share_sd)


def _of_audited(problem: Problem, nodes: list[Node], bent: PosteriorSide) -> Floats:
    """Log-likelihood of audited rows under each node, its class at the level of p*(x).

    A class that was fitted to these rows has them right whatever the law of the sources.
    """
    rows = problem.rows
    fn = partial(_audited, tuple(node.source for node in nodes), bent)
    return np.asarray(rows.sum_rows(fn, rows.labels, rows.weight))


def _audited(
    sources: tuple[SourceLaw, ...], side: PosteriorSide, X: Matrix, labels: Labels, weight: Floats
) -> Floats:
    checked = np.flatnonzero(~np.isnan(labels.known) & (labels.any == 0))
    X, known, weight = X[checked], labels.known[checked], weight[checked]
    seen = looked(labels)[checked]
    log_none = np.column_stack([log_expit(-one.logit_any(X, seen)) for one in sources])
    logit_t = side.predictor(X) + log_none
    sign = np.where(known == 1, 1.0, -1.0)[:, None]
    return np.asarray(weight @ log_expit(sign * logit_t))


def _averages(side: PosteriorSide, level: Floats, X: Matrix, weight: Floats) -> Average:
    return average_at(side.predictor(X), weight, level)


def _mass(component: Component) -> float:
    return component.log_mass
