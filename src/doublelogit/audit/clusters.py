"""Audits of whole clusters: a clinic, a village, a batch, whose rows are looked at together.

Clusters are put into strata by size and drawn at random within them; every unlabelled row of a
drawn cluster is looked at. What varies between draws is the cluster's total, so the
interval is Student's t for a stratified total of clusters.
"""

from functools import partial
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.audit.blocks import Block, Blocks, first_rows
from doublelogit.audit.draw import row_keys, smallest
from doublelogit.audit.strata import FEWEST_PER_STRATUM, Strata, number_of_strata
from doublelogit.audit.tally import Chosen, Question, wanted


def draft_clusters(
    blocks: Blocks, question: Question, budget: float, seed: int
) -> tuple[Chosen, Strata, Any, Floats, Floats, float]:
    """Draw clusters whose rows are about as many as the budget allows.

    Returned are the rows of the clusters drawn, the strata by rows, the cluster of each row, the
    numbers of clusters and of drawn ones of each stratum, and the number of all rows.
    """
    import pandas as pd

    block_sums = blocks.map(partial(_sums, question), first_rows(blocks))
    units = pd.concat([sums for _, sums in block_sums]).groupby("cluster").sum()
    if len(units) < FEWEST_PER_STRATUM:
        raise ValueError(
            f"clusters are drawn from at least {FEWEST_PER_STRATUM}; got {len(units)}."
        )
    stratum, wanted_units = _cut(units["rows"].to_numpy(), budget)
    random = row_keys(np.arange(len(units)), seed)
    taken = smallest(random, stratum, wanted_units)
    names = dict(zip(units.index[taken], stratum[taken].tolist(), strict=True))
    lengths = [n for n, _ in block_sums]
    starts = (np.cumsum(lengths) - lengths).tolist()
    chosen_rows = blocks.map(partial(_rows_of, question, names, seed), starts)
    chosen = Chosen.joined([rows for rows, _ in chosen_rows])
    cluster = np.concatenate([names for _, names in chosen_rows])
    of = np.bincount(stratum).astype(float)
    drawn = wanted_units.astype(float)
    return chosen, _strata(units, stratum), cluster, of, drawn, float(sum(lengths))


def _sums(question: Question, block: Block, start: int) -> tuple[int, Any]:
    import pandas as pd

    rows = wanted(question, block, start)
    h = block.h[rows]
    frame = pd.DataFrame(
        {"cluster": block.cluster[rows], "rows": 1.0, "h": h, "spread": h * (1 - h)}
    )
    return len(block), frame.groupby("cluster").sum().reset_index()


def _cut(size: Floats, budget: float) -> tuple[Ints, Ints]:
    """Stratum of each cluster, by size, and how many of each stratum to draw."""
    units = max(FEWEST_PER_STRATUM, round(budget / float(size.mean())))
    pieces = min(number_of_strata(units), max(1, len(size) // (2 * FEWEST_PER_STRATUM)))
    order = np.argsort(size, kind="stable")
    at = (np.cumsum(size[order]) - size[order] / 2) / size.sum()
    stratum = np.empty(len(size), dtype=np.intp)
    stratum[order] = np.minimum((at * pieces).astype(np.intp), pieces - 1)
    stratum = np.unique(stratum, return_inverse=True)[1]
    total = np.bincount(stratum, weights=size)
    mean = total / np.bincount(stratum)
    draws = np.round(budget * total / total.sum() / mean)  # rows in proportion to rows
    return stratum, np.clip(draws, FEWEST_PER_STRATUM, np.bincount(stratum)).astype(np.intp)


def _rows_of(
    question: Question, stratum: dict[str, int], seed: int, block: Block, start: int
) -> tuple[Chosen, Any]:
    inside = wanted(question, block, start) & np.isin(block.cluster, list(stratum))
    rows = np.flatnonzero(inside)
    names = block.cluster[rows]
    group = np.full(len(rows), "", dtype=object) if block.group is None else block.group[rows]
    codes = np.array([stratum[name] for name in names], dtype=np.intp)
    keys = row_keys(start + rows, seed)
    return Chosen(keys, start + rows, codes, block.ids(start, rows), block.h[rows], group), names


def _strata(units: Any, stratum: Ints) -> Strata:
    """The strata by their rows, for what to expect if rows of a cluster were independent."""
    total = units.groupby(stratum)[["rows", "h", "spread"]].sum()
    rows = total["rows"].to_numpy()
    return Strata(
        of=np.arange(len(rows))[None],
        rows=rows,
        share=rows / rows.sum(),
        h=total["h"].to_numpy() / rows,
        spread=total["spread"].to_numpy() / rows,
        cost=np.ones(len(rows)),
    )
