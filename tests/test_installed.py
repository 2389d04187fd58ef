"""What only an installed package can get wrong: data files, the entry point, extras, versions.

`make test-wheel` runs these on the built wheel as well, after every file of it was compared with
the source.
"""

import subprocess
import sys
from importlib.metadata import distribution, entry_points
from pathlib import Path

import pandas as pd
import pytest
from tables_of_tests import clinic
from typer.testing import CliRunner

import doublelogit
from doublelogit.cli import app
from doublelogit.common.archive import FORMAT
from doublelogit.datasets import BENCHMARKS, load_benchmark, load_census
from doublelogit.studies.experiments import load_plan
from doublelogit.studies.experiments.tables import Printed

pytestmark = pytest.mark.wheel
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_bundled_tables_are_there(name):
    X, y = load_benchmark(name, return_X_y=True)
    assert len(X) == len(y) > 200


def test_bundled_plans_and_printed_numbers_are_there():
    plan = load_plan("ecai2023")
    assert len(plan.datasets) >= 10
    assert len(Printed.from_plan("ecai2023").results) > 100


def test_the_command_is_the_entry_point():
    (command,) = [e for e in entry_points(group="console_scripts") if e.name == "doublelogit"]
    assert command.load() is app
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.strip() == f"doublelogit {doublelogit.__version__}"


def test_templates_are_there_and_a_report_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic(300).to_csv("clinic.csv", index=False)
    roles = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick"]
    result = CliRunner().invoke(app, ["report", "clinic.csv", *roles, "--resamples", "19"])
    assert result.exit_code == 0, result.output
    assert "<h1>Hidden positives" in (tmp_path / "clinic-report.html").read_text()


def test_stored_model_files_are_read():
    model = doublelogit.load(GOLDEN / f"census_format{FORMAT}.dlm")
    expected = pd.read_csv(GOLDEN / "census_predictions.csv")
    found = model.predict(GOLDEN / "census_rows.csv")
    assert found["positive"].to_numpy() == pytest.approx(expected["positive"].to_numpy())


def test_types_are_published():
    assert (Path(doublelogit.__file__).parent / "py.typed").is_file()


def test_the_licence_and_the_extras_are_published():
    published = distribution("doublelogit")
    assert any("LICENSE" in str(file) for file in published.files or [])
    assert {"cli", "tables", "report", "parquet", "dask"} <= set(
        published.metadata.get_all("Provides-Extra")
    )


def test_importing_takes_nothing_heavy():
    code = "import sys, doublelogit; print({'numpy', 'sklearn', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_census_table_can_be_fitted():
    census = load_census(n_rows=500).frame
    model = doublelogit.TableClassifier(doublelogit.Roles("on_record", id="person")).fit(census)
    assert model.predict(census)["positive"].between(0, 1).all()
