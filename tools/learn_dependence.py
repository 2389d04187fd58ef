"""Learn how sources of labels depend on each other, from the learn half of the corpus.

    python -m tools.learn_dependence

Three columns of a real table become sources: each labels the positives on that side of a cut where
the class is commoner, and is no feature any more. The log odds ratio of two of them among positives
is the coefficient of one in a logistic regression of the other on it and the features that are
left. Prints the constants of ``averaged/nodes.py``: a normal with the 5% and 95% quantiles of these
(they are skewed, and ends of intervals are what matters), its variance divided between and within
triples as theirs is, less what is due to chance.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from doublelogit.core.design import sandwich
from doublelogit.core.likelihood import sigmoid
from doublelogit.studies.datasets import load_corpus
from tools.learn_prior import learn_table

LEFT_OUT = "DoctorVisits"  # the table that the prior is judged by
TRIPLES, LEAST, MOST_FEATURES, ROWS = 4, 100, 10, 2000
BETWEEN = (0.15, 0.7)  # share of the positives that a source labels


def sources_of(X, y, rng):
    """Labels by three columns, and the features that are left; None if columns are too few."""
    columns = rng.permutation(X.shape[1])
    found, used = [], []
    for j in columns:
        labels = _cut(X[:, j], y, rng)
        if labels is not None:
            found.append(labels & y)
            used.append(j)
        if len(found) == 3:
            return np.column_stack(found).astype(float), np.delete(X, used, axis=1)
    return None


def _cut(column, y, rng):
    """The side of a cut where the class is commoner; None if no cut labels a fair share."""
    cuts = np.unique(np.quantile(column, np.arange(0.1, 0.95, 0.1)))
    for cut in rng.permutation(cuts):
        above = column > cut
        if not above.any() or above.all():
            continue
        side = above if y[above].mean() > y[~above].mean() else ~above
        if BETWEEN[0] <= side[y].mean() <= BETWEEN[1]:
            return side
    return None


def log_odds_ratio(one, other, X):
    """Coefficient of a source for another among positives, and its standard error."""
    Z = np.column_stack([other, X])
    model = LogisticRegression(C=1.0, max_iter=1000).fit(Z, one)
    p = sigmoid(model.decision_function(Z))
    information = sandwich(Z, p.p * p.not_p) + np.diag(np.append(np.ones(Z.shape[1]), 1e-9))
    return model.coef_[0, 0], np.sqrt(np.linalg.inv(information)[0, 0])


def pairs_of(name, rng):
    """A line for each pair of sources of some triples of columns of a table."""
    X, y = load_corpus(name, return_X_y=True)
    some = rng.permutation(len(y))[:ROWS]
    X, y = np.asarray(X, dtype=float)[some], y[some].astype(bool)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    for triple in range(TRIPLES):
        made = sources_of(X, y, rng)
        if made is None or y.sum() < LEAST:
            return
        S, rest = made
        for j, k in ((0, 1), (0, 2), (1, 2)):
            value, error = log_odds_ratio(S[y, j], S[y, k], rest[y][:, :MOST_FEATURES])
            yield {"table": name, "triple": f"{name} {triple}", "value": value, "error": error}


def main() -> None:
    rng = np.random.default_rng(0)
    names = [name for name in learn_table().index if not name.startswith(LEFT_OUT)]
    frame = pd.DataFrame([line for name in names for line in pairs_of(name, rng)])
    noise = (frame["error"] ** 2).groupby(frame["triple"]).mean()
    groups = frame.groupby("triple")["value"]
    within = max(groups.var().mean() - noise.mean(), 0.0)
    between = max(groups.mean().var() - (within + noise.mean()) / 3, 0.0)
    low, high = frame["value"].quantile([0.05, 0.95])
    scale = (high - low) / (2 * 1.645) / np.hypot(np.sqrt(between), np.sqrt(within))
    print(f"{len(frame)} pairs of {frame['triple'].nunique()} triples of {len(names)} tables")
    print(f"mean {groups.mean().mean():.2f}, 90% from {low:.2f} to {high:.2f}")
    deviations = scale * np.sqrt([between, within])
    print(f"COMMON, COMMON_SD, OWN_SD = {(low + high) / 2:.2f}, {deviations.round(2).tolist()}")


if __name__ == "__main__":
    main()
