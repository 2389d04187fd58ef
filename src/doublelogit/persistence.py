"""``load``: a model from a file, without running anything that the file says."""

from pathlib import Path
from typing import Any

from doublelogit import archive
from doublelogit.estimators import serialization as classifiers
from doublelogit.exceptions import ModelFileError
from doublelogit.tables import model as tables


def load(path: str | Path, *, trusted: Any = ()) -> Any:
    """Read a model that ``save`` has written.

    Parameters
    ----------
    path : path
        Of the file.
    trusted : sequence of str, default=()
        Names of types that a plugged-in classifier may have, beyond those that skops trusts.

    Returns
    -------
    model : classifier or TableModel

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
    makers = {classifiers.KIND: classifiers.of_state, tables.KIND: tables.TableModel.of_state}
    if opened.kind not in makers:
        raise ModelFileError(
            f"{opened.path!r} holds a {opened.kind[:60]!r}, which this release does not know. "
            "Upgrade doublelogit."
        )
    state = opened.state(classifiers.RECORDS, trusted)
    try:
        return makers[opened.kind](state)
    except ModelFileError as error:
        raise ModelFileError(f"{opened.path!r}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise archive.damaged(opened.path, f"its state makes no sense ({error})") from error
