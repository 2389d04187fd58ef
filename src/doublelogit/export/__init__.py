"""Models for other runtimes: a fitted model as a graph of ONNX."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from doublelogit.common.extras import needs
from doublelogit.export.columns import features
from doublelogit.export.graph import Graph
from doublelogit.export.models import answers
from doublelogit.table_classifier import TableClassifier

__all__ = ["to_onnx"]

MEANINGS = {
    "positive": "P(Y=1 | x), the probability of the class",
    "propensity": "P(S=1 | Y=1, x), the probability that a positive is labelled",
    "label": "P(S=1 | x), the probability of a label",
    "hidden": "P(Y=1 | x, S=0), the probability that an unlabelled row is positive",
}


def to_onnx(model: Any) -> Any:
    """A fitted model as a graph of ONNX, which runs without this library and without Python.

    Parameters
    ----------
    model : classifier or TableClassifier
        Of this library, and fitted. The graph of a table has an input for each column, of shape
        (rows, 1): numbers as they are, dates in seconds since 1970, and NaN for missing ones;
        categories as texts, empty for missing ones. That of a classifier has one input, ``X``.
        All numbers are double.

    Returns
    -------
    graph : onnx.ModelProto
        With four outputs, each of shape (rows,): ``positive`` P(Y=1 | x), ``propensity``
        P(S=1 | Y=1, x), ``label`` P(S=1 | x), ``hidden`` P(Y=1 | x, S=0).

    Examples
    --------
    >>> from doublelogit import NaiveClassifier, to_onnx
    >>> graph = to_onnx(NaiveClassifier().fit([[0.0], [1.0]], [0, 1]))  # doctest: +SKIP
    >>> onnx.save(graph, "model.onnx")  # doctest: +SKIP
    """
    needs("onnx", "a graph of ONNX", "onnx")
    check_is_fitted(model)
    graph = Graph()
    if isinstance(model, TableClassifier):
        outputs = answers(model.fitted_.model, features(graph, model.encoding_))
    else:
        outputs = answers(model.model_, graph.input("X", model.n_features_in_))
    for (name, meaning), value in zip(MEANINGS.items(), outputs, strict=True):
        graph.output(name, value, meaning)
    return graph.model("Class and labelling of positive-unlabelled data, by doublelogit.")
