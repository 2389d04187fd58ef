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
    table: options.TablePath,
    common: Common,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
    label_model: options.LabelModel = options.ANY_SHAPE,
) -> None:
    """Fit a model to a table and save it."""
    from doublelogit.audit.conclusions import conclusions
    from doublelogit.cli.terminal import print_json, progress, say

    path = out or Path(f"{table.stem}.dlm")
    with progress(common.json, ("fitting", "writing")) as step:
        rows = common.table(table)
        model = options.fitted(rows, common, step, method, label_model)
        share = float(model.predict(rows)["positive"].mean())
        answer = options.audit_estimate(model, rows)
        audit = [] if answer is None else conclusions(answer)
        step("writing", 0.0)
        model.save(path)
    labelled = int(rows.s.sum())
    if common.json:
        print_json(
            {
                "model": str(path),
                "method": method,
                "label_model": label_model,
                "rows": len(rows),
                "labelled": labelled,
                "positive": share,
                "findings": [finding.to_dict() for finding in (*audit, *model.findings_)],
            }
        )
        return
    say("fine", f"{method} fitted to {len(rows):,} rows, {labelled:,} labelled.")
    say("fine", f"Estimated share of positives: {share:.1%}; {rows.s.mean():.1%} are labelled.")
    for finding in (*audit, *model.classifier_.findings_):
        say(finding.level, finding.text)
    say("fine", f"Saved as {path}.")
