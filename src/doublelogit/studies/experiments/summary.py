"""From result rows to what is reported: means, their errors, ranks, tests, time shares."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

METRICS = ("accuracy", "approximation_error")
GROUP = ["mode", "scenario", "metric", "dataset", "method"]
DRAW = ["value", "repetition"]


class Test(NamedTuple):
    """The best method of a table's line against the second."""

    winner: str
    second: str
    p_value: float
    p_value_paired: float


def long(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per cell and metric, failed cells left out."""
    done = rows[rows["status"] == "ok"]
    keep = ["mode", "scenario", "dataset", "method", *DRAW]
    return done.melt(id_vars=keep, value_vars=list(METRICS), var_name="metric", value_name="score")


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over all parameter values and repetitions, with the standard deviation of that mean.

    As printed in the paper, the deviation is that of all cells of a line: it holds the effect
    of the parameter as well as chance.
    """
    groups = long(rows).groupby(GROUP)
    table = groups["score"].agg(mean="mean", sd_of_mean="sem", cells="size")
    table["repetitions"] = groups["repetition"].nunique()
    failed = rows[rows["status"] != "ok"].groupby(["mode", "scenario", "dataset", "method"]).size()
    table = table.reset_index()
    key = pd.MultiIndex.from_frame(table[["mode", "scenario", "dataset", "method"]])
    return table.assign(failed=failed.reindex(key, fill_value=0).to_numpy())


def average_ranks(summary: pd.DataFrame) -> pd.DataFrame:
    """Rank of each method, ORACLE included, averaged over data sets; 1 is best."""
    better = np.where(summary["metric"] == "accuracy", -1.0, 1.0)
    table = summary.assign(badness=better * summary["mean"])
    within = table.groupby(["mode", "scenario", "metric", "dataset"])["badness"]
    table["rank"] = within.rank(method="average")
    return table.groupby(["mode", "scenario", "metric", "method"], as_index=False)["rank"].mean()


def winner_against_second(cells: pd.DataFrame, oracle: str) -> Test:
    """t-tests on the cells of one line (one mode, scenario, metric and data set).

    ``p_value`` treats the cells of the two methods as separate samples, as the paper does;
    ``p_value_paired`` uses that both saw the same draws.
    """
    sign = 1.0 if cells["metric"].iloc[0] == "accuracy" else -1.0
    wide = cells[cells["method"] != oracle].pivot(index=DRAW, columns="method", values="score")
    wide = wide.dropna() * sign
    ranked = wide.mean().sort_values(ascending=False, kind="stable").index
    if len(ranked) < 2:
        return Test(ranked[0], "", np.nan, np.nan)
    winner, second = ranked[:2]
    a, b = wide[winner].to_numpy(), wide[second].to_numpy()
    if len(a) < 2 or np.array_equal(a, b):
        return Test(winner, second, np.nan, np.nan)
    separate = stats.ttest_ind(a, b, equal_var=False).pvalue
    difference = a - b
    constant = np.ptp(difference) == 0
    paired = 0.0 if constant else stats.ttest_1samp(difference, 0.0).pvalue
    return Test(winner, second, float(separate), float(paired))


class Gain(NamedTuple):
    """How much lower (error) or higher (accuracy) a method is than another on the same draws."""

    mean: float
    low: float
    high: float


def gain(cells: pd.DataFrame, method: str, rival: str) -> Gain:
    """Paired difference on the cells of one line, with a 95% interval over repetitions.

    Negative errors and positive accuracies are gains. Parameter values are averaged first: a
    repetition of the whole line is what could have come out otherwise.
    """
    wide = cells.pivot(index=DRAW, columns="method", values="score").dropna(subset=[method, rival])
    difference = (wide[method] - wide[rival]).groupby("repetition").mean()
    mean, n = float(difference.mean()), len(difference)
    half = float(stats.t.ppf(0.975, n - 1) * difference.sem()) if n > 1 else np.nan
    return Gain(mean, mean - half, mean + half)


def time_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Seconds of fitting per method: in all, per cell, and as a share of the run."""
    table = rows.groupby("method")["seconds"].agg(seconds="sum", per_cell="mean", median="median")
    table["share"] = table["seconds"] / table["seconds"].sum()
    return table.sort_values("share", ascending=False).reset_index()
