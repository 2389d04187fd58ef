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
    table: options.Table,
    common: Common,
    out: options.Out = None,
    method: options.Method = options.DEFAULT,
) -> None:
    """Say what in a fit may not be trusted: starts, orientation, flat directions, overlap."""
    if out is not None and out.suffix.lower() not in PICTURES:
        raise typer.BadParameter(f"--out is a picture, {', '.join(PICTURES)}; got {out.name!r}.")
    from doublelogit.cli.terminal import print_json, progress, say

    with progress(common.json, ("fitting", "diagnosing")) as step:
        found = _diagnosis(common.table(table), method, step)
        if out is not None:
            _draw(found, out)
    # the library's sentences begin with what they call for
    said = [(s.split(maxsplit=1)[0], s.split(maxsplit=1)[1]) for s in found.sentences]
    if common.json:
        print_json([{"level": word.lower(), "text": text} for word, text in said])
        return
    for word, text in said:
        say("attention" if word == "ATTENTION" else "fine", text)
    if out is not None:
        say("fine", f"Drawn in {out}.")


def _diagnosis(rows: Any, method: str, step: Any) -> Any:
    from doublelogit import infer
    from doublelogit.tables import fit_table

    step("fitting", 0.0)
    model = fit_table(rows, rows.roles, method=method)
    X, _ = model.encoder.encode(rows.features)
    step("diagnosing", 0.0)
    try:
        inference = infer(
            model.classifier, X, rows.s, sample_weight=rows.weight, audited_y=rows.audited
        )
    except TypeError as error:
        raise ValueError(str(error)) from None
    return inference.diagnose()


def _draw(found: Any, out: Path) -> None:
    from doublelogit.files import written_whole

    with written_whole(out) as partial:
        found.plot().savefig(partial, dpi=150)
