"""AVERAGED: Bayesian averaging of double logistic models by variational inference.

The likelihood is nearly flat along the label frequency, and its maximum is as often far from the
truth as not. This method does not choose a point on that posterior: it integrates over all of it,
under a prior that was learned from real tables (``prior.py``).

Algorithm::

    for each mechanism of labelling that applies (``mechanisms/``)
        cut the prevalences into cells, as labels at random left them; at the middle of each, the
        heaviest first, and no further than there is mass, for each scale of slopes:
            N(u, V) <- gaussian nearest to the posterior with that intercept (``gaussian.py``)
            mass    <- prior * evidence, coarsened * Jacobian * size of the cell (``weights.py``)
        while a cell holds too much of the mass, or lies beside a narrower one that holds some, cut
        it into three and evaluate the new ones (``grid.py``)
    a part of the mass <- classes of other shapes than a line (``shapes/``)
    y(x) <- sigma of the mean of x'beta over all cells, weighted by mass, at the mean prevalence
    intervals <- quantiles over all cells, weighted likewise

In a large sample few cells hold all the mass, and only those are evaluated.

With more features than rows it works in the span of the rows (``span.py``).

Beta and gamma may swap places unnoticed, as everywhere. Where nothing tells them apart the class is
taken to depend on the features at least as much as the labelling does; where something does (named
features, audited rows) the exploration is repeated from the swapped pair and the evidence decides
(``swap.py``).

Several label sources leave no such doubt, and no search: ``sources.py``.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import softmax

from doublelogit.averaged.grid import explore
from doublelogit.averaged.mixture import lines_of, mixture, relevant
from doublelogit.averaged.posteriors import posteriors
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.sources import averaged_by_sources
from doublelogit.averaged.span import span_of
from doublelogit.averaged.swap import among_shapes, by_evidence, by_strength
from doublelogit.core.rows import labelled_share
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.problem import Problem


def averaged(problem: Problem, settings: Settings) -> PUFit:
    """Integrate over the whole posterior."""
    if problem.by_sources:
        return averaged_by_sources(problem, settings)
    problem = replace(problem, l2=0.0, propensity_l2=0.0)
    mean_s = labelled_share(problem.rows)
    span = span_of(problem)
    every = posteriors(problem, settings, span)
    components = explore(mean_s, settings, every)
    if problem.symmetric:
        components, decided = by_strength(components)
    else:
        search = partial(explore, mean_s, settings)
        components, decided = by_evidence(problem, components, every, search)
    reached = all(np.isfinite(component.log_mass) for component in components)
    n_components, share = len(components), softmax([c.log_mass for c in components])
    stalled = float(share @ np.array([c.gaussian.stalled for c in components]))
    lines = lines_of(relevant(components, settings), mean_s)
    if span is not None:
        lines = span.lifted(lines)
    model = mixture(problem, lines, mean_s, settings)
    reached = reached and stalled <= settings.light
    pools = model.outcome_model.pools
    if not pools.all():
        decided = among_shapes(decided, float(model.weight[pools].sum()))
    return PUFit(model, n_components, reached, orientation=decided, stalled=stalled)
