"""``joint_path``: L1-penalised fits of class and labelling by decreasing penalties."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_sample_weight, check_X_y

from doublelogit._types import Floats
from doublelogit.common.threads import with_paying_threads
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.validation import encode_labels
from doublelogit.methods.path import SparseLoss, geometric, path, start

SHARE = Interval(Real, 0, 1, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
PARAMETERS = {
    "labelling": [StrOptions({"free", "certain"})],
    "kappa": [POSITIVE],
    "n_alphas": [COUNT],
    "eps": [SHARE],
    "max_features": [COUNT, None],
    "tol": [POSITIVE],
}


class JointPath(NamedTuple):
    """Fits along a path, one for each penalty.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, decreasing.
    coefs, propensity_coefs : ndarray of shape (n_features, n_alphas)
        Slopes of the class and of the labelling, of the columns as they are.
    intercepts, propensity_intercepts : ndarray of shape (n_alphas,)
        Their intercepts; infinite for a labelling that is held at one.
    violations : ndarray of shape (n_alphas,)
        Largest gap of an optimality condition over all columns, in standard units.
    n_iter : ndarray of shape (n_alphas,)
        Steps that each fit took.
    """

    alphas: Floats
    coefs: Floats
    intercepts: Floats
    propensity_coefs: Floats
    propensity_intercepts: Floats
    violations: Floats
    n_iter: Any


@with_paying_threads
def joint_path(
    X: Any,
    s: Any,
    *,
    sample_weight: Any = None,
    labelling: str = "free",
    kappa: float = 1.0,
    alphas: Any = None,
    n_alphas: int = 50,
    eps: float = 0.05,
    max_features: int | None = None,
    tol: float = 1e-4,
    pos_label: Any = None,
) -> JointPath:
    """Sparse double logistic models along a path of penalties, as sklearn's ``lasso_path``.

    Each fit minimises the mean of ``-log P(s | x)`` plus ``alpha (|beta|_1 + kappa |gamma|_1)``,
    with slopes of standardised columns. A path of class and labelling ends where labelling is
    certain and the class is that of the labels, so it serves to look at columns; to estimate, use
    :class:`SparseClassifier`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features. Sparse ones stay sparse.
    s : array-like of shape (n_samples,)
        Labels: labelled or unlabelled.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of times each row counts.
    labelling : {"free", "certain"}, default="free"
        Whether labelling is a model of its own, or every positive is labelled, e(x) = 1: then the
        path is that of an L1-penalised logistic regression of the labels.
    kappa : float, default=1.0
        Penalty of slopes of the labelling, as a multiple of that of the class.
    alphas : array-like, default=None
        Penalties; None is ``n_alphas`` of them, geometric, from the least one that leaves no slope.
    n_alphas : int, default=50
        Number of penalties.
    eps : float, default=0.05
        The last penalty as a share of the first.
    max_features : int, default=None
        The path ends before a fit with more features.
    tol : float, default=1e-4
        Gap of an optimality condition that is left, as a share of the first penalty.
    pos_label : object, default=None
        The value of s that means labelled. Not needed for 0/1, -1/1 and booleans.

    Returns
    -------
    path : JointPath
        A named tuple of penalties, slopes and intercepts of both models, and gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import joint_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> s = rng.random(300) < 1 / (1 + np.exp(-3 * X[:, 7]))
    >>> np.flatnonzero(joint_path(X, s, n_alphas=5).coefs[:, 1]).tolist()
    [7]
    """
    checked = {"labelling": labelling, "kappa": kappa, "n_alphas": n_alphas, "eps": eps}
    checked |= {"max_features": max_features, "tol": tol}
    validate_parameter_constraints(PARAMETERS, checked, "joint_path")
    s, _ = encode_labels(s, pos_label)
    X, s = check_X_y(X, s, accept_sparse="csr", dtype=(np.float64, np.float32))
    weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
    models = 2 if labelling == "free" else 1
    factor = np.repeat([[1.0], [kappa]], X.shape[1], axis=1)[:models]
    loss = SparseLoss.of(memory_rows(X, s, weight=weight), factor)
    label = SparseLoss.of(loss.rows, np.ones((1, X.shape[1])))
    largest = label.largest_penalty(start(label, tol))
    penalties = geometric(largest, n_alphas, eps) if alphas is None else _decreasing(alphas)
    points = list(path(loss, penalties, tol=tol * largest, most_features=max_features))
    coef = np.array([loss.columns.raw(point.coef) for point in points])
    coef = coef.reshape(len(points), models, X.shape[1] + 1)
    certain = np.append(np.zeros(X.shape[1]), np.inf)
    gamma = coef[:, 1] if models == 2 else np.tile(certain, (len(points), 1))
    return JointPath(
        np.array([point.penalty for point in points]),
        coef[:, 0, :-1].T,
        coef[:, 0, -1],
        gamma[:, :-1].T,
        gamma[:, -1],
        np.array([point.violation for point in points]),
        np.array([point.n_iter for point in points]),
    )


def _decreasing(alphas: Any) -> Floats:
    penalties = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    if penalties.ndim != 1 or not (np.isfinite(penalties).all() and (penalties > 0).all()):
        raise ValueError(f"alphas must be positive numbers; got {alphas!r}.")
    return penalties
