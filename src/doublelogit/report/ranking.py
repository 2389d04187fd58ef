"""The list of likely hidden positives: who is on it, why, and how long it should be."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.findings import ranking as sentences
from doublelogit.table_models.table_model import contributions
from doublelogit.table_models.table_rows import AnyRows
from doublelogit.tables.columns import MISSING
from doublelogit.tables.words import short, shortened

MOST_REASONS = 3  # features named for each row
LEAST_REASON = 0.05  # logits below which a feature does not speak for anything
CURVE_POINTS = 60  # of list lengths
ROUND_LENGTHS = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000)


def rank_hidden(rows: AnyRows, top: int) -> list[tuple[int, float, list[dict[str, Any]]]]:
    """The unlabelled rows likeliest to be positive, best first.

    Of each its number, its probability and the features that speak for it.
    """
    hidden, candidates = rows.probabilities.listed, np.flatnonzero(rows.unlabelled)
    order = candidates[np.argsort(-hidden[candidates], kind="stable")][:top]
    frame, X = rows.some(order)
    moved = contributions(rows.model, X, rows.mean)
    return [
        (row, float(hidden[row]), _reasons(moved.iloc[i], frame.iloc[i]))
        for i, row in enumerate(order.tolist())
    ]


def _reasons(moved: Any, row: Any) -> list[dict[str, Any]]:
    """The features that raise the odds most, with their values and the factor."""
    raising = moved[moved > LEAST_REASON].nlargest(MOST_REASONS)
    return [
        {"feature": str(name), "value": shown(row[name]), "odds": float(np.exp(by))}
        for name, by in raising.items()
    ]


def shown(value: Any) -> str:
    """A cell as text."""
    if value is None or value != value:
        return MISSING
    if isinstance(value, float | np.floating):
        return short(float(value))
    return shortened(str(value), 60)


def list_lengths(hidden: Floats, lengths: Sequence[int] | None = None) -> dict[str, list[float]]:
    """Expected precision and recall of lists of unlabelled rows, by length."""
    n = len(hidden)
    if lengths is None:
        lengths = np.unique(np.geomspace(1, max(n, 1), CURVE_POINTS).round().astype(int)).tolist()
    k = np.array([length for length in lengths if length <= n], dtype=int)
    total = np.cumsum(np.sort(hidden)[::-1])
    recall = total[k - 1] / max(float(hidden.sum()), 1e-300)
    return {
        "length": k.tolist(),
        "precision": (total[k - 1] / k).tolist(),
        "recall": recall.tolist(),
    }


def examples(hidden: Floats) -> list[dict[str, float]]:
    """Lists of round lengths: how many of them are expected to be positive."""
    lists = list_lengths(hidden, ROUND_LENGTHS)
    return [
        {"length": k, "positives": k * precision, "precision": precision, "recall": recall}
        for k, precision, recall in zip(*lists.values(), strict=True)
    ]


def cut_list(
    hidden: Floats,
    *,
    top: int | None = None,
    budget: float | None = None,
    check_cost: float | None = None,
    miss_cost: float | None = None,
) -> tuple[int, str]:
    """Length of the list from a number, a budget, or what a check and a miss cost; and why.

    A row is worth a check if its probability times the cost of missing a positive is at least
    the cost of the check.
    """
    sorted_hidden = np.sort(hidden)[::-1]
    if len(hidden) and not hidden.any():
        length = min(100 if top is None else top, len(hidden))
        return (length, sentences.NOTHING_HIDDEN)
    if miss_cost is not None and check_cost is not None:
        threshold = check_cost / miss_cost
        length = int((sorted_hidden >= threshold).sum())
        gain = float(sorted_hidden[:length].sum()) * miss_cost - length * check_cost
        return (length, sentences.check_pays(threshold, length, gain))
    if budget is not None and check_cost is not None:
        length = min(int(budget // check_cost), len(sorted_hidden))
        return (length, sentences.budget_pays(budget, length))
    length = min(100 if top is None else top, len(sorted_hidden))
    expected = float(sorted_hidden[:length].sum())
    return (length, sentences.expected(length, expected))
