"""No cell of a CSV that we write is a formula, however a spreadsheet cuts it; ids come back."""

import csv
import io
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublelogit.audit import as_audit
from doublelogit.tables.write import as_it_was, neutral, write_table

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
PAYLOADS = [
    f"{before}{sign}cmd|' /C calc'!A0"
    for sign in SIGNS
    for before in (
        "",
        "a;",
        "a,",
        "a|",
        "a\t",
        "a\n",
        'a;"',
        "a;'",
        'a; " ',
        "\t",
        "\n",
        "a;;",
        ";",
    )
]


def cells(text, delimiter, quoting):
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    return [cell.strip(' \t\r\n"') for line in lines for cell in line]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONE])
def test_no_cell_is_a_formula_by_any_separator(delimiter, quoting, tmp_path):
    frame = pd.DataFrame({"=id;=x": PAYLOADS, "score": range(len(PAYLOADS))})
    write_table(frame, tmp_path / "t.csv")
    found = cells((tmp_path / "t.csv").read_text("utf-8"), delimiter, quoting)
    assert len(found) > len(PAYLOADS)
    assert not [cell for cell in found if cell.startswith(tuple(SIGNS))]


def test_texts_without_formulas_and_numbers_stay_as_they_are():
    texts = ["a - b", "x=1", "well-known", "e@mail.org", "5 + 3, 7", "Smith, J.", "it's", "a;b"]
    frame = pd.DataFrame({"text": texts, "number": [-1.5] * len(texts)})
    pd.testing.assert_frame_equal(neutral(frame), frame)


@given(st.text(alphabet="a1 =+-@,;|\t\n\r\"'\uff1d", max_size=12))
def test_what_was_made_safe_can_be_read_back(text):
    safe = neutral(pd.DataFrame({"id": [text]}))["id"].iloc[0]
    assert as_it_was(safe) == text


def test_ids_of_an_audit_come_back_from_a_csv(tmp_path):
    ids = [text.strip() for text in PAYLOADS if "\n" not in text]
    ids = list(dict.fromkeys(ids))
    sheet = pd.DataFrame({"id": ids, "chance": 0.5, "class": "1"})
    write_table(sheet, tmp_path / "a.csv")
    assert as_audit(tmp_path / "a.csv").ids.tolist() == ids


def test_long_runs_of_separators_are_read_once():
    frame = pd.DataFrame({"id": ["\n" * 200_000 + "x", "; " * 200_000]})
    start = time.process_time()
    neutral(frame)
    assert time.process_time() - start < 2
