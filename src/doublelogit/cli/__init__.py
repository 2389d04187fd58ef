"""The ``doublelogit`` command: one file per command, heavy imports only when one runs."""

import sys

try:
    import rich  # noqa: F401
    import typer  # noqa: F401
except ImportError:  # pragma: no cover - the message is all there is
    sys.exit("the doublelogit command needs: pip install 'doublelogit[cli,report,experiments]'")

from doublelogit.cli.app import app

__all__ = ["app"]
