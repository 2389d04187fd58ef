"""``doublelogit predict``: probabilities of the rows of a table, by a saved model."""

from pathlib import Path

import typer

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table
from doublelogit.common.files import check_table

EXAMPLE = "Example: [bold]doublelogit predict model.dlm new.csv --out predictions.csv[/bold]"


@on_table(needs_label=False)
def predict(
    model: options.SavedModel,
    table: options.TablePath,
    common: Common,
    out: options.Out = None,
) -> None:
    """Write P(Y=1 | x), the probability of a label, and that of a hidden positive, row by row."""
    if common.known():
        raise typer.BadParameter("what is known from elsewhere belongs to a fit; give it to fit.")
    from doublelogit.cli.terminal import print_json, progress, recorded, say
    from doublelogit.persistence import load_table
    from doublelogit.tables.write import write_table

    path = out or Path(f"{table.stem}-predictions.csv")
    check_table(path)
    with progress(common.json, ("predicting",)) as step:
        fitted = load_table(model)
        frame = common.frame(table, fitted.roles_)
        step("predicting", 0.0)
        with recorded() as issues:
            predictions = fitted.predict(frame)
        write_table(predictions, path)
    if common.json:
        print_json({"predictions": str(path), "rows": len(predictions), "issues": issues})
        return
    for issue in issues:
        say("attention", issue)
    share = predictions["positive"].mean()
    say("fine", f"{len(predictions):,} rows, of which {share:.1%} are expected to be positive.")
    say("fine", f"Written to {path}.")
