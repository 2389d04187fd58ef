"""A table as people have them: ids, categories, missing values, labels with a known bias.

It is the bundled census table (``adult``) with its categories put back together. The class, an
income above $50,000, is known; who is "on record" is drawn by a mechanism that is known too.
"""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch

from doublelogit._types import Floats
from doublelogit.common.extras import needs
from doublelogit.datasets.benchmark import load_benchmark
from doublelogit.labelling import draw

# The level of each feature that the bundled table leaves out, by its rule the first.
FIRST_ROW = {
    "workclass": "Federal-gov",
    "education": "10th",
    "marital_status": "Divorced",
    "occupation": "Adm-clerical",
    "relationship": "Husband",
    "race": "Amer-Indian-Eskimo",
    "sex": "Female",
}
NUMBERS = ("age", "capital_gain", "capital_loss", "hours_per_week")
MISSING_SHARE = 0.06  # share of hours that were not asked for
DRIVERS = ("workclass", "age")  # of the labelling


def load_census(n_rows: int = 6000, *, random_state: int = 0) -> Bunch:
    """People of whom some with an income above $50,000 are on record.

    Those who work for themselves, and the old, are recorded less often.

    Parameters
    ----------
    n_rows : int, default=6000
        So many of the 32,561, drawn at random.
    random_state : int, default=0

    Returns
    -------
    data : Bunch
        ``frame``, a pandas DataFrame with the columns person (an id), the features, and
        on_record (yes or empty); ``target``, the true class, and ``propensity``, the true
        probability that a positive is on record, which a user would not have; ``drivers``, the
        columns that labelling depends on.

    Examples
    --------
    >>> from doublelogit.datasets import load_census
    >>> census = load_census(n_rows=500)
    >>> census.frame.shape
    (500, 13)
    """
    needs("pandas", "the census table", "tables")
    import pandas as pd

    X, y = load_benchmark("adult", return_X_y=True, as_frame=True)
    if not 1 <= n_rows <= len(X):
        raise ValueError(f"n_rows must be between 1 and {len(X)}; got {n_rows}.")
    rng = np.random.default_rng(random_state)
    chosen = np.sort(rng.choice(len(X), n_rows, replace=False))
    X, y = X.iloc[chosen].reset_index(drop=True), y.to_numpy()[chosen]
    frame = pd.DataFrame({name: X[name].astype(int) for name in NUMBERS})
    for name, first in FIRST_ROW.items():
        frame[name] = _words(X, name, first)
    jobless = frame["workclass"].isna() | (frame["workclass"] == "Never-worked")
    frame.loc[jobless, "occupation"] = None  # that indicator was redundant, so it was left out
    e_x = census_propensity(frame)
    s = draw(y, e_x, rng)
    frame.loc[rng.random(n_rows) < MISSING_SHARE, "hours_per_week"] = None
    frame.insert(0, "person", [f"P{i + 1:05d}" for i in range(n_rows)])
    frame["on_record"] = pd.Series("yes", index=frame.index).where(s == 1)
    return Bunch(frame=frame, target=y, propensity=e_x, drivers=DRIVERS)


def census_propensity(frame: Any) -> Floats:
    """Probability that a positive is on record: less for the self-employed, and with age."""
    own_boss = frame["workclass"].isin(["Self-emp-inc", "Self-emp-not-inc"]).to_numpy()
    age = frame["age"].to_numpy(dtype=float)
    return np.asarray(expit(0.7 - 2.0 * own_boss - 0.05 * (age - 43)))


def _words(X: Any, name: str, first: str) -> Any:
    """The level of each row, from its indicators; a missing value is none."""
    indicators = X[[column for column in X.columns if column.startswith(f"{name}=")]]
    levels = np.array([first, *(column.partition("=")[2] for column in indicators)], dtype=object)
    index = np.where(indicators.any(axis=1), indicators.to_numpy().argmax(axis=1) + 1, 0)
    words = levels[index]
    words[words == "NA"] = None
    return words
