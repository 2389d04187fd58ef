"""Labels of the rows of a sample: which rows are labelled, by whom, and whose class is certain.

Three axes, always in this order:

    rows      n
    sources   m    who labels: a clinic and a register, reports of two years
    classes   K    the outcomes that are labelled; one, unless the data are multi-label

``any`` is a label of the class by any of its sources. It is all that a method with one propensity
needs; methods that tell sources apart read ``by_source``.

Every verb of an engine cuts the tuple like one column: a new column of labels changes neither
engines nor the signatures of kernels.
"""

from typing import NamedTuple

import numpy as np

from doublelogit._types import Column, Floats


class Labels(NamedTuple):
    """Columns of labels, cut like the rows by every verb of an engine.

    Attributes
    ----------
    any : column of shape (n,), of several classes (n, K)
        1 where a source labelled the row as a positive of the class, else 0.
    known : column like ``any``
        The class where it is certain: audited rows, and labelled ones if labels are never false.
        NaN elsewhere.
    by_source : column of shape (n, m), of several classes (n, m, K), or None
        1 and 0 by source, NaN where the source did not look at the row; None where that is no
        more than ``any``: one source, which looked at every row.
    """

    any: Column
    known: Column
    by_source: Column | None = None

    def of_class(self, k: int) -> "Labels":
        """The labels of one of several classes."""
        by_source = None if self.by_source is None else self.by_source[..., k]
        return Labels(self.any[:, k], self.known[:, k], by_source)


def labels_of(values: Floats, audited: Floats | None = None, certain: bool = True) -> Labels:
    """Labels from their values: (n,), (n, m) or (n, m, K) of 1, 0 and NaN.

    ``audited`` is the class where it was found out, else NaN, of shape (n,) or (n, K). A labelled
    row is a positive if labels are ``certain``.
    """
    values = np.asarray(values, dtype=np.float64)
    labelled, by_source = values, None
    if values.ndim > 1:
        labelled = np.fmax.reduce(values, axis=1, initial=0.0)
        simple = values.shape[1] == 1 and not np.isnan(values).any()
        by_source = None if simple else values
    if audited is None:
        known = np.full(labelled.shape, np.nan)
    else:
        known = np.array(audited, dtype=np.float64)
    if certain:
        known[labelled == 1] = 1.0
    return Labels(labelled, known, by_source)
