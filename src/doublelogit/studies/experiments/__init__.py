"""Experiments: a declarative plan, a runner, a store of result rows, tables made of them."""

from doublelogit.common.extras import needs

for _package in ("pandas", "pyarrow", "matplotlib", "rich"):
    needs(_package, "an experiment", "experiments")

from doublelogit.studies.experiments.plan import Draw, Plan, load_plan  # noqa: E402
from doublelogit.studies.experiments.run import run  # noqa: E402
from doublelogit.studies.experiments.store import Store  # noqa: E402

__all__ = ["Draw", "Plan", "Store", "load_plan", "run"]
