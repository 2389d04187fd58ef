"""What AVERAGED would say under other odds, label frequencies and tails, by weighing it anew.

    python benchmarks/priors.py

Every draw is fitted once, with labelling of its own wherever labels are; its components then are
weighed under each variant of the prior, and read by each rule for intervals. Draws are those that
choices may be made on: every third family of the learn half under the mechanisms of tables2026, the
paper's data sets in repetitions that its tables never use, the designs of grid.py by seeds of their
own, real labellers. Errors of y(x) and of the prevalence, Brier score, log-loss; cover, width and
score of 90% intervals, and designs that cover less than .82, go to benchmarks/results/priors.csv.
Nothing is kept for a class of any shape here, which came after these choices.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from grid import designs, sample
from joblib import Parallel, delayed
from scipy.special import expit, softmax
from shared import measured

from doublelogit.averaged.grid import explore
from doublelogit.averaged.mechanisms import MECHANISMS
from doublelogit.averaged.mixture import _sides, integrated
from doublelogit.averaged.posteriors import posteriors
from doublelogit.averaged.settings import Settings
from doublelogit.averaged.swap import by_strength
from doublelogit.engines.memory import memory_rows
from doublelogit.fitted.mixture import quantile
from doublelogit.methods import Problem
from doublelogit.studies.datasets import load_natural, natural_table
from doublelogit.studies.experiments.cell import labelled_draw
from doublelogit.studies.experiments.plan import Draw, PlanMethod, load_plan

RESULT = Path(__file__).parent / "results" / "priors.csv"
LEVEL, LEAST = 0.9, 1e-4  # of a component's weight, to be kept
OWN = 900_000  # first seed of designs, which grid.py does not reach
REPETITIONS = (1000, 1001)  # of the paper's plan
TOO_LARGE = ("adult", "spambase")
BISECTIONS = 40


@dataclass(frozen=True)
class Variant:
    """A prior: labels for each coefficient, odds, and Beta(often, 1) of c where labelling follows.

    ``tails`` are the probabilities left below and above an interval of 90%.
    """

    name: str
    fewest: float = 1.0
    odds: tuple[float, float, float] = (0.5, 0.2, 0.3)  # at random, following the class, free
    often: float = 1.25
    tails: tuple[float, float] = (0.025, 0.05)


CENTRAL = (0.05, 0.05)
BEFORE = Variant("as it was", 2.0, (0.5, 0.25, 0.25), 1.0, CENTRAL)
VARIANTS = (
    Variant("as it is"),
    BEFORE,
    *(replace(BEFORE, name=f"labels for each coefficient: {k}", fewest=k) for k in (0.0, 0.5, 1.0)),
    *(
        replace(BEFORE, name=f"odds {odds}", fewest=1.0, odds=odds)
        for odds in ((0.6, 0.15, 0.25), (0.5, 0.2, 0.3), (0.5, 0.15, 0.35), (0.4, 0.2, 0.4))
    ),
    *(Variant(f"c of labelling that follows: Beta({a}, 1)", often=a) for a in (1.0, 1.5, 2.0)),
    *(
        Variant(f"tails {tails}", tails=tails)
        for tails in ((0.05, 0.05), (0.025, 0.075), (0.02, 0.06), (0.0125, 0.05), (0.03, 0.04))
    ),
)


class Fitted(NamedTuple):
    """Components of one draw, what is known of it, and its predictors on some rows."""

    kind: str
    name: str
    scenario: int
    labels_per_coefficient: float
    mean_s: float
    truth: float
    mechanism: np.ndarray  # 0 at random, 1 following the class, 2 free
    log_mass: np.ndarray
    share: np.ndarray
    share_sd: np.ndarray
    logits: np.ndarray | None = None  # of training rows
    new_logits: np.ndarray | None = None  # of rows that were set aside
    reference: np.ndarray | None = None
    y: np.ndarray | None = None


def fitted(X: np.ndarray, s: np.ndarray) -> tuple[dict, np.ndarray] | None:
    """Components under the prior of ``BEFORE`` and their slopes; None if columns outnumber rows."""
    problem = Problem(memory_rows(X, np.asarray(s, dtype=float)))
    if problem.outcome.size >= len(np.unique(X, axis=0)):
        return None
    settings = Settings(labels_per_slope=0.0)  # variants leave out what has too few
    components = explore(float(np.mean(s)), settings, posteriors(problem, settings))
    components, _ = by_strength(components)
    weight = softmax([c.log_mass for c in components])
    components = [c for c, w in zip(components, weight, strict=True) if w > LEAST * weight.max()]
    log_mass, outcome, _ = integrated(components, *_sides(components))
    order = [mechanism.name for mechanism in MECHANISMS]
    mechanism = np.array([order.index(c.posterior.mechanism.name) for c in components])
    plain = log_mass - _prior_of(mechanism, float(np.mean(s)) / outcome.share, Variant("as it is"))
    about = {
        "labels_per_coefficient": float(np.sum(s)) / (2 * problem.outcome.size),
        "mean_s": float(np.mean(s)),
        "mechanism": mechanism,
        "log_mass": plain,
        "share": outcome.share,
        "share_sd": outcome.share_sd,
    }
    return about, outcome.coef


def _prior_of(mechanism: np.ndarray, c: np.ndarray, variant: Variant) -> np.ndarray:
    """Logarithm of the odds of each component's mechanism and of its label frequency."""
    odds = np.log(np.array(variant.odds))[mechanism]
    power = np.where(mechanism == 1, variant.often, 1.0)
    return odds + np.log(power) + (power - 1) * np.log(np.clip(c, LEAST, 1.0))


