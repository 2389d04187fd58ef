"""The paper's tables from result rows, beside the printed ones."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doublelogit.common.files import write_text
from doublelogit.studies.experiments.cell import positive, prepared
from doublelogit.studies.experiments.plan import PLANS, Plan
from doublelogit.studies.experiments.summary import (
    METRICS,
    average_ranks,
    gain,
    long,
    summarise,
    time_shares,
    winner_against_second,
)

TITLES = {"accuracy": "Accuracy", "approximation_error": "Approximation error"}


@dataclass(frozen=True)
class Table:
    """A table: its file name, its title, its numbers in long form, its text in Markdown."""

    name: str
    title: str
    numbers: pd.DataFrame
    markdown: str

    def write(self, directory: Path) -> None:
        """Write the CSV and the Markdown."""
        directory.mkdir(parents=True, exist_ok=True)
        numbers = self.numbers.to_csv(index=False, float_format="%.6g")
        write_text(directory / f"{self.name}.csv", numbers)
        write_text(directory / f"{self.name}.md", f"# {self.title}\n\n{self.markdown}")


@dataclass(frozen=True)
class Printed:
    """The numbers that a paper printed, or none."""

    results: pd.DataFrame
    ranks: pd.DataFrame
    p_values: pd.DataFrame
    datasets: pd.DataFrame

    @classmethod
    def from_plan(cls, plan: str) -> "Printed | None":
        """Those beside a bundled plan."""
        folder = PLANS / plan
        names = ("results", "average_ranks", "p_values", "datasets")
        paths = [folder / f"published_{name}.csv" for name in names]
        if not all(path.is_file() for path in paths):
            return None
        return cls(*(pd.read_csv(path) for path in paths))


def result_tables(rows: pd.DataFrame, plan: Plan, mode: str) -> Iterator[Table]:
    """One table per scenario and metric, numbered as in the paper: 2 and 3, 4 and 5, ...

    Ranks and tests are among the paper's methods; those beyond it stand beside them, with what
    they gain over the best.
    """
    rows = rows[rows["mode"] == mode]
    summary, cells = summarise(rows), long(rows)
    peers = summary["method"].isin(plan.peers(mode))
    ranks, printed = average_ranks(summary[peers]), Printed.from_plan(plan.name)
    titles = {s.id: f" ({s.title})" if s.title else "" for s in plan.scenarios}
    for scenario in sorted(rows["scenario"].unique()):
        for metric in METRICS:
            number = 2 * scenario + METRICS.index(metric)
            line = {"scenario": scenario, "metric": metric}
            here = _at(summary, **line)
            if here.empty:
                continue
            numbers = _numbers(here, _at(cells, **line), plan)
            rank = _at(ranks, **line).set_index("method")["rank"]
            if printed is not None and _prints(printed, here, line):
                numbers = _beside(numbers, _at(printed.results, **line))
                printed_rank = _at(printed.ranks, **line).set_index("method")["average_rank"]
                printed_p = _at(printed.p_values, **line).set_index("dataset")
                text = _markdown(numbers, rank, plan) + _comparison(
                    numbers, printed_rank, printed_p, plan
                )
            else:
                text = _markdown(numbers, rank, plan)
            which = f"scenario {scenario}{titles[scenario]}"
            title = f"Table {number}: {TITLES[metric]}, {which}, {mode}"
            numbers = numbers.assign(average_rank=numbers["method"].map(rank))
            yield Table(f"table{number}_{mode}", title, numbers, text)


def paper_tables(rows: pd.DataFrame, plan: Plan, mode: str) -> Iterator[Table]:
    """Tables of results, and one of times."""
    yield from result_tables(rows, plan, mode)
    times = time_shares(rows[rows["mode"] == mode])
    title = f"Time of fits, {mode}"
    yield Table(f"times_{mode}", title, times, markdown_table(times.round(4)))


def data_table(plan: Plan, mode: str) -> Table:
    """Table 1: the data sets, with the deviance that the ORACLE explains on all rows."""
    oracle = plan.oracle(mode)
    lines: list[dict[str, Any]] = []
    for draw in plan.draws(mode, repetitions=1):
        if any(line["dataset"] == draw.dataset.name for line in lines):
            continue
        data = prepared(draw)
        y = np.asarray(data.y, dtype=float)
        lines.append(
            {
                "dataset": draw.dataset.name,
                "n": len(y),
                "p": data.X.shape[1],
                "prior": y.mean(),
                "r2_oracle": _explained(oracle.make(), data.X, y),
            }
        )
        if {"C", "tol"} <= set(oracle.make().get_params()):
            free = oracle.make(C=np.inf, tol=1e-8)
            lines[-1]["r2_unpenalised"] = _explained(free, data.X, y)
    numbers = pd.DataFrame(lines)
    printed = Printed.from_plan(plan.name)
    if printed is not None:
        numbers = numbers.merge(
            printed.datasets.rename(columns=lambda c: c if c == "dataset" else f"printed_{c}"),
            on="dataset",
            how="left",
        )
    title = f"Table 1: data sets, {mode}"
    return Table(f"table1_{mode}", title, numbers, markdown_table(numbers.round(3).astype(str)))


def markdown_table(frame: pd.DataFrame) -> str:
    """A frame of texts as a Markdown table."""
    lines = [frame.columns, ["---"] * frame.shape[1], *frame.itertuples(index=False)]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def _at(frame: pd.DataFrame, **where: object) -> pd.DataFrame:
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def _explained(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """R2: the share of the null deviance that a fit to the true classes explains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable classes have R2 = 1 and no optimum
        p = positive(model.fit(X, y.astype(int)), X)
    p = np.clip(p, 1e-300, 1 - 1e-16)
    deviance = -(y * np.log(p) + (1 - y) * np.log1p(-p)).sum()
    prior = y.mean()
    null = -len(y) * (prior * np.log(prior) + (1 - prior) * np.log1p(-prior))
    return float(1 - deviance / null)


