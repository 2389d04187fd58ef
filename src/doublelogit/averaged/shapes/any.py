"""A class of any shape: y(x) = s(x) / e(x), s a stacked model of the label.

Labels show s(x) = y(x) e(x) only. Lines read every bend of s as labelling with slopes of its own; a
class that is commonest in the middle of a feature is then looked for beyond it. So a part of the
posterior goes to classes whose shape is that of s(x), one component for each of some prevalences:

    s(x)      cross-fitted label models (``label_models``): rows of fit by models without them
    pi        mean S / c, c by the law of ``frequency.py``, by what is believed of either, and by
              the classes of audited rows
    y(x)      sigma(logit s(x) + a), a such that y(x) averages to pi
    e(x)      s(x) / y(x), which rises with y(x): labels follow the class

Where labelling was named as constant, y(x) = min(s(x) / c, 1); where features were named for it, a
is a - log e(x), with the e(x) that lines find along these features (``divided.py``).

Where fewer than ten rows are labelled, or the class was asked to be a line, the posterior has a
reserve in their place (``reserve.py``).
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.averaged import frequency
from doublelogit.averaged.beliefs import log_belief
from doublelogit.averaged.mechanisms import mechanism_named
from doublelogit.averaged.mechanisms.at_random import AtRandom
from doublelogit.averaged.mechanisms.following import Following
from doublelogit.averaged.mechanisms.named import Named
from doublelogit.averaged.mechanisms.protocol import constant_labelling
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.shapes import reserve
from doublelogit.averaged.shapes.divided import SURE, DividedClass, DividedLabelling, Division
from doublelogit.averaged.shapes.protocol import Components, Lines, Proposal, Shape
from doublelogit.averaged.weights import TINY
from doublelogit.core.design import predictor
from doublelogit.core.folds import FoldsError
from doublelogit.core.labels import Labels
from doublelogit.label_models import RECORDS, LabelModel, features_of, sample_of, stacked
from doublelogit.label_models.sample import Sample
from doublelogit.methods.problem import Problem

FEWEST_LABELS = 10  # labelled rows below which no label model is fitted
MOST_ROWS = 20_000  # labelled ones, and others, of a label model
MOST_SHARE = 1 - 1e-6  # guard: lines keep a weight
FINE = 200  # label frequencies at which the law is evaluated
NODES = 9  # prevalences of a mechanism, as likely as each other


# Of the posterior: half; more where nothing is named and lines find labelling against the class,
# which is how they read a class in the middle of a feature. Chosen on learn (the former by
# ``benchmarks/shape_rule.py``): logistic rules of up to nine numbers were no better.
SHARE, MORE, OPPOSED = 0.5, 0.45, 0.5
# Where features are named lines tell class and labelling apart, and a class of any shape takes as
# much as held-out labels ask for flexible models: this much, and so much of their weight. On learn
# as good as one half, and intervals of logistic classes are a quarter shorter.
LEAST_IF_NAMED, FLEXIBLE_IF_NAMED = 0.05, 0.7


class Evidence(NamedTuple):
    """Log-likelihood of audited classes given labels, by lines and by levels of the division."""

    lines: Floats
    divided: Floats


class AnyShape(Shape):
    """A class that need not be logistic."""

    name = "any"
    words = "a class of any shape"
    colour = "#CCCCCC"
    records = (DividedClass, DividedLabelling, Division, *RECORDS)

    def proposed(
        self, problem: Problem, mean_s: float, lines: Lines, settings: Settings
    ) -> Proposal | None:
        learned = self._learned(problem, settings)
        if learned is None:
            return reserve.proposed(problem, mean_s, lines)
        return _proposed(problem, mean_s, lines, learned)

    def _learned(self, problem: Problem, settings: Settings) -> "Learned | None":
        """The label model of the features that the class may use; None if there is to be none."""
        if settings.shape != self.name or problem.n_labelled < FEWEST_LABELS:
            return None
        sample = sample_of(problem.rows, MOST_ROWS, problem.outcome.columns)
        if np.count_nonzero(sample.s) < FEWEST_LABELS:
            return None
        try:
            model, s = stacked(sample, settings.label_model)
        except FoldsError:
            return None
        return Learned(model, sample, np.clip(s, SURE, 1 - SURE))


class Learned(NamedTuple):
    """A label model, the sample that it has seen, and s(x) of its rows by models without them."""

    model: LabelModel
    sample: Sample
    s: Floats


def _proposed(problem: Problem, mean_s: float, lines: Lines, learned: Learned) -> Proposal:
    """Components of every division, and the share of the posterior that they take."""
    sample, s = learned.sample, learned.s
    weight = softmax(lines.log_mass)
    log_c = np.log(mean_s / float(weight @ lines.outcome.share))
    law = frequency.law(s, sample.s, sample.weight, log_c, FINE)
    pi = np.minimum(mean_s / law.c, frequency.MOST)
    prior, division = _division(problem, lines, learned, weight)
    along = division.along(sample.X)
    fine = division.tabled(s, along, sample.weight, pi)
    evidence = audited_evidence(problem, lines, learned.model, fine)
    log_mass = np.log(law.mass) + log_belief(problem.beliefs, pi, law.c) + evidence.divided
    of_lines = evidence.lines + log_belief(
        problem.beliefs, lines.outcome.share, mean_s / lines.outcome.share
    )
    # what lines hold was weighed by their evidence: the mean of its inverse gives theirs before
    log_lines = np.log1p(-prior) - logsumexp(np.log(weight) - of_lines)
    log_divided = np.log(prior) + logsumexp(log_mass)
    share = min(np.exp(log_divided - np.logaddexp(log_divided, log_lines)), MOST_SHARE)
    components = _components(problem, mean_s, lines, learned, division, nodes_of(log_mass, pi))
    return Proposal(np.full(len(weight), share), components)


def _division(
    problem: Problem, lines: Lines, learned: Learned, weight: Floats
) -> tuple[float, Division]:
    """The division that applies, and its share of the posterior beside that of lines."""
    none = np.zeros(0)
    if constant_labelling(problem):
        return SHARE, Division(AtRandom.name, none, cap=1 - 1 / problem.n)
    follows = Division(Following.name, none)
    if not problem.distinct_features:
        opposed = _opposed(problem, lines, learned.sample, weight)
        return SHARE + MORE * opposed, follows
    named = np.array([name == Named.name for name in lines.mechanism])
    if not named.any() or not _within(problem.propensity.columns, problem.outcome.columns):
        return SHARE, follows
    labelling = softmax(lines.log_mass[named]) @ lines.propensity.coef[named]
    labelling = _of_columns(labelling, problem.outcome.columns)
    share = LEAST_IF_NAMED + FLEXIBLE_IF_NAMED * learned.model.flexible
    return share, Division(Named.name, none, labelling=labelling)


def _within(columns: Ints | None, others: Ints | None) -> bool:
    if others is None:
        return True
    return columns is not None and bool(np.isin(columns, others).all())


def _opposed(problem: Problem, lines: Lines, sample: Sample, weight: Floats) -> float:
    """How far the lines say labelling with slopes of its own, against the class: from 0 to 1."""
    own = np.array([mechanism_named(name).own_slopes for name in lines.mechanism])
    part = weight * own
    if not part.sum():
        return 0.0
    pairs = (part @ side.coef for side in (lines.outcome, lines.propensity))
    a, b = (predictor(sample.X, _of_columns(coef, problem.outcome.columns)) for coef in pairs)
    a, b = (one - np.average(one, weights=sample.weight) for one in (a, b))
    norm = np.sqrt((sample.weight @ a**2) * (sample.weight @ b**2))
    cosine = float(sample.weight @ (a * b)) / max(float(norm), TINY)
    return float(part.sum() * np.clip(-cosine / OPPOSED, 0.0, 1.0))


def _of_columns(coef: Floats, columns: Ints | None) -> Floats:
    """The coefficients of some columns and the intercept."""
    return coef if columns is None else coef[np.append(columns, len(coef) - 1)]


class Nodes(NamedTuple):
    """Prevalences of a division with their deviations and masses; at the last nobody is hidden."""

    pi: Floats
    sd: Floats
    log_mass: Floats


def nodes_of(log_mass: Floats, pi: Floats) -> Nodes:
    """Prevalences that are as likely as each other, and the labelled share."""
    total = logsumexp(log_mass[:-1])
    edges = np.cumsum(np.append(0.0, np.exp(log_mass[:-1] - total)))
    ends = np.linspace(0.0, edges[-1], NODES + 1)
    shared = np.minimum(edges[1:], ends[1:, None]) - np.maximum(edges[:-1], ends[:-1, None])
    part = np.maximum(shared, 0.0) * NODES / edges[-1]
    mean = part @ pi[:-1]
    sd = np.sqrt(np.maximum(part @ pi[:-1] ** 2 - mean**2, 0.0))
    mass = np.full(NODES, total - np.log(NODES))
    return Nodes(np.append(mean, pi[-1]), np.append(sd, 0.0), np.append(mass, log_mass[-1]))


def _components(
    problem: Problem,
    mean_s: float,
    lines: Lines,
    learned: Learned,
    division: Division,
    nodes: Nodes,
) -> Components:
    """A component for each node, at the level of its prevalence."""
    sample, s, pi = learned.sample, learned.s, nodes.pi
    along = division.along(sample.X)
    division = division.levelled(s, along, sample.weight, pi)
    y = division.positive(s, along, division.level)
    mean, square = (np.average(power, axis=0, weights=sample.weight) for power in (y, y * y))
    sd = np.sqrt(nodes.sd**2 + np.maximum(square - mean**2, 0.0) / problem.n)
    state, columns = (learned.model, division), problem.outcome.columns
    typical = np.sqrt(softmax(lines.log_mass) @ lines.class_scale**2)
    return Components(
        (division.mechanism,) * len(pi),
        np.zeros(len(pi)),
        np.full(len(pi), typical),
        nodes.log_mass,
        DividedClass(*state, pi, sd, columns),
        DividedLabelling(*state, mean_s / pi, mean_s / pi**2 * sd, columns),
        pooled=False,
    )


def audited_evidence(
    problem: Problem, lines: Lines, model: LabelModel, division: Division
) -> Evidence:
    """Log-likelihood of the classes of audited rows, given that they are not labelled."""
    if not problem.audited:
        return Evidence(np.zeros(len(lines.mechanism)), np.zeros(len(division.level)))
    rows = problem.rows
    fn = partial(_audited, problem.outcome.columns, lines, model, division)
    return Evidence(*rows.sum_rows(fn, rows.labels, rows.weight))


def _audited(
    columns: Ints | None,
    lines: Lines,
    model: LabelModel,
    division: Division,
    X: Matrix,
    labels: Labels,
    weight: Floats,
) -> tuple[Floats, Floats]:
    which = np.flatnonzero(~np.isnan(labels.known) & (labels.any == 0) & (weight > 0))
    X, weight, positive = X[which], weight[which], labels.known[which][:, None] == 1
    y, e = (expit(side.predictor(X)) for side in (lines.outcome, lines.propensity))
    Z = features_of(X, columns)
    s = np.clip(model.predict(Z), SURE, 1 - SURE)[:, None]
    divided = (division.positive(s[:, 0], division.along(Z), division.level) - s) / (1 - s)
    of_lines, of_divided = (
        weight @ _log_class(hidden, positive) for hidden in (y * (1 - e) / (1 - y * e), divided)
    )
    return of_lines, of_divided


def _log_class(hidden: Floats, positive: Floats) -> Floats:
    """Log-probability of the class of unlabelled rows by their probabilities to be positive."""
    hidden = np.clip(hidden, SURE, 1 - SURE)
    return np.asarray(np.log(np.where(positive, hidden, 1 - hidden)))
