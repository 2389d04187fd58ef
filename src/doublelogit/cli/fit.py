"""``doublelogit fit``: a table in, a model file out."""

from pathlib import Path

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table

EXAMPLE = (
    "Example: [bold]doublelogit fit patients.csv --label diagnosed --id patient "
    "--out model.dlm[/bold]"
)


@on_table()
def fit(
    table: options.Table,
    common: Common,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
) -> None:
    """Fit a model to a table and save it."""
    from doublelogit.cli.terminal import print_json, progress, say
    from doublelogit.tables import fit_table

    path = out or Path(f"{table.stem}.dlm")
    with progress(common.json, ("fitting", "writing")) as step:
        rows = common.table(table)
        step("fitting", 0.0)
        model = fit_table(rows, rows.roles, method=method)
        X, _ = model.encoder.encode(rows.features)
        share = float(model.classifier.predict_positive(X).mean())
        step("writing", 0.0)
        model.save(path)
    if common.json:
        print_json(
            {
                "model": str(path),
                "method": method,
                "rows": len(rows),
                "labelled": int(rows.s.sum()),
                "positive": share,
                "warnings": list(model.warned),
            }
        )
        return
    say("fine", f"{method} fitted to {len(rows):,} rows, {int(rows.s.sum()):,} labelled.")
    say("fine", f"Estimated share of positives: {share:.1%}; labelled are {rows.s.mean():.1%}.")
    for text in model.warned:
        say("attention", text)
    say("fine", f"Saved as {path}.")
