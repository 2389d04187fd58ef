"""Fixtures shared by the tests, and a guard that they test what they mean to."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.special import expit

import doublelogit
from doublelogit.engines.memory import memory_rows
from doublelogit.methods import Problem

# What CI says depends on the commit alone; everywhere else new examples are tried each time.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_configure(config):
    wanted = os.environ.get("DOUBLELOGIT_FROM")
    found = Path(doublelogit.__file__).resolve()
    if wanted and not found.is_relative_to(Path(wanted).resolve()):
        raise pytest.UsageError(f"testing {found}, which is not the installed wheel in {wanted}")


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
