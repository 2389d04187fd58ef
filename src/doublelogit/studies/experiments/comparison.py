"""A comparison over many data sets: who wins where, by how much, and whose intervals hold.

Everything is computed from cells, means over repetitions. Data sets of one family count as one:
every number is a mean over cells, then over the data sets of a family, then over families.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from doublelogit.studies.experiments.cell import prepared
from doublelogit.studies.experiments.cells import SEPARATOR
from doublelogit.studies.experiments.measures import LEVEL
from doublelogit.studies.experiments.plan import Plan
from doublelogit.studies.experiments.tables import Table, markdown_table

TRIVIAL = "(mean S, 1)"  # the interval that everybody has
STRENGTHS = ("weak", "middle", "strong")  # thirds of the families by the ORACLE's signal
# Columns of result rows as people read them; those where more is better.
SCORES = {
    "approximation_error": "AE",
    "prevalence_error": "prevalence error",
    "brier": "Brier",
    "log_loss": "log-loss",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "precision_at_50": "P@50",
    "unlabelled_auc": "AUC unlabelled",
}
MORE_IS_BETTER = {
    "accuracy",
    "balanced_accuracy",
    "auc",
    "precision_at_50",
    "unlabelled_auc",
}

DESIGN = ["dataset", "scenario", "value"]


def described(cells: pd.DataFrame, plan: Plan, mode: str) -> pd.DataFrame:
    """Cells with a result, with family, mechanism, signal and its third.

    Methods are compared on the same draws: designs that some have not been run on yet, or with
    fewer repetitions, are left out.
    """
    families = {d.name: d.family or d.name for d in plan.datasets}
    rows = cells[cells["mode"] == mode]
    designs = rows.groupby(DESIGN)
    complete = designs["method"].transform("nunique") == (
        rows.groupby("scenario")["method"].transform("nunique")
    )
    rows = rows[complete & (designs["repetitions"].transform("nunique") == 1)]
    rows = rows[rows["repetitions"] > rows["failed"]].copy()
    rows["family"] = rows["dataset"].map(families)
    rows["mechanism"] = mechanisms(rows, plan)
    signal = signals(plan, mode, set(rows["dataset"]))
    rows["signal"] = rows["dataset"].map(signal)
    of_family = rows.drop_duplicates("dataset").groupby("family")["signal"].mean()
    labels = list(STRENGTHS) if len(of_family) >= len(STRENGTHS) else None
    thirds = of_family.rank(method="first")
    third = pd.qcut(thirds, len(STRENGTHS), labels=labels) if labels else thirds * 0
    rows["strength"] = rows["family"].map(third.astype(str))
    return rows


def mechanisms(rows: pd.DataFrame, plan: Plan) -> pd.Series:
    """Name of each row's mechanism, with its value where a scenario has several."""
    titles = {}
    for scenario in plan.scenarios:
        name = scenario.title or f"scenario {scenario.id}"
        for value in scenario.values:
            several = len(scenario.values) > 1
            titles[scenario.id, value] = (
                f"{name} {scenario.parameter}={value:g}" if several else name
            )
    keys = zip(rows["scenario"], rows["value"], strict=True)
    return pd.Series([titles[key] for key in keys], index=rows.index, dtype=object)


def signals(plan: Plan, mode: str, names: set[str]) -> dict[str, float]:
    """Standard deviation of the ORACLE's predictor on each data set: how well classes separate."""
    strengths: dict[str, float] = {}
    for draw in plan.draws(mode, repetitions=1):
        name = draw.dataset.name
        if name in names and name not in strengths:
            data = prepared(draw)
            model = plan.oracle(mode).make().fit(data.X, data.y)
            strengths[name] = float(np.std(data.X @ np.ravel(model.coef_)))
    return strengths


def over_families(rows: pd.DataFrame, column: str, by: list[str]) -> pd.DataFrame:
    """Means over cells, data sets and families: one line per group, one column per method."""
    keys = [*by, "family", "dataset", "method"]
    means = rows.dropna(subset=[column]).groupby(keys, observed=True)[column].mean()
    for level in ("dataset", "family"):
        keys = [key for key in keys if key != level]
        means = means.groupby(keys, observed=True).mean()
    return means.unstack("method")


