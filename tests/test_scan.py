"""Scans of Parquet files: what they read, and what they refuse by file and column."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from doublelogit import (
    JointClassifier,
    NaiveClassifier,
    Roles,
    scan_parquet,
)
from doublelogit.core.labels import labels_of
from doublelogit.core.rows import RowColumns
from doublelogit.engines import parquet, parquet_files
from doublelogit.exceptions import FileChangedError

pytestmark = pytest.mark.usefixtures("small_blocks")
FEATURES = ["a", "b", "c"]
NAMED = Roles("s", features=FEATURES)


class TestScan:
    def test_words_are_indicators_of_their_categories(self, tmp_path):
        rng = np.random.default_rng(1)
        city = rng.choice(["Lyon", "Nice", "Paris"], 2000)
        x = rng.standard_normal(2000)
        s = rng.random(2000) < 1 / (1 + np.exp(-x - (city == "Paris")))
        frame = pd.DataFrame({"x": x, "city": pd.Categorical(city), "s": s})
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=300)
        scan = scan_parquet(tmp_path / "t.parquet", "s")
        model = JointClassifier(propensity_features=["city"], n_starts=1).fit(scan)
        common, *others = pd.Series(city).value_counts().index  # the commonest is the baseline
        assert model.feature_names_in_.tolist() == ["x", *(f"city: {name}" for name in others)]
        assert model.propensity_coef_[0, 0] == 0
        X = np.column_stack([x, *(city == name for name in others)])
        again = JointClassifier(propensity_features=[1, 2], n_starts=1).fit(X, s)
        np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.predict_hidden(scan), again.predict_hidden(X))
        frame.assign(city="Metz").to_parquet(tmp_path / "new.parquet")
        baseline = frame.assign(city=common)
        baseline.to_parquet(tmp_path / "baseline.parquet")
        got, wanted = (
            model.predict_hidden(scan_parquet(tmp_path / f"{name}.parquet"))
            for name in ("new", "baseline")
        )
        np.testing.assert_array_equal(got, wanted)

    def test_a_filter_reads_the_rows_that_pass_it(self, table):
        frame, folder = table
        chosen = frame[(frame["a"] > 0) & (frame["weight"] < 3)]
        wanted = NaiveClassifier().fit(chosen[FEATURES], chosen["s"])
        conditions = [("a", ">", 0), ("weight", "<", 3)]
        for distributed in (False, True):
            scan = scan_parquet(folder, NAMED, filter=conditions, distributed=distributed)
            np.testing.assert_allclose(NaiveClassifier().fit(scan).coef_, wanted.coef_, rtol=1e-10)

    def test_a_row_group_that_a_filter_rules_out_is_not_read(self, tmp_path):
        pd.DataFrame({"x": np.arange(100.0)}).to_parquet(tmp_path / "t.parquet", row_group_size=10)
        opened = parquet_files.Files((str(tmp_path / "t.parquet"),), (("x", ">=", 70.0),))
        groups = [group.id for part in opened.pieces() for group in part.row_groups]
        assert groups == [7, 8, 9]

    def test_keys_of_a_partitioned_directory_are_columns(self, table, tmp_path):
        frame, _ = table
        split = frame[[*FEATURES, "s"]].assign(year=2020 + np.arange(3000) // 1000)
        split.to_parquet(tmp_path / "by_year", partition_cols=["year"])
        columns = [*FEATURES, "year"]
        got = NaiveClassifier().fit(
            scan_parquet(tmp_path / "by_year", Roles("s", features=columns))
        )
        wanted = NaiveClassifier().fit(split[columns], split["s"])
        np.testing.assert_allclose(got.coef_, wanted.coef_, rtol=1e-7)
        later = scan_parquet(tmp_path / "by_year", NAMED, filter=[("year", ">", 2020)])
        wanted = NaiveClassifier().fit(split[FEATURES][1000:], split["s"][1000:])
        np.testing.assert_allclose(NaiveClassifier().fit(later).coef_, wanted.coef_, rtol=1e-9)

    def test_a_cache_leaves_no_file_behind(self, table, tmp_path):
        _, folder = table
        scan = scan_parquet(folder, NAMED, cache=tmp_path)
        NaiveClassifier().fit(scan)
        assert list(tmp_path.iterdir()) == []

    def test_a_column_that_vanishes_is_named_with_its_file(self, table, tmp_path):
        frame, _ = table
        frame[:1000].to_parquet(tmp_path / "0.parquet")
        frame[1000:].drop(columns="b").to_parquet(tmp_path / "1.parquet")
        model = NaiveClassifier()
        with pytest.raises(ValueError, match=r"'b' is missing in .*1\.parquet"):
            model.fit(scan_parquet(tmp_path, NAMED))
        assert not hasattr(model, "classes_")
        with pytest.raises(NotFittedError):
            model.predict(frame[FEATURES])

    def test_a_column_that_changes_its_type_is_named_with_its_file(self, table, tmp_path):
        frame, _ = table
        frame[:1000].to_parquet(tmp_path / "0.parquet")
        frame[1000:].assign(b="word").to_parquet(tmp_path / "1.parquet")
        with pytest.raises(ValueError, match=r"'b' is (large_)?string in .*1\.parquet and double"):
            NaiveClassifier().fit(scan_parquet(tmp_path, NAMED))

    def test_a_file_that_changes_during_a_fit_leaves_the_last_fit(self, table, tmp_path):
        frame, _ = table
        path = tmp_path / "t.parquet"
        frame.to_parquet(path)
        scan = scan_parquet(path, NAMED)
        model = NaiveClassifier().fit(scan)
        before = model.model_

        class Changing(NaiveClassifier):
            def _fit(self, problem, X):
                frame.drop(columns="c").to_parquet(path)
                return super()._fit(problem, X)

        model.__class__ = Changing
        with pytest.raises(FileChangedError, match=r"t\.parquet was changed or replaced"):
            model.fit(scan)
        assert model.model_ is before
        with pytest.raises(ValueError, match=r"'c' is missing in .*t\.parquet"):
            scan_parquet(path).files.check(lambda _: ["c"])
        frame[:2000].to_parquet(path)
        scan = scan_parquet(path, NAMED)
        encoding = scan.learned_encoding(scaled=False)
        rows = parquet.ParquetSource(scan, encoding).rows(lambda s, *_: RowColumns(labels_of(s), s))
        frame[:1000].to_parquet(path)
        with pytest.raises(OSError, match="must stay as they are while they are read"):
            rows.sum_rows(lambda X: X.sum())

    @pytest.mark.parametrize("value", [None, np.inf])
    def test_missing_values_are_at_the_median_with_an_indicator(self, value, table, tmp_path):
        frame = table[0][[*FEATURES, "s"]].copy()
        frame.loc[5:900, "b"] = value
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=700)
        model = NaiveClassifier().fit(scan_parquet(tmp_path / "t.parquet", "s"))
        assert model.feature_names_in_.tolist() == ["a", "b", "b (missing)", "c"]
        known = np.isfinite(frame["b"].astype(float))
        filled = frame["b"].where(known, frame["b"][known].median())
        X = np.column_stack([frame["a"], filled, ~known, frame["c"]]).astype(float)
        np.testing.assert_allclose(model.coef_, NaiveClassifier().fit(X, frame["s"]).coef_)

    def test_missing_values_that_fit_has_never_seen_are_refused(self, table, tmp_path):
        frame = table[0]
        model = NaiveClassifier().fit(frame[FEATURES], frame["s"])
        frame.assign(b=frame["b"].where(frame.index != 5)).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=r"column 'b' of .*t\.parquet has missing"):
            model.predict(scan_parquet(tmp_path / "t.parquet"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"roles": Roles("z")}, "`label` names 'z', which is no column of the table"),
            ({"cache": "nowhere"}, "cache must be True, False or a directory; got 'nowhere'"),
            ({"filter": ["a > 0"]}, r"filter must be a list of \(column, operator, value\)"),
            ({"roles": None}, "name their column"),
            ({"roles": Roles("s", weight="a")}, "weights must be numbers from 0 up; got -"),
            ({"roles": Roles("s", audited="a")}, r"part0\.parquet: the audited column 'a' must"),
            ({"roles": Roles("s", propensity_features=["a"])}, "as its own parameters"),
        ],
    )
    def test_what_a_scan_cannot_be_is_said(self, options, message, table):
        with pytest.raises(ValueError, match=message):
            NaiveClassifier().fit(scan_parquet(table[1], **{"roles": "s", **options}))

    def test_the_roles_say_which_value_means_labelled(self, table, tmp_path):
        frame, _ = table
        said = frame[FEATURES].assign(s=np.where(frame["s"] == 1, "sick", "unknown"))
        said.to_parquet(tmp_path / "t.parquet")
        scan = scan_parquet(tmp_path / "t.parquet", Roles("s", positive="sick"))
        wanted = NaiveClassifier().fit(frame[FEATURES], frame["s"])
        np.testing.assert_allclose(NaiveClassifier().fit(scan).coef_, wanted.coef_, rtol=1e-10)
        with pytest.raises(ValueError, match=r"Roles\(positive=...\); got pos_label='sick'"):
            NaiveClassifier(pos_label="sick").fit(scan)

    def test_a_path_without_files_is_an_error(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is none at '.*nothing\*'"):
            scan_parquet(f"{tmp_path}/nothing*", "s")

    def test_nested_columns_are_no_features(self, tmp_path):
        pd.DataFrame({"t": [[1], [2]], "s": [0, 1]}).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match="column 't' is list"):
            NaiveClassifier().fit(scan_parquet(tmp_path / "t.parquet", "s"))
