"""``doublelogit rank``: who to check first, and how far down the list."""

from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table
from doublelogit.common.files import check_table

EXAMPLE = (
    "Examples: [bold]doublelogit rank patients.csv --label diagnosed --top 50[/bold]\n\n"
    "[bold]doublelogit rank new.csv --model model.dlm --check-cost 40 --miss-cost 900 "
    "--out list.csv[/bold]"
)
SCREEN = 20  # rows shown in the terminal
Cost = Annotated[
    float | None,
    typer.Option(min=0.0, max=options.LARGEST_COST, help="Cost of checking one row."),
]


@on_table(needs_label=False)
def rank(
    table: options.TablePath,
    common: Common,
    model: Annotated[
        Path | None,
        typer.Option(help="A saved model; fitted to the table if not given.", exists=True),
    ] = None,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
    label_model: options.LabelModel = options.ANY_SHAPE,
    top: Annotated[int | None, typer.Option(min=1, help="Rows of the list.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, max=options.LARGEST_COST, help="Money for checks.")
    ] = None,
    check_cost: Cost = None,
    miss_cost: Annotated[
        float | None,
        typer.Option(min=0.0, max=options.LARGEST_COST, help="Cost of missing a positive."),
    ] = None,
) -> None:
    """List the unlabelled rows likeliest to be positive, with the features that speak for each."""
    _check(common, model, budget, check_cost, miss_cost)
    if out is not None:
        check_table(out)
    from doublelogit.cli.terminal import print_json, progress, recorded, say
    from doublelogit.tables.write import write_table

    with progress(common.json, ("fitting", "ranking", "other models")) as step:
        fitted, rows = _fitted(table, common, model, (method, label_model), step)
        step("ranking", 0.0)
        with recorded() as issues:
            ranking = fitted.rank(
                rows, top, budget=budget, check_cost=check_cost, miss_cost=miss_cost
            )
        step("other models", 0.0)
        findings = _claimed(fitted, rows, ranking) if model is None and common.audit is None else []
        findings += [] if common.audit is None else _audited(fitted, rows, ranking)
        if out is not None:
            write_table(ranking, out)
    sentence = ranking.attrs["sentence"]
    if common.json:
        lines = ranking.assign(reasons=ranking["reasons"].str.split("; ")).to_dict("records")
        texts = [finding.to_dict() for finding in findings]
        written = out and str(out)
        print_json(
            {
                "sentence": sentence,
                "findings": texts,
                "issues": issues,
                "list": lines,
                "out": written,
            }
        )
    else:
        warned = [finding.text for finding in fitted.classifier_.findings_ if model is None]
        _show(ranking, sentence, [*warned, *issues], out)
        for finding in findings:
            say(finding.level, finding.text)


def _check(
    common: Common,
    model: Path | None,
    budget: float | None,
    check_cost: float | None,
    miss_cost: float | None,
) -> None:
    if model is None:
        common.check(needs_label=True)
    elif common.known():
        raise typer.BadParameter("what is known from elsewhere belongs to a fit; --model has one.")
    elif common.audit is not None:
        raise typer.BadParameter("--audit is for a model fitted to the table; leave out --model.")
    if (budget is not None or miss_cost is not None) and not check_cost:
        raise typer.BadParameter("--budget and --miss-cost need --check-cost above 0.")
    if miss_cost == 0:
        raise typer.BadParameter("--miss-cost must be above 0.")


def _fitted(
    path: Path, common: Common, model: Path | None, names: tuple[str, str], step: Any
) -> tuple[Any, Any]:
    """A model, loaded or fitted, and the rows to rank."""
    from doublelogit.persistence import load_table

    if model is not None:
        fitted = load_table(model)
        return fitted, common.frame(path, fitted.roles_)
    rows = common.table(path)
    return options.fitted(rows, common, step, *names), rows


def _claimed(model: Any, rows: Any, ranking: Any) -> list[Any]:
    """What other methods say of this list, unless it claims nothing."""
    from doublelogit.findings.doubt import claimed
    from doublelogit.registry import METHODS
    from doublelogit.report.doubt import list_claim

    if len(ranking) == 0 or not METHODS[model.fitted_.method].has_propensity:
        return []
    claim = list_claim(model.fitted_, rows, len(ranking))
    return [claimed(*vars(claim).values(), vague=claim.vague)]


def _audited(model: Any, rows: Any, ranking: Any) -> list[Any]:
    """What an audit says of the model, and of the precision of this list."""
    from doublelogit.audit.conclusions import conclusions
    from doublelogit.findings.audit import listed

    h, answer = ranking["probability"].to_numpy(), options.audit_estimate(model, rows)
    if not rows.audit.in_likelihood or len(h) == 0:
        return conclusions(answer)
    return [*conclusions(answer), listed(len(h), float(h.sum()), answer.calibration.mean(h))]


def _show(ranking: Any, sentence: str, notes: list[str], out: Path | None) -> None:
    from doublelogit.cli.terminal import print_table, say

    shown = [
        [str(line.rank), line.id, f"{line.probability:.1%}", line.reasons.replace("; ", ", ")]
        for line in ranking.head(SCREEN).itertuples()
    ]
    print_table(["rank", "id", "probability", "what speaks for it"], shown, numeric=9)
    if len(ranking) > SCREEN:
        rest = "all are in the file" if out else "--out list.csv writes all"
        say("fine", f"The first {SCREEN} of {len(ranking)}; {rest}.")
    for text in notes:
        say("attention", text)
    say("fine", sentence)
    if out is not None:
        say("fine", f"Written to {out}.")
