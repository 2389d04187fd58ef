"""How far Laplace's evidence is from the integral, and what that does to AVERAGED's answers.

    python benchmarks/laplace.py [samples]

Small samples with few labels, where a normal approximation is least to be trusted. The evidence of
every component is computed again by importance sampling (draws of a multivariate t with five
degrees of freedom about the mode), the components are weighed anew, and the mean and the 90%
interval of the prevalence are compared. A constant error of all evidences changes nothing, so their
spread is reported. Results, design by design: benchmarks/results/laplace.csv.
"""

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logsumexp, softmax

from doublelogit.engines.memory import memory_rows
from doublelogit.fitted.mixture import quantile
from doublelogit.methods import Problem
from doublelogit.methods.exploration import Component, explore
from doublelogit.methods.posterior import Mode
from doublelogit.methods.prior import posteriors

RESULT = Path(__file__).parent / "results" / "laplace.csv"
DRAWS = 400
HEAVY_TAILS = 5


class Design(NamedTuple):
    """Rows, features, norm of the slopes and label frequency; positives are about a third."""

    n: int
    p: int
    norm: float
    frequency: float


DESIGNS = [
    Design(100, 2, 2.0, 0.3),
    Design(200, 3, 1.0, 0.2),
    Design(200, 8, 2.0, 0.3),
    Design(300, 15, 3.0, 0.3),
    Design(300, 15, 0.5, 0.3),
    Design(1000, 8, 2.0, 0.5),
]


def sampled(mode: Mode, rng: np.random.Generator) -> float:
    """The log-evidence of a mode by importance sampling."""
    cut = mode.slice
    covariance = np.linalg.inv(cut.n * mode.expansion.hess)
    proposal = stats.multivariate_t(mode.u, covariance, df=HEAVY_TAILS, seed=rng)
    draws = proposal.rvs(DRAWS).reshape(DRAWS, -1)
    height = np.array([-cut.n * cut.value_grad(u).value for u in draws])
    total = logsumexp(height - proposal.logpdf(draws)) - np.log(DRAWS)
    scales = 0.5 * np.log(cut.prior.precision).sum() - 0.5 * len(mode.u) * np.log(2 * np.pi)
    return float(total + scales)


def interval(components: list[Component], log_mass: np.ndarray, mean_s: float) -> np.ndarray:
    """Mean and 90% interval of the prevalence."""
    problem = components[0].posterior.problem
    share = np.array([_share(problem, component) for component in components])
    width = np.array([(c.high - c.low) / np.sqrt(12) for c in components])
    weight = softmax(log_mass)
    ends = [quantile(weight, share[None], width[None], q)[0] for q in (0.05, 0.95)]
    return np.array([weight @ share, *np.clip(ends, mean_s, 1)])


def _share(problem: Problem, component: Component) -> float:
    X, beta = problem.rows.X, component.mode.theta[: problem.outcome.size]
    return float(expit(X @ beta[:-1] + beta[-1]).mean())


def compared(design: Design, seed: int) -> dict[str, float]:
    """One sample: spread of the errors of evidences, and how far answers move."""
    rng = np.random.default_rng([seed, design.n, design.p])
    X = rng.normal(size=(design.n, design.p))
    beta = rng.normal(size=design.p)
    beta *= design.norm / np.linalg.norm(beta)
    y = rng.random(design.n) < expit(X @ beta - 0.8)
    s = (y & (rng.random(design.n) < design.frequency)).astype(float)
    problem = Problem(memory_rows(X, s))
    found = [c for c in explore(s.mean(), posteriors(problem)) if np.isfinite(c.log_mass)]
    weight = softmax([c.log_mass for c in found])
    found = [c for c, w in zip(found, weight, strict=True) if w > 1e-3]
    log_mass = np.array([c.log_mass for c in found])
    error = np.array([sampled(c.mode, rng) - c.mode.log_evidence for c in found])
    error *= found[0].posterior.power
    weight = softmax(log_mass)
    centred = error - weight @ error
    moved = interval(found, log_mass + error, s.mean()) - interval(found, log_mass, s.mean())
    return {
        "labels": s.sum(),
        "components": len(found),
        "spread of errors": float(np.sqrt(weight @ centred**2)),
        "mean moves": abs(moved[0]),
        "low moves": abs(moved[1]),
        "high moves": abs(moved[2]),
    }


def main(samples: int = 10) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for design in DESIGNS:
        found = pd.DataFrame([compared(design, seed) for seed in range(samples)]).mean()
        rows.append(design._asdict() | found.to_dict())
        pd.DataFrame(rows).to_csv(RESULT, index=False, float_format="%.4g")
        print(pd.DataFrame(rows[-1:]).to_string(index=False, float_format="%.3g"), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
