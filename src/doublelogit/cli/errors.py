"""Errors for people: a sentence that ends with what to do, and an exit code for machines."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from doublelogit.cli.output import Watched
from doublelogit.common.wording import as_options, visible
from doublelogit.exceptions import ModelFileError, SheetError, UsageError

BUG, USAGE, BAD_TABLE, MODEL_FILE, PACKAGE, PROBLEM_FOUND, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130


@contextmanager
def guarded(as_json: bool) -> Iterator[None]:
    """Run a command; what goes wrong becomes one sentence and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # commands say themselves what fits warn of
            yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except KeyboardInterrupt:
        _end("interrupted; nothing was written.", INTERRUPTED, as_json)
    except ModelFileError as error:
        _end(str(error), MODEL_FILE, as_json)
    except ImportError as error:
        _end(str(error), PACKAGE, as_json)
    except (SheetError, UsageError) as error:
        _end(str(error), USAGE, as_json)
    except (ValueError, OSError) as error:
        if isinstance(sys.stdout, Watched) and sys.stdout.failure is not None:
            raise  # nobody can be told on an output that is closed or full
        _end(str(error), BAD_TABLE, as_json)
    except Exception as error:  # a traceback would help nobody who runs a command
        text = f"this should not happen: {type(error).__name__}: {error}. Please report it."
        _end(text, BUG, as_json)


def _end(text: str, code: int, as_json: bool) -> None:
    text = as_options(" ".join(text.split()))
    if as_json:
        typer.echo(json.dumps({"error": text, "code": code}))
    else:
        typer.secho(f"Error: {visible(text)}", fg="red", err=True)
    raise typer.Exit(code) from None
