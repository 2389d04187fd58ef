"""What the draws of ``shape_draws.py`` say: the law of c, the weight of any shape, and their worth.

    python benchmarks/shape_rule.py     writes results/shape_rule.csv, prints the rest

Nothing is fitted but the law of c (by families left out) and, for comparison, weights of shape that
are logistic in some numbers (by families, and by mechanisms, left out).
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from shape_draws import LEAST_LOG_C, LEAST_MEAN_S, share_of_shape

RESULTS = Path(__file__).parent / "results"
WHO = ("averaged", "simple", "naive", "line", "shape", "mixed")
WORTH = ("brier", "p50", "auc", "error")
SIMULATED = ("strong", "designs")
WEIGHT_OF_DESIGN = 0.5  # beside a draw of a table, in what is fitted


def main():
    draws = pd.read_csv(RESULTS / "shape_draws.csv")
    draws["weight"] = np.where(draws.source.isin(SIMULATED), WEIGHT_OF_DESIGN, 1.0)
    worth = summary(draws)
    worth.round(4).to_csv(RESULTS / "shape_rule.csv", index=False)
    print(worth.round(4).to_string(index=False))
    law(draws)
    weights(draws[draws.source != "rare"].reset_index(drop=True))
    print(draws[["seconds_lines", "seconds_labels"]].mean().round(2).to_dict())
    print(draws.filter(like="weight_").mean().round(3).to_dict())
    print(draws.groupby("source")[list(draws.filter(like="gain_"))].mean().round(1).to_string())


def summary(draws):
    """Means by source and mechanism, a row for each answer."""
    by_source = draws.assign(mechanism="all")
    groups = pd.concat([by_source, draws]).groupby(["source", "mechanism"])
    rows = []
    for (source, mechanism), part in groups:
        for who in WHO:
            means = {key: part[f"{who}_{key}"].mean() for key in WORTH}
            keys = {"source": source, "mechanism": mechanism, "draws": len(part), "of": who}
            rows.append({**keys, **means})
    return pd.DataFrame(rows)


def left_out(draws, by):
    return [(draws[by] == name).to_numpy() for name in draws[by].unique()]


def law(draws):
    """Log label frequency, by least squares with a slight ridge on slopes."""
    some = draws[draws.source != "rare"]
    regressors = [
        np.ones(len(draws)),
        draws.log_lift,
        np.log(np.maximum(draws.labelled / draws.n, LEAST_MEAN_S)),
        np.maximum(draws.log_c_lines, LEAST_LOG_C),
    ]
    A, y = np.column_stack(regressors), np.log(draws.labelled / draws.n / draws.prevalence)
    used = draws.index.isin(some.index)

    def slopes(rows):
        w, centre = draws.weight[rows].to_numpy(), A[rows, 1:].mean(axis=0)
        B = np.column_stack([np.ones(rows.sum()), A[rows, 1:] - centre])
        b = np.linalg.solve((B.T * w) @ B + np.diag([0, 0.3, 0.3, 0.3]), (B.T * w) @ y[rows])
        return np.append(b[0] - b[1:] @ centre, b[1:])

    error = np.empty(len(y))
    for out in left_out(draws, "family"):
        error[out] = y[out] - A[out] @ slopes(used & ~out)
    print("law of log c", slopes(used).round(3), "deviations, left out:")
    print(pd.DataFrame({"e": error}).groupby(draws.source).e.agg(["mean", "std", "size"]).round(3))


def weights(draws):
    """Brier scores of weights: constant, by rule, and logistic in some numbers."""
    gains = [f"gain_{name}" for name in ("stack", "product")]
    numbers = {
        "own and cosine": np.column_stack([draws.own, draws.own * draws.cosine]),
        "with gains": np.column_stack(
            [draws.own, draws.own * draws.cosine, *(np.log1p(draws[g].clip(0)) for g in gains),
             np.log1p((draws.gain_stack - draws.gain_product).clip(0)), np.log(draws.labelled),
             np.log(draws.p)]
        ),
    }  # fmt: skip
    rules = {f"constant {w}": np.full(len(draws), w) for w in (0, 0.3, 0.5, 0.7, 1)}
    rules["rule"] = share_of_shape(draws.own, draws.cosine)
    rules["as much as own slopes"] = 0.3 + 0.5 * draws.own
    for name, Z in numbers.items():
        for by in ("family", "mechanism"):
            rules[f"logistic in {name}, by {by}"] = logistic_weights(draws, Z, by)
    table = pd.DataFrame({name: brier(draws, w) for name, w in rules.items()})
    print(table.groupby(draws.source).mean().T.round(4).to_string())


def brier(draws, w):
    return (
        (1 - w) ** 2 * draws.q_line_line
        + 2 * w * (1 - w) * draws.q_line_shape
        + w**2 * draws.q_shape_shape
    )


def logistic_weights(draws, Z, by):
    """Weights of shape that minimise the mean Brier score of other families or mechanisms."""
    Z = np.column_stack([np.ones(len(Z)), (Z - Z.mean(axis=0)) / Z.std(axis=0)])
    w = np.empty(len(Z))
    for out in left_out(draws, by):
        kept, mass = draws[~out], draws.weight[~out]

        def loss(theta, rows=~out, kept=kept, mass=mass):
            found = brier(kept, expit(Z[rows] @ theta))
            return np.average(found, weights=mass) + 1e-3 * (theta[1:] ** 2).sum()

        w[out] = expit(Z[out] @ minimize(loss, np.zeros(Z.shape[1])).x)
    return w


if __name__ == "__main__":
    main()
