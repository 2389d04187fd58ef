"""A summary as one HTML file that needs no network."""

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from doublelogit.files import written_whole

NOTHING = "\N{EN DASH}"


def render(summary: dict[str, Any]) -> str:
    """The page of a summary; every text of the data is escaped."""
    try:
        from jinja2 import Environment, StrictUndefined

        from doublelogit.report.plots import draw
    except ImportError as error:
        raise ImportError(f"{error}. A report needs: pip install 'doublelogit[report]'") from None
    templates = files("doublelogit.report") / "templates"
    parts = {name: (templates / name).read_text("utf-8") for name in ("page.css", "page.js")}
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(percent=_percent, number=_number, ratio=_ratio, pvalue=_pvalue)
    page = environment.from_string((templates / "report.html").read_text("utf-8"))
    digest = base64.b64encode(hashlib.sha256(parts["page.js"].encode()).digest()).decode()
    return page.render(
        summary=summary,
        plots=draw(summary),
        style=parts["page.css"],
        script=parts["page.js"],
        script_hash=f"sha256-{digest}",  # the one script that the page may run
    )


def write_report(summary: dict[str, Any], path: str | Path) -> Path:
    """Write the page, and the summary beside it as JSON; the path of the JSON."""
    path = Path(path)
    page = render(summary)
    numbers = path.with_suffix(".json")
    with written_whole(numbers) as partial:
        partial.write_text(json.dumps(summary, indent=1, allow_nan=False) + "\n", "utf-8")
    with written_whole(path) as partial:
        partial.write_text(page, "utf-8")
    return numbers


def _percent(share: float | None, digits: int = 1) -> str:
    return NOTHING if share is None else f"{share:.{digits}%}"


def _number(x: float | None) -> str:
    return NOTHING if x is None else f"{x:,.0f}"


def _ratio(x: float | None) -> str:
    return NOTHING if x is None else f"{x:.2f}" if 0.01 <= x < 1000 else f"{x:.1e}"


def _pvalue(p: float | None) -> str:
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
