"""A stacked label model: predictions of rows that it was fitted to, and of new ones."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.folds import Folds, Keys, content_keys
from doublelogit.label_models.kinds import STRAIGHT, Predictor

SURE = 1e-9  # probabilities nearer to 0 or 1 have no logit


@dataclass(frozen=True)
class Line:
    """Line of Platt: what a logit becomes; as it is by default, it changes nothing."""

    shift: float = 0.0
    slope: float = 1.0

    def __call__(self, p: Floats) -> Floats:
        if self == Line():
            return p
        return np.asarray(expit(self.shift + self.slope * _logit(p)))


@dataclass(frozen=True)
class LabelModel:
    """Models of several kinds for each fold, their weights, and the rows that they have seen.

    Parameters
    ----------
    names : tuple of str
        Kinds.
    weight : ndarray of shape (n_kinds,)
        On the simplex.
    models : tuple of tuples of Predictor
        Of every fold those of all kinds, fitted outside of it.
    folds : Folds
        Fold of a row by the key of its content, or of its cluster.
    seen : ndarray of uint64
        Keys of the contents of fit, in order, and ``groups``, by which their folds go.
    line : Line
        By which the mixture is recalibrated.
    held_out : dict of str to float
        Mean log-likelihood of held-out labels, by kind, and of the "stack".
    """

    names: tuple[str, ...]
    weight: Floats
    models: tuple[tuple[Predictor, ...], ...]
    folds: Folds
    seen: Keys
    groups: Keys
    line: Line
    held_out: dict[str, float]

    @with_paying_threads
    def predict(self, X: Matrix) -> Floats:
        """P(S=1 | x): of a row of fit by models that have not seen it, of others by all."""
        used = np.flatnonzero(self.weight)
        return self.line(self._unweighted(X, used) @ self.weight[used])

    @with_paying_threads
    def by_kind(self, X: Matrix) -> Floats:
        """The same by each kind, before calibration; of shape (n_rows, n_kinds)."""
        return self._unweighted(X, np.arange(len(self.names)))

    @with_paying_threads
    def deviations(self, X: Matrix) -> Floats:
        """Columns whose squares add up to the variance of the logit of s(x).

        One for each fold, by the jackknife that leaves out a fold at a time, and one for each kind,
        by how far it is from the stack.
        """
        used, n_folds = np.flatnonzero(self.weight), len(self.models)
        P = np.array([_by_models(models, used, X) for models in self.models])
        share = self.weight[used] / self.weight[used].sum()
        stacked = _logit(self.line(P @ share))
        by_fold = np.sqrt((n_folds - 1) / n_folds) * (stacked - stacked.mean(axis=0))
        of_kind = _logit(P).mean(axis=0)
        by_kind = np.sqrt(share) * (of_kind - (of_kind @ share)[:, None])
        return np.hstack([by_fold.T, by_kind])

    @property
    def flexible(self) -> float:
        """Weight of the kinds that are more than two lines."""
        straight = np.isin(self.names, STRAIGHT)
        return float(self.weight[~straight].sum() / self.weight.sum())

    @property
    def n_deviations(self) -> int:
        """Number of these columns."""
        return len(self.models) + int(np.count_nonzero(self.weight))

    def for_new_rows(self) -> "LabelModel":
        """The model that predicts rows of fit by all models, as new ones."""
        nobody = np.zeros(0, dtype=np.uint64)
        return replace(self, seen=nobody, groups=nobody)

    def _unweighted(self, X: Matrix, kinds: Ints) -> Floats:
        fold = self._unseen(content_keys(X))
        total, times = np.zeros((X.shape[0], len(kinds))), np.zeros(X.shape[0])
        for k, models in enumerate(self.models):
            rows = np.flatnonzero((fold == k) | (fold < 0))
            if len(rows):
                times[rows] += 1
                total[rows] += _by_models(models, kinds, X[rows])
        return total / times[:, None]

    def _unseen(self, keys: Keys) -> Floats:
        """The fold whose models have not seen a row; -1 if none has."""
        if not len(self.seen):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.seen, keys), len(self.seen) - 1)
        return np.where(self.seen[at] == keys, self.folds.of(self.groups[at]), -1)


def _by_models(models: tuple[Predictor, ...], kinds: Ints, X: Matrix) -> Floats:
    """P(S=1 | x) by the models of some kinds, a column each."""
    return np.column_stack([models[j].predict(X) for j in kinds])


def _logit(p: Floats) -> Floats:
    return np.asarray(logit(np.clip(p, SURE, 1 - SURE)))
