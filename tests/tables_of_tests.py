"""Small tables for tests of commands and reports, quick to fit."""

import numpy as np
import pandas as pd
from scipy.special import expit


def clinic(n=600, seed=0, bias=1.5):
    """Patients of whom some sick ones are diagnosed; the far away less often."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 15, n).round()
    distance = rng.normal(size=n).round(2)
    smoker = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
    y = rng.random(n) < 1 / (1 + np.exp(-((age - 50) / 8 + 1.5 * (smoker == "yes") - 0.5)))
    s = y & (rng.random(n) < 1 / (1 + np.exp(bias * distance - 0.3)))
    bmi = np.where(rng.random(n) < 0.1, np.nan, rng.normal(26, 4, n).round(1))
    return pd.DataFrame(
        {
            "patient": [f"N{i:04d}" for i in range(n)],
            "age": age,
            "bmi": bmi,
            "smoker": smoker,
            "distance": distance,
            "diagnosed": np.where(s, "yes", ""),
            "sick": y.astype(int),
        }
    )


def bent_table(n=3000, seed=0, straight=False):
    """A class that is likeliest in the middle of x; labelling that leans on z."""
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n))
    shape = 1.5 * x if straight else 2 * (1 - x**2)
    y = rng.random(n) < expit(shape + 0.5 * noise)
    s = y & (rng.random(n) < expit(0.5 + z))
    columns = {"x": x, "z": z, "noise": noise, "s": s.astype(int), "y": y.astype(int)}
    return pd.DataFrame(columns)
