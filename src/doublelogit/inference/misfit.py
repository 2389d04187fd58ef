"""Do the labels speak against a fitted model: score tests of terms that it does not have.

The probability of a label is s(x, theta). With residuals r = (s - s(x)) / sqrt(s(x) (1 - s(x)))
and D = ds(x)/dtheta in the same unit, a further term z of the class has the column

    ds(x)/da z / sqrt(s(x) (1 - s(x)))

and what it would explain of r beyond D is chi-square if the model is right, whatever estimator
gave theta: to first order an error of theta moves r along D only. Three questions are asked:

    response    is the class logistic in its predictor?             the term y(x)
    shape       is the class straight in each of its features?      r = sqrt(1 + z^2) and z / r
    exclusion   does a column matter that was left out of a model?  the column itself

Everything is sums over the rows, so one pass is enough wherever the rows are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from scipy import sparse
from scipy.stats import chi2

from doublelogit._types import Floats, Matrix
from doublelogit.common.threads import with_paying_threads
from doublelogit.common.thresholds import MISFIT_LEVELS
from doublelogit.core.objective import Pair
from doublelogit.core.solvers import Factor
from doublelogit.inference.fitted_problem import FittedProblem
from doublelogit.methods.problem import Problem

MOST_COLUMNS = 150  # features beyond which so many questions have no power, and cost too much
LEAST_VARIANCE = 1e-12  # variance of a label below which a row tells nothing
LEAST_NEW_SHARE = 1e-5  # share of a term's square that the model does not have; less is rounding


@dataclass(frozen=True)
class Misfit:
    """A question asked of a model, and what the labels say.

    Parameters
    ----------
    question : {"response", "shape", "class", "labelling"}
        What was asked; class and labelling: does a column matter for the model that lacks it.
    feature : str
        The feature asked about; empty for the response.
    p_value : float
        Small if the labels speak against the model, corrected for questions of the same kind.
    """

    question: str
    feature: str
    p_value: float

    @property
    def rejects(self) -> bool:
        """Whether the labels speak against the model."""
        return self.p_value <= MISFIT_LEVELS[KINDS[self.question]]


KINDS = {"response": "response", "shape": "shape", "class": "exclusion", "labelling": "exclusion"}


# A question, the number of its feature, and the places of its further terms.
PlacedTerms = tuple[str, int, slice]


@with_paying_threads
def misfits(fitted: FittedProblem) -> list[Misfit]:
    """The answers, worst first within each kind; none if the model has too many columns."""
    problem = fitted.problem
    if problem.rows.n_features > MOST_COLUMNS:
        return []
    questions, rows = _questions(problem), problem.rows
    spread = np.where(problem.spread > 0, problem.spread, 1.0)
    further = partial(_further, questions, problem.centre, spread)
    fn = partial(_gram, fitted.pair, further, problem.false_label_rate)
    gram = rows.sum_rows(fn, rows.labels.any, rows.weight)
    results = []
    for kind in MISFIT_LEVELS:
        tests = [
            (question, j, p)
            for question, j, at in questions
            if KINDS[question] == kind and (p := _p_value(gram, len(fitted.theta), at)) is not None
        ]
        for question, j, p in sorted(tests, key=itemgetter(2)):
            name = fitted.feature_names[j] if j >= 0 else ""
            results.append(Misfit(question, name, min(1.0, p * len(tests))))
    return results


def worst_misfit(candidates: list[Misfit]) -> Misfit | None:
    """The answer that is furthest beyond its level; None if the labels speak against nothing."""
    against = [misfit for misfit in candidates if misfit.rejects]
    limits = {m: MISFIT_LEVELS[KINDS[m.question]] for m in against}
    return min(against, key=lambda m: m.p_value / limits[m], default=None)


def _further(
    questions: list[PlacedTerms],
    centre: Floats,
    spread: Floats,
    X: Floats,
    y: Floats,
    slope_a: Floats,
    slope_b: Floats,
) -> Floats:
    """The further terms of a block, each times the slope of the model it would belong to."""
    Z = (X - centre) / spread
    columns = np.empty((len(y), questions[-1][2].stop))
    for question, feature, at in questions:
        slope = slope_b if question == "labelling" else slope_a
        if question == "response":
            terms = y[:, None]
        elif question == "shape":
            length = np.sqrt(1 + Z[:, feature] ** 2)
            terms = np.column_stack([length, Z[:, feature] / length])
        else:
            terms = Z[:, [feature]]
        columns[:, at] = slope[:, None] * terms
    return columns


def _questions(problem: Problem) -> list[PlacedTerms]:
    """All questions with the places of their terms."""
    positions = np.append(np.arange(problem.rows.n_features), -1.0)
    models = (problem.outcome, problem.propensity)
    outcome, propensity = (set(m.take(positions)[:-1].astype(int).tolist()) for m in models)
    questions = [("response", -1, 1)]
    questions += [("shape", j, 2) for j in sorted(outcome)]
    questions += [("class", j, 1) for j in sorted(propensity - outcome)]
    questions += [("labelling", j, 1) for j in sorted(outcome - propensity)]
    ends = np.cumsum([0, *(size for *_, size in questions)]).tolist()
    places = [slice(*ends[i : i + 2]) for i in range(len(questions))]
    return [(q, j, at) for (q, j, _), at in zip(questions, places, strict=True)]


def _gram(
    pair: Pair,
    further: Callable[..., Floats],
    rate: float,
    X: Matrix,
    s: Floats,
    weight: Floats,
) -> Floats:
    """Products of all columns of D, of the further terms and of r, summed over rows.

    With a ``rate`` of false labels s(x) is y(x) e(x) + rate (1 - y(x)).
    """
    Xa, Xb = pair.features(X)
    a, b = pair.predictors(Xa, Xb)
    label, y = pair.response.labelled(a, b), pair.response.outcome(a, b)
    s_x = label.value + rate * (1 - y.value)
    unit = np.sqrt(weight / np.maximum(s_x * (1 - s_x), LEAST_VARIANCE))
    slopes = (unit * (label.d_a - rate * y.d_a), unit * (label.d_b - rate * y.d_b))
    D = [_times(_dense(Z), slope) for Z, slope in zip((Xa, Xb), slopes, strict=True)]
    both = np.column_stack([*D, further(_dense(X), y.value, *slopes), unit * (s - s_x)])
    return np.asarray(both.T @ both)


def _times(X: Floats, slope: Floats) -> Floats:
    """Columns of [x, 1] times a slope."""
    return np.column_stack([X * slope[:, None], slope])


def _dense(X: Matrix) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _p_value(gram: Floats, size: int, terms: slice) -> float | None:
    """P-value of what some terms explain of r beyond D; None if D has them already."""
    mine = np.arange(size + terms.start, size + terms.stop)
    scale = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    scaled = gram / np.outer(scale, scale)
    D = Factor.from_matrix(scaled[:size, :size])
    cross, r = scaled[:size, mine], scaled[:, -1] * scale[-1]
    left = scaled[np.ix_(mine, mine)] - cross.T @ D.solve(cross)
    values, vectors = np.linalg.eigh(left)
    new = values > LEAST_NEW_SHARE
    if not new.any():
        return None
    along = vectors[:, new].T @ (r[mine] - cross.T @ D.solve(r[:size]))
    return float(chi2.sf(np.sum(along**2 / values[new]), int(new.sum())))
