"""What a solver is given: a smooth function, asked for as much of it as a step needs."""

from typing import NamedTuple, Protocol

from doublelogit._types import Floats


class ValueGrad(NamedTuple):
    """Value and gradient."""

    value: float
    grad: Floats


class ValueGradHess(NamedTuple):
    """Value, gradient and Hessian."""

    value: float
    grad: Floats
    hess: Floats


class FirstOrder(Protocol):
    """A smooth function of theta: its value and gradient."""

    @property
    def unit(self) -> Floats:
        """Unit of each coordinate: a gradient divided by it can be compared with a tolerance."""

    @property
    def scale(self) -> Floats:
        """Root of a bound of the curvature, per coordinate: a step of 1/scale is a unit step."""

    def gradient(self, theta: Floats) -> Floats: ...
    def value_grad(self, theta: Floats) -> ValueGrad: ...


class Objective(FirstOrder, Protocol):
    """A smooth function of theta, as much of it as a solver asks for."""

    def value_grad_hess(self, theta: Floats) -> ValueGradHess: ...
