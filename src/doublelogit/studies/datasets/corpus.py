"""The corpus: real tables with known classes, read from a local cache that ``make corpus`` fills.

Nothing of it is part of the package but its description, ``corpus.csv`` and
``corpus_signal.csv``: the data belong to the packages that they come from.
"""

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from doublelogit._types import Floats
from doublelogit.common.extras import needs
from doublelogit.studies.datasets.reduction import reduce_columns, reduce_rows


def corpus_table() -> Any:
    """Describe the corpus: one row per table, as a pandas DataFrame.

    Returns
    -------
    table : DataFrame
        Indexed by name: ``family``, ``half`` (learn or test), ``package``, ``version``,
        ``licence``, ``nature`` (observed or constructed), ``means`` (what class 1 is), ``n_source``
        (rows of the source), ``n``, ``p``, ``prevalence``, ``sha256`` (of the content), and what
        the ORACLE found: ``signal`` (sd of x'beta), ``tjur_r2``, ``auc``, and by how much splines
        and boosting are better, ``spline_gain``, ``boosting_gain`` (held-out log-likelihood per
        row), ``spline_auc``, ``boosting_auc``.

    Examples
    --------
    >>> from doublelogit.studies.datasets import corpus_table
    >>> corpus_table().loc["wdbc", ["n", "p"]].tolist()
    [569, 30]
    """
    return described("corpus.csv").join(described("corpus_signal.csv"))


def corpus_names(half: Literal["learn", "test"] | None = None) -> list[str]:
    """Names of the tables of the corpus, or of one half of it.

    Parameters
    ----------
    half : {"learn", "test"} or None, default=None
        Methods may be developed on *learn*; *test* is for judging them.

    Returns
    -------
    names : list of str
    """
    if half not in (None, "learn", "test"):
        raise ValueError(f"half must be 'learn', 'test' or None; got {half!r}.")
    table = described("corpus.csv")
    return list(table.index if half is None else table.index[table["half"] == half])


def corpus_families(
    half: Literal["learn", "test"] | None = None, siblings: bool = True, every: int = 1
) -> dict[str, str]:
    """Tables of the corpus and the family of each: what collections of a plan ask for.

    Parameters
    ----------
    half : {"learn", "test"} or None, default=None
        As in :func:`corpus_names`.
    siblings : bool, default=True
        Whether a family may have several tables; if not, the one whose name hashes lowest.
    every : int, default=1
        Only every k-th table, in the order of the hashes of their names.

    Returns
    -------
    families : dict of str
        In the order of the hashes, so that the first tables are a fair part of all.
    """
    family = described("corpus.csv")["family"]
    names = sorted(corpus_names(half), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    if not siblings:
        first = {family[name]: name for name in reversed(names)}
        names = [name for name in names if first[family[name]] == name]
    return {name: str(family[name]) for name in names[::every]}


def load_corpus(
    name: str,
    *,
    return_X_y: bool = False,
    max_rows: int | None = None,
    max_columns: int | None = None,
    random_state: Any = 0,
) -> Any:
    """Load a table of the corpus, with the true class.

    Parameters
    ----------
    name : str
        One of :func:`corpus_names`.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    max_rows : int or None, default=None
        Draw at most so many rows, each class in its proportion.
    max_columns : int or None, default=None
        Drop columns that correlate .95 or more with an earlier one and keep so many of the
        others, those with the largest mutual information with the class.
    random_state : int, RandomState instance or None, default=0
        For the rows drawn and the estimate of mutual information.

    Returns
    -------
    data : Bunch
        ``data`` of shape (n, p), not standardised, ``target`` (1 positive, 0 negative),
        ``feature_names``, ``name``, ``family``, ``half`` and ``means``.
    """
    table = described("corpus.csv")
    if name not in table.index:
        raise ValueError(f"name must be one of corpus_names(); got {name!r}.")
    row = table.loc[name]
    names, columns = read_cached(corpus_folder() / f"{name}.parquet", str(row["sha256"]), ["y"])
    X, y = columns[:, :-1], columns[:, -1].astype(int)
    if max_rows is not None:
        X, y = reduce_rows(X, y, max_rows, random_state)
    if max_columns is not None:
        reduced = reduce_columns(X, y, max_columns, random_state)
        X, names = X[:, reduced], [names[j] for j in reduced]
    if return_X_y:
        return X, y
    about = {key: row[key] for key in ("family", "half", "means")}
    return Bunch(data=X, target=y, feature_names=names, name=name, **about)


def corpus_folder() -> Path:
    """The cache: DOUBLELOGIT_CORPUS, or doublelogit/corpus in the user's cache directory."""
    chosen = os.environ.get("DOUBLELOGIT_CORPUS")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "doublelogit" / "corpus"


def content_hash(names: list[str], columns: Floats) -> str:
    """The SHA-256 of a table's column names and numbers, whatever file they are in."""
    digest = hashlib.sha256(json.dumps([*names, *columns.shape]).encode())
    digest.update(np.ascontiguousarray(columns, dtype="<f8").tobytes())
    return digest.hexdigest()


def read_cached(path: Path, sha256: str, last: list[str]) -> tuple[list[str], Floats]:
    """Names of the features and all columns of a cached file, if it is there and undamaged."""
    needs("pyarrow", "The corpus", "tables")
    import pyarrow.parquet as pq

    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: fill the cache by running make corpus.")
    table = pq.read_table(path)
    names = list(table.column_names)
    columns: Floats = np.column_stack([table.column(c).to_numpy() for c in names]).astype(float)
    if names[-len(last) :] != last or content_hash(names, columns) != sha256:
        raise OSError(f"{path} is not the table that was described: run make corpus again.")
    return names[: -len(last)], columns


def described(file: str) -> Any:
    """A CSV of the package that describes tables, by name."""
    needs("pandas", "The corpus", "tables")
    import pandas as pd

    with (files("doublelogit.studies.datasets") / file).open() as text:
        return pd.read_csv(text, index_col="name")
