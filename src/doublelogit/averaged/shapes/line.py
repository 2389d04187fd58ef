"""A class that is a line: logit y(x) = x'beta."""

from doublelogit.averaged.shapes.protocol import Components, Lines, Shape
from doublelogit.methods.problem import Problem


class Line(Shape):
    """The double logistic model."""

    name = "line"
    words = "a logistic class"
    colour = "#0072B2"
    linear = True

    def components(self, problem: Problem, mean_s: float, lines: Lines) -> Components:
        """The lines as the search has found them."""
        return lines
