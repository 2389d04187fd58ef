"""Tables as people have them: reading, roles of columns, labels, encoding as numbers."""

from doublelogit.tables.encoder import TableEncoder
from doublelogit.tables.encoding import TableEncoding
from doublelogit.tables.formula import parse_formula
from doublelogit.tables.labels import code_labels
from doublelogit.tables.read import read_table
from doublelogit.tables.roles import Roles
from doublelogit.tables.table import Table

__all__ = [
    "Roles",
    "Table",
    "TableEncoder",
    "TableEncoding",
    "code_labels",
    "parse_formula",
    "read_table",
]
