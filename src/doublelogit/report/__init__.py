"""From a fitted table to a page a colleague can act on: analyse, word, summarise, render.

Only the analysis fits anything. A page is the same bytes for the same seed, and carries no date.
"""

from doublelogit.report.analysis import Analysis
from doublelogit.report.report import Report

__all__ = ["Analysis", "Report"]
