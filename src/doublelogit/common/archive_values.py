"""Values of a model file: plain data to JSON and back, arrays and plugged-in classifiers set aside.

Reading makes numbers, texts, lists and records of types that the reader names; it has a budget of
memory, so that a small file cannot ask for a large machine.
"""

import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from doublelogit.common.extras import needs
from doublelogit.exceptions import ModelFileError

DTYPES = {"<f8", "<f4", "<i8", "<i4", "<u8", "|b1"}
ALLOWANCE = 64 * 2**20  # bytes that any file may take beyond its own size
PER_VALUE = 100  # bytes of a Python object, about
PER_BYTE = 8  # bytes of memory for one of the file: a digit may become a number


@dataclass
class Packed:
    """A state as JSON holds it, the members that it points to, and the size of its text."""

    state: Any = None
    members: dict[str, bytes] = field(default_factory=dict)
    size: int = 0

    def add(self, name: str, content: bytes) -> str:
        """Keep a member; its name."""
        self.members[name] = content
        return name


def pack(value: Any, packed: Packed) -> Any:
    """A value as JSON holds it, arrays set aside."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, np.ndarray):
        return _pack_array(value, packed)
    if isinstance(value, tuple):
        return {"$tuple": [pack(v, packed) for v in value]}
    if isinstance(value, list):
        return [pack(v, packed) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) and k[:1] != "$" for k in value):
        return {key: pack(v, packed) for key, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        packed_fields = {f.name: pack(getattr(value, f.name), packed) for f in fields(value)}
        return {"$record": type(value).__name__, "fields": packed_fields}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _pack_classifier(value, packed)
    raise TypeError(f"a model file cannot hold {value!r}, a {type(value).__name__}.")


def _pack_array(value: Any, packed: Packed) -> Any:
    if value.dtype.kind in "OUS":
        items = [pack(v, packed) for v in value.tolist()]
        return {"$items": items, "object": value.dtype.kind == "O"}
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if array.dtype.str not in DTYPES:
        raise TypeError(f"a model file cannot hold an array of {value.dtype}.")
    name = packed.add(f"arrays/{len(packed.members)}", array.tobytes())
    return {"$array": name, "dtype": array.dtype.str, "shape": list(array.shape)}


def _pack_classifier(value: Any, packed: Packed) -> Any:
    import sklearn

    needs("skops", "saving other classifiers than ours", "skops")
    import skops.io

    name = packed.add(f"parts/{len(packed.members)}.skops", skops.io.dumps(value))
    return {"$skops": name, "scikit-learn": sklearn.__version__}


@dataclass
class Unpacker:
    """Reads the values of a file, within a budget of memory."""

    packed: Packed
    records: Mapping[str, Any]
    trusted: tuple[str, ...] = ()
    left: float = field(init=False)

    def __post_init__(self) -> None:
        held = sum(map(len, self.packed.members.values()))
        self.left = ALLOWANCE + PER_BYTE * (held + self.packed.size)

    def unpack(self, value: Any) -> Any:
        """The value that JSON has held."""
        self._spend(PER_VALUE)
        if isinstance(value, list):
            return [self.unpack(item) for item in value]
        if not isinstance(value, dict):
            return value
        for mark, read in READ.items():
            if mark in value:
                return read(self, value)
        return {key: self.unpack(item) for key, item in value.items()}

    def _spend(self, n_bytes: float) -> None:
        self.left -= n_bytes
        if self.left < 0:
            raise ModelFileError(
                "it asks for far more memory than a model of its size takes, so it was not read."
            )

    def _float(self, value: dict[str, Any]) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["$float"]]

    def _tuple(self, value: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.unpack(item) for item in value["$tuple"])

    def _items(self, value: dict[str, Any]) -> Any:
        items = self.unpack(value["$items"])
        if value["object"]:
            array = np.empty(len(items), dtype=object)  # of lists numpy would make a matrix
            array[:] = items
            return array
        if not all(isinstance(item, str | int | float | bool) for item in items):
            raise ModelFileError("it has a list of values that are no texts or numbers.")
        # numpy gives every text the length of the longest
        self._spend(4 * len(items) * max((len(str(item)) for item in items), default=0))
        return np.array(items)

    def _array(self, value: dict[str, Any]) -> Any:
        content, dtype = self.packed.members[value["$array"]], value["dtype"]
        if dtype not in DTYPES:
            raise ModelFileError(f"it has an array of the type {dtype!r}, which no model has.")
        self._spend(len(content))
        array = np.frombuffer(content, dtype=dtype).reshape(value["shape"])
        return array.astype(array.dtype.newbyteorder("="))

    def _record(self, value: dict[str, Any]) -> Any:
        values = {key: self.unpack(item) for key, item in value["fields"].items()}
        return self.records[value["$record"]](**values)

    def _classifier(self, value: dict[str, Any]) -> Any:
        import sklearn

        if value["scikit-learn"] != sklearn.__version__:
            raise ModelFileError(
                f"it holds a classifier of scikit-learn {value['scikit-learn']}, and this is "
                f"{sklearn.__version__}: such parts are for one version only. Install that "
                "version, or fit again."
            )
        needs("skops", "loading other classifiers than ours", "skops")
        import skops.io

        content = self.packed.members[value["$skops"]]
        self._spend(len(content))
        with zipfile.ZipFile(io.BytesIO(content)) as inner:
            check_stored(inner.infolist(), len(content), value["$skops"])
        unknown = sorted(set(skops.io.get_untrusted_types(data=content)) - set(self.trusted))
        if unknown:
            raise ModelFileError(
                f"it holds objects of types that are not trusted: {', '.join(unknown)}. If you "
                "know where the file comes from, name them: load(path, trusted=[...])."
            )
        return skops.io.loads(content, trusted=list(self.trusted))


READ = {
    "$float": Unpacker._float,
    "$tuple": Unpacker._tuple,
    "$items": Unpacker._items,
    "$array": Unpacker._array,
    "$skops": Unpacker._classifier,
    "$record": Unpacker._record,
}


def check_stored(infos: list[zipfile.ZipInfo], size: int, name: str) -> None:
    """Refuse compressed members, and members that claim more than there is."""
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise damaged(name, f"its member {info.filename[:60]!r} is compressed")
    if sum(info.file_size for info in infos) > size:
        raise damaged(name, "its members claim to be larger than the file")


def damaged(name: str, why: str) -> ModelFileError:
    """The error of a file that is not as it was written."""
    return ModelFileError(
        f"{name!r} is not a model file as it was saved: {why}. Save the model again, or get the "
        "file anew."
    )
