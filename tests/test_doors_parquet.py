"""Parquet files whose schemas differ, and tables that lack what a model needs: all named."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic

from doublelogit import NaiveClassifier, Roles, TableClassifier, TableError, scan_parquet

ROLES = Roles("diagnosed", id="patient", by="smoker", ignore=("sick",))
FITS = {
    "scan": lambda scan: TableClassifier(ROLES, "naive").fit(scan),
    "classifier": lambda scan: NaiveClassifier().fit(scan.with_roles(NUMBERS)),
    "frame": lambda scan: scan.frame(),
}
NUMBERS = Roles("diagnosed", features=("age", "distance"))


@pytest.fixture(scope="module")
def frame():
    return clinic(200)


def written(folder, first, second):
    first.to_parquet(folder / "a.parquet", index=False)
    second.to_parquet(folder / "b.parquet", index=False)
    return folder


@pytest.mark.parametrize("distributed", [False, True])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("door", FITS)
@pytest.mark.parametrize("column", ["age", "diagnosed", "patient"])
def test_a_column_that_one_file_lacks_is_named(column, door, order, distributed, frame, tmp_path):
    if distributed:
        pytest.importorskip("dask", reason="dask is not installed, so no scan is distributed")
    folder = written(tmp_path, *[frame, frame.drop(columns=column)][::order])
    lacks = folder / ("b.parquet" if order == 1 else "a.parquet")
    scan = scan_parquet(folder, distributed=distributed)
    if (column, door) == ("patient", "classifier"):
        FITS[door](scan)  # of which it reads nothing
        return
    sentence = f"{column!r} is missing in {lacks}"
    with pytest.raises(TableError, match=sentence.replace(".", r"\.")):
        FITS[door](scan)


@pytest.mark.parametrize("distributed", [False, True])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("door", FITS)
def test_a_column_of_two_types_is_named(door, order, distributed, frame, tmp_path):
    if distributed:
        pytest.importorskip("dask", reason="dask is not installed, so no scan is distributed")
    texts = frame.assign(age=frame["age"].astype(str))
    folder = written(tmp_path, *[frame, texts][::order])
    with pytest.raises(
        TableError, match=r"one type in all files; 'age' is (large_string|string|double)"
    ):
        FITS[door](scan_parquet(folder, distributed=distributed))


def test_columns_that_are_not_read_may_differ(frame, tmp_path):
    folder = written(tmp_path, frame.drop(columns="bmi"), frame)
    chosen = Roles("diagnosed", features=("age", "smoker"))
    model = TableClassifier(chosen, "naive").fit(scan_parquet(folder))
    assert model.encoding_.names == ("age", "smoker: yes")
    ignored = Roles("diagnosed", ignore=("bmi", "sick", "patient"))
    folder = written(tmp_path, frame, frame.drop(columns="bmi"))
    assert "bmi" not in TableClassifier(ignored, "naive").fit(scan_parquet(folder)).encoding_.names


@pytest.mark.parametrize("verb", ["predict", "rank"])
@pytest.mark.parametrize("scanned", [False, True])
def test_a_table_that_lacks_what_the_model_needs_is_refused(verb, scanned, frame, tmp_path):
    model = TableClassifier(ROLES, "naive").fit(frame)

    def ask(table):
        if scanned:
            table.to_parquet(tmp_path / "t.parquet", index=False)
            table = scan_parquet(tmp_path / "t.parquet")
        return getattr(model, verb)(table)

    lacks = "it lacks 'age', 'bmi', 'smoker', 'distance'; it has "
    for table in (frame[["patient", "diagnosed"]], frame.rename(columns=str.upper)):
        with pytest.raises(TableError, match=lacks):
            ask(table)
    with pytest.raises(TableError, match="must have rows"):
        ask(frame.head(0))
    if scanned:  # a frame has missing values in their place, and says so
        with pytest.raises(TableError, match="not all of the model's columns: it lacks 'bmi'"):
            ask(frame.drop(columns="bmi"))
    assert len(ask(frame)) > 0


def test_many_columns_that_are_lacking_are_counted(frame):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(200, 30))).rename(columns="c{}".format)
    model = TableClassifier("s", "naive").fit(wide.assign(s=frame["diagnosed"]))
    with pytest.raises(TableError, match=r"it lacks 'c0', .* and 18 more; it has 'x'"):
        model.predict(pd.DataFrame({"x": [1.0]}))
