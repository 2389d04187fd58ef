"""A command imports what it runs: counted by modules, since seconds depend on the machine."""

import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest
from tables_of_tests import clinic

from doublelogit.common.promises import Later, Promise, real

HEAVY = ("scipy.stats._stats_py", "matplotlib", "jinja2", "skrub", "dask", "polars", "statsmodels")
# What neither a fit, nor a list, nor predictions run.
UNUSED = ("doublelogit.audit", "doublelogit.report.analysis", "sklearn.metrics", "sklearn.ensemble")
CODE = """
import sys
from doublelogit.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write(" ".join(sys.modules))
"""


def modules(*arguments, folder):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stderr.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("start")
    clinic(200).to_csv(path / "t.csv", index=False)
    return path


def test_help_imports_neither_numpy_nor_anything_that_a_fit_needs(folder):
    found = modules("--help", folder=folder)
    assert not found & {"numpy", "scipy", "sklearn", "pandas", "joblib", *HEAVY}
    assert len(found) < 700


def test_a_fit_a_list_and_predictions_import_what_they_run(folder):
    roles = ["--label", "diagnosed", "--id", "patient", "--ignore", "sick"]
    found = modules("fit", "t.csv", *roles, "--method", "naive", "--out", "m.dlm", folder=folder)
    assert not found & set(HEAVY)
    for command in (
        ["rank", "t.csv", "--model", "m.dlm"],
        ["predict", "m.dlm", "t.csv"],
        ["rank", "t.csv", *roles, "--label-model", "lines"],
    ):
        found = modules(*command, folder=folder)
        assert not found & {*HEAVY, *UNUSED}
        assert sum(name.startswith("doublelogit") for name in found) < 210


def test_what_was_promised_is_there_when_it_is_used():
    code = """
from doublelogit.common.promises import later
later("scipy.stats")
import sys
import scipy.stats
from scipy.stats import norm, rankdata
assert "scipy.stats._stats_py" not in sys.modules
assert rankdata([3.0, 1.0]).tolist() == [2, 1]
assert "scipy.stats._stats_py" in sys.modules
assert norm.ppf(0.5) == 0 and scipy.stats.norm.cdf(0) == 0.5
from scipy.stats import chi2
assert type(chi2).__name__ == "chi2_gen"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_promise_is_kept_by_the_module_itself():
    promised = Later("statistics").mean
    assert isinstance(promised, Promise)
    assert promised([1, 3]) == 2
    assert isinstance(real("statistics").mean, FunctionType)
    assert not hasattr(Later("statistics"), "__wrapped__")
    assert np.isfinite(promised([1.0]))
