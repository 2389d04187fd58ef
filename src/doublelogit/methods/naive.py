"""NAIVE: logistic regression of the label, unlabelled taken for negative.

Algorithm::

    alpha   <- maximiser of sum_i S_i log y(X_i, alpha) + (1 - S_i) log(1 - y(X_i, alpha))
    s_naive <- sigma(x'alpha);  e_naive <- (s_naive + 1) / 2, the middle of [s(x), 1]
"""

from doublelogit.fitted import CertainLabel, LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.logistic import label_model
from doublelogit.methods.problem import Problem


def naive(problem: Problem, *, tol: float = 1e-6, max_iter: int = 100) -> PUFit:
    """Fit the label; the outcome model is what the label model is, and e(x) = 1."""
    model = label_model(problem, tol=tol, max_iter=max_iter)
    solution = model.solve(problem.rows.labels.any)
    pair = LinearPair(model.side(), CertainLabel())
    return PUFit(pair, solution.n_iter, solution.converged, (solution.value,))
