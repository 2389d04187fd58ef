"""More features than rows: the posterior in the span of the rows.

With standardised features z the class is z'u, and all u_j have one normal prior, which no rotation
changes. Let Z = F Q', Q'Q = I, F with as many columns as the rows have dimensions. Then

    z'u = f'q,   q = Q'u,   q_j ~ N(0, scale^2 / p)

says all that the labels can know; across the span u stays as the prior has it, N(0, scale^2 / p).
So the lines of AVERAGED are fitted to F, and carried back to all features.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from doublelogit._types import Floats
from doublelogit.averaged.mechanisms import mechanism_named
from doublelogit.averaged.shapes.protocol import Lines
from doublelogit.core.design import Terms
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted import PosteriorSide
from doublelogit.methods.problem import Problem
from doublelogit.methods.units import column_scales

# Rows for each feature, beyond which repeated rows are not looked for: a row that stands
# twice is one of weight two, so that each counts once.
REPEATED = 10
FLAT = 1e-9  # of the longest direction: shorter ones are rounding errors


@dataclass(frozen=True)
class Span:
    """The problem in the span of its rows, and the way back.

    ``lengths`` are standard deviations of the columns of F, ``n_features`` is p.
    """

    problem: Problem
    terms: Terms
    to_features: Floats  # from coefficients of F, intercept last, to those of the features
    across: Floats  # covariance of the coefficients across the span, if the scale is one
    lengths: Floats
    n_features: int

    def lifted(self, lines: Lines) -> Lines:
        """The lines of the features as they are.

        Across the span a predictor varies as its prior does, if it has slopes at all.
        """
        class_variance = lines.class_scale**2
        varies = [mechanism_named(name).varies for name in lines.mechanism]
        return replace(
            lines,
            outcome=self._side(lines.outcome, class_variance),
            propensity=self._side(lines.propensity, np.where(varies, class_variance, 0.0)),
        )

    def _side(self, side: PosteriorSide, variances: Floats) -> PosteriorSide:
        coef, covariance = [], []
        for one, V, variance in zip(side.coef, side.covariance, variances, strict=True):
            coef.append(self.terms.embed(self.to_features @ one))
            spread = self.to_features @ V @ self.to_features.T + variance * self.across
            covariance.append(self.terms.embed_matrix(spread))
        return replace(side, coef=np.array(coef), covariance=np.array(covariance))


def span_of(problem: Problem) -> Span | None:
    """The span of the rows; None where it is no smaller, or the models differ in their features."""
    rows, terms = problem.rows, problem.outcome
    alike = problem.propensity is terms or problem.propensity.size == 1
    if not (isinstance(rows, MemoryRows) and alike and REPEATED * terms.size > len(rows)):
        return None
    X = terms.select(rows.X)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    distinct = np.unique(X[rows.weight > 0], axis=0)
    if terms.size <= len(distinct):
        return None
    centre, scale = column_scales(problem, terms)
    _, lengths, right = svd((distinct - centre) / scale, full_matrices=False)
    spanned = np.flatnonzero(lengths > FLAT * lengths.max(initial=0.0))
    if not len(spanned):
        return None
    Q = right[spanned].T
    F = ((X - centre) / scale) @ Q
    inside = replace(
        problem,
        rows=replace(rows, X=F, block_rows=0),
        outcome=Terms(len(spanned)),
        propensity=Terms(len(spanned)) if problem.propensity is terms else _constant(len(spanned)),
        smooth=None,
    )
    back = _with_intercept(Q / scale[:, None], centre)
    beside = (np.eye(len(Q)) - Q @ Q.T) / np.outer(scale, scale) / len(Q)
    turn = _with_intercept(np.eye(len(Q)), centre)[:, :-1]
    return Span(inside, terms, back, turn @ beside @ turn.T, inside.spread, len(Q))


def _constant(n_features: int) -> Terms:
    return Terms(n_features, np.array([], dtype=np.intp))


def _with_intercept(slopes: Floats, centre: Floats) -> Floats:
    """Slopes of centred features and an intercept, as coefficients of the features."""
    full = np.zeros((len(slopes) + 1, slopes.shape[1] + 1))
    full[:-1, :-1], full[-1, :-1], full[-1, -1] = slopes, -(centre @ slopes), 1.0
    return full