def by_family(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """One line per family, one column per method; families that a method lacks are left out."""
    means = rows.groupby(["family", "mechanism", "dataset", "method"], observed=True)[column].mean()
    wide = means.unstack("method").dropna(axis=1, how="all").dropna()
    return wide.groupby("family").mean()


class Pairwise(NamedTuple):
    """Average ranks over families, and the pairs of methods that cannot be told apart."""

    ranks: pd.Series
    ties: list[tuple[str, str]]
    p_friedman: float
    families: int


def pairwise(rows: pd.DataFrame, column: str, alpha: float = 0.05) -> Pairwise:
    """Friedman's test and Wilcoxon's signed-rank tests of all pairs, corrected by Holm."""
    wide = by_family(rows, column)
    sign = -1.0 if column in MORE_IS_BETTER else 1.0
    ranks = (sign * wide).rank(axis=1).mean().sort_values()
    p_friedman = stats.friedmanchisquare(*wide.T.to_numpy()).pvalue if wide.shape[1] > 2 else np.nan
    pairs = list(combinations(ranks.index, 2))
    p = np.array([_wilcoxon(wide[a] - wide[b]) for a, b in pairs])
    adjusted = holm(p)
    ties = [pair for pair, value in zip(pairs, adjusted, strict=True) if value >= alpha]
    return Pairwise(ranks, ties, float(p_friedman), len(wide))


def _wilcoxon(difference: pd.Series) -> float:
    return float(stats.wilcoxon(difference).pvalue) if (difference != 0).any() else 1.0


def holm(p: np.ndarray) -> np.ndarray:
    """p-values corrected for their number by Holm's step-down method."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def intervals(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of methods with an interval of the share of positives.

    Beside them stands the interval that needs no model, from the labelled share to 1.
    """
    if "width" not in cells:
        return cells.iloc[:0]
    with_interval = cells[cells["width"].notna()]
    trivial = with_interval.drop_duplicates(["dataset", "mechanism"])
    width = 1 - trivial["labelled"]
    trivial = trivial.assign(method=TRIVIAL, covered=1.0, width=width, winkler=width)
    return pd.concat([with_interval, trivial], ignore_index=True)


def comparison_tables(cells: pd.DataFrame, plan: Plan, mode: str) -> Iterator[Table]:
    """Overall, by mechanism, by strength of the signal, intervals, and failures."""
    done = described(cells, plan, mode)
    order = [m.name for m in plan.methods_of(mode)]
    yield _overall(done, order, mode)
    scores = [name for name in SCORES if name in done]
    for by in ("mechanism", "strength"):
        tables = [_by(done, name, by) for name in scores]
        numbers = pd.concat(tables, ignore_index=True)
        text = "".join(
            f"\n## {SCORES[name]}\n\n" + _shown(numbers[numbers["score"] == name], order, by)
            for name in scores
        )
        yield Table(f"by_{by}_{mode}", f"Means by {by}, {mode}", numbers, text)
    ends = intervals(done)
    if len(ends):
        yield _interval_table(ends, mode)
    failed = cells[(cells["mode"] == mode) & (cells["failed"] > 0)]
    if len(failed):
        reasons = failed["reasons"].str.split(SEPARATOR)
        each = failed.assign(reason=reasons).explode("reason")
        counts = each.groupby(["method", "reason"]).size().reset_index(name="cells")
        text = markdown_table(counts.astype(str))
        yield Table(f"failures_{mode}", f"Failures, {mode}", counts, text)


def _overall(rows: pd.DataFrame, order: list[str], mode: str) -> Table:
    columns = {}
    for name in SCORES:
        if name in rows:
            columns[SCORES[name]] = over_families(rows.assign(all=0), name, ["all"]).loc[0]
    columns["rank by AE"] = pairwise(rows, "approximation_error").ranks
    columns["CPU s, median"] = rows.groupby("method")["seconds_median"].median()
    numbers = pd.DataFrame(columns).reindex([m for m in order if m in set(rows["method"])])
    sizes = (
        f"{rows['family'].nunique()} families, {rows['dataset'].nunique()} tables, "
        f"{rows['mechanism'].nunique()} mechanisms, {rows['repetitions'].max()} repetitions, "
        f"{(rows['repetitions'] - rows['failed']).sum()} cells.\n"
    )
    text = markdown_table(numbers.map(_digits).rename_axis("method").reset_index()) + "\n" + sizes
    return Table(f"overall_{mode}", f"All tables, {mode}", numbers.reset_index(), text)


def _by(rows: pd.DataFrame, score: str, by: str) -> pd.DataFrame:
    wide = over_families(rows, score, [by])
    long = wide.reset_index().melt(id_vars=by, var_name="method", value_name="mean")
    return long.assign(score=score)


def _shown(numbers: pd.DataFrame, order: list[str], by: str) -> str:
    wide = numbers.pivot(index="method", columns=by, values="mean")
    columns = [s for s in STRENGTHS if s in wide] if by == "strength" else list(wide)
    wide = wide.reindex([m for m in order if m in wide.index])[columns]
    return markdown_table(wide.map(_digits).reset_index())


def _interval_table(ends: pd.DataFrame, mode: str) -> Table:
    subsets = [("all", ends)]
    subsets += [(f"signal: {name}", ends[ends["strength"] == name]) for name in STRENGTHS]
    subsets += [(str(name), subset) for name, subset in ends.groupby("mechanism", observed=True)]
    lines = []
    for where, subset in subsets:
        if subset.empty:
            continue
        means = {name: over_families(subset.assign(all=0), name, ["all"]).loc[0] for name in JUDGED}
        lines.append(pd.DataFrame(means).rename_axis("method").reset_index().assign(where=where))
    numbers = pd.concat(lines, ignore_index=True)[["where", "method", *JUDGED]]
    shown = numbers.assign(**{name: numbers[name].map(_digits) for name in JUDGED})
    note = f"\nNominal cover {LEVEL:.0%}; smaller Winkler scores are better.\n"
    title = f"Intervals of the share of positives, {mode}"
    return Table(f"intervals_{mode}", title, numbers, markdown_table(shown) + note)


JUDGED = ("covered", "width", "winkler")


def _digits(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3f}"
