"""A graph of ONNX under construction: values that are computed with as with numbers.

Operators are those that runtimes of 2024 have in double precision, and formulas are in logits as in
``fitted/``: their own sigmoid is rounded in the tails. Splits of trees lie halfway between values,
so that the last digit of a logarithm moves no row to another leaf.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPSET, ML_OPSET = 20, 3  # texts are matched from 20 on; trees have double thresholds from 3 on
IR_VERSION = 9  # what goes with that set of operators
ML = "ai.onnx.ml"


@dataclass
class Graph:
    """Nodes, constants, inputs and outputs, in the order in which they were asked for."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def input(self, name: str, width: int = 1, *, texts: bool = False) -> "Value":
        """Rows that whoever runs the graph gives: numbers, or texts."""
        from onnx import TensorProto, helper

        kind = TensorProto.STRING if texts else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", width]))
        return Value(self, name)

    def constant(self, value: Any) -> "Value":
        """A number, or an array of numbers or texts."""
        from onnx import numpy_helper

        array = np.asarray(value)
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return Value(self, name)

    def node(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> "Value":
        """The value of an operator of ONNX."""
        from onnx import helper

        names = [v.name if isinstance(v, Value) else self.constant(v).name for v in inputs]
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [name], domain=domain, **attributes))
        return Value(self, name)

    def output(self, name: str, value: "Value", meaning: str) -> None:
        """A column of the answer, one number for each row."""
        from onnx import TensorProto, helper

        column = self.constant(np.array([-1]))
        self.nodes.append(helper.make_node("Reshape", [value.name, column.name], [name]))
        info = helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows"], meaning)
        self.outputs.append(info)

    def model(self, about: str) -> Any:
        """The finished graph, checked."""
        import onnx
        from onnx import helper

        graph = helper.make_graph(
            self.nodes, "doublelogit", self.inputs, self.outputs, self.constants, about
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="doublelogit"
        )
        onnx.checker.check_model(made, full_check=True)
        return made


@dataclass(frozen=True)
class Value:
    """Columns of numbers, a row for each row of the input."""

    graph: Graph
    name: str

    def node(self, kind: str, *others: Any, **attributes: Any) -> "Value":
        """The value of an operator of this and others."""
        return self.graph.node(kind, self, *others, **attributes)

    def __add__(self, other: Any) -> "Value":
        return self.node("Add", other)

    def __sub__(self, other: Any) -> "Value":
        return self.node("Sub", other)

    def __rsub__(self, other: Any) -> "Value":
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Any) -> "Value":
        return self.node("Mul", other)

    def __truediv__(self, other: Any) -> "Value":
        return self.node("Div", other)

    def __neg__(self) -> "Value":
        return self.node("Neg")

    def __matmul__(self, other: Any) -> "Value":
        return self.node("MatMul", other)

    def linear(self, coef: Any) -> "Value":
        """X'coef with the intercept last; a matrix has a predictor in each row."""
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        return self @ coef[:, :-1].T + coef[:, -1]

    def numbers(self) -> "Value":
        """Truth values as 0 and 1."""
        from onnx import TensorProto

        return self.node("Cast", to=TensorProto.DOUBLE)


def sigmoid(a: Value) -> Value:
    """sigma(a) = exp(min(a, 0)) / (1 + exp(-|a|))."""
    return a.node("Min", 0.0).node("Exp") / ((-a.node("Abs")).node("Exp") + 1.0)


def log_sigmoid(a: Value) -> Value:
    """Logarithm of sigma(a) = min(a, 0) - log(1 + exp(-|a|))."""
    return a.node("Min", 0.0) - ((-a.node("Abs")).node("Exp") + 1.0).node("Log")
