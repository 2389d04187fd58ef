"""``load``: a model from a file, without running anything that the file says."""

from pathlib import Path
from typing import Any

from doublelogit.common import archive
from doublelogit.common.archive_values import damaged
from doublelogit.estimators import serialization as classifiers
from doublelogit.exceptions import ModelFileError
from doublelogit.table_classifier import TableClassifier
from doublelogit.table_models.table_model import KIND as TABLE
from doublelogit.table_models.table_model import FittedTable


def load(path: str | Path, *, trusted: Any = ()) -> Any:
    """Read a model that ``save`` has written.

    Parameters
    ----------
    path : path
        The model file.
    trusted : sequence of str, default=()
        Names of types that a plugged-in classifier may have, beyond those that skops trusts.

    Returns
    -------
    model : classifier or TableClassifier

    Examples
    --------
    >>> import doublelogit, tempfile, pathlib
    >>> X, s = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = doublelogit.NaiveClassifier().fit(X, s)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory) / "model.dlm"
    ...     model.save(path)
    ...     doublelogit.load(path).predict(X)
    array([0, 0, 1, 1])
    """
    opened = archive.read(path)
    if opened.kind not in MAKERS:
        raise ModelFileError(
            f"{opened.path!r} holds a {opened.kind[:60]!r}, which this release does not know. "
            "Upgrade doublelogit."
        )
    try:
        return MAKERS[opened.kind](opened.state(classifiers.RECORDS, trusted))
    except ModelFileError as error:
        raise ModelFileError(f"{opened.path!r}: {error}") from None
    except ImportError:
        raise
    except Exception as error:  # here ends what a file can say; nothing foreign gets out
        reason = f"its state makes no sense ({type(error).__name__}: {error})"
        raise damaged(opened.path, reason) from error


def load_table(path: str | Path) -> TableClassifier:
    """Read a model of a table; a bare classifier, which knows no table, is refused."""
    model = load(path)
    if not isinstance(model, TableClassifier):
        raise ModelFileError(
            f"{Path(path).name!r} holds a bare classifier, which knows no table. Use a model saved "
            "by TableClassifier or by 'doublelogit fit'."
        )
    return model


def _table(state: dict[str, Any]) -> TableClassifier:
    return TableClassifier.from_fitted(FittedTable.from_state(state))


MAKERS = {classifiers.KIND: classifiers.from_state, TABLE: _table}
