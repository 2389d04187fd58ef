"""Draws docs/architecture.svg: the rooms of the library, floor by floor.

    python -m tools.draw_architecture

Floors and rooms are those of the import contract in pyproject.toml. A room that the contract names
and this file does not describe is an error, so the picture cannot fall behind the code.
"""

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"

FLOORS = (
    "commands",
    "front doors",
    "pages and audits",
    "about a fit",
    "scikit-learn",
    "methods",
    "what they share",
    "foundations",
)
# Rooms from left to right, each with two lines: what it holds.
ROOMS = {
    "cli": ("one file a command:", "parse, call, print"),
    "table_classifier": ("TableClassifier, the", "front door for tables"),
    "persistence": ("reads a", "model file"),
    "export": ("a model as a", "graph of ONNX"),
    "simulation": ("hides known", "positives"),
    "studies": ("rivals, corpus,", "experiments"),
    "report": ("sections: numbers, findings,", "pictures, HTML; one page"),
    "audit": ("rows to check, and claims", "afterwards"),
    "inference": ("intervals, profile, tests", "of SCAR, diagnosis"),
    "table_models": ("a table fitted, doubts", "about it before"),
    "estimators": ("classifiers: validate, call a method,", "delegate predictions"),
    "averaged": ("AVERAGED: mechanisms", "of labelling x shapes"),
    "methods": ("NAIVE, TM, JOINT, EM,", "LBE: Problem to PUFit"),
    "label_models": ("s(x) of any", "shape, stacked"),
    "engines": ("rows in memory,", "Parquet files, Dask"),
    "tables": ("files, roles, labels,", "encoding of columns"),
    "fitted": ("what was fitted,", "behind one protocol"),
    "findings": ("sentences as data:", "level, text, numbers"),
    "core": ("likelihood, rows, design,", "objectives, solvers, folds"),
    "common": ("files, archive,", "threads, words"),
    "registry": ("methods, what", "each can do"),
    "datasets": ("bundled", "tables"),
    "labelling": ("scenarios", "of labels"),
    "metrics": ("scores", ""),
}
SMALL = {"_types", "exceptions"}  # single files without a room
WIDE = {"core": 1.75, "registry": 0.95, "datasets": 0.86, "labelling": 0.91, "metrics": 0.8}
WALKS = {
    "a fit of AVERAGED": ("#0072B2", "estimators averaged methods fitted engines core findings"),
    "doublelogit report": (
        "#D55E00",
        "cli table_classifier report inference table_models registry estimators tables findings "
        "common",
    ),
    "doublelogit reproduce": ("#009E73", "cli studies estimators datasets labelling metrics"),
}

WIDTH, LEFT, RIGHT, TOP = 860, 128, 8, 52
FLOOR, ROOM, GAP = 80, 66, 8
INK, PALE, LINE = "#1f2430", "#5b6372", "#aab2c0"
TINTS = ("#fdf6ec", "#ffffff")


def floors() -> list[list[str]]:
    """Rooms of every floor, the highest first, from the import contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    named = [set(layer.replace("|", ":").replace(" ", "").split(":")) - SMALL for layer in layers]
    undescribed = set().union(*named) - set(ROOMS)
    if undescribed:
        raise ValueError(f"ROOMS has no words for {', '.join(sorted(undescribed))}.")
    return [[room for room in ROOMS if room in rooms] for rooms in named]


def text(x: float, y: float, words: str, size: int = 12, colour: str = INK, **more: str) -> str:
    """A line of text."""
    style = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    where = f'x="{x:.0f}" y="{y:.0f}"'
    return f'<text {where} font-size="{size}" fill="{colour}"{style}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, edge: str, dash: str) -> str:
    """A rectangle with round corners."""
    where = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height}" rx="5"'
    return f'<rect {where} fill="{fill}" stroke="{edge}" stroke-dasharray="{dash}"/>'


def drawn_room(name: str, x: float, y: float, width: float) -> list[str]:
    """A box, its name, its words and a dot for each walk that enters it."""
    dash = "5 4" if name == "studies" else "none"
    shapes = [box(x, y, width, ROOM, "#ffffff", PALE, dash)]
    shapes.append(text(x + 9, y + 20, name, 15, font_weight="bold"))
    shapes += [
        text(x + 9, y + 39 + 16 * i, line, 13, PALE) for i, line in enumerate(ROOMS[name]) if line
    ]
    entering = [colour for colour, rooms in WALKS.values() if name in rooms.split()]
    for i, colour in enumerate(reversed(entering)):
        shapes.append(
            f'<circle cx="{x + width - 11 - 13 * i:.0f}" cy="{y + 14}" r="5" fill="{colour}"/>'
        )
    return shapes


def drawn_floor(number: int, title: str, rooms: list[str]) -> list[str]:
    """A band across the picture, with its rooms side by side."""
    y = TOP + FLOOR * number
    band = f'<rect x="0" y="{y}" width="{WIDTH}" height="{FLOOR}" fill="{TINTS[number % 2]}"/>'
    shapes = [band, text(8, y + FLOOR / 2 + 5, title, 14, PALE, font_style="italic")]
    room = WIDTH - LEFT - RIGHT - GAP * (len(rooms) - 1)
    unit = room / sum(WIDE.get(name, 1.0) for name in rooms)
    x = float(LEFT)
    for name in rooms:
        width = unit * WIDE.get(name, 1.0)
        shapes += drawn_room(name, x, y + (FLOOR - ROOM) / 2, width)
        x += width + GAP
    return shapes


def legend() -> list[str]:
    """The direction of imports, and the colours of the walks."""
    shapes = [text(8, 32, "Imports go down only.", 14, font_weight="bold")]
    x = 250
    for name, (colour, _) in WALKS.items():
        shapes.append(f'<circle cx="{x}" cy="27" r="5" fill="{colour}"/>')
        shapes.append(text(x + 11, 32, name, 13))
        x += 205
    return shapes


def picture() -> str:
    """The whole picture as SVG."""
    rooms = floors()
    height = TOP + FLOOR * len(rooms)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img" '
        'aria-label="Rooms of doublelogit by floor">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *legend(),
    ]
    for number, (title, floor) in enumerate(zip(FLOORS, rooms, strict=True)):
        lines += drawn_floor(number, title, floor)
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture())
