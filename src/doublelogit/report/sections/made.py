"""How the page was made: command, method, seed, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version

from doublelogit.report.analysis import Analysis
from doublelogit.report.section import Numbers, Section, beside

PACKAGES = ("doublelogit", "numpy", "scipy", "scikit-learn", "pandas")


def compute(_: Analysis) -> Numbers:
    """Versions of Python and of the packages that compute."""
    versions = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover
            versions[name] = "unknown"
    return {"versions": versions}


SECTION = Section("made", "How it was made", compute, fragment=beside(__file__))
