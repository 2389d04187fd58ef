"""Experiments: a declarative plan, a runner, a store of result rows, tables made of them."""

from doublelogit.experiments.plan import Draw, Plan, load_plan
from doublelogit.experiments.run import run
from doublelogit.experiments.store import Store

__all__ = ["Draw", "Plan", "Store", "load_plan", "run"]
