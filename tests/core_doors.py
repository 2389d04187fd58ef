"""Open every door of an installation without extras; each must say which pip command it needs.

    python tests/core_doors.py [--block]

With ``--block`` the optional packages are hidden first, so that it runs in any environment.
`make test-core` runs it in one that has none of them.
"""

import sys
import tempfile
import warnings
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path

OPTIONAL = [
    "dask",
    "distributed",
    "formulaic",
    "jinja2",
    "matplotlib",
    "onnx",
    "openpyxl",
    "pandas",
    "polars",
    "pyarrow",
    "pyreadstat",
    "rich",
    "skops",
    "skrub",
    "typer",
]


class Hidden(MetaPathFinder):
    """Optional packages as if they were not there."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def doors(folder):
    """What a user may ask for, by name; each needs a package that is not there."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    import doublelogit
    from doublelogit import datasets

    X = np.random.default_rng(0).standard_normal((200, 2))
    s = (X[:, 0] > 0.5).astype(int)
    fitted = doublelogit.JointClassifier(n_starts=1).fit(X, s)
    fitted.save(folder / "model.dlm")  # what the core can do, it does
    fitted = doublelogit.load(folder / "model.dlm")
    inference = doublelogit.infer(fitted, X, s)
    plugged = doublelogit.EMClassifier(outcome=DecisionTreeClassifier(max_depth=2)).fit(X, s)
    roles = doublelogit.Roles("s")
    return {
        "read_table": lambda: doublelogit.read_table("table.csv"),
        "TableClassifier": lambda: doublelogit.TableClassifier(roles).fit("table.csv"),
        "Report": lambda: import_module("doublelogit.report.html").render({}),
        "scan_parquet": lambda: doublelogit.scan_parquet("table.parquet", "s"),
        "a formula": lambda: doublelogit.Roles.from_formula("s ~ a"),
        "a figure of a diagnosis": lambda: inference.diagnose().plot(),
        "a figure of a posterior": lambda: averaged(X, s).plot_prevalence(),
        "a plugged-in classifier": lambda: plugged.save(folder / "plugged.dlm"),
        "to_onnx": lambda: doublelogit.to_onnx(fitted),
        "load_census": lambda: datasets.load_census(500),
        "load_benchmark": lambda: datasets.load_benchmark("vote", as_frame=True),
        "experiments": lambda: __import__("doublelogit.studies.experiments"),
        "the command": lambda: __import__("doublelogit.cli"),
    }


def averaged(X, s):
    from doublelogit import AveragedClassifier

    return AveragedClassifier().fit(X[:60], s[:60])


def main():
    warnings.simplefilter("ignore")
    if "--block" in sys.argv:
        sys.meta_path.insert(0, Hidden())
    silent = []
    with tempfile.TemporaryDirectory() as folder:
        for name, opened in doors(Path(folder)).items():
            try:
                opened()
                said = "opened"
            except (ImportError, SystemExit) as error:
                said = str(error)
            print(f"{name}: {said}")
            silent += [name] if "pip install 'doublelogit[" not in said else []
    sys.exit(f"no pip command: {', '.join(silent)}" if silent else 0)


if __name__ == "__main__":
    main()
