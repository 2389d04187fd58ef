"""Shapes: what the class may look like, the line first."""

from doublelogit.averaged.shapes.any import AnyShape
from doublelogit.averaged.shapes.line import Line
from doublelogit.averaged.shapes.protocol import Components, Lines, Proposal, Shape

SHAPES: tuple[Shape, ...] = (Line(), AnyShape())


def shape_named(name: str) -> Shape:
    """The shape of a name in ``evidence_`` or a model file."""
    for shape in SHAPES:
        if shape.name == name:
            return shape
    raise ValueError(f"there is no shape of a class {name!r}. Upgrade doublelogit.")


__all__ = ["SHAPES", "Components", "Lines", "Proposal", "Shape", "shape_named"]
