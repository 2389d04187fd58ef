"""The bootstrap by weights: a resample is how often each row was drawn, so no row is copied."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.exceptions import BootstrapWarning

TOLERATED = 0.1  # share of resamples that may fail: more would choose which samples are seen

Statistic = Callable[[Any, Floats], Floats]


def bootstrap(
    model: Any,
    X: Any,
    y: Any,
    statistic: Statistic,
    *,
    n_resamples: int = 200,
    sample_weight: Any = None,
    audited_y: Any = None,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Floats:
    """Statistics of the model refitted to resampled rows, or to resampled clusters.

    Parameters
    ----------
    model : classifier
        Fitted or not; a clone of it is fitted to each resample.
    X, y : array-like
        As in ``fit``.
    statistic : callable (model, weight) -> array
        What to compute of a refitted model and the weights of its resample.
    n_resamples : int, default=200
    sample_weight, audited_y : array-like, default=None
        As in ``fit``.
    groups : array-like, default=None
        Clusters of rows, to be drawn as a whole.
    random_state : int, default=0
        The same seed gives the same resamples whatever n_jobs is.
    n_jobs : int, default=None
        Worker processes.

    Returns
    -------
    draws : ndarray of shape (n_resamples, ...)
        Without the resamples that could not be fitted, of which a warning tells.
    """
    n = len(y)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    codes: Ints = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    seeds = np.random.SeedSequence(random_state).spawn(n_resamples)
    work = delayed(_one)
    if len(np.unique(np.asarray(y)[weight > 0])) < 2:
        raise ValueError("y must hold labelled and unlabelled rows with weight; got one class.")
    draws = Parallel(n_jobs=n_jobs)(
        work(model, X, y, statistic, weight, audited_y, codes, seed) for seed in seeds
    )
    return np.array(_succeeded(draws))


def _succeeded(draws: list[Floats | Exception]) -> list[Floats]:
    """The draws of resamples that could be fitted, if they are nearly all."""
    failed = [draw for draw in draws if isinstance(draw, Exception)]
    found = [draw for draw in draws if not isinstance(draw, Exception)]
    if failed:
        said = f"{len(failed)} of {len(draws)} resamples could not be fitted: {failed[0]}"
        if len(failed) > TOLERATED * len(draws):
            raise ValueError(said)
        warnings.warn(f"{said} They were left out.", BootstrapWarning, stacklevel=3)
    return found


def _one(
    model: Any,
    X: Any,
    y: Any,
    statistic: Statistic,
    weight: Floats,
    audited_y: Any,
    codes: Ints,
    seed: np.random.SeedSequence,
) -> Floats | Exception:
    rng = np.random.default_rng(seed)
    n_groups = codes.max() + 1
    # a resample without labelled rows has no fit: draw again
    while True:
        counts = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))[codes]
        resampled = weight * counts
        if len(np.unique(np.asarray(y)[resampled > 0])) == 2:
            break
    audited = {} if audited_y is None else {"audited_y": audited_y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a resample; those of the fit were shown
        try:
            refitted = clone(model).fit(X, y, sample_weight=resampled, **audited)
            return np.atleast_1d(statistic(refitted, resampled))
        except (ValueError, np.linalg.LinAlgError) as error:  # of this resample alone
            return error
