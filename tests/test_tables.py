"""Tables as people have them: files, labels, columns of all kinds, formulas."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from doublelogit import (
    Roles,
    TableClassifier,
    TableEncoder,
    TableError,
    TableWarning,
    read_table,
)
from doublelogit.datasets import load_census
from doublelogit.datasets.census import census_propensity
from doublelogit.registry import METHODS
from doublelogit.table_models.table_model import contributions
from doublelogit.tables import Table, TableEncoding, code_labels, parse_formula
from doublelogit.tables.columns import OTHER, Category, Date, Ignored, Number
from doublelogit.tables.labels import code_audited
from doublelogit.tables.survey import MOST_LEVELS, describe
from doublelogit.tables.table import row_groups

FRAME = pd.DataFrame(
    {
        "id": ["a1", "a2", "a3"],
        "Größe": [1.5, np.nan, 2.25],
        "city": ["Köln", "Kraków", "Köln"],
        "n": [1, 2, 3],
    }
)


def learn(column):
    """The description of a column that is in memory."""
    return describe(str(column.name), lambda: iter((column,)))


def same(frame):
    assert frame["id"].tolist() == FRAME["id"].tolist()
    assert np.allclose(frame["Größe"].astype(float), FRAME["Größe"], equal_nan=True)
    assert frame["city"].tolist() == FRAME["city"].tolist()
    assert frame["n"].astype(int).tolist() == [1, 2, 3]


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1250", "utf-16"])
def test_delimiters_and_encodings_of_csv_are_detected(sep, encoding, tmp_path):
    path = tmp_path / "t.csv"
    frame = FRAME.assign(city=["Köln", "Krakow", "Köln"])
    frame.to_csv(path, sep=sep, index=False, encoding=encoding)
    read = read_table(path, encoding="utf-16" if encoding == "utf-16" else None)
    assert read["Größe"].tolist()[::2] == [1.5, 2.25]
    assert read["city"].tolist() == ["Köln", "Krakow", "Köln"]


def test_decimal_commas_are_detected(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, sep=";", decimal=",", index=False)
    same(read_table(path))


def test_a_semicolon_table_with_points_keeps_its_points(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, sep=";", index=False)
    same(read_table(path))


def test_a_late_byte_of_another_encoding_is_found(tmp_path):
    path = tmp_path / "t.csv"
    lines = ["id,name", *(f"{i},plain" for i in range(60_000)), "last,Löwe"]
    path.write_bytes("\n".join(lines).encode("cp1252"))
    assert read_table(path)["name"].iloc[-1] == "Löwe"


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.parquet", lambda f, p: f.to_parquet(p)),
        ("t.xlsx", lambda f, p: f.to_excel(p, index=False)),
        ("t.dta", lambda f, p: f.to_stata(p, write_index=False, version=118)),
        ("t.csv.gz", lambda f, p: f.to_csv(p, index=False)),
    ],
)
def test_other_files_are_read(name, write, tmp_path):
    write(FRAME, tmp_path / name)
    same(read_table(tmp_path / name))


def test_spss_is_read(tmp_path):
    import pyreadstat

    pyreadstat.write_sav(FRAME.rename(columns={"Größe": "groesse"}), tmp_path / "t.sav")
    assert read_table(tmp_path / "t.sav")["city"].tolist() == FRAME["city"].tolist()


def test_polars_and_pandas_frames_are_tables():
    same(read_table(pl.from_pandas(FRAME)))
    same(read_table(FRAME))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "none.csv", "there is no file"),
        (lambda p: (p / "t.docx").write_text("x") and p / "t.docx", "must be a file of the kind"),
        (lambda p: (p / "t.parquet").write_text("x") and p / "t.parquet", "cannot be read"),
        (lambda p: (p / "t.xlsx").write_text("x") and p / "t.xlsx", "cannot be read"),
        (lambda p: (p / "t.csv").write_text("a,a \n1,2\n") and p / "t.csv", "two columns"),
        (lambda p: (p / "t.csv").write_text("a,b\n") and p / "t.csv", "must have rows"),
        (lambda p: [1, 2], "path of a file or a DataFrame"),
    ],
)
def test_what_is_no_table_gets_a_sentence(make, message, tmp_path):
    with pytest.raises(TableError, match=message):
        read_table(make(tmp_path))


@pytest.mark.parametrize(
    ("values", "positive", "means"),
    [
        ([1, 0, 1], None, "1"),
        ([1.0, np.nan, 0.0], None, "1"),
        ([-1, 1, 1], None, "1"),
        ([True, False, True], None, "1"),
        (["Yes", "no", None], None, "Yes"),
        (["true", None, None], None, "true"),
        (["diagnosed", None, None], None, "diagnosed"),
        (["sick", "well", "dead"], "sick", "sick"),
        (["sick", "well", "dead"], "SICK", "sick"),
        ([3, 4, 4], "3", "3"),
        ([True, False, None], "True", "1"),
    ],
)
def test_labels_are_coded(values, positive, means):
    s, coding = code_labels(pd.Series(values, name="y"), positive)
    assert coding.positive == means
    expected = [str(v) in (means, f"{means}.0") or v is True for v in values]
    assert s.tolist() == [float(v) for v in expected]


@pytest.mark.parametrize(
    ("values", "positive", "message"),
    [
        (["a", "b", "a"], None, "not evident"),
        ([1, 1, 1], None, "every row is labelled"),
        ([0, 0, None], None, "not evident"),
        ([2, 3, 3], None, "not evident"),
        (["a", "b", "a"], "c", "is no value"),
    ],
)
def test_labels_that_say_nothing_get_a_sentence(values, positive, message):
    with pytest.raises(TableError, match=message):
        code_labels(pd.Series(values, name="y"), positive)


def test_audited_classes_are_coded():
    coded = code_audited(pd.Series(["yes", "no", None, "1", "0"], name="audit"))
    assert np.array_equal(coded, [1, 0, np.nan, 1, 0], equal_nan=True)
    with pytest.raises(TableError, match="'maybe' in row 1"):
        code_audited(pd.Series(["maybe"], name="audit"))


def test_columns_are_learned_for_what_they_are():
    n = 400
    rng = np.random.default_rng(0)
    kinds = {
        "age": (rng.normal(size=n), Number),
        "flag": (rng.integers(0, 2, n), Number),
        "city": (rng.choice(["a", "b", "c"], n), Category),
        "when": (pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"), Date),
        "stamp": (pd.date_range("2020-01-01", periods=n), Date),
        "note": ([f"text {i}" for i in range(n)], Ignored),
        "same": (np.ones(n), Ignored),
        "void": ([None] * n, Ignored),
        "sparse": ([1.0] * 50 + [None] * (n - 50), Category),
        "many": (rng.choice([f"v{i}" for i in range(150)], n), Category),
    }
    for name, (values, kind) in kinds.items():
        assert isinstance(learn(pd.Series(values, name=name)), kind), name


def test_rare_and_many_levels_share_a_coefficient():
    values = np.repeat([f"v{i:03d}" for i in range(200)], np.linspace(60, 12, 200).astype(int))
    spec = learn(pd.Series(values, name="v"))
    assert isinstance(spec, Category)
    assert spec.levels[0] == "v000"
    assert len(spec.names) == MOST_LEVELS
    assert spec.levels[-1] == OTHER


def test_numbers_are_standardised_and_missing_values_marked():
    x = pd.Series([1.0, 2.0, np.nan, 3.0, np.inf], name="x")
    spec = learn(x)
    assert isinstance(spec, Number)
    values = spec.encode(x)[0]
    assert spec.names == ("x", "x (missing)")
    assert values[:, 1].tolist() == [0, 0, 1, 0, 1]
    assert np.allclose([values[:, 0].mean(), values[:, 0].std()], [0, 1])
    assert values[2, 0] == values[1, 0]  # the median


def test_dates_have_a_trend_and_a_season():
    dates = pd.Series(pd.date_range("2020-01-01", "2023-12-31", freq="D"), name="d")
    spec = learn(dates.dt.strftime("%Y-%m-%d").rename("d"))
    assert spec.pattern == "%Y-%m-%d"
    values = spec.encode(dates.dt.strftime("%Y-%m-%d"))[0]
    assert len(spec.names) == 3
    assert np.allclose(values[:, 1] ** 2 + values[:, 2] ** 2, 1)
    assert (np.diff(values[:, 0]) > 0).all()


def test_encoding_is_kept_as_json_and_back():
    frame = load_census(n_rows=800).frame
    encoder = TableEncoder(categorical=["age"]).fit(frame)
    kept = json.loads(json.dumps(encoder.encoding_.to_dict()))
    again = TableEncoder.from_encoding(TableEncoding.from_dict(kept))
    assert again.encoding_ == encoder.encoding_
    pd.testing.assert_frame_equal(again.transform(frame), encoder.transform(frame))
    assert len(encoder.encoding_.sources) == encoder.transform(frame).shape[1]


def test_what_differs_from_fit_is_said():
    frame = pd.DataFrame({"x": np.arange(40.0), "c": ["a", "b"] * 20, "z": np.arange(40.0)})
    encoder = TableEncoder().fit(frame)
    new = pd.DataFrame({"x": [1.0, None, "?"], "c": ["a", "new", None]})
    encoded, issues = encoder.encode(new)
    assert np.isfinite(encoded.to_numpy()).all()
    text = " ".join(issues)
    for said in ("no column 'z'", "2 rows have no number in 'x'", "2 rows have values never seen"):
        assert said in text
    with pytest.warns(TableWarning, match="never seen"):
        encoder.transform(new.assign(z=0.0, x=0.0))
    with pytest.raises(TableError, match="none of the model's columns"):
        encoder.encode(pd.DataFrame({"other": [1]}))


def test_named_features_are_those_of_the_table():
    census = load_census(n_rows=1500)
    roles = Roles("on_record", id="person", propensity_features=("workclass", "age"))
    model = TableClassifier(roles).fit(census.frame)
    sources = model.encoding_.sources
    used = {
        source
        for source, gamma in zip(sources, model.classifier_.propensity_coef_[0], strict=True)
        if gamma != 0
    }
    assert used == {"workclass", "age"}


def test_predictions_carry_ids_and_are_probabilities():
    census = load_census(n_rows=1500)
    model = TableClassifier(Roles("on_record", id="person"), "joint").fit(census.frame)
    new = census.frame.drop(columns=["on_record"]).head(20)
    found = model.predict(new)
    assert found["person"].tolist() == new["person"].tolist()
    chances = found[["positive", "propensity", "label", "hidden"]].to_numpy()
    assert ((chances >= 0) & (chances <= 1)).all()
    assert np.allclose(found["label"], found["positive"] * found["propensity"])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_a_table(method):
    census = load_census(n_rows=600)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TableClassifier(Roles("on_record", id="person"), method).fit(census.frame)
    assert model.predict(census.frame)["positive"].between(0, 1).all()


@pytest.mark.filterwarnings("ignore::doublelogit.exceptions.TableWarning")  # labels are few
def test_a_method_without_named_features_says_so():
    with pytest.raises(TableError, match="has one set of features"):
        TableClassifier(Roles("on_record", propensity_features=("age",)), "tm-simple").fit(
            load_census(n_rows=200).frame
        )


def test_weights_and_audits_reach_the_fit():
    census = load_census(n_rows=1500)
    audit = pd.Series(census.target).map({1: "yes", 0: "no"})
    audit[300:] = None
    frame = census.frame.assign(w=2.0, audit=audit)
    model = TableClassifier(Roles("on_record", id="person", weight="w", audited="audit")).fit(frame)
    assert model.classifier_.orientation_.rule == "audit"
    assert "w" not in model.encoding_.sources


def test_the_census_table_is_as_said():
    census = load_census(n_rows=3000)
    frame = census.frame
    labelled = (frame["on_record"] == "yes").to_numpy()
    assert not labelled[census.target == 0].any()
    assert frame["hours_per_week"].isna().any()
    assert frame["occupation"].isna().any()
    assert set(frame["sex"]) == {"Male", "Female"}
    assert np.allclose(census.propensity, census_propensity(frame))
    again = load_census(n_rows=3000)
    pd.testing.assert_frame_equal(frame, again.frame)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("y ~ age + bmi | age + visits", ("y", ("age", "bmi"), ("age", "visits"))),
        ("y ~ `my age` | 1", ("y", ("my age",), ())),
        ("y ~ . | visits", ("y", None, ("visits",))),
        ("y ~ age", ("y", ("age",), ("age",))),
    ],
)
def test_formulas_name_columns(formula, expected):
    assert tuple(parse_formula(formula)) == expected


@pytest.mark.parametrize(
    "formula",
    ["y", "y ~ a | b | c", "y + z ~ a", "y ~ log(a)", "y ~ a:b", "y ~ a +", "y ~ exec('1')"],
)
def test_formulas_hold_names_only(formula):
    with pytest.raises(TableError):
        parse_formula(formula)


def test_a_formula_fits_a_table():
    census = load_census(n_rows=1500)
    formula = "on_record ~ age + education + sex | age + workclass"
    model = TableClassifier(formula).fit(census.frame)
    assert set(model.encoding_.sources) == {"age", "education", "sex", "workclass"}
    assert model.roles_.propensity_features == ("age", "workclass")


def test_groups_are_few_enough_to_read():
    numbers = row_groups(pd.Series(np.arange(100.0), name="x"))
    assert len(set(numbers)) == 4
    words = row_groups(pd.Series([f"g{i % 40}" for i in range(400)], name="g"))
    assert len(set(words)) == 12
    assert "(missing)" in set(row_groups(pd.Series(["a", None])))


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (Roles("nowhere"), "`label` names 'nowhere'"),
        (Roles("on_record", by="nowhere"), "`by` names"),
        (Roles("on_record", propensity_features=("on_record",)), "is no feature"),
        (Roles("on_record", weight="sex"), "weights must be numbers"),
    ],
)
def test_roles_that_do_not_fit_get_a_sentence(roles, message):
    with pytest.raises(TableError, match=message):
        Table.from_frame(load_census(n_rows=50).frame, roles)


def test_what_speaks_for_a_row_adds_up_to_its_logit():
    census = load_census(n_rows=1500)
    roles = Roles("on_record", id="person", propensity_features=())
    model = TableClassifier(roles, "joint").fit(census.frame)
    X, _ = model.encoding_.encode(census.frame)
    moved = contributions(model.fitted_, X, X.to_numpy().mean(axis=0))
    logit = model.classifier_.decision_function(X)
    assert np.allclose(moved.sum(axis=1), logit - logit.mean())
