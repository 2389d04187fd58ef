"""The model file: a zip of one JSON text and raw arrays, each with its checksum.

    SHA256          checksum of model.json
    model.json      format, version, kind, state, and of every other member its checksum
    arrays/N        numbers, little-endian, row by row; type and shape stand in the state
    parts/N.skops   a classifier of another library, as skops keeps it

Members are stored, never compressed: nothing in a file can be larger than the file. Reading makes
numbers, texts and lists of what it finds, and records of types that the reader names; nothing in a
file is ever executed.
"""

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from doublelogit.exceptions import ModelFileError
from doublelogit.files import written_whole

FORMAT = 2  # raised when an older release could not read the file
HEADER, SEAL = "model.json", "SHA256"
MEMBER = re.compile(r"arrays/\d{1,6}|parts/\d{1,6}\.skops")
LARGEST_HEADER = 16 * 2**20
DTYPES = {"<f8", "<f4", "<i8", "<i4", "|b1"}
EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first moment: the same model makes the same bytes


@dataclass
class Packed:
    """A state as JSON would hold it, and the members that it points to."""

    state: Any = None
    members: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, content: bytes) -> str:
        """Keep a member; its name."""
        self.members[name] = content
        return name


def write(path: str | Path, kind: str, state: Any, versions: Mapping[str, str]) -> None:
    """Write a state to a file, whole or not at all."""
    packed = Packed()
    packed.state = _pack(state, packed)
    header = {
        "format": FORMAT,
        "kind": kind,
        "versions": dict(versions),
        "members": {name: _digest(content) for name, content in packed.members.items()},
        "state": packed.state,
    }
    text = json.dumps(header, indent=1, allow_nan=False, sort_keys=True).encode()
    seal = f"{_digest(text)}  {HEADER}\n".encode()
    with written_whole(path) as partial, zipfile.ZipFile(partial, "w") as file:
        for name, content in {SEAL: seal, HEADER: text, **packed.members}.items():
            file.writestr(zipfile.ZipInfo(name, EPOCH), content)


@dataclass(frozen=True)
class Opened:
    """What a model file says, checked."""

    path: str
    format: int
    kind: str
    versions: dict[str, str]
    packed: Packed

    def state(self, records: Mapping[str, Any], trusted: Any = ()) -> Any:
        """The state, with records of these types and classifiers that skops trusts."""
        try:
            return _unpack(self.packed.state, self.packed, records, tuple(trusted))
        except ModelFileError as error:
            raise ModelFileError(f"{self.path!r}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise damaged(self.path, f"its state makes no sense ({error})") from error


def read(path: str | Path) -> Opened:
    """Open a model file and check all of it; a ModelFileError says what is wrong."""
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"there is no model file {str(path)!r}.")
    try:
        with zipfile.ZipFile(path) as file:
            members = _members(file, path)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise damaged(path.name, f"it is cut short or no model file ({error})") from error
    text = members.pop(HEADER, None)
    seal = members.pop(SEAL, b"").decode("ascii", "replace").split()
    if text is None or seal[:1] != [_digest(text)]:
        raise damaged(path.name, "the checksum of its header is wrong")
    header = _header(text, path.name)
    if {name: _digest(content) for name, content in members.items()} != header.get("members"):
        raise damaged(path.name, "the checksum of a member is wrong")
    packed = Packed(header["state"], members)
    kind, versions = str(header["kind"]), dict(header["versions"])
    return Opened(path.name, int(header["format"]), kind, versions, packed)


def damaged(name: str, why: str) -> ModelFileError:
    """The error of a file that is not as it was written."""
    return ModelFileError(
        f"{name!r} is not a model file as it was saved: {why}. Save the model again, or get the "
        "file anew."
    )


