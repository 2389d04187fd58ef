"""Labels by rows, sources and classes, clusters of rows, and what carries them to the rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from doublelogit import JointClassifier, NaiveClassifier, Roles, TableClassifier, scan_parquet
from doublelogit.core.labels import Labels, labels_of
from doublelogit.core.rows import each_column, labelled_share
from doublelogit.engines.memory import memory_rows
from doublelogit.estimators.out_of_core import as_source
from doublelogit.estimators.validation import check_sources, row_columns
from doublelogit.tables import Table
from doublelogit.tables.labels import cluster_codes

NAN = np.nan
# three rows, two sources: the second did not look at the first row, nobody looked at the last
TWO = np.array([[1.0, NAN], [0.0, 1.0], [NAN, NAN]])


def test_any_label_is_that_of_any_source_that_looked():
    labels = check_sources(TWO)
    np.testing.assert_array_equal(labels.any, [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(labels.known, [1.0, 1.0, NAN])
    np.testing.assert_array_equal(labels.by_source, TWO)


def test_one_source_as_a_column_is_a_vector():
    vector = np.array([1.0, 0.0, 1.0])
    for values in (vector, vector[:, None]):
        labels = labels_of(values)
        np.testing.assert_array_equal(labels.any, vector)
        np.testing.assert_array_equal(labels.known, [1.0, NAN, 1.0])
        assert labels.by_source is None


def test_classes_are_another_axis_than_sources():
    two_classes = np.stack([TWO, 1 - TWO], axis=2)
    audited = np.array([[NAN, NAN], [NAN, 1.0], [0.0, NAN]])
    labels = check_sources(two_classes, audited)
    np.testing.assert_array_equal(labels.any, [[1, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(labels.known, [[1, NAN], [1, 1], [0, NAN]])
    for k, one in enumerate((TWO, 1 - TWO)):
        wanted, got = check_sources(one, audited[:, k]), labels.of_class(k)
        for name in Labels._fields:
            np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name))


def test_one_labeller_of_several_classes_may_leave_some_unseen():
    labels = check_sources(np.array([[[1.0, NAN]], [[0.0, 1.0]]]))
    np.testing.assert_array_equal(labels.any, [[1, 0], [0, 1]])
    assert np.isnan(labels.by_source[0, 0, 1])
    assert labels_of(np.array([[[1.0, 0.0]]])).of_class(1).by_source is None


def test_false_labels_leave_the_class_open():
    labels = check_sources(TWO, [0.0, NAN, NAN], certain=False)
    np.testing.assert_array_equal(labels.known, [0.0, NAN, NAN])


@pytest.mark.parametrize(
    ("values", "audited", "message"),
    [
        ([[1, 2]], None, r"must be 1 \(positive\), 0 .* or NaN \(not looked at\); got 2 in row 0"),
        ([["yes", "no"]], None, "labels of several sources must be 1, 0 or NaN"),
        ([1, 0], None, r"must have the shape \(n rows, m sources\).* got \(2,\)"),
        ([[1, 0], [0, 0]], [0, NAN], "labelled row is positive, so audited_y may not call it"),
        ([[1, 0], [0, 0]], [NAN], "one value per row; got 1 for 2 rows"),
        ([[[1, 0]]], [[NAN, 3]], "got 3 in row 0"),
        ([[[1, 0]]], [[NAN]], "got 1 x 1 for 1 x 2 rows"),
    ],
)
def test_labels_that_cannot_be_are_refused(values, audited, message):
    with pytest.raises(ValueError, match=message):
        check_sources(values, audited)


@pytest.mark.filterwarnings("ignore:.*converge")
@pytest.mark.parametrize("classifier", [NaiveClassifier, JointClassifier])
def test_a_column_of_labels_is_fitted_to_the_bit_like_a_vector(sample, classifier):
    vector = classifier().fit(sample.X, sample.s)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = classifier().fit(sample.X, sample.s[:, None])
    np.testing.assert_array_equal(column.coef_, vector.coef_)


def test_several_columns_of_labels_are_refused_with_what_is_supported(sample):
    S = np.column_stack([sample.s, sample.s])
    with pytest.raises(ValueError, match=r"one source for one class, y of shape .* got 2 columns"):
        NaiveClassifier().fit(sample.X, S)
    with pytest.raises(ValueError, match="labels of several sources must be 1, 0 or NaN"):
        NaiveClassifier().fit(sample.X, np.where(S == 1, "yes", "no"))


def test_a_named_tuple_of_columns_is_cut_like_its_columns():
    s = np.arange(10) % 2.0
    rows = memory_rows(np.zeros((10, 1)), s, block_rows=3)
    blocks = []
    rows.sum_rows(lambda X, labels: blocks.append((len(X), labels)) or 0, rows.labels)
    assert [(n, len(labels.any), len(labels.known)) for n, labels in blocks] == [
        (n, n, n) for n in (3, 3, 3, 1)
    ]
    assert all(labels.by_source is None for _, labels in blocks)
    few, (labels, none) = rows.restrict(np.eye(1, 10, 3)[0], rows.labels, None)
    np.testing.assert_array_equal(labels.any, [1.0])
    np.testing.assert_array_equal(few.labels.any, [1.0])
    assert none is None
    assert labelled_share(rows) == 0.5
    np.testing.assert_array_equal(each_column(np.negative, rows.labels).any, -s)


def test_clusters_have_the_same_codes_however_their_names_are_stored():
    codes = cluster_codes([7, 8, 7])
    for values in (["7", "8", "7"], [7.0, 8.0, 7.0], pd.Series([7, 8, 7], dtype="category")):
        np.testing.assert_array_equal(cluster_codes(values), codes)
    assert codes[0] == codes[2] != codes[1]
    np.testing.assert_array_equal(codes, codes.astype(np.int64))


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, ""])
def test_a_row_without_a_cluster_is_refused(missing):
    with pytest.raises(ValueError, match="every row must have a cluster; row 2 has none"):
        cluster_codes(np.array(["a", missing], dtype=object))


def clustered(table, tmp_path):
    """A table whose rows belong to villages, and its Parquet file."""
    frame = table[0].assign(village=[f"v{i % 50}" for i in range(len(table[0]))])
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    return frame, tmp_path / "rows.parquet"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("engine", ["parquet", "dask scan", "dask frame"])
def test_every_engine_carries_the_clusters_and_cuts_them_with_the_rows(table, tmp_path, engine):
    dask_frame = pytest.importorskip("dask.dataframe")
    frame, path = clustered(table, tmp_path)
    if engine == "dask frame":
        parts = dask_frame.from_pandas(frame, npartitions=3)
        source = as_source(parts[["a", "b"]], parts["s"], groups=parts["village"])
    else:
        roles = Roles("s", cluster="village", features=("a", "b"))
        source = as_source(scan_parquet(path, roles, distributed=engine == "dask scan"))
    rows = source.rows(lambda *observed: row_columns(np.array([0, 1]), True, *observed))
    wanted = cluster_codes(frame["village"])
    np.testing.assert_array_equal(rows.collect(lambda cluster: cluster, rows.cluster), wanted)
    labelled = rows.collect(lambda labels: labels.known, rows.labels)
    np.testing.assert_array_equal(labelled == 1, frame["s"] == 1)
    few, (labels,) = rows.restrict(rows.map_columns(np.isnan, rows.labels.known), rows.labels)
    weight = few.map_columns(lambda labels: np.isnan(labels.known) * 1.0, labels)
    assert few.sum_columns(np.sum, weight) == (frame["s"] == 0).sum()


def test_clusters_of_a_table_reach_the_rows_and_are_no_feature(table, monkeypatch, tmp_path):
    frame, _ = clustered(table, tmp_path)
    roles = Roles("s", cluster="village", ignore=("weight", "truth"))
    rows = []
    monkeypatch.setattr(
        NaiveClassifier, "_problem", lambda self, r: rows.append(r) or _problem(self, r)
    )
    model = TableClassifier(roles, "naive").fit(Table.from_frame(frame, roles))
    np.testing.assert_array_equal(rows[0].cluster, cluster_codes(frame["village"]))
    assert "village" not in model.fitted_.encoding.sources
    assert Table.from_frame(frame, roles).some(np.array([3])).cluster.tolist() == ["v3"]


_problem = NaiveClassifier._problem


def test_clusters_must_be_one_per_row(sample):
    with pytest.raises(ValueError, match=r"groups must have one value per row; got \(3,\)"):
        NaiveClassifier().fit(sample.X, sample.s, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight, audited_y or groups beside it"):
        NaiveClassifier().fit(scan_parquet_of_nothing(), groups=[1])


def scan_parquet_of_nothing():
    """A scan whose files are not read before its arguments are checked."""
    from doublelogit.engines.parquet_files import Files
    from doublelogit.engines.scan import ParquetScan

    return ParquetScan(Files([], ()), Roles("s"), False, False)
