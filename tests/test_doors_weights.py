"""Rows of weight zero are as if they were not there; weights that tell nothing are refused."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic

from doublelogit import (
    AveragedClassifier,
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


def test_rows_of_weight_zero_change_neither_encoding_nor_probabilities(tmp_path):
    frame, more = tables()

    def fitted(rows):
        return TableClassifier(ROLES, "joint").fit(rows)

    expected, found = fitted(frame), fitted(more)
    assert found.encoding_ == expected.encoding_
    assert found.roles_ == expected.roles_
    columns = ["positive", "label"]
    np.testing.assert_allclose(
        found.predict(frame)[columns], expected.predict(frame)[columns], atol=1e-9
    )
    more.to_parquet(tmp_path / "t.parquet", index=False)
    scanned = fitted(scan_parquet(tmp_path / "t.parquet"))
    assert scanned.encoding_.names == expected.encoding_.names
    np.testing.assert_allclose(
        scanned.predict(frame)[columns], expected.predict(frame)[columns], atol=1e-9
    )


@pytest.mark.parametrize("weight", [1e-300, 1e-310, 1e-20])
@pytest.mark.parametrize("model", [JointClassifier(), AveragedClassifier()])
def test_weights_that_tell_nothing_are_refused(weight, model):
    X, s = np.arange(60.0)[:, None], np.arange(60) % 3 == 0
    with pytest.raises(ValueError, match=r"its sum must be at least 1e-09; got .*Multiply"):
        model.fit(X, s, sample_weight=np.full(60, weight))


def test_a_table_in_which_no_row_counts_is_refused():
    with pytest.raises(TableError, match="every weight in 'times' is 0"):
        TableClassifier(ROLES).fit(clinic(60).assign(times=0))
