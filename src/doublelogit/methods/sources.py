"""JOINT with several label sources: their propensities by patterns, then the class.

Algorithm::

    gamma_1 ... gamma_m <- maximum of the likelihood of the patterns of labelled rows, with the
                           dependence of the sources as it is given (``patterns.py``)
    p*(x)               <- chance that any of them labels a positive
    beta                <- maximum of the likelihood of any label, p*(x) held

Both maxima are unique. The dependence of the sources, a log odds ratio of each pair among
positives, is taken as given: an average over what it may be is AVERAGED's.
"""

from functools import partial

import numpy as np

from doublelogit._types import Floats, Matrix
from doublelogit.core.labels import Labels
from doublelogit.core.patterns import Pairs, law_named
from doublelogit.core.solvers import newton
from doublelogit.fitted import LinearSide
from doublelogit.fitted.fit import Orientation, PUFit
from doublelogit.fitted.sources import SourceLaw, SourcesPair
from doublelogit.methods.held import HeldPropensityObjective
from doublelogit.methods.patterns import (
    GaussianPrior,
    PatternFit,
    PatternsObjective,
    fit_patterns,
    labelled_patterns,
    looked,
    n_sources,
)
from doublelogit.methods.problem import Problem
from doublelogit.methods.units import column_scales, from_standardised

BY_SOURCES = Orientation("sources", np.inf, "log-likelihood", True)
GUARD = 1e-4  # precision of an intercept, which has no end where sources never agree


def joint_by_sources(problem: Problem, *, dependence: float, tol: float, max_iter: int) -> PUFit:
    """Maximum likelihood of the sources, then of the class."""
    part = _patterns(problem, dependence)
    source = SourceLaw("pairs", part.coefficients(part.theta), part.objective.phi(part.theta))
    rows, terms = problem.rows, problem.outcome
    logits = rows.map_rows(partial(logits_seen, source), rows.labels)
    held = (rows, terms, logits, problem.n, problem.l2, problem.moments.units)
    objective = HeldPropensityObjective(*held)
    class_ = newton(objective, np.zeros(terms.size), tol=tol, max_iter=max_iter)
    pair = SourcesPair(LinearSide(terms.embed(class_.theta)), source)
    converged = part.converged and class_.converged
    return PUFit(pair, class_.n_iter, converged, orientation=BY_SOURCES)


def logits_seen(source: SourceLaw, X: Matrix, labels: Labels) -> Floats:
    """Logit of p*(x) of each row, by the sources that looked at it."""
    return source.logit_any(X, looked(labels))


def _patterns(problem: Problem, dependence: float) -> PatternFit:
    """Part 1, its slopes penalised as the problem has it."""
    terms, rows = problem.propensity, labelled_patterns(problem)
    law = law_named("pairs", n_sources(problem))
    assert isinstance(law, Pairs)
    _, spread = column_scales(problem, terms)
    slopes = problem.propensity_l2 * (1.0 if problem.scaled_penalty else spread**-2)
    precision = np.append(np.broadcast_to(slopes, spread.shape), GUARD)
    every = np.tile(precision, law.n_sources)
    prior = GaussianPrior(np.zeros(len(every)), np.diag(every))
    phi = np.array([dependence if len(group) == 2 else 0.0 for group in law.groups])
    to_gamma = from_standardised(problem, terms)
    return fit_patterns(
        PatternsObjective(rows, terms, law, to_gamma, prior, problem.n_labelled, held=phi)
    )
