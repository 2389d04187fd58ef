"""From a table to a page a colleague can act on: analyse, summarise, render."""

from doublelogit.report.analysis import Analysis, analyse
from doublelogit.report.html import render, write_report
from doublelogit.report.summarise import summarise

__all__ = ["Analysis", "analyse", "render", "summarise", "write_report"]
