"""What is claimed of other packages: the lowest versions, and what an install without them says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CORE = PROJECT["project"]["dependencies"]
EXTRAS = PROJECT["project"]["optional-dependencies"]


def claimed(requirements):
    """Lowest version by package."""
    found = [re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", text) for text in requirements]
    return {match[1]: match[2] for match in found if match}


def version(text):
    numbers = [int(part) for part in text.split(".")]
    return (*numbers, 0, 0)[:3]


def test_every_lowest_version_that_is_claimed_is_one_that_is_tested():
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    own = [text for extra in EXTRAS.values() for text in extra]
    for package, lowest in claimed([*CORE, *own]).items():
        assert version(tested[package]) == version(lowest), package


def test_a_package_has_one_lowest_version():
    everywhere = [*EXTRAS.values(), PROJECT["dependency-groups"]["test"]]
    for requirements in everywhere:
        for package, lowest in claimed(requirements).items():
            others = {claimed(more).get(package, lowest) for more in everywhere}
            assert others == {lowest}, package


def test_without_extras_every_door_says_which_pip_command_it_needs():
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "core_doors.py", "--block"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("pip install 'doublelogit[") == 13


@pytest.mark.wheel
def test_every_bundled_table_has_its_source_and_licence_beside_it():
    import doublelogit

    tables = Path(doublelogit.__file__).parent / "datasets" / "tables"
    said = (tables / "ATTRIBUTION.md").read_text("utf-8")
    for path in tables.glob("*.csv.gz"):
        (line,) = [line for line in said.splitlines() if f"`{path.name}`" in line]
        assert "CC BY 4.0" in line or path.name == "diabetes.csv.gz"
    assert "https://creativecommons.org/licenses/by/4.0/" in said
