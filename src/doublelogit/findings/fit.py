"""Findings about a fit: convergence, separation, which model is which, what stays open."""

from collections.abc import Sequence

import numpy as np

from doublelogit._types import Floats
from doublelogit.findings import ATTENTION, FINE, PROBLEM, Finding
from doublelogit.fit import Orientation
from doublelogit.thresholds import (
    FITS_UNITS,
    FLAT,
    MANY_RARE,
    RARE_PROPENSITY,
    SAME_OPTIMUM,
    WIDE_INTERVAL,
)
from doublelogit.wording import counted, percent

RULES = {
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
ASSUMPTIONS = ("norm", "likeness")

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


def modes_missed(name: str) -> Finding:
    """Some modes of the posterior could not be reached."""
    return Finding(
        ATTENTION,
        "convergence",
        f"{name} could not reach every mode of its posterior; those left out may have mattered. "
        "Look for features that are nearly copies of others.",
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


def orientation(decided: Orientation | None) -> Finding:
    """Whether class and labelling may be swapped."""
    text = orientation_sentence(decided)
    if decided is None:
        return Finding(ATTENTION, "orientation", f"{text} {_ONLY_IF_STRONGER}")
    numbers = {"gap": decided.gap, "unit": decided.unit, "rule": decided.rule}
    if not decided.clear:
        text += " That is not clear enough: class and labelling may be swapped. "
        text += settle(named=decided.rule == "features", audited=decided.rule == "audit")
        return Finding(PROBLEM, "orientation", text, numbers)
    if decided.rule in ASSUMPTIONS:
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


# Why labels may leave the prevalence open, and what would help.
UNDETERMINED_BY = {
    "mechanism": "labels at random and labels that depend on the features explain these rows "
    "alike, but mean different prevalences; name `propensity_features`",
    "signal": "the classes hardly separate by these features; find features that tell more",
    "labels": "the labels are few for these features; name fewer `outcome_features`",
}


def undetermined_prevalence(low: float, high: float, reason: str) -> Finding:
    """The labels leave the prevalence open."""
    return Finding(
        ATTENTION,
        "identification",
        f"the labels hardly determine the prevalence: anything from {low:.2f} to {high:.2f} is "
        f"credible (90%), because {UNDETERMINED_BY[reason]}, or audit some rows (`audited_y`). The "
        "probabilities keep to the middle of that.",
        {"low": low, "high": high},
    )


def weak_curvature(logit_error: float, limit: float) -> Finding:
    """Intervals from the curvature do not hold."""
    return Finding(
        ATTENTION,
        "identification",
        f"the labels hardly determine the prevalence (standard error of its logit "
        f"{logit_error:.1f}, reliable up to {limit}): an interval from the curvature at the "
        "maximum does not hold along such a ridge. Use method='profile' or 'bootstrap', audit some "
        "rows (`audited_y`), or say what is known of the prevalence (`prevalence`).",
        {"logit_error": logit_error, "limit": limit},
    )


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
    return Finding(ATTENTION if near < FITS_UNITS else FINE, "optima", text, numbers)


def profile_range(low: float, high: float) -> Finding:
    """Which prevalences fit within a few log-likelihood units."""
    return _range(low, high, f"fits within {FITS_UNITS:g} log-likelihood units of the best")


def credible_range(low: float, high: float, level: float) -> Finding:
    """Which prevalences are credible."""
    return _range(low, high, f"is credible ({level:.0%})")


def _range(low: float, high: float, how: str) -> Finding:
    fits = f"any value from {low:.2f} to {high:.2f} {how}"
    numbers = {"low": low, "high": high}
    if high - low > WIDE_INTERVAL:
        text = f"The prevalence is not determined by this sample: {fits}."
        return Finding(ATTENTION, "prevalence", text, numbers)
    return Finding(FINE, "prevalence", f"The prevalence is determined: {fits}.", numbers)


def curvature(ratio: float, flattest: Sequence[tuple[str, float]]) -> Finding:
    """How flat the flattest direction of the likelihood is."""
    terms = ", ".join(f"{name} ({share:+.2f})" for name, share in flattest[:3])
    text = (
        f"The flattest direction of the likelihood has {ratio:.1e} of the curvature of the "
        f"steepest; it moves {terms}."
    )
    return Finding(ATTENTION if ratio < FLAT else FINE, "curvature", text, {"ratio": ratio})


def overlap(share: float, separated: bool) -> Finding:
    """Whether labelled rows stand apart from the others."""
    if separated:
        text = "Labelled rows are perfectly separable from the others."
        return Finding(ATTENTION, "overlap", text, {"overlap": share})
    text = (
        f"{share:.0%} of the unlabelled rows look like labelled ones (s(x) above the lowest tenth "
        "of the labelled)."
    )
    return Finding(FINE, "overlap", text, {"overlap": share})


def rare_labels(share: float) -> Finding:
    """How many positives hardly ever get a label."""
    text = (
        f"{share:.0%} of the expected positives are labelled with a probability below "
        f"{RARE_PROPENSITY:.0%}: of such rows the data say next to nothing."
    )
    level = ATTENTION if share > MANY_RARE else FINE
    return Finding(level, "propensity", text, {"share": share})


def mechanism(at_random: float, components: int) -> Finding:
    """How the posterior weighs labelling at random against biased labelling."""
    text = (
        f"The posterior puts {percent(at_random)} on labelling at random and "
        f"{percent(1 - at_random)} on labelling that depends on the features "
        f"({counted(components, 'component')})."
    )
    return Finding(FINE, "labelling", text, {"at_random": at_random, "components": components})
