"""Memory grows with the table, not with the components of a posterior or the copies of a reader."""

import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from benchmarks.memory import used
from doublelogit import AveragedClassifier, Roles
from doublelogit.engines.memory import BLOCK_ROWS
from doublelogit.tables import Table, csv_cells
from doublelogit.tables.csv_text import MISSING_WORDS

ROWS, COLUMNS = (2000, 60_000), 10
MOST_TIMES = 60  # the bytes of the numbers of a table; all rows at once would take 118


def numbers(n, p=COLUMNS):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, (rng.random(n) < 1 / (1 + np.exp(1 - X[:, 0]))).astype(int)


def peak(folder, n, *command):
    """Largest resident memory of a command on a table of so many rows."""
    X, s = numbers(n)
    frame = pd.DataFrame(X.round(4)).rename(columns="x{}".format)
    frame.assign(s=s).to_csv(folder / "t.csv", index=False)
    return 1e6 * used([command[0], "t.csv", "--label", "s", *command[1:]], folder)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="kibibytes of the largest resident set")
@pytest.mark.parametrize("command", [["fit", "--out", "m.dlm"], ["rank"]])
def test_the_memory_of_a_command_grows_with_its_table(command, tmp_path):
    few, many = (peak(tmp_path, n, *command) for n in ROWS)
    assert many - few < MOST_TIMES * 8 * COLUMNS * (ROWS[1] - ROWS[0])


def allocated(fn, *arguments):
    """Most that a call allocates at one time, by Python's own count."""
    tracemalloc.start()
    fn(*arguments)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_predictions_of_a_mixture_take_no_column_for_each_component():
    X, s = numbers(40_000, 5)
    model = AveragedClassifier().fit(X[:300], s[:300])
    columns = len(model.model_.weight)
    assert columns > 20
    # eight columns for each component of a block; all rows at once would take five times as many
    assert allocated(model.probabilities, X) < 8 * 8 * BLOCK_ROWS * columns + 3 * X.nbytes
    few = model.predict_interval(X[:9000])
    np.testing.assert_allclose(few[-5:], model.predict_interval(X[8995:9000]), rtol=1e-9)


def test_a_table_is_encoded_into_one_matrix():
    X, s = numbers(80_000, 30)
    table = Table.from_frame(pd.DataFrame(X).rename(columns="x{}".format).assign(s=s), Roles("s"))
    encoding = table.encoding
    assert allocated(encoding.encode, table.features) < 1.5 * X.nbytes
    assert allocated(table.map, encoding, lambda part: part.to_numpy().sum(axis=1)) < X.nbytes


CELLS = {
    "whole": ["1", "-3", "007"],
    "large": ["18446744073709551615"],
    "number": ["1.5", "2e3", "inf"],
    "missing": ["", "NA"],
    "truth": ["True", "False"],
    "text": ["x", "None", "1a", '"a,b"', '"two\nlines"'],
}


@pytest.mark.parametrize("first", CELLS)
@pytest.mark.parametrize("second", CELLS)
def test_parts_of_a_csv_make_the_columns_of_the_whole(first, second, monkeypatch):
    cells = [*CELLS[first] * 3, *CELLS[second] * 3]
    data = "\n".join(["a,b", *(f"{cell},{i}" for i, cell in enumerate(cells))]).encode()
    dialect = {"sep": ",", "decimal": ".", "dtype": {}, "na_values": {"a": MISSING_WORDS}}
    whole = csv_cells.parsed(data, ["a", "b"], usecols=[0, 1], **dialect)
    monkeypatch.setattr(csv_cells, "FEWEST_ROWS", 3)
    monkeypatch.setattr(csv_cells, "CELLS", 1)
    parts = csv_cells.parsed(data, ["a", "b"], usecols=[0, 1], **dialect)
    pd.testing.assert_frame_equal(parts, whole)
