"""Golden numbers of AVERAGED: a refactor leaves them as they are.

``python -m tools.write_golden_averaged`` wrote them with one BLAS thread. Between machines they
agree to 1e-6; on one machine ``DOUBLELOGIT_GOLDEN_TOLERANCE=1e-8`` compares more closely.
"""

import json
import os

import numpy as np
import pytest

import doublelogit
from tools.write_golden_averaged import DESIGNS, MODEL_FILE, NAMES, NUMBERS, numbers, sample

TOLERANCE = float(os.environ.get("DOUBLELOGIT_GOLDEN_TOLERANCE", "1e-6"))
GOLDEN = json.loads(NUMBERS.read_text())

pytestmark = pytest.mark.filterwarnings("ignore")


def compare(found, wanted, name):
    """Each number, to the tolerance relative to its size beyond one."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), name
        for key, value in wanted.items():
            compare(found[key], value, f"{name}, {key}")
    elif name.endswith(", orientation"):
        assert (found[0], *found[2:]) == (wanted[0], *wanted[2:]), name
        np.testing.assert_allclose(found[1], wanted[1], rtol=TOLERANCE, atol=TOLERANCE)
    elif wanted is None:
        assert found is None, name
    else:
        assert np.shape(found) == np.shape(wanted), name
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


def test_every_design_has_golden_numbers():
    assert list(GOLDEN) == list(DESIGNS)


@pytest.mark.parametrize("name", DESIGNS)
def test_averaged_gives_the_numbers_that_it_gave(name):
    compare(numbers(*DESIGNS[name]()), GOLDEN[name], name)


def test_a_model_file_gives_the_numbers_that_its_model_gave():
    X = sample()[NAMES]
    compare(numbers(doublelogit.load(MODEL_FILE), X), GOLDEN["simulated"], "model file")


def test_rows_of_another_sample_have_other_numbers():
    found = numbers(doublelogit.load(MODEL_FILE), sample(seed=1)[NAMES])
    with pytest.raises(AssertionError, match="another, predict_proba"):
        compare(found, GOLDEN["simulated"], "another")
