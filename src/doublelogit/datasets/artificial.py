"""Artif1 and Artif2: Gaussian features with a logistic or Cauchy response.

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


def _make(name: str, n: int, p: int, scale: str, random_state: Any) -> Bunch:
    if scale not in ("published", "written"):
        raise ValueError(f"scale must be 'published' or 'written'; got {scale!r}.")
    rng = random_state
    if not isinstance(rng, np.random.Generator):
        rng = check_random_state(random_state)
    beta = np.full(p, 1.0 if scale == "published" else p**-0.5)
    X = rng.standard_normal((n, p))
    posterior: Floats = np.asarray(expit(X @ beta) if name == "Artif1" else cauchy.cdf(X @ beta))
    y = rng.uniform(size=n) < posterior
    return Bunch(data=X, target=y.astype(int), posterior=posterior, coef=beta, name=name)
