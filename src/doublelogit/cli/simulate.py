"""``doublelogit simulate``: hide known positives and see which methods find them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from doublelogit.cli import options
from doublelogit.common.files import check_table

EXAMPLE = (
    "Example: [bold]doublelogit simulate census.csv --truth rich --ignore person "
    "--drivers workclass,age --strength 1.5 --out labelled.csv[/bold]"
)


def simulate(
    table: options.TablePath,
    truth: Annotated[str, typer.Option(help="Column with the true class.")],
    positive: Annotated[str | None, typer.Option(help="Its value that means positive.")] = None,
    drivers: Annotated[
        str, typer.Option(help="Columns labelling depends on, a,b; none is labelling at random.")
    ] = "",
    strength: Annotated[
        float,
        typer.Option(
            min=0.0, max=100.0, help="How strongly: standard deviation of the logit of e(x)."
        ),
    ] = 1.0,
    frequency: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Share of the positives that are labelled.")
    ] = 0.5,
    name_drivers: Annotated[
        bool, typer.Option("--name-drivers", help="Tell the methods what labelling depends on.")
    ] = False,
    ignore: Annotated[str, typer.Option(help="Columns that are not features, such as an id.")] = "",
    out: options.Out = None,
    seed: options.Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Hide positives of a table whose class is known; show what each method makes of the rest."""
    _simulate(
        table,
        truth,
        out,
        as_json,
        positive=positive,
        drivers=options.names(drivers) or (),
        strength=strength,
        label_frequency=frequency,
        ignore=options.names(ignore) or (),
        random_state=seed,
        name_drivers=name_drivers,
    )


def _simulate(
    table: Path, truth: str, out: Path | None, as_json: bool, name_drivers: bool, **settings: Any
) -> None:
    from dataclasses import asdict

    from doublelogit.cli.terminal import print_json, progress, say
    from doublelogit.simulation import evaluate, simulate_labels
    from doublelogit.tables import read_table
    from doublelogit.tables.write import write_table

    if out is not None:
        check_table(out)
    with progress(as_json, ("fitting",)) as step:
        made = simulate_labels(read_table(table), truth, **settings)
        if out is not None:
            write_table(made.frame, out)
        named = settings["drivers"] if name_drivers else None
        scores = evaluate(made, named, lambda share: step("fitting", share))
    if as_json:
        print_json({"sentence": made.sentence, "methods": [asdict(score) for score in scores]})
        return
    say("fine", made.sentence)
    show_scores(scores)
    if out is not None:
        say("fine", f"The table without the truth is in {out}.")


def show_scores(scores: list[Any]) -> None:
    """Methods beside the truth, as a table with its legend."""
    from doublelogit.cli.terminal import console, print_table

    print_table(
        ["method", "positive", "AE", "accuracy", "seconds", ""],
        [
            [
                score.method,
                f"{score.prevalence:.1%}",
                f"{score.error:.3f}",
                f"{score.accuracy:.1%}",
                f"{score.seconds:.2f}",
                score.note,
            ]
            for score in scores
        ],
    )
    console().print(
        " positive: estimated share of positives; AE: mean distance of P(Y=1|x) from\n"
        " the oracle's, smaller is better; accuracy: share of true classes predicted."
    )
