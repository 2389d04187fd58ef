"""From a fitted table to a page a colleague can act on: analyse, word, summarise, render."""

from doublelogit.report.analysis import Analysis
from doublelogit.report.report import Report

__all__ = ["Analysis", "Report"]
