"""Rows of weight zero are as if they were not there; weights that tell nothing are refused."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic

from doublelogit import (
    AveragedClassifier,
    BoostedClassifier,
    JointClassifier,
    Roles,
    TableClassifier,
    TableError,
    scan_parquet,
)

ROLES = Roles("diagnosed", id="patient", weight="times", ignore=("sick",))


def tables():
    """A table, and the same among rows of weight zero that are unlike all others."""
    frame = clinic(300).assign(times=1.0)
    other = frame.head(80).assign(
        times=0.0, age=9999.0, distance=1e5, smoker="never", diagnosed=["maybe", "yes"] * 40
    )
    return frame, pd.concat([other[:40], frame, other[40:]], ignore_index=True)


@pytest.mark.parametrize("learner", ["linear", "spline", "boosting", "auto"])
def test_rows_of_weight_zero_change_neither_encoding_nor_probabilities(learner, tmp_path):
    frame, more = tables()
    settings = {"max_rounds": 3, "n_folds": 2} if learner == "boosting" else {}

    def fitted(rows):
        return TableClassifier(ROLES, "joint", settings, learner=learner).fit(rows)

    expected, found = fitted(frame), fitted(more)
    assert found.encoding_ == expected.encoding_
    assert found.roles_ == expected.roles_
    columns = ["positive", "label"]
    np.testing.assert_allclose(
        found.predict(frame)[columns], expected.predict(frame)[columns], atol=1e-9
    )
    if learner in ("linear", "spline"):
        more.to_parquet(tmp_path / "t.parquet", index=False)
        scanned = fitted(scan_parquet(tmp_path / "t.parquet"))
        assert scanned.encoding_.names == expected.encoding_.names
        np.testing.assert_allclose(
            scanned.predict(frame)[columns], expected.predict(frame)[columns], atol=1e-9
        )


def test_trees_of_arrays_see_no_row_of_weight_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    s = (rng.random(200) < 0.3 + 0.4 * (X[:, 0] > 0)).astype(int)
    more, labels = np.r_[np.full((40, 2), 50.0), X], np.r_[np.tile([0, 1], 20), s]
    weight = np.r_[np.zeros(40), np.ones(200)]
    model = BoostedClassifier(max_rounds=3, n_folds=2)
    expected = model.fit(X, s).predict_positive(X)
    found = model.fit(more, labels, sample_weight=weight)
    np.testing.assert_allclose(found.predict_positive(X), expected, atol=1e-9)
    assert len(found.held_out) == 200


@pytest.mark.parametrize("weight", [1e-300, 1e-310, 1e-20])
@pytest.mark.parametrize("model", [JointClassifier(), AveragedClassifier()])
def test_weights_that_tell_nothing_are_refused(weight, model):
    X, s = np.arange(60.0)[:, None], np.arange(60) % 3 == 0
    with pytest.raises(ValueError, match=r"its sum must be at least 1e-09; got .*Multiply"):
        model.fit(X, s, sample_weight=np.full(60, weight))


def test_a_table_in_which_no_row_counts_is_refused():
    with pytest.raises(TableError, match="every weight in 'times' is 0"):
        TableClassifier(ROLES).fit(clinic(60).assign(times=0))
