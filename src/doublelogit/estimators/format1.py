"""Model files of format 1 (release 0.1), which every later release reads.

Format 1 kept coefficients as attributes of the classifier, the posterior as a record ``Mixture``
and warnings as texts; a state of that kind is turned into one of the present format.
"""

from typing import Any, NamedTuple

import numpy as np

from doublelogit._types import Floats
from doublelogit.findings import ATTENTION, Finding
from doublelogit.fit import Orientation
from doublelogit.fitted import (
    CertainLabel,
    HalfwayLabel,
    LinearPair,
    LinearSide,
    PluggedPair,
    PluggedSide,
    PosteriorMixture,
    PosteriorSide,
)
from doublelogit.fitted.plugged import NumericSide


class OldOrientation(NamedTuple):
    """The orientation with the coefficients of the swapped solution in it."""

    rule: str
    gap: float
    unit: str
    clear: bool
    beta: Floats
    gamma: Floats


class OldMixture(NamedTuple):
    """The posterior of AVERAGED."""

    mean_s: float
    weight: Floats
    even: Floats
    rho: Floats
    log_evidence: Floats
    outcome: PosteriorSide
    propensity: PosteriorSide


RECORDS = {"Mixture": OldMixture, "Orientation": OldOrientation, "Side": PosteriorSide}
REPLACED = (
    "coef_",
    "intercept_",
    "propensity_coef_",
    "propensity_intercept_",
    "label_coef_",
    "label_intercept_",
    "mixture_",
    "prevalence_",
    "label_frequency_",
    "outcome_",
    "propensity_",
)


def upgraded_table(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a fitted table in the present format."""
    state = dict(state)
    classifier = upgraded(state["classifier"])
    texts = state.pop("warned")
    found = tuple(Finding(ATTENTION, "fit", str(text)) for text in texts)
    classifier["fitted"]["findings_"] = found
    return {**state, "classifier": classifier}


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a classifier in the present format."""
    params, old = state["params"], dict(state["fitted"])
    decided: OldOrientation | None = old.get("orientation_")
    kept = {name: value for name, value in old.items() if name not in REPLACED}
    kept["model_"] = _model(old, params, decided)
    kept["orientation_"] = None if decided is None else Orientation(*decided[:4])
    kept["findings_"] = ()
    return {**state, "fitted": kept}


def _model(old: dict[str, Any], params: dict[str, Any], decided: OldOrientation | None) -> Any:
    if "mixture_" in old:
        symmetric = decided is not None and decided.rule == "norm"
        mixture: OldMixture = old["mixture_"]
        return PosteriorMixture(*mixture, symmetric=symmetric)
    link = params.get("link", "logit")
    if "outcome_" in old or "propensity_" in old:
        return PluggedPair(_plugged(old, ""), _plugged(old, "propensity_"))
    outcome = LinearSide(_coef(old, ""), link)
    rate = params.get("false_label_rate", 0.0)
    if "propensity_coef_" in old:
        pair = LinearPair(outcome, LinearSide(_coef(old, "propensity_"), link), rate)
        if decided is None or np.isinf(decided.gap):
            return pair
        sides = LinearSide(decided.beta, link), LinearSide(decided.gamma, link)
        return LinearPair(pair.outcome_model, pair.propensity_model, rate, LinearPair(*sides, rate))
    if "label_coef_" in old:
        return LinearPair(outcome, HalfwayLabel(_coef(old, "label_")))
    return LinearPair(outcome, CertainLabel())


def _coef(old: dict[str, Any], prefix: str) -> Floats:
    """Full-length coefficients from slopes and intercept."""
    return np.append(old[f"{prefix}coef_"][0], old[f"{prefix}intercept_"])


def _plugged(old: dict[str, Any], prefix: str) -> PluggedSide | NumericSide:
    name = prefix or "outcome_"
    return PluggedSide(old[name]) if name in old else NumericSide(_coef(old, prefix))
