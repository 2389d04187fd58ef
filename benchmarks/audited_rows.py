"""What 100 audited rows say of the prevalence, by AVERAGED and by the exact binomial interval.

    python benchmarks/audited_rows.py

A class that ten features hardly separate, half of its positives labelled at random; of unlabelled
rows 100 are drawn at random and their class is looked at. 90% intervals of the prevalence: by
AVERAGED as it is, by AVERAGED with the likelihood of audited rows coarsened like that of others,
and by Clopper and Pearson's interval of the audited rows beside the labelled share. To
benchmarks/results/audited_rows.csv: means over samples of both ends, cover, and width.
"""

import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import beta

from doublelogit import AveragedClassifier
from doublelogit.averaged.gaussian import GaussianFit

RESULT = Path(__file__).parent / "results" / "audited_rows.csv"
SIZES, SAMPLES, AUDITED, LEVEL = (1500, 20_000), 10, 100, 0.9


def sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes, labels, and the class of audited rows."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 10))
    y = rng.random(n) < expit(0.2 * X[:, :5].sum(axis=1) - 0.7)
    s = y & (rng.random(n) < 0.5)
    drawn = rng.choice(np.flatnonzero(~s), AUDITED, replace=False)
    audited = np.full(n, np.nan)
    audited[drawn] = y[drawn]
    return X, y, s.astype(int), audited


def exact(s: np.ndarray, audited: np.ndarray) -> tuple[float, float]:
    """Clopper and Pearson's interval of the audited rows, with the labelled share."""
    positive = int(np.nansum(audited))
    tail = (1 - LEVEL) / 2
    ends = (
        beta.ppf(tail, positive, AUDITED - positive + 1),
        beta.ppf(1 - tail, positive + 1, AUDITED - positive),
    )
    low, high = (s.mean() + (1 - s.mean()) * end for end in ends)
    return low, high


def intervals(n: int, seed: int) -> list[dict]:
    """The three intervals of one sample."""
    warnings.simplefilter("ignore")
    X, y, s, audited = sample(n, seed)
    whole = AveragedClassifier().fit(X, s, audited_y=audited).prevalence_interval(LEVEL)
    with patch.object(GaussianFit, "log_audited", 0.0):
        coarsened = AveragedClassifier().fit(X, s, audited_y=audited).prevalence_interval(LEVEL)
    ends = {"averaged": whole, "averaged, audited rows coarsened": coarsened}
    ends["Clopper-Pearson"] = exact(s, audited)
    return [
        {"rows": n, "method": name, "low": low, "high": high, "truth": y.mean()}
        for name, (low, high) in ends.items()
    ]


def main() -> None:
    cells = [(n, seed) for n in SIZES for seed in range(SAMPLES)]
    found = [intervals(*cell) for cell in cells]
    frame = pd.DataFrame([row for rows in found for row in rows])
    frame["width"] = frame["high"] - frame["low"]
    frame["cover"] = frame["truth"].between(frame["low"], frame["high"]).astype(float)
    table = frame.groupby(["rows", "method"], sort=False).mean().round(3)
    table.to_csv(RESULT)
    print(table.to_string())


if __name__ == "__main__":
    main()
