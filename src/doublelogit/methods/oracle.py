"""ORACLE: logistic regression of the true class, the reference of the experiments.

Algorithm::

    beta_O <- maximiser of sum_i Y_i log y(X_i, beta) + (1 - Y_i) log(1 - y(X_i, beta))
"""

from doublelogit._types import Column
from doublelogit.fitted import CertainLabel, LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import outcome_model
from doublelogit.methods.problem import Problem


def oracle(problem: Problem, y: Column, *, tol: float = 1e-6, max_iter: int = 100) -> PUFit:
    """Fit the true class y of every row, which no user of PU data has."""
    model = outcome_model(problem, tol=tol, max_iter=max_iter)
    solution = model.solve(y)
    pair = LinearPair(model.side(), CertainLabel())
    return PUFit(pair, solution.n_iter, solution.converged, (solution.value,))
