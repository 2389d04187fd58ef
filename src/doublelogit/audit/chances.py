"""How rows of an audit were drawn: round, stratum, its size and the chance, checked together.

In a stratum of N_k rows (or clusters) n_k are drawn with the chance n_k / N_k, and the sizes of the
strata of a round add up to the rows that it was drawn from. What does not is no plan, and an
estimate from it would be a number of nothing.
"""

from typing import Any

import numpy as np

from doublelogit.exceptions import SheetError, TableError
from doublelogit.tables.words import as_words, short

DESIGN = ("round", "stratum", "of", "chance")
LEAST_CHANCE = float(np.finfo(float).tiny)  # below, its inverse is infinite
ROUNDED = 0.05  # share by which numbers that people have rounded may be off
SPREADS = 3.0  # standard deviations by which rows drawn one by one may stand for too many


def with_design(frame: Any, kind: str) -> Any:
    """Round, stratum, size and chance of every row, as far as they follow from what is there."""
    if kind != "drawn":
        nothing = {"round": 1, "stratum": "1", "of": np.nan, "chance": np.nan}
        return frame[["id", "class"]].assign(**nothing)
    if "chance" not in frame.columns:
        raise SheetError(
            "rows of an audit must have the chance with which they were drawn, in a column "
            "'chance'; this one has none. If they were not drawn at random, say by `audit_kind` "
            "how they were chosen: features (by scores or columns of the table) or convenience."
        )
    chance = _numbers(frame, "chance", "above 0 and at most 1", LEAST_CHANCE, 1)
    rounds = 1
    if "round" in frame.columns:
        rounds = _numbers(frame, "round", "whole numbers from 1 up", 0, np.inf, whole=True)
    stratum = as_words(frame["stratum"]) if "stratum" in frame.columns else chance.astype(str)
    design = frame.assign(round=rounds, stratum=stratum, chance=chance)
    design["round"] = design["round"].astype(int)
    _check_ids(design)
    each = design.groupby(["round", "stratum"])
    if "of" in design.columns:
        design["of"] = _numbers(design, "of", "whole numbers from 1 up", 0, np.inf, whole=True)
        _check_strata(design)
    else:
        design["of"] = np.round(each["id"].transform("size") / chance)
    if "list" in design.columns:
        design["list"] = _numbers(design, "list", "1 or 0", -1, 1, whole=True)
    more = [name for name in ("cluster", "list") if name in design.columns]
    return design[["id", *DESIGN, *more, "class"]]


def _numbers(
    frame: Any, name: str, rule: str, above: float, most: float, *, whole: bool = False
) -> Any:
    """A column of numbers within bounds; the first that is not is named with its row."""
    import pandas as pd

    column = frame[name]
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    right = (values > above) & (values <= most) & np.isfinite(values)
    if whole:
        right &= values == np.round(values)
    if not right.all():
        row = int(np.flatnonzero(~right)[0])
        value = as_words(column.iloc[[row]])[0] or "nothing"
        raise SheetError(
            f"'{name}' of an audit must be {rule}; got {value} for the row "
            f"{frame['id'].iloc[row]!r}. Put back what the plan wrote."
        )
    return values


def _check_ids(design: Any) -> None:
    """A round draws a row once."""
    twice = design[design.duplicated(["round", "id"])]
    if len(twice):
        line = twice.iloc[0]
        raise SheetError(
            f"an audit must look at a row once; {line['id']!r} stands in round {line['round']} "
            "more than once. Keep one line of it."
        )


def _check_strata(design: Any) -> None:
    """One size and one chance in a stratum, and no more drawn from it than they say."""
    unit = "cluster" if "cluster" in design.columns else "id"
    for (number, stratum), rows in design.groupby(["round", "stratum"]):
        where = f"stratum {stratum!r} of round {number}"
        for name in ("of", "chance"):
            values = rows[name].unique().tolist()
            if len(values) > 1:
                raise SheetError(
                    f"rows of one stratum are drawn with one chance from one number of rows; "
                    f"'{name}' is {short(values[0])} and {short(values[1])} in {where}. Put back "
                    "what the plan wrote."
                )
        of, chance, drawn = rows["of"].iloc[0], rows["chance"].iloc[0], rows[unit].nunique()
        planned = of * chance
        whole = abs(planned - round(planned)) <= max(0.01, ROUNDED / 10 * planned)
        if not whole or drawn > planned + max(0.5, ROUNDED * drawn):
            raise SheetError(
                f"chances must fit what was drawn; {drawn} of {int(of)} are a chance of "
                f"{short(drawn / of)}, but it is {short(chance)} in {where}. Put back what the "
                "plan wrote."
            )


def check_population(frame: Any, rows: int, lost: int) -> None:
    """Strata of each round must add up to the unlabelled rows of the table, as far as is known.

    ``lost`` rows were drawn but are not there. Rows that were drawn one by one, without strata,
    stand for so many by chance alone.
    """
    if "cluster" in frame.columns or frame["of"].isna().any():
        return
    for number, drawn in frame.groupby("round"):
        before = int((frame["round"] < number).sum())
        strata = drawn.groupby("stratum")
        total = float(strata["of"].first().sum())
        chance = drawn["chance"].to_numpy(dtype=float)
        least_chance = chance.min()  # whose square may be zero
        spread = np.sqrt(((1 - chance) * (least_chance / chance) ** 2).sum()) / least_chance
        slack = ROUNDED * rows + SPREADS * float(spread)
        least = 0.0 if lost else rows - before - slack  # a stratum may be lost with others
        if not (np.isfinite(total) and least <= total <= rows + slack):
            raise SheetError(
                f"by its chances round {number} of the audit was drawn from {total:,.0f} rows, but "
                f"the table has {rows:,} unlabelled ones. Give the table that the audit was "
                "planned with, and chances as the plan wrote them."
            )


def places(names: Any, ids: Any, closed: Any) -> Any:
    """Where each id of an audit is among the rows that have its ids."""
    place = {name: i for i, name in enumerate(names.tolist())}
    if len(place) < len(names):
        twice = next(n for n in names if (names == n).sum() > 1)
        raise TableError(
            f"ids must name one row each; {twice!r} is the id of several. Name an `id`."
        )
    for name in ids.tolist():
        if name not in place:
            raise SheetError(
                f"the audit has a row {name!r} that is not in the table. Rows are joined by `id`; "
                "it must be the column that the audit was planned with."
            )
        if closed[place[name]]:
            raise SheetError(
                f"the audit has a row {name!r} that is labelled. Only unlabelled rows are audited; "
                "give the table that the audit was planned with."
            )
    return np.array([place[name] for name in ids.tolist()], dtype=np.intp)
