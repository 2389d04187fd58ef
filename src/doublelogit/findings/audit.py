"""Findings about audits: what to expect of one, what it says, and whether it may be believed."""

from collections.abc import Mapping, Sequence

from doublelogit.common.thresholds import AGREEMENT_LEVEL
from doublelogit.common.wording import Interval, between, counted, p_value, percent
from doublelogit.findings import ATTENTION, FINE, PROBLEM, Finding

MOST_NAMED_GROUPS = 8  # in a sentence


def points(width: float) -> str:
    """Half the width of an interval in percentage points."""
    return f"±{100 * width / 2:.1f}"


def expected(
    rows: int, holds: float, nothing: float, worst: float, *, more: bool = False
) -> Finding:
    """What so many rows, or so many more, can tell of the prevalence."""
    text = (
        f"{counted(rows, 'more row' if more else 'row')}: the prevalence to within "
        f"{points(holds)} points if the model holds, {points(nothing)} if its scores tell "
        f"nothing, {points(worst)} whatever is true (95% intervals)."
    )
    numbers = {"rows": rows, "holds": holds, "nothing": nothing, "worst": worst}
    return Finding(FINE, "audit", text, numbers)


def expected_of_list(length: int, rows: int, holds: float, worst: float) -> Finding:
    """What the rows drawn from a list can tell of its precision."""
    text = (
        f"{counted(rows, 'row')} of them from the list of {length:,}: its precision to within "
        f"{points(holds)} points if the model holds, {points(worst)} whatever is true."
    )
    numbers = {"rows": rows, "length": length, "holds": holds, "worst": worst}
    return Finding(FINE, "audit", text, numbers)


def rows_for(rows: float, width: float, nothing: float, *, more: bool = False) -> Finding:
    """How many rows, or how many more, a width takes."""
    text = (
        f"{rows:,.0f}{' more' if more else ''} rows for {points(width)} points if the model "
        f"holds, {nothing:,.0f} if its scores tell nothing."
    )
    return Finding(FINE, "audit", text, {"rows": rows, "width": width, "nothing": nothing})


def reached(answer: Interval, width: float) -> Finding:
    """An earlier round has reached the width asked for."""
    text = (
        f"Nothing more need be looked at: the interval of the prevalence is {between(answer)}, "
        f"no wider than {points(width)} points."
    )
    return Finding(FINE, "audit", text, {"low": answer.low, "high": answer.high})


def clusters_alike() -> Finding:
    """What is expected of rows says little of clusters."""
    return Finding(
        ATTENTION,
        "audit",
        "These widths would hold if rows of a cluster were no more alike than others; usually "
        "they are, and intervals are wider.",
    )


def prevalence(answer: Interval, hidden: Interval, positives: float, rows: int) -> Finding:
    """What the audit says, whatever the model."""
    text = (
        f"By the audit {percent(answer.value)} of the rows are positive (95% interval "
        f"{between(answer)}), whatever the model: {positives:.0f} of {counted(rows, 'row')} "
        f"looked at. Some {hidden.value:,.0f} positives are hidden ({hidden.low:,.0f} to "
        f"{hidden.high:,.0f})."
    )
    return Finding(FINE, "audit", text, {**_ends(answer), "rows": rows})


def by_group(groups: Mapping[str, Interval]) -> Finding:
    """What the audit says of each group, whatever the model."""
    shown = list(groups.items())[:MOST_NAMED_GROUPS]
    shares = "; ".join(f"{name} {percent(e.value)} ({between(e)})" for name, e in shown)
    rest = len(groups) - len(shown)
    text = f"By group, whatever the model: {shares}{f'; and {rest} more' if rest else ''}."
    return Finding(FINE, "audit", text, {name: _ends(e) for name, e in groups.items()})


def precision(answer: Interval) -> Finding:
    """Precision of the list that the audit was planned for."""
    text = (
        f"Of the list that was audited {percent(answer.value)} are positive (95% interval "
        f"{between(answer)}), by its audited rows alone, whatever the model."
    )
    return Finding(FINE, "audit", text, _ends(answer))


def _ends(answer: Interval) -> dict[str, float | None]:
    return {"value": answer.value, "low": answer.low, "high": answer.high}


def agreement(expected: float, positives: float, p: float, everywhere: str = "") -> Finding:
    """Whether a model that had not seen the audited rows expected what was found.

    ``everywhere`` is "more" or "fewer" where that is so in every band of scores.
    """
    numbers = {"expected": expected, "found": positives, "p_value": p}
    text = f"The model expected {expected:.0f} positives among them, "
    text += f"the audit found {positives:.0f}"
    if p >= AGREEMENT_LEVEL:
        return Finding(FINE, "audit", f"{text}: they agree ({p_value(p)}).", numbers)
    text += f" ({p_value(p)}): use the audit's number."
    if everywhere:
        text += (
            f" There are {everywhere} than expected among rows of low and of high scores alike: "
            "the model is off, or somebody chose rows whose class was known or guessed."
        )
    return Finding(PROBLEM, "audit", text, numbers)


