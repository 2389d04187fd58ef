"""The corpus: its description, its split, its cache, and how a table is made of a declaration."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublelogit.studies.datasets import (
    corpus,
    corpus_folder,
    corpus_names,
    corpus_table,
    load_corpus,
    load_natural,
    natural_table,
)
from doublelogit.studies.datasets.reduction import reduce_columns, reduce_rows
from tools.build_corpus import built, check_families, fingerprints, natural_row, write
from tools.corpus.declare import Source, Table, declared
from tools.corpus.encode import chosen_rows
from tools.corpus.natural import NATURAL, Natural, assembled
from tools.corpus.split import LOOKED_AT, half_of
from tools.show_corpus import bands, filled, packages
from tools.show_corpus import natural as natural_words

ROOT = Path(__file__).resolve().parents[1]
PAPER = {"diabetes", "BreastCancer", "heart-c", "credit-a", "adult", "vote", "wdbc", "spambase"}


def test_the_corpus_has_at_least_a_hundred_tables_whose_contents_differ():
    table = corpus_table()
    assert len(table) >= 100
    assert table.index.is_unique
    assert table["sha256"].is_unique
    assert (table["n"] <= 20_000).all()
    assert table["prevalence"].between(0.01, 0.99).all()


def test_the_half_of_a_family_is_the_parity_of_the_first_byte_of_its_hash():
    table = corpus_table()
    assert set(table["half"]) == {"learn", "test"}
    for family, rows in table.groupby("family"):
        even = int(hashlib.sha256(family.encode()).hexdigest()[:2], 16) % 2 == 0
        expected = "learn" if even or family in LOOKED_AT else "test"
        assert set(rows["half"]) == {expected}
        assert half_of(family) == expected


def test_every_table_was_measured_as_it_is():
    table = corpus_table()
    assert (table["measured"] == table["sha256"].str[:12]).all()
    assert (table["signal"] > 0).all()
    for which in ("auc", "spline_auc", "boosting_auc"):
        assert table[which].between(0.3, 1).all()
    weak, strong = table["signal"] < 1, table["signal"] > 3
    assert table.loc[weak, "auc"].mean() < 0.75 < 0.9 < table.loc[strong, "auc"].mean()


def test_tables_that_were_looked_at_before_are_in_the_learning_half():
    table = corpus_table()
    assert set(LOOKED_AT) >= PAPER
    families = set(table["family"])
    assert set(LOOKED_AT) <= families
    assert set(table.loc[table["family"].isin(LOOKED_AT), "half"]) == {"learn"}


def test_every_declaration_is_described_and_says_why_it_drops_a_column():
    table = corpus_table()
    for declaration in declared():
        assert declaration.family in set(table["family"])
        assert declaration.means
        assert all(reason for reason in declaration.drop.values())


def test_names_are_those_of_the_table_and_of_its_halves():
    table = corpus_table()
    assert corpus_names() == list(table.index)
    assert sorted(corpus_names("learn") + corpus_names("test")) == sorted(table.index)
    with pytest.raises(ValueError, match="half must be 'learn', 'test' or None; got 'train'"):
        corpus_names("train")


@pytest.fixture
def declaration():
    """A declared table with every kind of column."""
    source = Source("here", "CC0")
    options = {"outcome": "sick", "positive": "yes", "means": "sick", "family": "clinic"}
    return Table("clinic", source, **options, drop={"id": "identifier"})


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 400
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "age": np.where(np.arange(n) % 7 == 0, np.nan, rng.normal(50, 9, n)),
            "city": rng.choice(["Lyon", "Nice", "Paris"], n, p=[0.2, 0.3, 0.5]),
            "days": rng.integers(0, 99, n).astype(float),
            "sick": np.where(rng.random(n) < 0.3, "yes", "no"),
            "one": 1.0,
        }
    ).assign(weeks=lambda f: f["days"] / 7)


@pytest.fixture
def cache(tmp_path, monkeypatch, declaration, frame):
    """A cache with one table, and the description that belongs to it."""
    monkeypatch.setenv("DOUBLELOGIT_CORPUS", str(tmp_path))
    row, encoded = next(built(declaration, chosen_rows(declaration, frame)))
    write(tmp_path / "clinic.parquet", encoded)
    table = pd.DataFrame([row]).set_index("name")
    monkeypatch.setattr(corpus, "described", lambda file: table)
    return tmp_path


def test_a_frame_becomes_numbers_by_the_rule(cache, frame):
    data = load_corpus("clinic")
    assert data.feature_names == ["age", "age: missing", "city: Nice", "city: Lyon", "days"]
    assert np.isfinite(data.data).all()
    missing = frame["age"].isna().to_numpy()
    np.testing.assert_array_equal(data.data[:, 1], missing)
    np.testing.assert_array_equal(data.data[missing, 0], frame["age"].median())
    np.testing.assert_array_equal(data.data[:, 3], frame["city"] == "Lyon")
    np.testing.assert_array_equal(data.target, frame["sick"] == "yes")
    X, y = load_corpus("clinic", return_X_y=True)
    np.testing.assert_array_equal(X, data.data)
    np.testing.assert_array_equal(y, data.target)


def test_a_class_of_a_multi_class_table_is_set_against_the_rest(frame):
    source = Source("here", "CC0")
    table = Table("town", source, outcome="city", each=True, means="lives in", family="town")
    tables = list(built(table, frame))
    assert [row["name"] for row, _ in tables] == ["town-Paris", "town-Nice", "town-Lyon"]
    assert {row["family"] for row, _ in tables} == {"town"}
    np.testing.assert_array_equal(tables[1][1]["y"], frame["city"] == "Nice")


def test_a_long_table_is_cut_to_the_same_rows_every_time(monkeypatch, declaration, frame):
    monkeypatch.setattr("tools.build_corpus.MOST_ROWS", 150)
    first, again = (next(built(declaration, frame))[0] for _ in range(2))
    assert first == again
    assert (first["n"], first["n_source"]) == (150, 400)


def test_a_missing_cache_is_named_with_the_command_that_fills_it(cache):
    (cache / "clinic.parquet").unlink()
    with pytest.raises(FileNotFoundError, match="fill the cache by running make corpus"):
        load_corpus("clinic")


def test_a_changed_file_is_refused(cache):
    path = cache / "clinic.parquet"
    changed = pd.read_parquet(path)
    changed.loc[3, "days"] += 1
    write(path, changed)
    with pytest.raises(OSError, match="not the table that was described: run make corpus again"):
        load_corpus("clinic")


def test_an_unknown_table_is_refused(cache):
    with pytest.raises(ValueError, match="name must be one of corpus_names"):
        load_corpus("hospital")


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.delenv("DOUBLELOGIT_CORPUS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert corpus_folder() == tmp_path / "doublelogit" / "corpus"
    monkeypatch.setenv("DOUBLELOGIT_CORPUS", str(tmp_path / "elsewhere"))
    assert corpus_folder() == tmp_path / "elsewhere"


def test_fewer_rows_keep_the_share_of_each_class(cache):
    data = load_corpus("clinic", max_rows=100, random_state=1)
    assert data.data.shape == (100, 5)
    assert abs(data.target.mean() - load_corpus("clinic").target.mean()) <= 0.01
    again = load_corpus("clinic", max_rows=100, random_state=1)
    np.testing.assert_array_equal(data.data, again.data)
    with pytest.raises(ValueError, match="max_rows must be at least 2; got 1"):
        reduce_rows(data.data, data.target, 1, 0)


def test_fewer_columns_are_no_copies_and_tell_most_about_the_class():
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.5).astype(int)
    strong, weak = y + rng.normal(0, 0.5, 500), y + rng.normal(0, 2, 500)
    copy, noise = strong + rng.normal(0, 0.01, 500), rng.normal(size=500)
    X = np.column_stack([noise, strong, copy, np.ones(500), weak])
    assert reduce_columns(X, y, 4, 0) == [0, 1, 4]
    assert reduce_columns(X, y, 2, 0) == [1, 4]
    assert reduce_columns(X, y, 1, 0) == [1]
    with pytest.raises(ValueError, match="max_columns must be at least 1; got 0"):
        reduce_columns(X, y, 0, 0)


def test_one_data_set_in_two_families_is_refused(frame):
    shuffled = frame.sample(frac=1, random_state=0)[["weeks", "age"]]
    one, other = fingerprints(frame), fingerprints(shuffled)
    assert other <= one
    check_families({"a": ("clinic", one), "b": ("clinic", other)})
    with pytest.raises(ValueError, match="b and a share a column: make them one family"):
        check_families({"a": ("clinic", one), "b": ("hospital", other)})


def test_a_declaration_without_a_rule_for_class_one_is_refused():
    with pytest.raises(ValueError, match="exactly one of positive, above, below and each"):
        Table("clinic", Source("here", "CC0"), outcome="sick", means="sick")


def test_the_hash_of_a_table_is_of_its_names_and_numbers():
    columns = np.array([[1.0, 2.0]])
    content = json.dumps(["a", "y", 1, 2]).encode() + columns.tobytes()
    assert corpus.content_hash(["a", "y"], columns) == hashlib.sha256(content).hexdigest()
    assert corpus.content_hash(["b", "y"], columns) != hashlib.sha256(content).hexdigest()


@pytest.mark.skipif(not corpus_folder().exists(), reason="the corpus was not made here")
def test_a_cached_table_is_the_described_one():
    table = corpus_table()
    for name in ("wdbc", "tips"):
        data = load_corpus(name)
        assert data.data.shape == (table.loc[name, "n"], table.loc[name, "p"])
        assert round(data.target.mean(), 4) == table.loc[name, "prevalence"]


def test_every_natural_mechanism_has_both_a_truth_and_a_real_label():
    table = natural_table()
    assert {"thornton_hiv", "nhefs_hypertension"} <= set(table.index)
    assert len(table) == len(NATURAL) >= 5
    assert table["prevalence"].between(0.01, 0.99).all()
    assert table["label_frequency"].between(0.05, 0.99).all()
    assert table[["story", "truth", "label", "drivers"]].notna().all().all()
    assert [half_of(family) for family in table["family"]] == list(table["half"])


def test_labels_of_the_hiv_study_are_never_false_and_old_diagnoses_often_are():
    false_labels = natural_table()["false_labels"]
    assert false_labels["thornton_hiv"] == 0
    assert false_labels["nhefs_hypertension"] > 0.4


@pytest.fixture
def natural(tmp_path, monkeypatch, frame):
    """A cache with one natural mechanism."""

    def parts(raw):
        features = pd.DataFrame({"days": raw["days"], "in Paris": raw["city"] == "Paris"})
        return features, raw["sick"] == "yes", raw["days"] > 60

    words = {"truth": "sick", "label": "stayed long", "drivers": ("days",), "story": "A clinic."}
    table = Natural("clinic", "clinic", "here", "clinic", parts, **words)
    encoded = assembled(table, frame)
    (tmp_path / "natural").mkdir()
    write(tmp_path / "natural" / "clinic.parquet", encoded)
    row = natural_row(table, Source("here", "CC0"), encoded)
    described = pd.DataFrame([row]).set_index("name")
    monkeypatch.setenv("DOUBLELOGIT_CORPUS", str(tmp_path))
    monkeypatch.setattr("doublelogit.studies.datasets.natural.described", lambda file: described)
    return frame


def test_a_natural_mechanism_keeps_the_raw_label_and_the_label_of_true_positives(natural):
    data = load_natural("clinic")
    y, raw = (natural["sick"] == "yes").to_numpy(), (natural["days"] > 60).to_numpy()
    np.testing.assert_array_equal(data.target, y)
    np.testing.assert_array_equal(data.raw_label, raw)
    np.testing.assert_array_equal(data.s, y & raw)
    assert data.drivers == ["days"]
    assert set(data.drivers) <= set(data.feature_names)
    assert data.prevalence == pytest.approx(y.mean())
    assert data.label_frequency == pytest.approx(raw[y].mean())
    assert data.false_labels
    assert data.false_label_rate == pytest.approx((raw & ~y).sum() / raw.sum(), abs=1e-4)
    with pytest.raises(ValueError, match="name must be one of clinic; got 'hospital'"):
        load_natural("hospital")


def test_the_page_of_the_corpus_says_what_its_tables_say():
    page = (ROOT / "docs" / "corpus.md").read_text()
    table = corpus_table()
    blocks = {"packages": packages(table), "signal": bands(table)}
    assert filled(page, {**blocks, "natural": natural_words(natural_table())}) == page
    with pytest.raises(ValueError, match="must have one part 'people'; got 0"):
        filled(page, {"people": ""})
