"""Findings about a fit: convergence, separation, which model is which, what stays open."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doublelogit._types import Floats
from doublelogit.common.thresholds import (
    AT_BOUND,
    DISAGREEMENT,
    FITS_OPTIMUM,
    FITS_UNITS,
    FLAT,
    MANY_RARE,
    RARE_PROPENSITY,
    SAME_OPTIMUM,
    WIDE_INTERVAL,
)
from doublelogit.common.wording import Regions, counted, p_value, percent, ranges
from doublelogit.findings import ATTENTION, FINE, PROBLEM, Finding
from doublelogit.fitted.fit import Orientation

# A reading of the labels: its name, its words, and its share of a posterior.
Weighed = tuple[str, str, float]

RULES = {
    "sources": "the patterns of labels by several sources",
    "features": "the columns named for the outcome or the labelling",
    "audit": "the audited rows",
    "prevalence": "the prevalence given",
    "penalty": "their penalties",
    "curves": "the curves that the class may have and labelling may not",
    "false labels": "the false labels allowed for",
    "norm": "the assumption that the class depends on the features more strongly than labelling "
    "does",
    "likeness": "the assumption that hidden positives are more like labelled rows than negatives "
    "are",
}
ASSUMED_RULES = ("norm", "likeness")

GAPS = {
    "standard errors": "their strengths differ by {:.1f} standard errors",
    "log-likelihood": "with the two swapped the fit is worse by {:.1f} log-likelihood units",
    "log-evidence": "with the two swapped the log-evidence is lower by {:.1f}",
}


def not_converged(name: str, tol: float, max_iter: int) -> Finding:
    """The stopping rule was not met."""
    return Finding(
        ATTENTION,
        "convergence",
        f"{name} did not meet its stopping rule (`tol`={tol:g}) within `max_iter`={max_iter} "
        "iterations, or a fit inside it did not. Increase `max_iter` or `tol`, standardise the "
        "features, or choose a smaller `C`.",
        {"tol": tol, "max_iter": max_iter},
    )


def components_missed(name: str) -> Finding:
    """Some components of the posterior have no finite weight."""
    return Finding(
        ATTENTION,
        "convergence",
        f"{name} could not fit every component of its posterior; those left out may have mattered. "
        "Look for features that are nearly copies of others.",
    )


def stalled(name: str, share: float) -> Finding:
    """The optimisation of some components has used up its steps."""
    return Finding(
        ATTENTION,
        "convergence",
        f"{name} used up its steps in components that hold {percent(share)} of the posterior, so "
        "that their weights are rough. Look for features that are nearly copies of others.",
        {"share": share},
    )


def separable(name: str) -> Finding:
    """Nothing bounds the coefficients."""
    return Finding(
        ATTENTION,
        "separation",
        "labelled and unlabelled rows are perfectly separable, so without a penalty the "
        f"coefficients of {name} have no finite optimum; they are large because the iteration "
        "had to stop somewhere. Set `C` to a finite value, for example 1.",
    )


def orientation_sentence(decided: Orientation | None) -> str:
    """How class and labelling were told apart, and how clearly."""
    if decided is None:
        return "This method has no rule that tells class and labelling apart."
    how = RULES[decided.rule]
    if np.isinf(decided.gap):
        return f"Class and labelling are told apart by {how}; with the two swapped nothing fits."
    if np.isnan(decided.gap):
        return f"Class and labelling are told apart by {how}; how clearly could not be computed."
    gap = GAPS[decided.unit].format(abs(decided.gap))
    return f"Class and labelling are told apart by {how} ({gap})."


def orientation(decided: Orientation | None, *, audited: bool = False) -> Finding:
    """Whether class and labelling may be swapped; ``audited``: rows have been looked at."""
    text = orientation_sentence(decided)
    if decided is None:
        return Finding(ATTENTION, "orientation", f"{text} {_ONLY_IF_STRONGER}")
    numbers = {"gap": decided.gap, "unit": decided.unit, "rule": decided.rule}
    if not decided.clear:
        text += " That is not clear enough: class and labelling may be swapped. "
        text += settle(named=decided.rule == "features", audited=audited or decided.rule == "audit")
        return Finding(PROBLEM, "orientation", text, numbers)
    if decided.rule in ASSUMED_RULES:
        return Finding(ATTENTION, "orientation", f"{text} {_ONLY_IF_STRONGER}", numbers)
    return Finding(FINE, "orientation", text, numbers)


def settle(*, named: bool, audited: bool) -> str:
    """How to find out which model is the class, by what has not been tried yet."""
    naming = "name columns that can only matter for labelling (`propensity_features`)"
    auditing = f"find out the class of {'more' if audited else '50 to 100'} unlabelled rows"
    ways = [*([] if named else [naming]), f"{auditing} (`audited_y`)"]
    if named and audited:
        ways.append("say what is known of the share of positives (`prevalence`)")
    advice = ", or ".join(ways)
    return f"{advice[0].upper()}{advice[1:]}, and fit again."


_ONLY_IF_STRONGER = (
    "If labelling could depend on the features more strongly than the class does, name columns for "
    "it (`propensity_features`) or audit some rows (`audited_y`)."
)


# Notes below a summary of coefficients, by what they are about.
SUMMARY_NOTES = {
    "penalty": "A penalty shrinks these coefficients a little towards zero; C=np.inf removes it.",
    "swap": "Class and labelling may be swapped: see orientation_.",
    "link": "exp(coef) is no odds ratio here: the link is not the logit.",
}


def summary_notes(**holds: bool) -> tuple[str, ...]:
    """The notes that hold for a fit."""
    return tuple(SUMMARY_NOTES[name] for name, applies in holds.items() if applies)


# Why labels may leave the prevalence open, and what would help.
UNDETERMINED_BY = {
    "mechanism": "labels at random and labels that depend on the features explain these rows "
    "alike, but mean different prevalences; name `propensity_features`",
    "shape": "a class that is no straight line, its labels given at random, would explain these "
    "rows as well; name `propensity_features`",
    "signal": "the classes hardly separate by these features; find features that tell more",
    "labels": "the labels are few for these features; name fewer `outcome_features`",
    "sources": "sources may depend on each other, and their labels do not show how much; name "
    "another source",
}


def undetermined_prevalence(
    low: float, high: float, reason: str, readings: Sequence[Weighed]
) -> Finding:
    """The labels leave the prevalence open; readings of them by their shares."""
    return Finding(
        ATTENTION,
        "identification",
        f"the labels hardly determine the prevalence: anything from {low:.2f} to {high:.2f} is "
        f"credible (90%), because {UNDETERMINED_BY[reason]}, or audit some rows (`audited_y`). The "
        f"probabilities keep to the middle of that. The posterior puts {weighed(readings)}.",
        {"low": low, "high": high, "shares": {name: share for name, _, share in readings}},
    )


def few_overlaps(overlaps: float) -> Finding:
    """Too few rows have two labels for sources to show whether they depend on each other."""
    return Finding(
        ATTENTION,
        "identification",
        f"only {overlaps:.0f} rows have labels of two sources or more, too few to show whether "
        "sources depend on each other: their dependence is left to what is usual in other tables, "
        "and intervals are as wide as that. Another source, or audited rows (`audited_y`), would "
        "tell more.",
        {"overlaps": overlaps},
    )


def two_sources() -> Finding:
    """Two sources can not show whether they depend on each other."""
    return Finding(
        FINE,
        "identification",
        "two sources cannot show whether they depend on each other; a third, or audited rows, can. "
        "The answer averages over what is usual in other tables.",
    )


def weak_profile(regions: Regions, *, least: float) -> Finding:
    """The labels hardly determine the prevalence, by its profile likelihood."""
    fits, (low, high) = ranges(regions), (regions[0][0], regions[-1][1])
    if len(regions) > 1:
        why = "several answers fit, and what lies between them does not"
    elif low <= least * (1 + AT_BOUND):
        why = "even that no positive is hidden fits them"
    elif high >= 1 - AT_BOUND:
        why = "even that every row is positive fits them"
    else:
        why = "much of what is possible fits them"
    text = (
        f"the labels hardly determine the prevalence: {fits} (95%), for {why}. Audit some rows "
        "(`audited_y`), name columns that matter for one model only (`propensity_features`), or "
        "say what is known of the prevalence (`prevalence`)."
    )
    return Finding(ATTENTION, "identification", text, {"low": low, "high": high})


AGAINST = {
    "response": "the rows with the highest scores are labelled more or less often than a logistic "
    "class and labelling allow",
    "shape": "the class is no straight line in {}",
    "class": "the class depends on {}, which was named for the labelling alone",
    "labelling": "labelling depends on {}, on which it was not allowed to depend",
}


def misfit(question: str, feature: str, p: float) -> Finding:
    """What of a model the labels speak against."""
    against = AGAINST[question].format(repr(feature))
    text = (
        f"the labels speak against this model ({p_value(p)}): {against}, or something else is "
        "amiss that looks alike. Its intervals hold only if the model does."
    )
    return Finding(ATTENTION, "model", text, {"p_value": p, "feature": feature})


def starts(drop: Floats, prevalence: Floats) -> Finding:
    """Whether all starts lead to the optimum that was kept, which comes first."""
    lower, n = drop > SAME_OPTIMUM, len(drop)
    numbers = {"starts": n, "lower": int(lower.sum())}
    if lower[0]:
        text = (
            f"This is not the best fit: another start leads {drop[0]:.1f} log-likelihood units "
            "higher. Increase `n_starts`, or use JointClassifier."
        )
        return Finding(ATTENTION, "optima", text, numbers)
    if not lower.any():
        return Finding(FINE, "optima", f"All {n} starts lead to one optimum.", numbers)
    near = float(drop[lower].min())
    text = (
        f"{lower.sum()} of {n} starts lead to a lower optimum, the nearest {near:.1f} "
        f"log-likelihood units below; the optima have prevalences from {prevalence.min():.2f} to "
        f"{prevalence.max():.2f}."
    )
    if np.ptp(prevalence) < DISAGREEMENT:
        return Finding(FINE, "optima", text, numbers)
    text += " Several answers compete: do not rely on the best of them before you know more."
    return Finding(PROBLEM if near < FITS_OPTIMUM else ATTENTION, "optima", text, numbers)


def profile_range(regions: Regions) -> Finding:
    """Which prevalences fit within a few log-likelihood units."""
    return _range(regions, f"fits within {FITS_UNITS:g} log-likelihood units of the best")


def credible_range(low: float, high: float, level: float) -> Finding:
    """Which prevalences are credible."""
    return _range(((low, high),), f"is credible ({level:.0%})")


def _range(regions: Regions, how: str) -> Finding:
    low, high = regions[0][0], regions[-1][1]
    numbers = {"low": low, "high": high, "regions": [list(region) for region in regions]}
    doubtful = len(regions) > 1 or high - low > WIDE_INTERVAL
    is_it = "is not determined by this sample" if doubtful else "is determined"
    text = f"The prevalence {is_it}: any value {ranges(regions)} {how}."
    return _judged("prevalence", text, numbers, doubtful=doubtful)


def curvature(ratio: float, flattest: Sequence[tuple[str, float]]) -> Finding:
    """How flat the flattest direction of the likelihood is."""
    terms = ", ".join(f"{name} ({share:+.2f})" for name, share in flattest[:3])
    text = (
        f"The flattest direction of the likelihood has {ratio:.1e} of the curvature of the "
        f"steepest; it moves {terms}."
    )
    return _judged("curvature", text, {"ratio": ratio}, doubtful=ratio < FLAT)


def overlap(share: float, separated: bool) -> Finding:
    """Whether labelled rows stand apart from the others."""
    text = (
        "Labelled rows are perfectly separable from the others."
        if separated
        else f"{share:.0%} of the unlabelled rows look like labelled ones (s(x) above the lowest "
        "tenth of the labelled)."
    )
    return _judged("overlap", text, {"overlap": share}, doubtful=separated)


def rare_labels(share: float) -> Finding:
    """How many positives hardly ever get a label."""
    text = (
        f"{share:.0%} of the expected positives are labelled with a probability below "
        f"{RARE_PROPENSITY:.0%}: of such rows the data say next to nothing."
    )
    return _judged("propensity", text, {"share": share}, doubtful=share > MANY_RARE)


def _judged(topic: str, text: str, numbers: dict[str, Any], *, doubtful: bool) -> Finding:
    """A finding that needs attention if it is doubtful."""
    return Finding(ATTENTION if doubtful else FINE, topic, text, numbers)


def mechanisms(readings: Sequence[Weighed], components: int) -> Finding:
    """Weights of the readings of the labels in a posterior."""
    text = f"The posterior puts {weighed(readings)} ({counted(components, 'component')})."
    numbers = {"shares": {name: share for name, _, share in readings}, "components": components}
    return Finding(FINE, "labelling", text, numbers)


def weighed(readings: Sequence[Weighed]) -> str:
    """Readings of the labels with their shares, as words."""
    return ", ".join(f"{percent(share)} on {words}" for _, words, share in readings)


def selected(n: int, n_features: int, *, rest: bool) -> Finding:
    """How many features of a wide table were selected, and whether the others help as one."""
    text = f"{n:,} of {n_features:,} features were selected"
    text += "; an index of the others is one more." if rest else "; the others add nothing."
    return Finding(FINE, "selection", text, {"selected": n, "features": n_features, "rest": rest})
