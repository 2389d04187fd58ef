"""A summary as one HTML page that needs no network."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from doublelogit.common.extras import needs
from doublelogit.common.wording import as_options, as_parameters
from doublelogit.report import sections
from doublelogit.report.pictures import draw

DASH = "\N{EN DASH}"


def render(summary: dict[str, Any]) -> str:
    """The page of a summary; every text of the data is escaped."""
    for package in ("jinja2", "matplotlib"):
        needs(package, "a report", "report")
    from jinja2 import DictLoader, Environment, StrictUndefined

    templates = files("doublelogit.report") / "templates"
    page, style, script = (
        (templates / name).read_text("utf-8") for name in ("page.html", "page.css", "page.js")
    )
    fragments = {f"{section.name}.fragment": section.fragment() for section in sections.SECTIONS}
    environment = Environment(
        loader=DictLoader({"page": page, **fragments}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # who came by the command line sees its options
    worded = as_options if summary["command"] else as_parameters
    formats = {"percent": _percent, "number": _number, "ratio": _ratio, "pvalue": _pvalue}
    environment.filters.update(formats, said=worded)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    pictures = {n: p for section in sections.SECTIONS for n, p in section.pictures.items()}
    return environment.get_template("page").render(
        summary=summary,
        sections=sections.SECTIONS,
        plots=draw(summary, pictures),
        style=style,
        script=script,
        script_hash=f"sha256-{digest}",  # the one script that the page may run
    )


def _percent(share: float | None, digits: int = 1) -> str:
    return DASH if share is None else f"{share:.{digits}%}"


def _number(x: float | None) -> str:
    return DASH if x is None else f"{x:,.0f}"


def _ratio(x: float | None) -> str:
    return DASH if x is None else f"{x:.2f}" if 0.01 <= x < 1000 else f"{x:.1e}"


def _pvalue(p: float | None) -> str:
    return DASH if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
