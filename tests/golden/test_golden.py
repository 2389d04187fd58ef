"""Agreement with reference coefficients of the published update rules.

The JSON files hold coefficients of fits converged to 1e-12 on standardised features with
scikit-learn's C=1: TM as released after 1, 5 and 20 rounds, SAR-EM after 1, 5 and 20 iterations
from the balanced start, and NAIVE.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from doublelogit import EMClassifier, NaiveClassifier, TwoModelsClassifier
from doublelogit.datasets import load_benchmark

TOLERANCE = 1e-5
FILES = [Path(__file__).parent / f"{name}.json" for name in ("BreastCancer", "diabetes")]
ROUNDS = [1, 5, 20]


@pytest.fixture(params=FILES, ids=lambda path: path.stem, scope="module")
def golden(request):
    reference = json.loads(request.param.read_text())
    X, _ = load_benchmark(reference["dataset"], return_X_y=True)
    s = np.zeros(len(X))
    s[reference["labelled_rows"]] = 1
    return StandardScaler().fit_transform(X), s, reference


def check(model, wanted):
    np.testing.assert_allclose(model.coef_[0], wanted["beta"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(model.intercept_, wanted["beta0"], atol=TOLERANCE, rtol=0)
    if "gamma" in wanted:
        np.testing.assert_allclose(
            model.propensity_coef_[0], wanted["gamma"], atol=TOLERANCE, rtol=0
        )
        np.testing.assert_allclose(
            model.propensity_intercept_, wanted["gamma0"], atol=TOLERANCE, rtol=0
        )


def test_naive(golden):
    X, s, reference = golden
    check(NaiveClassifier(tol=1e-9).fit(X, s), reference["naive"])


@pytest.mark.parametrize("rounds", ROUNDS)
def test_two_models(golden, rounds):
    X, s, reference = golden
    model = TwoModelsClassifier(tol=0, max_iter=rounds).fit(X, s)
    check(model, reference["tm"][str(rounds)])
    assert model.n_iter_ == rounds


@pytest.mark.parametrize("rounds", ROUNDS)
def test_em(golden, rounds):
    X, s, reference = golden
    model = EMClassifier(init="balanced", tol=0, max_iter=rounds).fit(X, s)
    wanted = reference["em"][str(rounds)]
    check(model, wanted)
    assert model.score(X, s) == pytest.approx(wanted["mean_loglik"], abs=1e-6)
