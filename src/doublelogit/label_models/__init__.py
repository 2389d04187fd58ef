"""Label models: s(x) = P(S=1 | x) of any shape, for rows that a fit has seen and for new ones.

Algorithm::

    copies of a row become one with their weight; rows in the order of their keys
    of very many rows, all labelled ones and as many others as are wanted, weighted back
    for each fold k of rows, by content
        each kind of model is fitted to the rows outside k
    weights of the kinds <- maximum of the held-out likelihood of S on the simplex
    recalibrated by Platt's line where held-out labels are clearly likelier by it
    s(x) of a row in fold k <- the mixture of the models that have not seen k
    s(x) of a new row       <- the mean over the folds

Nothing is drawn at random: order, copies in place of weights, partition and engine change nothing.
"""

from doublelogit.core.folds import Folds
from doublelogit.label_models.basis import Scale, Smooths
from doublelogit.label_models.fitted import LabelModel, Line
from doublelogit.label_models.gather import features_of, sample_of
from doublelogit.label_models.kinds import (
    AUTO,
    KINDS,
    STACK,
    STRAIGHT,
    ForeignPredictor,
    Kind,
    LinearPredictor,
    TreesPredictor,
    kinds_of,
)
from doublelogit.label_models.product import ProductModel
from doublelogit.label_models.stack import fit_label_model, stacked

# Dataclasses that are the state of a label model in a file.
RECORDS = (
    Folds,
    ForeignPredictor,
    LabelModel,
    Line,
    LinearPredictor,
    ProductModel,
    Scale,
    Smooths,
    TreesPredictor,
)

__all__ = [
    "AUTO",
    "KINDS",
    "RECORDS",
    "STACK",
    "STRAIGHT",
    "Kind",
    "LabelModel",
    "LinearPredictor",
    "ProductModel",
    "TreesPredictor",
    "features_of",
    "fit_label_model",
    "kinds_of",
    "sample_of",
    "stacked",
]
