"""The bootstrap by weights: a resample is how often each row was drawn, so no row is copied."""

import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.exceptions import BootstrapWarning

TIMED_RESAMPLES = 4  # resamples by which the time of all is judged
WORTH_WORKERS = 10.0  # seconds of work; each worker takes about two to start
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
    progress: Callable[[float], None] | None = None,
) -> Floats:
    """Statistics of the model refitted to resampled rows, or to resampled clusters.

    Parameters
    ----------
    model : classifier
        Fitted or not; a clone of it is fitted to each resample. One of JOINT starts from the
        optimum of the model, if it is fitted.
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
        Worker processes; None: one per core, unless the first resamples show that they would take
        longer to start than to work.
    progress : callable, default=None
        Called with the share that is done.

    Returns
    -------
    draws : ndarray of shape (n_resamples, ...)
        Without the resamples that could not be fitted, of which a warning tells.
    """
    n = len(y)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    codes: Ints = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    seeds = np.random.SeedSequence(random_state).spawn(n_resamples)
    if len(np.unique(np.asarray(y)[weight > 0])) < 2:
        raise ValueError("y must hold labelled and unlabelled rows with weight; got one class.")
    work = partial(_one, model, X, y, statistic, weight, audited_y, codes)
    return np.array(_succeeded(_all(work, seeds, n_jobs, progress or (lambda _: None))))


def _all(
    work: Callable[[np.random.SeedSequence], Floats | Exception],
    seeds: list[np.random.SeedSequence],
    n_jobs: int | None,
    report: Callable[[float], None],
) -> list[Floats | Exception]:
    """Every draw in order, the first ones here if it is not known whether workers would pay."""
    draws, begun = [], perf_counter()
    for seed in seeds[:TIMED_RESAMPLES] if n_jobs is None else []:
        draws.append(work(seed))
        report(len(draws) / len(seeds))
    rest = seeds[len(draws) :]
    if n_jobs is None:
        long = (perf_counter() - begun) / TIMED_RESAMPLES * len(rest) > WORTH_WORKERS
        n_jobs = -1 if long else 1
    for draw in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(work)(s) for s in rest):
        draws.append(draw)
        report(len(draws) / len(seeds))
    return draws


def _succeeded(draws: list[Floats | Exception]) -> list[Floats]:
    """The draws of resamples that could be fitted, if they are nearly all."""
    failed = [draw for draw in draws if isinstance(draw, Exception)]
    succeeded = [draw for draw in draws if not isinstance(draw, Exception)]
    if failed:
        message = f"{len(failed)} of {len(draws)} resamples could not be fitted: {failed[0]}"
        if len(failed) > TOLERATED * len(draws):
            raise ValueError(message)
        warnings.warn(f"{message} They were left out.", BootstrapWarning, stacklevel=3)
    return succeeded


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
            refitted = _starting_near(model)
            refitted.fit(X, y, sample_weight=resampled, **audited)
            return np.atleast_1d(statistic(refitted, resampled))
        except (ValueError, np.linalg.LinAlgError) as error:  # of this resample alone
            return error


def _starting_near(model: Any) -> Any:
    """A copy to be fitted; where a search has starts, its only one is the optimum of the model."""
    again = clone(model)
    if "model_" in vars(model) and {"init", "n_starts"} <= again.get_params(deep=False).keys():
        again.set_params(init=model.model_, n_starts=1)
    return again
