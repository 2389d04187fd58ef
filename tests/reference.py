"""Methods by the formulas of the paper, as plain as can be."""

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression


def reference_fit(X, target, weight=None, C=1.0):
    """Soft targets the long way: two weighted copies of every row."""
    weight = np.ones(len(X)) if weight is None else weight
    weights = np.concatenate([weight * target, weight * (1 - target)])
    model = LogisticRegression(C=C, tol=1e-10, solver="newton-cholesky", max_iter=1000)
    model.fit(np.vstack([X, X]), np.repeat([1, 0], len(X)), sample_weight=weights)
    return np.append(model.coef_[0], model.intercept_)


def probability(X, coef):
    return expit(X @ coef[:-1] + coef[-1])


def reference_tm(X, s, rounds, released, alpha=None):
    """TM by the paper's formulas, in probabilities."""
    alpha = s.mean() if alpha is None else alpha
    s_x = probability(X, reference_fit(X, s))
    e_x = (s_x + 1) / 2
    for _ in range(rounds):
        odds_ratio = (1 - e_x) / e_x * s_x / (1 - s_x)
        beta = reference_fit(X, np.where(s == 1, 1.0, odds_ratio))
        y_x = probability(X, beta)
        inside = (s == 1) | (y_x > np.quantile(y_x[s == 1], alpha))
        gamma = reference_fit(X[inside], s[inside])
        e_x = probability(X, gamma)
        if released:
            e_x = np.maximum(e_x, s_x)
        s_x = e_x * y_x
    if released:
        odds_ratio = (1 - e_x) / e_x * s_x / (1 - s_x)
        beta = reference_fit(X, np.where(s == 1, 1.0, odds_ratio))
    return beta, gamma


def reference_em(X, s, rounds):
    """SAR-EM by its formulas, in probabilities."""
    beta = reference_fit(X, s, np.where(s == 1, 1 - s.mean(), s.mean()))
    gamma = reference_fit(X, s, s + (1 - s) * probability(X, beta))
    for _ in range(rounds):
        y_x, e_x = probability(X, beta), probability(X, gamma)
        q = np.where(s == 1, 1.0, y_x * (1 - e_x) / (1 - y_x * e_x))
        beta, gamma = reference_fit(X, q), reference_fit(X, s, q)
    return beta, gamma