def _numbers(summary: pd.DataFrame, cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The lines of a table in the plan's order, with the test of each data set."""
    mode = summary["mode"].iloc[0]
    oracle, peers = plan.oracle(mode).name, plan.peers(mode)
    tests = {
        dataset: winner_against_second(group[group["method"].isin(peers)], oracle)._asdict()
        for dataset, group in cells.groupby("dataset")
    }
    table = summary.join(pd.DataFrame(tests).T, on="dataset")
    gains = [_gain(cells, line, peers) for line in table.itertuples()]
    table[["gain", "gain_low", "gain_high"]] = np.array(gains)
    order = {name: i for i, name in enumerate(plan.names(mode))}
    return table.sort_values(
        ["dataset", "method"], key=lambda column: column.map(order), ignore_index=True
    )


def _gain(cells: pd.DataFrame, line: Any, peers: list[str]) -> tuple[float, float, float]:
    """Gain of a method beyond the paper's over the best of the paper's, with its interval."""
    if line.method in peers:
        return np.nan, np.nan, np.nan
    return gain(cells[cells["dataset"] == line.dataset], line.method, line.winner)


def _prints(printed: Printed, here: pd.DataFrame, line: dict[str, Any]) -> bool:
    """Whether a paper has numbers of any of these data sets, for a scenario and a metric."""
    theirs = _at(printed.results, **line)
    return bool(here["dataset"].isin(theirs["dataset"]).any())


def _beside(numbers: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Our numbers with the printed ones and the differences, also in printed standard errors."""
    theirs = printed[["dataset", "method", "mean", "sd_of_mean"]]
    theirs = theirs.rename(columns={"mean": "printed", "sd_of_mean": "printed_sd"})
    table = numbers.merge(theirs, on=["dataset", "method"], how="left")
    table["difference"] = table["mean"] - table["printed"]
    # a printed error of .000 is one below half of its last digit
    table["in_printed_sd"] = table["difference"] / table["printed_sd"].clip(lower=0.0005)
    return table


def _wide(numbers: pd.DataFrame, text: pd.Series, plan: Plan) -> pd.DataFrame:
    order = plan.names(numbers["mode"].iloc[0])
    wide = numbers.assign(text=text).pivot(index="dataset", columns="method", values="text")
    rows = [name for name in order if name in wide.index]
    columns = [name for name in order if name in wide.columns]
    return wide.loc[rows, columns].fillna("")


def _markdown(numbers: pd.DataFrame, rank: pd.Series, plan: Plan) -> str:
    cell = numbers["mean"].map(_short) + " ± " + numbers["sd_of_mean"].map(_short)
    cell = cell.where(numbers["method"] != numbers["winner"], "**" + cell + "**")
    wide = _wide(numbers, cell, plan)
    for method, part in numbers[numbers["gain"].notna()].groupby("method", sort=False):
        wide[f"{method} - best"] = part.set_index("dataset").apply(_interval, axis=1)
    tests = numbers.drop_duplicates("dataset").set_index("dataset").loc[wide.index]
    wide["p"] = [_p(p) for p in tests["p_value"]]
    wide["p, paired"] = [_p(p) for p in tests["p_value_paired"]]
    wide["repetitions"] = numbers.groupby("dataset")["repetitions"].max().astype(str)
    ranks = pd.DataFrame([{m: f"{r:.1f}" for m, r in rank.items()}], index=["average rank"])
    wide = pd.concat([wide, ranks.reindex(columns=wide.columns)]).fillna("")
    note = (
        "Mean over parameter values and repetitions ± standard deviation of that mean; the best "
        "method in bold; p: t-test of the best against the second, as separate samples and "
        "paired by draw; ranks count ORACLE.\n"
    )
    if numbers["gain"].notna().any():
        note += (
            "\nMethods beyond the paper's take no part in that. What they differ by from the best "
            "of them, on the same draws, has a 95% interval over repetitions.\n"
        )
    failed = int(numbers["failed"].sum())
    note += f"\n{failed} cells failed and are left out.\n" if failed else ""
    return markdown_table(wide.rename_axis("data set").reset_index()) + "\n" + note


def _comparison(
    numbers: pd.DataFrame, printed_rank: pd.Series, printed_p: pd.DataFrame, plan: Plan
) -> str:
    numbers = numbers[numbers["printed"].notna()]
    cell = numbers["printed"].map(_short)
    cell += " " + numbers["difference"].map(lambda d: f"{_short(d, sign=True)}")
    cell += numbers["in_printed_sd"].map(lambda z: f" ({z:+.1f})")
    wide = _wide(numbers, cell, plan)
    wide["printed p"] = printed_p["p_value_winner_vs_second"].reindex(wide.index)
    ranks = pd.DataFrame([{m: f"{r:.1f}" for m, r in printed_rank.items()}], index=["average rank"])
    wide = pd.concat([wide, ranks.reindex(columns=wide.columns)]).fillna("")
    note = "Printed value, ours minus printed, and that in printed standard errors.\n"
    return (
        "\n## Beside the printed table\n\n"
        + markdown_table(wide.rename_axis("data set").reset_index())
        + f"\n{note}"
    )


def _interval(line: pd.Series) -> str:
    ends = " to ".join(_short(line[name], sign=True) for name in ("gain_low", "gain_high"))
    return f"{_short(line['gain'], sign=True)} ({ends})"


def _short(x: float, sign: bool = False) -> str:
    """Three digits without the leading zero, as tables of proportions are printed."""
    text = f"{x:+.3f}" if sign else f"{x:.3f}"
    return text.replace("0.", ".", 1) if abs(x) < 1 else text


def _p(p: float) -> str:
    if np.isnan(p):
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
