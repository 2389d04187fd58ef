"""``doublelogit audit``: which rows to look at, and what they will tell."""

from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table
from doublelogit.common.files import check_table
from doublelogit.registry import AUDIT_GOALS

EXAMPLE = (
    "Examples: [bold]doublelogit audit patients.csv --label diagnosed --id patient --budget 100 "
    "--out audit.csv[/bold]\n\n"
    "[bold]doublelogit audit patients.csv --label diagnosed --id patient --audit audit.csv "
    "--width 0.05 --out audit2.csv[/bold]"
)


def _goal(value: str) -> str:
    asked = options.names(value) or ()
    if value != "all" and not (asked and set(asked) <= set(AUDIT_GOALS)):
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(AUDIT_GOALS)} or all.")
    return value


@on_table()
def audit(
    table: options.TablePath,
    common: Common,
    budget: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=options.LARGEST_COST,
            help="Rows to look at; their cost, if --cost is given.",
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Width of the interval to reach: 0.05 is ±2.5 points."),
    ] = None,
    out: options.Out = None,
    goal: Annotated[
        str, typer.Option(callback=_goal, help="prevalence, orientation, list, or all.")
    ] = "prevalence",
    top: options.Top = 100,
    cost: Annotated[str | None, typer.Option(help="Column with the cost of a look.")] = None,
    show_scores: Annotated[
        bool, typer.Option("--show-scores", help="Put scores on the sheet; they sway reviewers.")
    ] = False,
    method: options.Method = options.DEFAULT,
    label_model: options.LabelModel = options.ANY_SHAPE,
    seed: options.Seed = 0,
) -> None:
    """Draw rows to look at, with known chances, and say beforehand what they will tell."""
    if (budget is None) == (width is None):
        raise typer.BadParameter("give --budget, or --width to have it worked out.")
    from doublelogit.audit import plan
    from doublelogit.audit.conclusions import expectations
    from doublelogit.cli.terminal import print_json, progress

    if out is not None:
        check_table(out)
        _check_unused(out)
    with progress(common.json, ("fitting", "drawing")) as step:
        rows = common.table(table)
        model = options.fitted(rows, common, step, method, label_model)
        step("drawing", 0.0)
        drawn = plan(
            model,
            rows,
            budget=budget,
            width=width,
            goal=goal if goal == "all" else (options.names(goal) or ()),
            by=common.by,
            audit=rows.audit,
            top=top,
            random_state=seed,
            clusters=rows.cluster,
            **_cost(common, table, cost),
        )
        findings, curve = expectations(drawn, width), [] if drawn.reached else drawn.curve()
        written = [] if out is None or drawn.reached else _write(drawn, curve, out, show_scores)
    if common.json:
        lines = [vars(line) for line in curve]
        texts = [finding.to_dict() for finding in findings]
        print_json({"expected": texts, "curve": lines, "written": [str(p) for p in written]})
    else:
        _show(drawn, findings, curve, written, common.audit)


def _cost(common: Common, path: Path, name: str | None) -> dict[str, Any]:
    """The cost of every row, from a column that need not be a feature."""
    if name is None:
        return {}
    frame = common.frame(path, common.roles())
    if name not in frame.columns:
        raise ValueError(f"there is no column {name!r} in {path.name}.")
    return {"cost": frame[name]}


def _check_unused(out: Path) -> None:
    """Never write over an audit that somebody has worked on."""
    from doublelogit.common.files import sheet_path
    from doublelogit.exceptions import UsageError
    from doublelogit.tables import read_table

    for path in (out, sheet_path(out)):
        if not path.exists():
            continue
        before = read_table(path, text=["class"], verbatim=["id"])
        if "class" not in before.columns or before["class"].fillna("").ne("").any():
            raise UsageError(
                f"{path.name} is there already and is not an audit that nobody has worked on. "
                "Name another --out."
            )


def _write(drawn: Any, curve: list[Any], out: Path, show_scores: bool) -> list[Path]:
    from doublelogit.audit.plots import draw_curve
    from doublelogit.common.extras import has
    from doublelogit.common.files import sheet_path, written_whole
    from doublelogit.tables.write import write_table

    sheet, picture = sheet_path(out), out.with_name(f"{out.stem}-width.png")
    write_table(drawn.audit.frame, out)
    write_table(drawn.sheet(show_scores=show_scores), sheet)
    if not has("matplotlib"):
        return [out, sheet]
    with written_whole(picture) as file:
        draw_curve(curve, drawn.expected).savefig(file, format="png", dpi=150)
    return [out, sheet, picture]


def _show(
    drawn: Any, findings: list[Any], curve: list[Any], written: list[Path], earlier: str | None
) -> None:
    from doublelogit.cli.terminal import heading, print_table, say
    from doublelogit.findings.audit import points

    heading("What to expect")
    for finding in findings:
        say(finding.level, finding.text)
    if curve:
        lines = [
            [f"{e.rows:,}", *(points(w) for w in (e.holds, e.nothing, e.worst))] for e in curve
        ]
        columns = ["rows", "if the model holds", "if scores tell nothing", "whatever is true"]
        print_table(columns, lines, numeric=0)
    if not written:
        if not drawn.reached:
            say("attention", "Nothing was written; --out audit.csv writes the rows drawn.")
        return
    heading("Written")
    say("fine", f"The {len(drawn.audit)} rows drawn, with stratum and chance: {written[0]}")
    say("fine", f"The sheet for the reviewer, in random order: {written[1]}")
    if len(written) > 2:
        say("fine", f"Width against the number of rows: {written[2]}")
    heading("Next")
    say(
        "fine",
        'Fill in the class on the sheet, from the top: 1 or 0, "don\'t know", or nothing where '
        "nobody has looked.",
    )
    files = written[0] if earlier is None else f"{earlier},{written[0]}"
    say("fine", f"Then add --audit {files} to report, fit, rank, check or compare.")
