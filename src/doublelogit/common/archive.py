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
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublelogit.common.archive_values import Packed, Unpacker, check_stored, damaged, pack
from doublelogit.common.files import written_whole
from doublelogit.exceptions import ModelFileError

FORMAT = 3  # the one that is read and written
HEADER, SEAL = "model.json", "SHA256"
MEMBER = re.compile(r"arrays/\d{1,6}|parts/\d{1,6}\.skops")
LARGEST_HEADER = 16 * 2**20
EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first moment: the same model makes the same bytes


def write(path: str | Path, kind: str, state: Any, versions: Mapping[str, str]) -> None:
    """Write a state to a file, whole or not at all."""
    packed = Packed()
    packed.state = pack(state, packed)
    header = {
        "format": FORMAT,
        "kind": kind,
        "versions": dict(versions),
        "members": {name: _digest(content) for name, content in packed.members.items()},
        "state": packed.state,
    }
    text = json.dumps(header, indent=1, allow_nan=False, sort_keys=True).encode()
    seal = f"{_digest(text)}  {HEADER}\n".encode()
    with written_whole(path) as file, zipfile.ZipFile(file, "w") as members:
        for name, content in {SEAL: seal, HEADER: text, **packed.members}.items():
            members.writestr(zipfile.ZipInfo(name, EPOCH), content)


@dataclass(frozen=True)
class Opened:
    """What a model file says, checked."""

    path: str
    kind: str
    versions: dict[str, str]
    packed: Packed

    def state(self, records: Mapping[str, Any], trusted: Any = ()) -> Any:
        """The state, with records of these types and classifiers that skops trusts."""
        return Unpacker(self.packed, records, tuple(trusted)).unpack(self.packed.state)


def read(path: str | Path) -> Opened:
    """Open a model file and check all of it; a ModelFileError says what is wrong."""
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"there is no model file {str(path)!r}.")
    try:
        with zipfile.ZipFile(path) as file:
            members = _members(file, path)
    except ModelFileError:
        raise
    except Exception as error:  # zipfile raises a dozen kinds for damaged files
        raise damaged(path.name, f"it is cut short or no model file ({error})") from error
    text = members.pop(HEADER, None)
    seal = members.pop(SEAL, b"").decode("ascii", "replace").split()
    if text is None or seal[:1] != [_digest(text)]:
        raise damaged(path.name, "the checksum of its header is wrong")
    header = _header(text, path.name)
    if {name: _digest(content) for name, content in members.items()} != header.get("members"):
        raise damaged(path.name, "the checksum of a member is wrong")
    packed = Packed(header["state"], members, len(text))
    kind, versions = str(header["kind"]), dict(header["versions"])
    return Opened(path.name, kind, versions, packed)


def _header(text: bytes, name: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        version = int(header["format"])
        maker = header["versions"].get("doublelogit")
    except Exception as error:  # whatever is wrong with it, it is not what was written
        raise damaged(name, f"its header cannot be read ({type(error).__name__})") from error
    if version != FORMAT:
        remedy = "Upgrade doublelogit." if version > FORMAT else "Fit the model again."
        raise ModelFileError(
            f"{name!r} was written by doublelogit {maker} in format {version}; this release "
            f"reads format {FORMAT}. {remedy}"
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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
