"""A summary as one HTML page that needs no network."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from doublelogit.common.extras import needs
from doublelogit.common.wording import as_options, as_parameters

NOTHING = "\N{EN DASH}"


def render(summary: dict[str, Any]) -> str:
    """The page of a summary; every text of the data is escaped."""
    for package in ("jinja2", "matplotlib"):
        needs(package, "a report", "report")
    from jinja2 import Environment, StrictUndefined

    from doublelogit.report.plots import draw

    templates = files("doublelogit.report") / "templates"
    parts = {name: (templates / name).read_text("utf-8") for name in ("page.css", "page.js")}
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # who came by the command line sees its options
    said = as_options if summary["command"] else as_parameters
    environment.filters.update(
        percent=_percent, number=_number, ratio=_ratio, pvalue=_pvalue, said=said
    )
    page = environment.from_string((templates / "report.html").read_text("utf-8"))
    digest = base64.b64encode(hashlib.sha256(parts["page.js"].encode()).digest()).decode()
    return page.render(
        summary=summary,
        plots=draw(summary),
        style=parts["page.css"],
        script=parts["page.js"],
        script_hash=f"sha256-{digest}",  # the one script that the page may run
    )


def _percent(share: float | None, digits: int = 1) -> str:
    return NOTHING if share is None else f"{share:.{digits}%}"


def _number(x: float | None) -> str:
    return NOTHING if x is None else f"{x:,.0f}"


def _ratio(x: float | None) -> str:
    return NOTHING if x is None else f"{x:.2f}" if 0.01 <= x < 1000 else f"{x:.1e}"


def _pvalue(p: float | None) -> str:
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
