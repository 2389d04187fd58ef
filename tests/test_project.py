"""What the project promises about itself: the README, its pages, the equations' homes."""

import re
import runpy
import shlex
import shutil
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import doublelogit
from doublelogit.cli import app
from doublelogit.registry import suited

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


def documented(page):
    """Blocks of Python on a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


PAGES = [
    "README.md",
    "docs/guide.md",
    "docs/inference.md",
    "docs/averaged.md",
    "docs/scale.md",
    "docs/sparse.md",
    "docs/experiments.md",
    "docs/rivals.md",
    "docs/audits.md",
    "docs/sources.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_python_to_run(page):
    assert documented(page)


def few(block):
    """A block of so few rows and samples that it takes no time; nothing is asserted of numbers."""
    return re.sub(r"n_resamples=\d+", "n_resamples=9", re.sub(r"n_rows=\d+", "n_rows=300", block))


def blocks():
    """Every block with few rows, and, where that makes a difference, as printed (slow)."""
    for page in PAGES:
        for number, block in enumerate(documented(page)):
            yield pytest.param(page, few(block), id=f"{page}-{number}")
            if few(block) != block:
                marks = pytest.mark.slow
                yield pytest.param(page, block, id=f"{page}-{number}-as printed", marks=marks)


@pytest.mark.parametrize(("page", "block"), [*blocks()])
def test_documented_python_runs(page, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, page, "exec"), {})


def commands(page):
    """Commands on a page, each with what the page says it prints."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    parts = [part for block in blocks for part in block.split("$ doublelogit ")[1:]]
    return [part.partition("\n")[::2] for part in parts]


@pytest.mark.parametrize(
    ("page", "command", "printed"),
    [(p, *pair) for p in ("README.md", "docs/commands.md") for pair in commands(p)],
)
def test_documented_commands_print_what_the_page_says(
    page, command, printed, tmp_path, monkeypatch
):
    folder = tmp_path / "examples" if page == "README.md" else tmp_path
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "examples" / "clinic.csv", folder)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    output, at = " ".join(result.output.split()), 0
    for said in printed.split("..."):  # dots stand for what differs from run to run
        said = " ".join(said.split())
        assert said in output[at:], f"after {output[:at][-60:]!r}"
        at += output[at:].index(said) + len(said)


def test_worked_tables_have_a_line_for_every_method():
    lines = {
        command.split()[0]: [line.split()[0] for line in printed.splitlines() if line.split()]
        for command, printed in commands("docs/commands.md")
    }
    for command in ("compare", "simulate"):
        assert {method.name for method in suited(5)} <= set(lines[command])


def test_the_worked_commands_are_worked():
    worked = {command.split()[0] for command, printed in commands("docs/commands.md") if printed}
    assert {"check", "compare", "simulate", "diagnose"} <= worked


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(example))
    assert capsys.readouterr().out


def test_versions_agree():
    changelog = (ROOT / "CITATION.cff").read_text()
    assert f"version: {doublelogit.__version__}\n" in changelog


def test_no_module_has_outgrown_its_room():
    sizes = {path: len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {path: n for path, n in sizes.items() if n > 400} == {}
