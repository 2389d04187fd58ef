"""Share of assigned names and arguments that are participles or pronouns, in the source.

    python -m tools.count_names [FOLDER]

A reader of ``found`` or ``said`` has to look up what was found or said. Counted are all names that
functions bind (assignments, loops, ``with``, ``except``, arguments, walrus, comprehensions) and
attributes and fields that are assigned, with or without a leading underscore.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

WORDS = {"found", "said", "told", "known", "kept", "asked", "own"}
WORDS |= {"part", "parts", "given", "seen", "looked", "meant"}
LIMIT = 0.02
SOURCE = Path(__file__).parent.parent / "src" / "doublelogit"


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Names that a module binds, one for each binding."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def counted(folder: Path = SOURCE) -> tuple[Counter[str], int]:
    """How often each of the words is bound below a folder, and how many bindings there are."""
    names = [
        name.strip("_")
        for path in sorted(folder.rglob("*.py"))
        for name in bound_names(ast.parse(path.read_text()))
    ]
    return Counter(name for name in names if name in WORDS), len(names)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    words, total = counted(folder)
    for word, times in words.most_common():
        print(f"{word:8} {times}")
    print(f"{words.total()} of {total} bindings, {words.total() / total:.1%} (limit {LIMIT:.0%})")


if __name__ == "__main__":
    main()
