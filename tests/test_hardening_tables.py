"""Tables are read as they are meant or not at all; nothing is shifted, renamed or rounded."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from doublelogit import Roles, TableClassifier, TableError, read_table
from doublelogit.common.wording import visible
from doublelogit.tables import Table
from doublelogit.tables.write import neutral

IDS = ["0000000000000219", "9007199254740993", "9999999999999999", "000219", "NA", "1e5", ""]
N = len(IDS) * 4
WITH_IDS = pd.DataFrame({"id": IDS * 4, "x": np.arange(N) * 0.5, "label": [1, 0] * (N // 2)})


def written(frame, folder, ending):
    path = folder / f"table.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path, index=False)
    elif ending == "xlsx":
        frame.to_excel(path, index=False)
    elif ending == "dta":
        frame.to_stata(path, write_index=False, version=118)
    else:
        pytest.importorskip("pyreadstat").write_sav(frame, path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "dta", "sav"])
def test_ids_come_back_byte_for_byte_from_every_file(ending, tmp_path):
    path = written(WITH_IDS, tmp_path, ending)
    assert Table.from_frame(path, Roles("label", id="id")).ids.tolist() == IDS * 4


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, pl.DataFrame])
def test_ids_come_back_byte_for_byte_from_every_frame(convert):
    frame = convert(WITH_IDS)
    assert Table.from_frame(frame, Roles("label", id="id")).ids.tolist() == IDS * 4


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64])
def test_whole_numbers_with_gaps_keep_every_digit_as_ids(kind):
    largest = 2**63 - 1 if kind == pl.Int64 else 2**64 - 1
    numbers = pl.Series([largest, None, 9007199254740993, 219] * 5, dtype=kind)
    frame = pl.DataFrame({"id": numbers, "x": np.arange(20.0), "label": [1, 0] * 10})
    ids = Table.from_frame(frame, Roles("label", id="id")).ids.tolist()
    assert ids[:4] == [str(largest), "", "9007199254740993", "219"]


def test_ids_stay_texts_in_predictions_and_lists(tmp_path):
    path = written(WITH_IDS[WITH_IDS["id"] != ""], tmp_path, "csv")
    model = TableClassifier(Roles("label", id="id"), "naive").fit(path)
    assert set(model.rank(path)["id"]) <= set(IDS)
    assert model.predict(path)["id"].tolist() == [i for i in IDS * 4 if i]


def test_a_delimiter_at_the_end_of_every_row_does_not_make_labels_of_smokers(tmp_path):
    rows = "".join(f"0.{i:02d},{i % 2},0,\n" for i in range(40))
    (tmp_path / "t.csv").write_text("x,label,smoker\n" + rows)
    table = Table.from_frame(tmp_path / "t.csv", Roles("label"))
    assert table.s.tolist() == [0.0, 1.0] * 20
    assert any("beyond the header" in note for note in table.notes)


def test_a_second_column_of_the_same_name_is_refused_wherever_it_comes_from(tmp_path):
    frame = pd.DataFrame([[0.1, 1, 1]], columns=["x", "label", "label"])
    sources = [frame, tmp_path / "t.csv", tmp_path / "t.xlsx"]
    frame.to_csv(sources[1], index=False)
    frame.to_excel(sources[2], index=False)
    for source in sources:
        with pytest.raises(TableError, match="two columns have the name 'label'"):
            read_table(source)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_unicode_of_every_kind_is_read_without_being_told(encoding, tmp_path):
    text = "Größe,label\n" + "1.5,1\n2.5,0\n" * 10
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert list(read_table(tmp_path / "t.csv").columns) == ["Größe", "label"]


def test_one_byte_of_another_encoding_is_named_by_its_line(tmp_path):
    good = "city,label\n" + "Łódź,1\n" * 20
    (tmp_path / "t.csv").write_bytes(good.encode() + b"K\xf6ln,0\n")
    with pytest.raises(TableError, match="byte 0xf6 in line 22"):
        read_table(tmp_path / "t.csv")


def test_a_quote_that_swallows_rows_is_named_by_its_line(tmp_path):
    rows = [f"{i},{i % 2},a\n" for i in range(100)]
    rows[30], rows[50] = '30,0,"a\n', '50,0,a"\n'
    (tmp_path / "t.csv").write_text("x,label,note\n" + "".join(rows))
    with pytest.raises(TableError, match="a quote in line 32 swallows the rows up to line 52"):
        read_table(tmp_path / "t.csv")


def test_a_number_too_large_to_be_one_is_named_by_row_and_column(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n1.5,1\n1e400,0\n")
    with pytest.raises(TableError, match="'1e400' in row 2 of 'x' is too large"):
        read_table(tmp_path / "t.csv")


def fitted(**columns):
    n = 40
    frame = pd.DataFrame({"x": np.arange(n) % 7 * 1.0, "label": [1, 0] * (n // 2)})
    frame = frame.assign(**{k: v(n) for k, v in columns.items()})
    model = TableClassifier(Roles("label"), "naive").fit(frame)
    found = model.predict(frame)["positive"]
    assert np.isfinite(found).all()
    return model


ODD_COLUMNS = {
    "one cell 1e200": lambda n: np.where(np.arange(n) == 3, 1e200, np.arange(n)),
    "numbers of 1e-300": lambda n: np.arange(n) * 1e-300,
    "numbers of 1e300": lambda n: np.arange(n) * 1e300,
    "year 9999": lambda n: pd.to_datetime(["9999-01-01", "2020-01-01"] * (n // 2)).astype("M8[s]"),
    "lists": lambda n: [[1, 2], [3]] * (n // 2),
    "records": lambda n: [{"a": 1}, {"a": 2}] * (n // 2),
    "periods": lambda n: pd.period_range("2001-01", periods=n, freq="M"),
    "halves": lambda n: np.arange(n).astype(np.float16),
    "intervals": lambda n: pd.cut(np.arange(n), 3),
    "infinite": lambda n: np.full(n, np.inf),
    "sparse": lambda n: pd.arrays.SparseArray(np.arange(n) % 3),
}


@pytest.mark.filterwarnings("ignore:'odd' is a copy of the label")
@pytest.mark.parametrize("make", ODD_COLUMNS.values(), ids=ODD_COLUMNS)
def test_a_column_of_any_kind_is_used_or_set_aside(make):
    fitted(odd=make)


def test_the_unit_of_a_column_does_not_change_what_a_table_says():
    here = fitted(z=lambda n: np.arange(n) % 5 * 1.0)
    there = fitted(z=lambda n: np.arange(n) % 5 * 1e-250)
    np.testing.assert_allclose(here.classifier_.coef_, there.classifier_.coef_, rtol=1e-6)


def test_numbers_further_apart_than_a_number_can_tell_are_named():
    with pytest.raises(TableError, match=r"'odd' reach from -9\.9e.307 to 1e.308"):
        fitted(odd=lambda n: np.where(np.arange(n) % 3 == 0, 1e308, -1e308 + np.arange(n) * 1e306))


def test_a_table_without_a_finite_number_says_so():
    frame = pd.DataFrame({"x": [np.inf, -np.inf] * 20, "label": [1, 0] * 20})
    with pytest.raises(TableError, match="it holds no finite number"):
        TableClassifier(Roles("label"), "naive").fit(frame)


def test_cells_that_a_spreadsheet_would_run_are_neutralised_in_every_width():
    cells = ["=1+1", "\uff1d1+1", "+1", "\uff0b1", "-1", "\uff0d1", "@a", "\uff20a", "\tx", "ok"]
    assert neutral(pd.DataFrame({"id": cells}))["id"].tolist() == [
        *(f"'{cell}" for cell in cells[:-1]),
        "ok",
    ]


def test_what_a_terminal_would_obey_is_shown_and_not_sent():
    hostile = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\r\n"
    assert visible(hostile) == "a\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202eb\\r\n"
