"""From a fitted table to a page a colleague can act on: analyse, word, summarise, render.

Only the analysis fits anything. A page is the same bytes for the same seed, and carries no date.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time imported when asked for: a list needs no page
    from doublelogit.report.analysis import Analysis as Analysis
    from doublelogit.report.report import Report as Report

__all__ = ["Analysis", "Report"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'doublelogit.report' has no attribute {name!r}")
    return vars(import_module(f"doublelogit.report.{name.lower()}"))[name]
