"""How often a fit looks at the rows, and how many Hessians it computes: counted, not timed."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from doublelogit.averaged.expectation import ExpectedLikelihood
from doublelogit.core import objective
from doublelogit.engines.memory import MemoryRows

# what has Hessians, and the verb that computes them
LOSSES = {
    objective.LogisticObjective: "value_grad_hess",
    objective.DoubleLogisticObjective: "value_grad_hess",
    ExpectedLikelihood: "expand",
}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Passes over rows in memory and Hessians of all of them, counted while this is open.

    A Hessian from some of the rows is a pass over these, counted as the share that they are.
    """
    found: Counter[str] = Counter()
    most = [0]

    def passing(verb):
        def counting(rows, fn, *columns):
            most[0] = max(most[0], len(rows))
            found["passes"] += len(rows) / most[0]
            return verb(rows, fn, *columns)

        return counting

    def curving(hessian):
        def counting(loss, *arguments):
            found["hessians"] += len(loss.rows) / max(most[0], len(loss.rows))
            return hessian(loss, *arguments)

        return counting

    with patch.multiple(
        MemoryRows, sum_rows=passing(MemoryRows.sum_rows), map_rows=passing(MemoryRows.map_rows)
    ):
        patches = [
            patch.object(loss, verb, curving(getattr(loss, verb))) for loss, verb in LOSSES.items()
        ]
        for one in patches:
            one.start()
        try:
            yield found
        finally:
            for one in patches:
                one.stop()