def unlike(drawn: float, every: float, p: float) -> Finding:
    """Audited rows differ from those that they should stand for."""
    text = (
        "The rows looked at are not like those that they stand for: their mean score is "
        f"{drawn:.2f}, that of all unlabelled rows {every:.2f} ({p_value(p)}). Were they drawn as "
        "the chances say? If not, give them with `audit_kind`."
    )
    return Finding(PROBLEM, "audit", text, {"drawn": drawn, "all": every, "p_value": p})


def all_positive(rows: int) -> Finding:
    """Nobody draws only positives."""
    text = (
        f"All {rows} rows looked at are positive. Were negatives left out, or only confirmed "
        "cases recorded? Then the audit says nothing of the prevalence but that these are positive."
    )
    return _of_rows(PROBLEM, rows, text)


def lost(rows: int) -> Finding:
    """Rows that were drawn are not in the file."""
    was, are = ("was", "is") if rows == 1 else ("were", "are")
    text = (
        f"{counted(rows, 'row')} that {was} drawn {are} not in the file. A row that could not be "
        "looked at stays in it with an empty class; without it the rest is no random sample."
    )
    return _of_rows(PROBLEM, rows, text)


def blank(rows: int) -> Finding:
    """Rows that nobody has looked at yet."""
    text = (
        f"{counted(rows, 'row')} of the audit {'has' if rows == 1 else 'have'} no class yet. "
        "That does no harm if the sheet was worked from the top; it does if hard ones were skipped."
    )
    return _of_rows(ATTENTION, rows, text)


def unsure(rows: int) -> Finding:
    """Rows where looking did not help."""
    text = (
        f"Of {counted(rows, 'row')} the class could not be told; the interval allows for "
        "all of them being negative and for all being positive."
    )
    return _of_rows(ATTENTION, rows, text)


def _of_rows(level: str, rows: int, text: str) -> Finding:
    return Finding(level, "audit", text, {"rows": rows})


def reviewers(false_positive: float, false_negative: float) -> Finding:
    """Reviewers' errors are allowed for, but not by the model."""
    text = (
        f"Reviewers are taken to call {percent(false_positive)} of negatives positive and "
        f"{percent(false_negative)} of positives negative. The audit's number allows for it; the "
        "model takes their word."
    )
    return Finding(ATTENTION, "audit", text)


def by_features(rows: int) -> Finding:
    """Rows were chosen by what the model knows."""
    text = (
        f"{counted(rows, 'row')} looked at were chosen by scores or columns of the table. The "
        "model may learn from them, if class and labelling are as it assumes; a number that needs "
        "no model would need rows drawn at random (doublelogit audit)."
    )
    return _of_rows(ATTENTION, rows, text)


def convenience(rows: int, bounds: Sequence[float]) -> Finding:
    """Rows were chosen by more than the model knows."""
    text = (
        f"{counted(rows, 'row')} looked at were chosen by more than the table says, so neither a "
        "model nor a count may be made of them: they are left out of the fit. What is certain is "
        f"that the share of positives is between {percent(bounds[0])} and {percent(bounds[1])}. "
        "Draw rows at random (doublelogit audit)."
    )
    return Finding(PROBLEM, "audit", text, {"low": bounds[0], "high": bounds[1]})


def listed(rows: int, claimed: float, right: Sequence[float]) -> Finding:
    """Positives on the list: by the model, and put right by the audit."""
    value, low, high = (rows * share for share in right)
    text = (
        f"Of the first {rows} rows the model expects {claimed:.0f} to be positive; put right by "
        f"the audited rows, {value:.0f} ({low:.0f} to {high:.0f})."
    )
    numbers = {"rows": rows, "claimed": claimed, "value": value, "low": low, "high": high}
    level = FINE if low - 0.5 <= claimed <= high + 0.5 else ATTENTION  # of whole rows
    return Finding(level, "audit", text, numbers)


def outside(methods: Sequence[str], answer: Interval) -> Finding:
    """Methods whose prevalence the audit rules out."""
    text = f"The audit says {percent(answer.value)} ({between(answer)})"
    if not methods:
        return Finding(FINE, "audit", f"{text}; every method is within its interval.")
    text += f", which rules out what {', '.join(methods)} say."
    return Finding(ATTENTION, "audit", text, {"methods": list(methods)})