def _header(text: bytes, name: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        version = int(header["format"])
        maker = header["versions"].get("doublelogit")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise damaged(name, f"its header cannot be read ({type(error).__name__})") from error
    if version > FORMAT:
        raise ModelFileError(
            f"{name!r} was written by doublelogit {maker} in format {version}; this release "
            f"reads formats up to {FORMAT}. Upgrade doublelogit."
        )
    if not {"kind", "versions", "members", "state"} <= set(header):
        raise damaged(name, "its header is incomplete")
    return dict(header)


def _members(file: zipfile.ZipFile, path: Path) -> dict[str, bytes]:
    """All members, after a look at what they claim to be."""
    infos, size = file.infolist(), path.stat().st_size
    check_stored(infos, size, path.name)
    for info in infos:
        if info.filename not in (HEADER, SEAL) and not MEMBER.fullmatch(info.filename):
            raise damaged(path.name, f"it has a member {info.filename[:60]!r}")
        if info.filename in (HEADER, SEAL) and info.file_size > LARGEST_HEADER:
            raise damaged(path.name, f"its header claims {info.file_size / 2**20:.0f} MiB")
    if len({info.filename for info in infos}) < len(infos):
        raise damaged(path.name, "it has two members of one name")
    return {info.filename: file.read(info) for info in infos}


def check_stored(infos: list[zipfile.ZipInfo], size: int, name: str) -> None:
    """Refuse compressed members, and members that claim more than there is."""
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise damaged(name, f"its member {info.filename[:60]!r} is compressed")
    if sum(info.file_size for info in infos) > size:
        raise damaged(name, "its members claim to be larger than the file")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _pack(value: Any, packed: Packed) -> Any:
    """A value as JSON, arrays set aside."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, np.ndarray):
        return _pack_array(value, packed)
    if isinstance(value, tuple):
        return {"$tuple": [_pack(v, packed) for v in value]}
    if isinstance(value, list):
        return [_pack(v, packed) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) and k[:1] != "$" for k in value):
        return {key: _pack(v, packed) for key, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: _pack(getattr(value, f.name), packed) for f in fields(value)}
        return {"$record": type(value).__name__, "fields": parts}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _pack_classifier(value, packed)
    raise TypeError(f"a model file cannot hold {value!r}, a {type(value).__name__}.")


def _pack_array(value: Any, packed: Packed) -> Any:
    if value.dtype.kind in "OUS":
        items = [_pack(v, packed) for v in value.tolist()]
        return {"$items": items, "object": value.dtype.kind == "O"}
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if array.dtype.str not in DTYPES:
        raise TypeError(f"a model file cannot hold an array of {value.dtype}.")
    name = packed.add(f"arrays/{len(packed.members)}", array.tobytes())
    return {"$array": name, "dtype": array.dtype.str, "shape": list(array.shape)}


def _pack_classifier(value: Any, packed: Packed) -> Any:
    import sklearn

    try:
        import skops.io
    except ImportError:
        raise ImportError("saving other classifiers than ours needs: pip install skops") from None
    name = packed.add(f"parts/{len(packed.members)}.skops", skops.io.dumps(value))
    return {"$skops": name, "scikit-learn": sklearn.__version__}


def _unpack(value: Any, packed: Packed, records: Mapping[str, Any], trusted: Any) -> Any:
    def inner(part: Any) -> Any:
        return _unpack(part, packed, records, trusted)

    if isinstance(value, list):
        return [inner(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["$float"]]
    if "$tuple" in value:
        return tuple(inner(part) for part in value["$tuple"])
    if "$items" in value:
        items = inner(value["$items"])
        return np.array(items, dtype=object) if value["object"] else np.array(items)
    if "$array" in value:
        return _unpack_array(value, packed)
    if "$skops" in value:
        return _unpack_classifier(value, packed, trusted)
    if "$record" in value:
        parts = {key: inner(part) for key, part in value["fields"].items()}
        return records[value["$record"]](**parts)
    return {key: inner(part) for key, part in value.items()}


def _unpack_array(value: dict[str, Any], packed: Packed) -> Any:
    content, dtype = packed.members[value["$array"]], value["dtype"]
    if dtype not in DTYPES:
        raise ModelFileError(f"it has an array of the type {dtype!r}, which no model has.")
    array = np.frombuffer(content, dtype=dtype).reshape(value["shape"])
    return array.astype(array.dtype.newbyteorder("="))


def _unpack_classifier(value: dict[str, Any], packed: Packed, trusted: Any) -> Any:
    import sklearn

    if value["scikit-learn"] != sklearn.__version__:
        raise ModelFileError(
            f"it holds a classifier of scikit-learn {value['scikit-learn']}, and this is "
            f"{sklearn.__version__}: such parts are for one version only. Install that version, "
            "or fit again."
        )
    try:
        import skops.io
    except ImportError:
        raise ImportError("loading other classifiers than ours needs: pip install skops") from None
    content = packed.members[value["$skops"]]
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        check_stored(inner.infolist(), len(content), value["$skops"])
    unknown = sorted(set(skops.io.get_untrusted_types(data=content)) - set(trusted))
    if unknown:
        raise ModelFileError(
            f"it holds objects of types that are not trusted: {', '.join(unknown)}. If you know "
            "where the file comes from, name them: load(path, trusted=[...])."
        )
    return skops.io.loads(content, trusted=list(trusted))
