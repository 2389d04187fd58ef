"""Fixtures shared by the tests, and a guard that they test what they mean to."""

import csv
import os
from collections import Counter
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from classifiers import FREE
from hypothesis import settings
from scipy.special import expit
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import doublelogit
from doublelogit import AveragedClassifier, JointClassifier
from doublelogit.averaged.settings import Settings
from doublelogit.datasets import load_benchmark
from doublelogit.engines.memory import memory_rows
from doublelogit.labelling import Scar, draw
from doublelogit.methods import Problem
from doublelogit.studies.rivals import km2

# What CI says depends on the commit alone; everywhere else new examples are tried each time.
# Nothing depends on how busy the machine is.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("patient", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "patient")


def pytest_configure(config):
    wanted = os.environ.get("DOUBLELOGIT_FROM")
    found = Path(doublelogit.__file__).resolve()
    if wanted and not found.is_relative_to(Path(wanted).resolve()):
        raise pytest.UsageError(f"testing {found}, which is not the installed wheel in {wanted}")


def pytest_collection_modifyitems(items):
    """The files that take longest come first, so that no worker is left with one at the end."""
    seconds = Counter()
    with (Path(__file__).parent / "durations.csv").open() as file:
        next(file)  # how they were measured
        for row in csv.DictReader(file):
            seconds[row["test"].partition("::")[0]] += float(row["seconds"])
    items.sort(key=lambda item: -seconds[item.nodeid.partition("::")[0]])


class Sample:
    """A sample of the double logistic model with everything known."""

    def __init__(self, n, beta, gamma, seed):
        self.beta, self.gamma = np.asarray(beta, float), np.asarray(gamma, float)
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n, len(beta) - 1))
        self.y_x = expit(self.X @ self.beta[:-1] + self.beta[-1])
        self.e_x = expit(self.X @ self.gamma[:-1] + self.gamma[-1])
        self.y = (rng.random(n) < self.y_x).astype(float)
        self.s = self.y * (rng.random(n) < self.e_x)

    def problem(self, l2=0.0, propensity_l2=None, **options):
        rows = memory_rows(self.X, self.s, **options)
        return Problem(rows, l2, l2 if propensity_l2 is None else propensity_l2)


@pytest.fixture
def double_logistic_sample():
    def make(n=1000, beta=(1.5, -1.0, 0.5, 0.0, -0.3), gamma=(0.0, 0.4, 0.0, -0.5, 0.4), seed=0):
        return Sample(n, beta, gamma, seed)

    return make


@pytest.fixture
def sample(double_logistic_sample):
    return double_logistic_sample()


@pytest.fixture(scope="module")
def fit_once():
    """Fits that tests of a module share, each made once; whoever has one must not change it."""
    fits = {}

    def fit(model, X, s):
        wanted = joblib.hash((type(model).__name__, model.get_params(), X, s))
        if wanted not in fits:
            fits[wanted] = clone(model).fit(X, s)
        return fits[wanted]

    return fit


@pytest.fixture(scope="module")
def one_signal():
    """AVERAGED with one scale of slopes, where how it averages is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AveragedClassifier, "_settings", Settings(nodes=(0.75,)))
        yield


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks, pieces and files in a sample that takes no time."""
    from doublelogit.core import selection
    from doublelogit.engines import column_buffer, memory, parquet, parquet_files

    monkeypatch.setattr(memory, "rows_per_block", lambda *_: 500)
    monkeypatch.setattr(parquet, "rows_per_block", lambda *_: 500)
    monkeypatch.setattr(parquet_files, "PIECE_ROWS", 1000)
    monkeypatch.setattr(column_buffer, "LARGE_BUFFER", 4000)
    monkeypatch.setattr(selection, "FEW_ROWS", 50)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A sample, and its Parquet files in three uneven parts."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    frame["far"] = 20 + rng.standard_normal(n)
    y_x = 1 / (1 + np.exp(-2 * frame["a"] + frame["b"]))
    e_x = 1 / (1 + np.exp(-1.5 * frame["c"]))
    y = rng.random(n) < y_x
    frame["s"] = (y & (rng.random(n) < e_x)).astype(int)
    frame["weight"] = rng.integers(1, 4, n).astype(float)
    frame["truth"] = np.where(rng.random(n) < 0.05, np.where(frame["s"] == 1, 1, y), np.nan)
    folder = tmp_path_factory.mktemp("table")
    for i, (start, stop) in enumerate([(0, 700), (700, 2200), (2200, 3000)]):
        frame[start:stop].to_parquet(folder / f"part{i}.parquet", row_group_size=333, index=False)
    return frame, folder


@pytest.fixture(scope="module")
def identified():
    """Outcome and labelling by different features: a sample that determines its prevalence."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 2))
    y = rng.random(1500) < expit(2 * X[:, 0])
    s = (y & (rng.random(1500) < expit(0.5 + X[:, 1]))).astype(int)
    model = JointClassifier(outcome_features=[0], propensity_features=[1], **FREE).fit(X, s)
    return model, X, s, y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_benchmark("diabetes", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    s = draw(y, Scar(0.6).propensity(X), np.random.default_rng(0))
    return X, y.astype(float), s, Problem(memory_rows(X, s), 1.0, 1.0)


@pytest.fixture
def few_rows(request, monkeypatch):
    """KM2 of few rows, but where its answer is what is tested."""
    if "km2" not in request.function.__name__:
        monkeypatch.setattr(km2, "ROWS", 40)
