"""Kinds of models of the label; any classifier of scikit-learn's kind may be one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone, is_classifier

from doublelogit._types import Floats, Matrix
from doublelogit.fitted import Forest
from doublelogit.label_models.basis import Scale, Smooths
from doublelogit.label_models.product import ProductModel
from doublelogit.label_models.sample import Sample
from doublelogit.label_models.trees import averaged_trees, boosted_trees
from doublelogit.methods.classifiers import fit_weighted

AUTO = "auto"
FEWEST_LABELS = 30  # for trees
MANY_COLUMNS = 300  # from which a Hessian costs more than gradients
LARGEST = float(np.finfo(np.float32).max)  # forests see X in single precision
EXACT = 1e-4  # gradient of a fit: held-out likelihoods do not see more


class Predictor(Protocol):
    """A fitted model of the label."""

    def predict(self, X: Matrix) -> Floats:
        """P(S=1 | x) of every row."""


class Kind(Protocol):
    """A model that can be fitted to a sample."""

    @property
    def name(self) -> str: ...
    @property
    def most_rows(self) -> int:
        """Rows of each label beyond which no more are fitted."""

    def suits(self, sample: Sample) -> bool:
        """Whether a sample has what such a model needs."""

    def fit(self, sample: Sample) -> Predictor: ...


@dataclass(frozen=True)
class LinearPredictor:
    """A logistic regression of scaled columns, and of smooth terms of them if it has any."""

    scale: Scale
    coef: Floats
    intercept: float
    smooths: Smooths | None = None
    bends: Scale | None = None

    def predict(self, X: Matrix) -> Floats:
        Z = self.columns(X)
        logit = np.asarray(Z @ self.coef).ravel() + self.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(logit, -700, 700))))

    def columns(self, X: Matrix) -> Matrix:
        """Columns of the regression."""
        if self.smooths is None or self.bends is None:
            return self.scale(X)
        return np.hstack([self.scale(X), self.bends(self.smooths(X))])


@dataclass(frozen=True)
class Logistic:
    """Ridge logistic regression of standardised columns."""

    name: str = "logistic"
    C: float = 1.0
    most_rows: int = 10_000

    def suits(self, sample: Sample) -> bool:
        return True

    def fit(self, sample: Sample) -> LinearPredictor:
        scale = Scale.learn(sample.X, sample.weight)
        return LinearPredictor(scale, *_logistic(scale(sample.X), sample, self.C))


@dataclass(frozen=True)
class Splines:
    """Ridge logistic regression of lines and, penalised harder, of what bends them."""

    name: str = "splines"
    C: float = 1.0
    size: float = 0.5  # standard deviation of a bending term beside that of its line
    most_rows: int = 10_000

    def suits(self, sample: Sample) -> bool:
        return not sparse.issparse(sample.X) and sample.X.shape[1] <= MANY_COLUMNS

    def fit(self, sample: Sample) -> LinearPredictor:
        X, weight = sample.X, sample.weight
        scale, smooths = Scale.learn(X, weight), Smooths.learn(X, weight)
        terms = smooths(X)
        bends = Scale.learn(terms, weight)
        bends = Scale(bends.shift, bends.unit / self.size)
        Z = np.hstack([scale(X), bends(terms)])
        return LinearPredictor(scale, *_logistic(Z, sample, self.C), smooths, bends)


def _logistic(Z: Matrix, sample: Sample, C: float) -> tuple[Floats, float]:
    """Coefficients and intercept of a ridge logistic regression."""
    from sklearn.linear_model import LogisticRegression  # predictions need none of it

    wide = sparse.issparse(Z) or Z.shape[1] > MANY_COLUMNS
    solver = "lbfgs" if wide else "newton-cholesky"
    model = LogisticRegression(C=C, solver=solver, tol=EXACT, max_iter=500)
    model.fit(Z, sample.s, sample_weight=sample.weight)
    return model.coef_[0], float(model.intercept_[0])


@dataclass(frozen=True)
class Product:
    """Two sigmoids multiplied, of the same standardised columns: a line that labels with slopes."""

    name: str = "product"
    C: float = 1.0
    most_rows: int = 2500

    def suits(self, sample: Sample) -> bool:
        return not sparse.issparse(sample.X) and sample.X.shape[1] <= MANY_COLUMNS

    def fit(self, sample: Sample) -> ProductModel:
        scale = Scale.learn(sample.X, sample.weight)
        Z = scale(sample.X)
        coef, intercept = _logistic(Z, sample, self.C)
        return ProductModel.fit(scale, Z, sample, np.append(coef, intercept), self.C)


@dataclass(frozen=True)
class TreesPredictor:
    """Trees whose values add up to a probability, or to its logit."""

    forest: Forest
    logit: bool

    def predict(self, X: Matrix) -> Floats:
        total = self.forest.predict(X)
        return np.asarray(expit(total)) if self.logit else np.clip(total, 0.0, 1.0)


@dataclass(frozen=True)
class Trees:
    """An ensemble of trees, which memorises a handful of labels; kept as plain arrays."""

    name: str
    estimator: Any
    plain: Callable[[Any], TreesPredictor]
    leaf: int  # rows that a leaf is to have
    most_rows: int = 5000

    def suits(self, sample: Sample) -> bool:
        return sample.n_labelled >= FEWEST_LABELS and not sparse.issparse(sample.X)

    def fit(self, sample: Sample) -> Predictor:
        # a leaf counts distinct rows, which stand for several
        share = len(sample) / sample.weight.sum()
        model = clone(self.estimator)
        model.set_params(min_samples_leaf=max(1, round(self.leaf * share)))
        fit_weighted(
            model, np.clip(sample.X, -LARGEST, LARGEST), sample.s.astype(int), sample.weight
        )
        return self.plain(model)


@dataclass(frozen=True)
class Foreign:
    """A classifier of scikit-learn's kind, with a seed of 0 where it would draw one."""

    name: str
    estimator: Any
    most_rows: int = 20_000

    def suits(self, sample: Sample) -> bool:
        return True

    def fit(self, sample: Sample) -> "ForeignPredictor":
        model = seeded(clone(self.estimator))
        fit_weighted(model, sample.X, sample.s.astype(int), sample.weight)
        return ForeignPredictor(model)


