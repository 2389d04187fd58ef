"""The page as data: the sections' findings in order, and every number in a dict that JSON can hold.

``schema.json`` describes the dict; SCHEMA is its version.
"""

import math
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from doublelogit.findings import Finding
from doublelogit.report import sections
from doublelogit.report.analysis import Analysis
from doublelogit.report.section import Checks, Section

SCHEMA = 2  # grows when a key of the JSON is renamed, removed or changes its meaning


def page_of(analysis: Analysis) -> tuple[list[Finding], dict[str, Any]]:
    """Findings, most important first, and the numbers of all sections as JSON holds them."""
    computed = {section.name: section.compute(analysis) for section in sections.SECTIONS}
    findings = [
        finding
        for section in _by_place()
        for finding in section.findings(analysis, computed[section.name])
    ]
    numbers: dict[str, Any] = {
        "schema": SCHEMA,
        "source": analysis.source,
        "command": analysis.command,
        "seed": analysis.random_state,
        "method": analysis.model.method,
        "verdict": findings,
        "checks": checks(analysis),
    }
    for section in sections.SECTIONS:
        repeated = numbers.keys() & computed[section.name].keys()
        if repeated:
            raise ValueError(f"section {section.name!r} repeats {', '.join(sorted(repeated))}.")
        numbers |= computed[section.name]
    return findings, plain(numbers)


def checks(analysis: Analysis) -> Checks:
    """Findings of ``check``, by the heading that they stand under."""
    return {
        heading: findings
        for section in _by_place()
        for heading, findings in section.checked(analysis).items()
    }


def _by_place() -> list[Section]:
    return sorted(sections.SECTIONS, key=lambda section: section.place)


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what is no finite number is None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
