"""``doublelogit diagnose``: what in a fit may not be trusted."""

from pathlib import Path
from typing import Any

import typer

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table

EXAMPLE = (
    "Example: [bold]doublelogit diagnose patients.csv --label diagnosed --id patient "
    "--out diagnosis.png[/bold]"
)
PICTURES = (".png", ".svg", ".pdf")


@on_table()
def diagnose(
    table: options.TablePath,
    common: Common,
    out: options.Out = None,
    method: options.InferredMethod = options.CHECKING,
) -> None:
    """Say what in a fit may not be trusted: starts, orientation, flat directions, overlap."""
    if out is not None and out.suffix.lower() not in PICTURES:
        raise typer.BadParameter(f"--out is a picture, {', '.join(PICTURES)}; got {out.name!r}.")
    from doublelogit.cli.terminal import print_json, progress, say

    with progress(common.json, ("fitting", "diagnosing")) as step:
        rows = common.table(table)
        model = options.fitted(rows, common, step, method)
        step("diagnosing", 0.0)
        diagnosis = model.infer(rows).diagnose()
        if out is not None:
            _draw(diagnosis, out)
    if common.json:
        print_json([finding.to_dict() for finding in diagnosis.findings])
        return
    for finding in diagnosis.findings:
        say(finding.level, finding.text)
    if out is not None:
        say("fine", f"Drawn in {out}.")


def _draw(diagnosis: Any, out: Path) -> None:
    from doublelogit.common.files import written_whole

    with written_whole(out) as file:
        diagnosis.plot().savefig(file, format=out.suffix[1:].lower(), dpi=150)
