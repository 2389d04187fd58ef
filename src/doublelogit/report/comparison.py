"""All methods side by side on one table, and which of them to use."""

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from doublelogit._types import Floats
from doublelogit.inference import ScarTest
from doublelogit.metrics import label_log_likelihoods
from doublelogit.registry import DEFAULT_METHOD, METHODS
from doublelogit.report.verdict import Sentence
from doublelogit.tables.encoder import TableEncoder
from doublelogit.tables.model import fit_classifier, make_classifier
from doublelogit.tables.roles import Table

FOLDS = 3
SCAR = "joint, SCAR"  # a constant propensity
AT_RANDOM = (SCAR, "naive")  # methods that biased labels rule out
FAR = 0.1  # shares of positives that are no longer one answer
CLEARLY = 2.0  # standard errors by which another method must be better to be recommended


@dataclass(frozen=True)
class Line:
    """One method: prevalence, held-out likelihood per row, and agreement with the default."""

    method: str
    prevalence: float
    log_likelihood: float
    difference: float  # of the log-likelihood from the default's, per row
    standard_error: float
    rank_correlation: float
    same_top: float
    warned: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """The lines, and what follows from them."""

    lines: list[Line]
    recommended: str
    sentences: list[Sentence]

    def to_dict(self) -> dict[str, Any]:
        """As JSON would hold it."""
        return {**asdict(self), "sentences": [sentence._asdict() for sentence in self.sentences]}


def compare_methods(
    table: Table, test: ScarTest, *, seed: int = 0, progress: Callable[[float], None]
) -> Comparison:
    """Fit every method, score it on held-out labels, and see whether they agree."""
    encoder = TableEncoder(table.roles.categorical).fit(table.features)
    X, _ = encoder.encode(table.features)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, table.s))
    fits = {}
    names = [DEFAULT_METHOD, SCAR, *(m for m in METHODS if m != DEFAULT_METHOD)]
    for i, name in enumerate(names):
        fits[name] = _tried(_classifier(name, table, encoder), X, table, folds)
        progress((i + 1) / len(names))
    lines = [_line(name, fits, table) for name in names]
    return _concluded(lines, test)


@dataclass(frozen=True)
class _Tried:
    positive: Floats
    hidden: Floats
    likelihood: Floats  # of each row, by the models that have not seen it
    warned: tuple[str, ...]


def _classifier(name: str, table: Table, encoder: TableEncoder) -> Any:
    if name == SCAR:
        return make_classifier(table.roles, encoder, "joint", propensity_features=[])
    roles = table.roles
    if name in ("naive", "tm-simple"):  # one set of features for all
        roles = replace(roles, outcome_features=None, propensity_features=None)
    return make_classifier(roles, encoder, name)


def _tried(classifier: Any, X: Any, table: Table, folds: Any) -> _Tried:
    likelihood = np.empty(len(table))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_classifier(classifier, X, table)
        said = tuple(dict.fromkeys(str(w.message) for w in caught))
        for train, test in folds:
            part = fit_classifier(clone(classifier), X, table, train)
            s_x = part.predict_label_proba(X.iloc[test])
            likelihood[test] = label_log_likelihoods(table.s[test], s_x)
    return _Tried(classifier.predict_positive(X), classifier.predict_hidden(X), likelihood, said)


def _line(name: str, fits: dict[str, _Tried], table: Table) -> Line:
    mine, base = fits[name], fits[DEFAULT_METHOD]
    difference = mine.likelihood - base.likelihood
    unlabelled = table.s == 0
    # NAIVE knows no hidden positives: it ranks by its chance of a label
    scores = [t.hidden if np.ptp(t.hidden) else t.positive for t in (mine, base)]
    scores = [score[unlabelled] for score in scores]
    k = max(1, int(unlabelled.sum()) // 20)
    tops = [set(np.argsort(-score, kind="stable")[:k].tolist()) for score in scores]
    return Line(
        method=name,
        prevalence=float(np.average(mine.positive, weights=table.weight)),
        log_likelihood=float(mine.likelihood.mean()),
        difference=float(difference.mean()),
        standard_error=float(difference.std() / np.sqrt(len(difference))),
        rank_correlation=float(spearmanr(*scores).statistic),
        same_top=len(tops[0] & tops[1]) / k,
        warned=mine.warned,
    )


def _concluded(lines: list[Line], test: ScarTest) -> Comparison:
    allowed = [line for line in lines if not (test.rejects and line.method in AT_RANDOM)]
    better = [
        line
        for line in allowed
        if line.method != "naive" and line.difference > CLEARLY * line.standard_error
    ]
    best = max(better, key=lambda line: line.difference).method if better else DEFAULT_METHOD
    shares = [line.prevalence for line in lines if line.method not in AT_RANDOM]
    sentences = [Sentence("attention" if test.rejects else "fine", test.sentence)]
    if test.rejects:
        text = (
            f"Methods that assume labelling at random ({', '.join(AT_RANDOM)}) are not to be used "
            "here, however well they score."
        )
        sentences.append(Sentence("attention", text))
    text = (
        f"Held-out labels are clearly more likely by {best} than by {DEFAULT_METHOD}."
        if better
        else f"No method makes held-out labels clearly more likely than {DEFAULT_METHOD} does."
    )
    sentences += [Sentence("fine", text), _agreement(shares)]
    sentences.append(Sentence("fine", f"Recommended: {best}."))
    return Comparison(lines, best, sentences)


def _agreement(shares: list[float]) -> Sentence:
    text = (
        "The methods that allow for biased labels put the share of positives between "
        f"{min(shares):.1%} and {max(shares):.1%}."
    )
    if max(shares) - min(shares) <= FAR:
        return Sentence("fine", text)
    return Sentence("attention", f"{text} They disagree: audit some rows.")
