"""Gaussian features with a logistic or Cauchy response: Artif1, Artif2, and that of the battery.

Implements: P(Y=1 | X) = F(X'beta) with F logistic (Artif1) or Cauchy (Artif2)
"""

from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import cauchy
from sklearn.utils import Bunch, check_random_state

from doublelogit._types import Floats


def make_artif1(
    n_samples: int = 2000,
    n_features: int = 50,
    *,
    scale: str = "published",
    random_state: Any = None,
) -> Bunch:
    """Generate Artif1, where the logistic model is true.

    Parameters
    ----------
    n_samples, n_features : int, default=2000, 50
    scale : {"published", "written"}, default="published"
        Coefficients (1, ..., 1), which the printed results match, or the p^-1/2 (1, ..., 1) of
        the paper's text.
    random_state : int, RandomState instance, Generator or None, default=None

    Returns
    -------
    data : Bunch
        ``data`` of shape (n_samples, n_features), ``target`` (the true class), ``posterior``
        (P(Y=1 | x)), ``coef`` and ``name``.
    """
    return _make("Artif1", n_samples, n_features, scale, random_state)


def make_artif2(
    n_samples: int = 2000,
    n_features: int = 50,
    *,
    scale: str = "published",
    random_state: Any = None,
) -> Bunch:
    """Generate Artif2, whose Cauchy response is far from logistic in the tails.

    Parameters
    ----------
    n_samples, n_features : int, default=2000, 50
    scale : {"published", "written"}, default="published"
        As in :func:`make_artif1`.
    random_state : int, RandomState instance, Generator or None, default=None

    Returns
    -------
    data : Bunch
        As in :func:`make_artif1`; ``posterior`` is that of the Cauchy response.
    """
    return _make("Artif2", n_samples, n_features, scale, random_state)


def make_half(
    n_samples: int = 700,
    n_features: int = 12,
    *,
    slope: float = 1.0,
    intercept: float = -0.3,
    random_state: Any = None,
) -> Bunch:
    """Generate a sample whose class depends on the first half of its features.

    The other half is left to the labelling: see :func:`doublelogit.studies.labelling.disjoint`.

    Parameters
    ----------
    n_samples, n_features : int, default=700, 12
    slope, intercept : float, default=1.0, -0.3
        Of the logistic class model.
    random_state : int, RandomState instance, Generator or None, default=None

    Returns
    -------
    data : Bunch
        As in :func:`make_artif1`; ``intercept`` besides.
    """
    rng = _generator(random_state)
    beta = slope * (np.arange(n_features) < n_features // 2)
    X = rng.standard_normal((n_samples, n_features))
    posterior = np.asarray(expit(X @ beta + intercept))
    y = (rng.uniform(size=n_samples) < posterior).astype(int)
    bunch = {"data": X, "target": y, "posterior": posterior, "coef": beta}
    return Bunch(**bunch, intercept=intercept, name="Half")


def _make(name: str, n: int, p: int, scale: str, random_state: Any) -> Bunch:
    if scale not in ("published", "written"):
        raise ValueError(f"scale must be 'published' or 'written'; got {scale!r}.")
    rng = _generator(random_state)
    beta = np.full(p, 1.0 if scale == "published" else p**-0.5)
    X = rng.standard_normal((n, p))
    posterior: Floats = np.asarray(expit(X @ beta) if name == "Artif1" else cauchy.cdf(X @ beta))
    y = rng.uniform(size=n) < posterior
    return Bunch(data=X, target=y.astype(int), posterior=posterior, coef=beta, name=name)


def _generator(random_state: Any) -> Any:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)
