"""The eight UCI tables of the paper, bundled as compressed CSV.

``tools/build_benchmarks.py`` builds the files; ``docs/datasets.md`` has their sources.
"""

import gzip
import hashlib
import io
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from doublelogit._types import Floats
from doublelogit.common.extras import needs

# Bundled tables: the file of each and the SHA-256 of its CSV.
BENCHMARKS = {
    "diabetes": ("diabetes", "de1ad5544c9d8bca27668576e9a38104a69f526326faa7637a04013aa40abb5c"),
    "BreastCancer": (
        "BreastCancer",
        "422a673af7148e1b37b43630d126aa59def0ffbf9c35b94d0ccb0c05edd06443",
    ),
    "heart-c": ("heart-c", "eb4bd8b5666a2d12e22f09795cd3e33ed0c249ff38f5805e9f907781ca89243b"),
    "heart-c_uci": (
        "heart-c_uci",
        "683c2f3d96a735d977c7c596608d7535d5f0734a446630ca5dfc5d6ae0a756ab",
    ),
    "credit-a": ("credit-a", "34665b69ed1d473c138a2062843c041aa12a46cd40e49be7fa0d7dc8952f2f39"),
    "adult": ("adult", "7bbb3e550ecef8a9cda82bb624f18d27337d6717bcdb35af813578ce915977d5"),
    "vote": ("vote", "37fbf0ff4eeb1bf40448071d15f9e2ea450c15b5e05ff99e93056695413374c6"),
    "wdbc": ("wdbc_noid", "0bfd116f06bd73e646390174a8fc05a6675d706a4af83067107cf09ccc5c0e36"),
    "wdbc_id": ("wdbc", "1472b75dd469de94551e965d438197e3cb462219b5595ffa52f252c9271660f2"),
    "spambase": ("spambase", "483afde14e0bda9b4d71b197559c637f0b122b18759e02f6d51daec5cb8f31a5"),
}

_SPAM_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses "
    "free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 "
    "data 415 85 technology 1999 parts pm direct cs meeting original project re edu table "
    "conference"
)
_SPAM_NAMES = [
    *(f"word_freq_{word}" for word in _SPAM_WORDS.split()),
    *(f"char_freq_{char}" for char in ";([!$#"),
    *(f"capital_run_length_{which}" for which in ("average", "longest", "total")),
]


def load_benchmark(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load one of the paper's benchmark tables, with the true class.

    Parameters
    ----------
    name : str
        One of ``BENCHMARKS``: diabetes, BreastCancer, heart-c, credit-a, adult, vote, wdbc,
        spambase, and two variants: heart-c_uci (UCI's rows) and wdbc_id (with the patient id
        as a feature, as the paper counts it).
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas objects.

    Returns
    -------
    data : Bunch
        ``data`` of shape (n, p), ``target`` (1 positive, 0 negative), ``feature_names`` and
        ``name``.

    Examples
    --------
    >>> from doublelogit.datasets import load_benchmark
    >>> load_benchmark("diabetes").data.shape
    (768, 8)
    """
    if name not in BENCHMARKS:
        raise ValueError(f"name must be one of {', '.join(BENCHMARKS)}; got {name!r}.")
    header, table = _read(*BENCHMARKS[name])
    names = _SPAM_NAMES if name == "spambase" else header[:-1]
    X: Any = np.ascontiguousarray(table[:, :-1])
    y: Any = table[:, -1].astype(int)
    if as_frame:
        needs("pandas", "as_frame=True", "tables")
        import pandas as pd

        X, y = pd.DataFrame(X, columns=names), pd.Series(y, name="y")
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, feature_names=names, name=name)


def _read(file: str, sha256: str) -> tuple[list[str], Floats]:
    path = files("doublelogit.datasets") / "tables" / f"{file}.csv.gz"
    content = gzip.decompress(path.read_bytes())
    if hashlib.sha256(content).hexdigest() != sha256:
        raise OSError(f"{path} is damaged: its checksum is wrong. Reinstall doublelogit.")
    header, _, body = content.decode().partition("\n")
    return header.split(","), np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2)