@dataclass(frozen=True)
class ForeignPredictor:
    """A fitted classifier of another library."""

    model: Any

    def predict(self, X: Matrix) -> Floats:
        column = int(np.flatnonzero(self.model.classes_ == 1)[0])
        return np.asarray(self.model.predict_proba(X)[:, column], dtype=float)


def seeded(estimator: Any) -> Any:
    """The estimator with a seed of 0 wherever it, or one inside it, has none."""
    settings = estimator.get_params(deep=True)
    names = [name for name in settings if name.split("__")[-1] == "random_state"]
    return estimator.set_params(**{name: 0 for name in names if settings[name] is None})


def trees() -> Trees:
    """Boosted trees of few leaves.

    On adult, half of whose positives are labelled, four times the rows are worth .001 of
    log-likelihood per row, and four times the time.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=0.1, max_iter=60, max_leaf_nodes=8, l2_regularization=1.0, max_bins=64,
        early_stopping=False, random_state=0,
    )  # fmt: skip
    return Trees("trees", model, lambda m: TreesPredictor(boosted_trees(m), logit=True), leaf=20)


def forest() -> Trees:
    """A forest whose leaves hold five rows, of bounded size."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(50, max_features="sqrt", max_leaf_nodes=256, random_state=0)
    return Trees("forest", model, lambda m: TreesPredictor(averaged_trees(m), logit=False), leaf=5)


# Of "auto". A forest takes as long as all others together and, on 51 draws of the learn half,
# changes neither precision of the first 50 rows (.447 with it, .449 without) nor AUC (.711, .710).
STACK = ("logistic", "product", "splines", "trees")
STRAIGHT = ("logistic", "product")  # right if class and labelling are lines
# Makers, so that ensembles are imported where they are wanted.
KINDS: Mapping[str, Any] = {
    "logistic": Logistic,
    "product": Product,
    "splines": Splines,
    "trees": trees,
    "forest": forest,
}


def kinds_of(wanted: Any = AUTO) -> tuple[Kind, ...]:
    """Kinds by name, classifiers of scikit-learn's kind, a list of them, or those of "auto"."""
    if isinstance(wanted, str) and wanted == AUTO:
        return tuple(KINDS[name]() for name in STACK)
    several = wanted if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [wanted]
    kinds = tuple(_kind(one, i) for i, one in enumerate(several))
    if not kinds:
        raise ValueError("label_model must name at least one model; got an empty list.")
    return kinds


def _kind(wanted: Any, number: int) -> Kind:
    if isinstance(wanted, str):
        if wanted not in KINDS:
            raise ValueError(
                f"label_model must be {AUTO!r}, one of {', '.join(KINDS)}, a classifier or a list "
                f"of these; got {wanted!r}."
            )
        return KINDS[wanted]()
    if not is_classifier(wanted) or not hasattr(wanted, "predict_proba"):
        raise TypeError(
            f"label_model needs classifiers that have predict_proba; got {type(wanted).__name__}."
        )
    return Foreign(f"{type(wanted).__name__} {number + 1}", wanted)
