"""``doublelogit export``: a saved model for other runtimes."""

from pathlib import Path
from typing import Annotated

import typer

from doublelogit.cli import options
from doublelogit.common.files import written_whole
from doublelogit.exceptions import UsageError

EXAMPLE = "Example: [bold]doublelogit export model.dlm --out model.onnx[/bold]"


def export(
    model: options.SavedModel,
    out: options.Out = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write a saved model as a graph of ONNX, which runs without this library."""
    from doublelogit.cli.terminal import print_json, say
    from doublelogit.export import to_onnx
    from doublelogit.persistence import load_table

    path = out or Path(f"{model.stem}.onnx")
    if path.suffix.lower() != ".onnx":
        raise UsageError(f"a graph is written as .onnx; got {path.name!r}. Name it so.")
    graph = to_onnx(load_table(model))
    with written_whole(path) as file:
        file.write(graph.SerializeToString())
    inputs, outputs = ([v.name for v in side] for side in (graph.graph.input, graph.graph.output))
    if as_json:
        print_json({"graph": str(path), "inputs": inputs, "outputs": outputs})
        return
    say("fine", f"Inputs, a column each: {', '.join(inputs)}.")
    say("fine", f"Outputs, a number for each row: {', '.join(outputs)}.")
    say("fine", f"Written to {path}.")