def of_draw(kind: str, draw: Draw, oracle: PlanMethod) -> Fitted | None:
    """A draw of a plan."""
    data = labelled_draw(draw, oracle)
    found = _quietly(data.X[data.train], data.s)
    if found is None:
        return None
    about, coef = found
    rows, new = data.X[data.train[:1000]], data.test[:600]
    return Fitted(
        kind,
        draw.dataset.name,
        draw.scenario.id,
        truth=float(data.y[data.train].mean()),
        logits=rows @ coef[:, :-1].T + coef[:, -1],
        new_logits=data.X[new] @ coef[:, :-1].T + coef[:, -1],
        reference=data.reference[new],
        y=data.y[new],
        **about,
    )


def of_design(design: tuple, seed: int) -> Fitted | None:
    """A sample of a design of the grid."""
    X, y, s = sample(design, seed)
    found = _quietly(X, s)
    return None if found is None else Fitted("grid", design.name, 0, truth=y.mean(), **found[0])


def of_labeller(name: str) -> Fitted | None:
    """A table with the labels that somebody really gave."""
    data = load_natural(name)
    X = np.asarray(data.data, dtype=float)
    spread = X.std(axis=0)
    found = _quietly((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), data.s)
    return found and Fitted("real labellers", name, 0, truth=data.prevalence, **found[0])


def _quietly(X: np.ndarray, s: np.ndarray) -> tuple[dict, np.ndarray] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fitted(X, s)


def jobs() -> Iterator[tuple[Callable, tuple]]:
    """All draws."""
    learn, paper = load_plan("tables2026"), load_plan("ecai2023")
    draws = learn.draws("learn", repetitions=1)
    chosen = sorted({draw.dataset.name for draw in draws})[::3]
    for draw in draws:
        if draw.dataset.name in chosen:
            yield of_draw, ("learn", draw, learn.oracle("learn"))
    for draw in paper.draws("as_published", repetitions=1):
        odd = draw.scenario.id != 1 or round(20 * draw.value) % 3 == 1
        if odd and draw.dataset.name not in TOO_LARGE:
            for r in REPETITIONS:
                shared = ("paper", replace(draw, repetition=r), paper.oracle("as_published"))
                yield of_draw, shared
    for k, design in enumerate(designs()):
        for i in range(10 if k < 72 else 5):
            yield of_design, (design, OWN + i)
    for name in natural_table().index:
        yield of_labeller, (name,)


def answer(one: Fitted, variant: Variant) -> dict[str, float]:
    """Interval and errors of one draw under a variant."""
    log_mass = one.log_mass + _prior_of(one.mechanism, one.mean_s / one.share, variant)
    if one.labels_per_coefficient < variant.fewest:
        log_mass = np.where(one.mechanism == 2, -np.inf, log_mass)
    weight = softmax(log_mass)
    share, sd = one.share[None], one.share_sd[None]
    levels = (variant.tails[0], 1 - variant.tails[1])
    ends = [float(quantile(weight, share, sd, q)[0]) for q in levels]
    pi = float(weight @ one.share)
    found = measured(np.clip(ends, one.mean_s, 1.0), one.truth, LEVEL)
    found |= {"prevalence_error": abs(pi - one.truth)}
    if one.logits is not None:
        y_x = expit(one.new_logits @ weight + _level(one.logits @ weight, pi))
        p = np.clip(np.where(one.y, y_x, 1 - y_x), 1e-3, 1.0)
        found |= {"AE": np.abs(y_x - one.reference).mean(), "brier": ((1 - p) ** 2).mean()}
        found |= {"log_loss": -np.log(p).mean()}
    return found


def _level(logits: np.ndarray, share: float) -> float:
    """What is added to logits so that their probabilities average to a share, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(logits + middle).mean() < share else (low, middle)
    return (low + high) / 2


def main() -> None:
    found = Parallel(n_jobs=-1)(delayed(fn)(*given) for fn, given in jobs())
    draws = [one for one in found if one is not None]
    lines = []
    for variant in VARIANTS:
        frame = pd.DataFrame(
            {"kind": one.kind, "name": one.name, "scenario": one.scenario} | answer(one, variant)
            for one in draws
        )
        table = frame.groupby("kind", sort=False).mean(numeric_only=True).drop(columns="scenario")
        designs_below = frame.groupby(["kind", "name"])["covers"].mean() < 0.82
        table["below"] = designs_below.groupby("kind").sum()
        table["draws"] = frame.groupby("kind").size()
        lines.append(table.reset_index().assign(variant=variant.name))
    table = pd.concat(lines).set_index(["variant", "kind"]).round(4)
    table.to_csv(RESULT)
    print(table.to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
