"""What the project promises about itself: the demo, the README, the equations' homes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import doublelogit
from doublelogit.demo import METHODS, demo

ROOT = Path(__file__).parent.parent
SOURCE = Path(doublelogit.__file__).parent

# Every equation of the paper that is computed somewhere, and the tag of its home.
EQUATIONS = [
    "Q_n",
    "W_n",
    "R_n",
    "K",
    "OR(x)",
    "w_1(s, x)",
    "e_naive",
    "s(x) = e(x) y(x)",
    "e(x) = c",
    "e(x) = sigma(x'gamma)",
    "e(x) = prod_j sc(x(j), p-, p+)^(1/k)",
    "P(Y=1 | X) = F(X'beta)",
    "the constraint of Lemma 1",
    "the criterion of LBE",
]


def test_every_equation_has_a_home():
    tags = "\n".join(
        line
        for path in SOURCE.rglob("*.py")
        for line in re.findall(r"Implements: (.*)", path.read_text())
    )
    missing = [equation for equation in EQUATIONS if equation not in tags]
    assert not missing


def test_the_demo_shows_every_method_beside_the_truth():
    lines = list(demo("BreastCancer"))
    for method in ("truth", *METHODS):
        row = next(line for line in lines if line.startswith(method + " "))
        assert len(re.findall(r"\d+\.\d+", row)) == 4


def test_the_demo_runs_as_a_command():
    command = [sys.executable, "-m", "doublelogit.demo", "--data", "diabetes", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("diabetes: 768 rows")
    assert done.stderr == ""


def documented(page):
    """Blocks of Python on a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


PAGES = ["README.md", "docs/inference.md", "docs/scale.md", "docs/experiments.md"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_python_to_run(page):
    assert documented(page)


@pytest.mark.parametrize(("page", "block"), [(p, block) for p in PAGES for block in documented(p)])
def test_documented_python_runs(page, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, page, "exec"), {})


def test_versions_agree():
    changelog = (ROOT / "CITATION.cff").read_text()
    assert f"version: {doublelogit.__version__}\n" in changelog


def test_no_module_has_outgrown_its_room():
    sizes = {path: len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {path: n for path, n in sizes.items() if n > 400} == {}
