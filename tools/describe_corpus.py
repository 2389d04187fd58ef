"""Measure every table of the corpus: how strong its class is, and how far from logistic.

*Signal* is the standard deviation of x'beta of the ORACLE, a logistic regression (C = 1) of the
true class on standardised features, fitted to all rows. Everything else is cross-validated in five
folds, on at most 3,000 rows: Tjur's R2 (mean posterior of positives less that of negatives), the
AUC, and what additive splines and gradient boosting gain over the ORACLE in log-likelihood per row.

Tables whose content was measured before are not measured again.

Usage: ``python -m tools.describe_corpus [--jobs N]``
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler

from doublelogit.common.threads import thread_limit
from doublelogit.studies.datasets import load_corpus
from doublelogit.studies.datasets.reduction import reduce_rows
from tools.build_corpus import PACKAGE

RESULT = PACKAGE / "corpus_signal.csv"
MOST_ROWS = 3_000
FEWEST_VALUES = 10  # a column with fewer distinct values gets no spline
KNOTS = 5
CURVATURE = 0.2  # scale of the splines beside the straight lines: bends are penalised 25 times more
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    table = pd.read_csv(PACKAGE / "corpus.csv", index_col="name")
    known = pd.read_csv(RESULT, index_col="name") if RESULT.exists() else pd.DataFrame()
    if len(known):
        known = known[known["measured"].eq(table["sha256"].reindex(known.index).str[:12])]
    left = [name for name in table.index if name not in known.index]
    rows = Parallel(n_jobs=arguments.jobs, verbose=1)(
        delayed(measured)(name, table.loc[name, "sha256"][:12]) for name in left
    )
    if rows:
        known = pd.concat([known, pd.DataFrame(rows).set_index("name")])
    known.loc[table.index].to_csv(RESULT)


@thread_limit(1)  # one process per core instead
def measured(name: str, content: str) -> dict[str, Any]:
    """What the ORACLE, splines and boosting find in one table."""
    X, y = load_corpus(name, return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    signal = float(np.std(scaled @ logistic().fit(scaled, y).coef_.ravel()))
    X, y = reduce_rows(X, y, MOST_ROWS, 0)
    posteriors = {which: held_out(model, X, y) for which, model in models(X).items()}
    loss = {which: log_loss(y, posterior) for which, posterior in posteriors.items()}
    auc = {which: roc_auc_score(y, posterior) for which, posterior in posteriors.items()}
    oracle = posteriors["oracle"]
    numbers = {
        "signal": signal,
        "tjur_r2": oracle[y == 1].mean() - oracle[y == 0].mean(),
        "auc": auc["oracle"],
        "spline_gain": loss["oracle"] - loss["spline"],
        "spline_auc": auc["spline"],
        "boosting_gain": loss["oracle"] - loss["boosting"],
        "boosting_auc": auc["boosting"],
    }
    rounded = {key: round(float(value), 4) for key, value in numbers.items()}
    return {"name": name, **rounded, "measured": content}


def logistic() -> LogisticRegression:
    return LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=200)


def models(X: np.ndarray) -> dict[str, Any]:
    """The ORACLE and two models that bend: additive splines, and boosted trees."""
    smooth = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > FEWEST_VALUES]
    curves = make_pipeline(
        SplineTransformer(KNOTS, knots="quantile", extrapolation="constant"),
        StandardScaler(),
        FunctionTransformer(lambda bends: CURVATURE * bends),
    )
    bend = make_column_transformer(
        (StandardScaler(), list(range(X.shape[1]))),
        (curves, smooth),
    )
    trees = HistGradientBoostingClassifier(
        learning_rate=0.05, max_iter=150, max_leaf_nodes=8, l2_regularization=1.0, random_state=0
    )
    return {
        "oracle": make_pipeline(StandardScaler(), logistic()),
        "spline": make_pipeline(bend, logistic()),
        "boosting": trees,
    }


def held_out(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")[:, 1]


if __name__ == "__main__":
    main()
