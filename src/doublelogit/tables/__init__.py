"""From a table as people have it to a fitted model: reading, roles, encoding, predictions."""

from doublelogit.tables.encoder import TableEncoder
from doublelogit.tables.formula import parse_formula
from doublelogit.tables.labels import code_labels
from doublelogit.tables.model import TableModel, fit_table
from doublelogit.tables.read import read_table
from doublelogit.tables.roles import Roles, Table, prepare

__all__ = [
    "Roles",
    "Table",
    "TableEncoder",
    "TableModel",
    "code_labels",
    "fit_table",
    "parse_formula",
    "prepare",
    "read_table",
]
