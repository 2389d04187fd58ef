"""A section of the page: its numbers, its findings, its pictures and its fragment of HTML.

A section is a file of ``sections/`` and a line of ``sections.SECTIONS``; page, JSON, verdict and
``check`` follow from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from doublelogit.findings import Finding
from doublelogit.report.analysis import Analysis
from doublelogit.report.pictures import Picture

Numbers = dict[str, Any]
Checks = dict[str, list[Finding]]
LAST_PLACE = 9  # place in the verdict
PICTURES_ONLY = """{% for name, picture in section.pictures.items() %}
{{ figure(name, picture.words, picture.words) }}
{% endfor %}
"""


def plain() -> str:
    """Fragment of a section that has nothing but pictures."""
    return PICTURES_ONLY


def beside(module: str) -> Callable[[], str]:
    """Fragment in the HTML file beside a section's module."""
    return partial(Path(module).with_suffix(".html").read_text, "utf-8")


def no_findings(_: Analysis, __: Numbers) -> list[Finding]:
    """Findings of a section that concludes nothing."""
    return []


def always(_: Mapping[str, Any]) -> bool:
    """A section that every page has."""
    return True


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name : str
        Anchor of the section.
    title : str
        Its heading.
    compute : callable
        Numbers of an analysis, by their keys in the page's JSON; values may be dataclasses, arrays
        and whatever else ``page.plain`` makes JSON of.
    findings : callable, default=no_findings
        Findings, from the analysis and the numbers.
    checks : callable, default=None
        Findings that ``check`` shows, by heading; the section's findings under its title if not
        given. They must not take what takes long.
    pictures : mapping, default={}
        Pictures by name, which the fragment shows by ``figure(name, alt, caption)``.
    fragment : callable, default=plain
        HTML of the section, a Jinja template with the page's macros; if not given its pictures.
    shown : callable, default=always
        Whether a page with these numbers has the section.
    link : str, default=""
        Words of the link at the top of the page; the title if not given.
    place : int, default=9
        Place of the findings in the verdict: what would make others worthless comes first.
    """

    name: str
    title: str
    compute: Callable[[Analysis], Numbers]
    findings: Callable[[Analysis, Numbers], list[Finding]] = no_findings
    checks: Callable[[Analysis], Checks] | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    fragment: Callable[[], str] = plain
    shown: Callable[[Mapping[str, Any]], bool] = always
    link: str = ""
    place: int = LAST_PLACE

    def checked(self, analysis: Analysis) -> Checks:
        """Findings of the section, in ``check``."""
        if self.checks is not None:
            return self.checks(analysis)
        if self.findings is no_findings:
            return {}
        return {self.title: self.findings(analysis, self.compute(analysis))}
