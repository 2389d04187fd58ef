"""Cross-fitting: the h of an audited row comes from a model that has not seen its class.

A model whose likelihood holds the audited classes fits them, and the difference y - h would look
smaller than it is. The audited rows are put into folds by what is in them, those of a cluster into
one; for each fold the model is fitted without the classes of that fold.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from doublelogit._types import Floats, Ints
from doublelogit.audit.chances import check_population, places
from doublelogit.audit.sheet import Audit
from doublelogit.core.folds import Folds, cluster_keys, content_keys
from doublelogit.table_models.table_model import FittedTable, fit_rows, quietly
from doublelogit.tables import Table

AUDIT_FOLDS = 5


def audit_folds(audit: Audit, table: Table, n_folds: int = AUDIT_FOLDS) -> Ints:
    """Fold of every audited row: by its cluster, if clusters were drawn, or by its features."""
    if audit.cluster is None:
        keys = content_keys(table.features.iloc[audited_rows(audit, table)])
    else:
        keys = cluster_keys(audit.cluster)
    # folds without a row need no model
    return np.unique(Folds(n_folds).of(keys), return_inverse=True)[1]


def audited_rows(audit: Audit, table: Table) -> Ints:
    """Positions of the audited rows in the table."""
    at = {name: i for i, name in enumerate(table.ids.tolist())}
    return np.array([at[name] for name in audit.ids.tolist()], dtype=np.intp)


def fold_models(fitted: FittedTable, table: Table, audit: Audit, fold: Ints) -> tuple[Any, ...]:
    """For every fold the classifier, fitted again without the classes of its rows."""
    X, rows = table.encoded(fitted.encoding), audited_rows(audit, table)
    models = []
    for f in range(int(fold.max()) + 1):
        audited = np.full(len(table), np.nan) if table.audited is None else table.audited.copy()
        audited[rows[fold == f]] = np.nan
        hidden = replace(table, audited=audited)
        models.append(quietly(fit_rows, clone(fitted.classifier), X, hidden))
    return tuple(models)


def own_h(h: Floats, fold: Ints | None) -> Floats:
    """H of every audited row by the model that has not seen it."""
    return h[:, 0] if fold is None else h[np.arange(len(h)), fold]


def mean_h(h: Floats, fold: Ints | None) -> float:
    """A sum of h over many rows, the models weighted by the audited rows of their folds."""
    if fold is None:
        return float(h[0])
    return float(h @ (np.bincount(fold, minlength=len(h)) / len(fold)))


def joined(table: Table, audit: Audit) -> Table:
    """The table with an audit, and with the classes found for the likelihood of a fit.

    The likelihood takes it that, given features and label, rows were looked at whatever their
    class: classes of a convenience sample are left out.
    """
    rows = np.flatnonzero(np.isin(table.ids, list(set(audit.ids.tolist()))))
    at = rows[places(table.ids[rows], audit.ids, table.s[rows] == 1)]
    check_population(audit.frame, int(table.unlabelled.sum()), audit.lost)
    if not audit.in_likelihood:
        return replace(table, audit=audit)
    audited = np.full(len(table), np.nan) if table.audited is None else table.audited.copy()
    audited[at] = np.where(np.isnan(audit.y), audited[at], audit.y)
    return replace(table, audited=audited, audit=audit)
