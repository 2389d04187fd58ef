"""Kinds of label models fitted outside of folds, and weighted by labels that were held out."""

from typing import Any

import numpy as np
from scipy.special import logit

from doublelogit._types import Floats, Ints, Matrix
from doublelogit.common.threads import with_paying_threads
from doublelogit.core.folds import Folds, Keys
from doublelogit.core.held_out import cross_fitted, simplest
from doublelogit.label_models.fitted import SURE, LabelModel, Line
from doublelogit.label_models.kinds import AUTO, FEWEST_LABELS, Kind, Predictor, kinds_of
from doublelogit.label_models.sample import Sample, distinct_rows

N_FOLDS, LARGE = 5, 10_000  # of more distinct rows
N_FOLDS_OF_LARGE = 3  # two thirds of them tell as much as four fifths
MOST_ROWS = 20_000  # of either label
MOST_STEPS = 500
EXACT = 1e-7  # mean log-likelihood that further steps could gain, at most
NEGLIGIBLE = 0.01  # weight of a kind that is not worth its predictions
PLAIN, PLATT = "as it is", "recalibrated"


@with_paying_threads
def fit_label_model(
    X: Matrix,
    s: Floats,
    weight: Floats | None = None,
    *,
    cluster: Keys | None = None,
    kinds: Any = AUTO,
    n_folds: int | None = None,
    most_rows: int = MOST_ROWS,
) -> LabelModel:
    """A stack of label models.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    s : ndarray of shape (n_rows,)
        1 of labelled rows, 0 of others.
    weight : ndarray of shape (n_rows,), default=None
        Number of times each row counts.
    cluster : ndarray of uint64, default=None
        Keys of clusters (:func:`doublelogit.core.folds.cluster_keys`), which no fold cuts.
    kinds : str, classifier, or list of them, default="auto"
        Of the models; see :func:`kinds_of`.
    n_folds : int, default=None
        Five; three of more than 10,000 distinct rows.
    most_rows : int, default=20000
        Labelled rows, and others, that are fitted at most.
    """
    weight = np.ones(len(s)) if weight is None else np.asarray(weight, dtype=float)
    sample = distinct_rows(X, np.asarray(s, dtype=float), weight, cluster).thinned(most_rows)
    return stacked(sample, kinds, n_folds)[0]


@with_paying_threads
def stacked(
    sample: Sample, kinds: Any = AUTO, n_folds: int | None = None
) -> tuple[LabelModel, Floats]:
    """The stack of a sample, and P(S=1 | x) of its rows by models that have not seen them."""
    if n_folds is None:
        n_folds = N_FOLDS if len(sample) <= LARGE else N_FOLDS_OF_LARGE
    folds = sample.folds(n_folds)
    suited = suited_kinds(kinds, sample)
    models = _models(suited, sample, folds)
    P = _held_out(models, sample, folds)
    mix = simplex_weights(likelihoods(P, sample.s), sample.weight)
    mix = np.where(mix < NEGLIGIBLE, 0.0, mix) / mix[mix >= NEGLIGIBLE].sum()
    line, scores = calibrated(P @ mix, sample, folds)
    means = np.average(np.log(likelihoods(P, sample.s)), axis=0, weights=sample.weight)
    names = tuple(kind.name for kind in suited)
    held_out = dict(zip(names, means.tolist(), strict=True))
    held_out["stack"] = float(np.average(scores, weights=sample.weight))
    model = LabelModel(names, mix, models, folds, sample.key, sample.group, line, held_out)
    return model, line(P @ mix)


def suited_kinds(kinds: Any, sample: Sample) -> list[Kind]:
    """The kinds that a sample has what they need for; an error if there are none."""
    suited = [kind for kind in kinds_of(kinds) if kind.suits(sample)]
    if not suited:
        raise ValueError(
            f"no model of label_model={kinds!r} can be fitted: trees need {FEWEST_LABELS} labelled "
            "rows, and trees, splines and products dense features, the latter two not many. "
            'Choose label_model="logistic" or "auto".'
        )
    return suited


def _models(kinds: list[Kind], sample: Sample, folds: Folds) -> tuple[tuple[Predictor, ...], ...]:
    """For every fold the models of all kinds, fitted to rows outside of it.

    A fold without rows has those of all rows: new rows are predicted by it too.
    """
    fold = folds.of(sample.group)
    outside = [sample.some(np.flatnonzero(fold != k)) for k in range(folds.n_folds)]
    return tuple(
        tuple(kind.fit(part.thinned(kind.most_rows)) for kind in kinds) for part in outside
    )


def _held_out(models: tuple[tuple[Predictor, ...], ...], sample: Sample, folds: Folds) -> Floats:
    """P(S=1 | x) of every row by each kind of model that has not seen it."""
    fold, P = folds.of(sample.group), np.empty((len(sample), len(models[0])))
    for k, fitted in enumerate(models):
        rows = np.flatnonzero(fold == k)
        for j, model in enumerate(fitted):
            if len(rows):
                P[rows, j] = model.predict(sample.X[rows])
    return P


def likelihoods(P: Floats, s: Floats) -> Floats:
    """Probability of the label of each row, bounded away from zero."""
    labelled = (s == 1)[:, None] if P.ndim == 2 else s == 1
    return np.maximum(np.where(labelled, P, 1 - P), SURE)


def simplex_weights(L: Floats, weight: Floats) -> Floats:
    """Weights of models that make the mean log of the mixture's likelihood largest.

    ``L`` has the likelihood of every row by each model. The problem is concave; a step of EM
    multiplies each weight by the mean of its model's share of the mixture, and the largest of these
    factors bounds what is left to gain.
    """
    share = weight / weight.sum()
    mix = np.full(L.shape[1], 1 / L.shape[1])
    for _ in range(MOST_STEPS):
        factor = (share / (L @ mix)) @ L
        mix = mix * factor
        if np.log(factor.max()) < EXACT:
            break
    return mix / mix.sum()


def calibrated(p: Floats, sample: Sample, folds: Folds) -> tuple[Line, Floats]:
    """Platt's line of held-out predictions, if held-out labels are clearly likelier by it.

    Also the log-likelihoods of the labels by what was chosen.
    """
    from sklearn.linear_model import LogisticRegression  # predictions need none of it

    z = logit(np.clip(p, SURE, 1 - SURE))[:, None]

    def line(rows: Ints) -> Line:
        model = LogisticRegression(C=np.inf, solver="newton-cholesky")
        model.fit(z[rows], sample.s[rows], sample_weight=sample.weight[rows])
        return Line(float(model.intercept_[0]), float(model.coef_[0, 0]))

    def moved(outside: Ints, inside: Ints) -> Floats:
        return line(outside)(p[inside])

    splits = folds.splits(sample.group)
    judged = {PLAIN: p, PLATT: cross_fitted(len(p), splits, moved)}
    scores = {name: np.log(likelihoods(q, sample.s)) for name, q in judged.items()}
    name = simplest(scores, sample.weight)
    every = np.arange(len(p))
    return (Line() if name == PLAIN else line(every)), scores[name]
