"""Compare a built wheel with the source tree, byte for byte.

    python tools/check_wheel.py build/wheel

What the wheel installs must be what the tests of the source have tested: every file of
src/doublelogit, none besides, and metadata that name the command, the licence and the extras.
"""

import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "doublelogit"


def source_files() -> dict[str, bytes]:
    """Contents of the package by their names in a wheel."""
    return {
        f"doublelogit/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def differences(wheel: Path) -> list[str]:
    """What differs between a wheel and the source, in words."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with zipfile.ZipFile(wheel) as file:
        found = {name: file.read(name) for name in file.namelist() if not name.endswith("/")}
    info = {name.partition("/")[2]: text for name, text in found.items() if ".dist-info/" in name}
    packed = {name: text for name, text in found.items() if name.startswith("doublelogit/")}
    wanted = source_files()
    said = [f"{name} is not in the wheel" for name in wanted.keys() - packed.keys()]
    said += [f"{name} is not in the source" for name in packed.keys() - wanted.keys()]
    said += [
        f"{name} differs" for name in wanted.keys() & packed.keys() if wanted[name] != packed[name]
    ]
    metadata = Parser().parsestr(info["METADATA"].decode())
    extras = set(metadata.get_all("Provides-Extra", []))
    said += [f"extra {e} is lost" for e in project["optional-dependencies"].keys() - extras]
    for name, target in project["scripts"].items():
        if f"{name} = {target}" not in info["entry_points.txt"].decode():
            said.append(f"the command {name} is lost")
    if not any(name.startswith("licenses/") for name in info):
        said.append("the licence is lost")
    return sorted(said)


def main() -> None:
    (wheel,) = Path(sys.argv[1]).glob("*.whl")
    said = differences(wheel)
    if said:
        sys.exit(f"{wheel.name} is not what was tested: " + "; ".join(said))
    print(f"{wheel.name}: {len(source_files())} files, byte for byte those of the source")


if __name__ == "__main__":
    main()
