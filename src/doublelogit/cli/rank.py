"""``doublelogit rank``: who to check first, and how far down the list."""

from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table

EXAMPLE = (
    "Examples: [bold]doublelogit rank patients.csv --label diagnosed --top 50[/bold]\n\n"
    "[bold]doublelogit rank new.csv --model model.dlm --check-cost 40 --miss-cost 900 "
    "--out list.csv[/bold]"
)
SCREEN = 20  # rows shown in the terminal
Cost = Annotated[float | None, typer.Option(min=0.0, help="Cost of checking one row.")]


@on_table(needs_label=False)
def rank(
    table: options.Table,
    common: Common,
    model: Annotated[
        Path | None,
        typer.Option(help="A saved model; fitted to the table if not given.", exists=True),
    ] = None,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
    top: Annotated[int | None, typer.Option(min=1, help="Rows of the list.")] = None,
    budget: Annotated[float | None, typer.Option(min=0.0, help="Money for checks.")] = None,
    check_cost: Cost = None,
    miss_cost: Annotated[
        float | None, typer.Option(min=0.0, help="Cost of missing a positive.")
    ] = None,
) -> None:
    """List the unlabelled rows likeliest to be positive, with the features that speak for each."""
    _check(common, model, budget, check_cost, miss_cost)
    from doublelogit.cli.terminal import print_json, progress
    from doublelogit.report.ranking import cut_list, rank_hidden
    from doublelogit.tables.write import write_table

    with progress(common.json, ("fitting", "ranking")) as step:
        fitted, frame, unlabelled, issues = _fitted(table, common, model, method, step)
        step("ranking", 0.0)
        features = frame.reindex(columns=fitted.encoder.feature_names_in_)
        X, _ = fitted.encoder.encode(frame)
        hidden = fitted.classifier.predict_hidden(X)
        cut = cut_list(
            hidden[unlabelled],
            top=top,
            budget=budget,
            check_cost=check_cost,
            miss_cost=miss_cost,
        )
        ranked = rank_hidden(fitted, features, X, hidden, unlabelled, cut.length)
        lines = _lines(ranked, frame, fitted.roles.id)
        if out is not None:
            write_table(_frame(lines), out)
    if common.json:
        print_json(
            {"sentence": cut.sentence, "issues": issues, "list": lines, "out": out and str(out)}
        )
    else:
        _show(lines, cut.sentence, [*fitted.warned, *issues], out)


def _check(
    common: Common,
    model: Path | None,
    budget: float | None,
    check_cost: float | None,
    miss_cost: float | None,
) -> None:
    if model is None:
        common.check(needs_label=True)
    if (budget is not None or miss_cost is not None) and not check_cost:
        raise typer.BadParameter("--budget and --miss-cost need --check-cost above 0.")
    if miss_cost == 0:
        raise typer.BadParameter("--miss-cost must be above 0.")


def _fitted(
    path: Path, common: Common, model: Path | None, method: str, step: Any
) -> tuple[Any, Any, Any, list[str]]:
    """A model, the table, which rows are unlabelled, and what differs from the table of fit."""
    import numpy as np

    import doublelogit
    from doublelogit.tables import fit_table
    from doublelogit.tables.labels import as_words
    from doublelogit.tables.model import TableModel

    frame = common.frame(path)
    step("fitting", 0.0)
    if model is None:
        rows = common.apart(frame)
        return fit_table(rows, rows.roles, method=method), frame, rows.s == 0, []
    fitted = doublelogit.load(model)
    if not isinstance(fitted, TableModel):
        raise doublelogit.ModelFileError(f"{model.name!r} holds a classifier of no table.")
    _, issues = fitted.encode(frame)
    label = fitted.roles.label
    if label not in frame.columns:
        return fitted, frame, np.ones(len(frame), dtype=bool), issues
    return fitted, frame, as_words(frame[label]) != fitted.roles.positive, issues


def _lines(ranked: list[Any], frame: Any, name: str | None) -> list[dict[str, Any]]:
    from doublelogit.tables.roles import row_ids

    ids = row_ids(frame, name)
    return [
        {
            "rank": r.rank,
            "id": str(ids[r.row]),
            "chance": r.chance,
            "reasons": [f"{x['feature']} = {x['value']}" for x in r.reasons],
        }
        for r in ranked
    ]


def _frame(lines: list[dict[str, Any]]) -> Any:
    import pandas as pd

    columns = ["rank", "id", "chance", "reasons"]
    return pd.DataFrame(
        [{**line, "reasons": "; ".join(line["reasons"])} for line in lines], columns=columns
    )


def _show(lines: list[dict[str, Any]], sentence: str, warned: list[str], out: Path | None) -> None:
    from doublelogit.cli.terminal import print_table, say

    shown = [
        [str(line["rank"]), line["id"], f"{line['chance']:.1%}", ", ".join(line["reasons"])]
        for line in lines[:SCREEN]
    ]
    print_table(["rank", "id", "chance", "what speaks for it"], shown, numeric=9)
    if len(lines) > SCREEN:
        rest = "all are in the file" if out else "--out list.csv writes all"
        say("fine", f"The first {SCREEN} of {len(lines)}; {rest}.")
    for text in warned:
        say("attention", text)
    say("fine", sentence)
    if out is not None:
        say("fine", f"Written to {out}.")
