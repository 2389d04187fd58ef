"""Cells: what version control keeps of result rows, means over the repetitions of a cell.

A cell is a method at one parameter value of a scenario on one data set. Rows stay in the store,
which a run resumes from and which is not committed; cells are one Parquet file per mode.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from doublelogit.common.files import written_whole
from doublelogit.studies.experiments.measures import LEVEL
from doublelogit.studies.experiments.plan import Plan
from doublelogit.studies.experiments.run import matching, settings
from doublelogit.studies.experiments.store import KEY
from doublelogit.studies.experiments.summary import METRICS

CELL = [name for name in KEY if name != "repetition"]
AT_SHARE, AT_HALF = "balanced_accuracy_at_share", "balanced_accuracy_at_half"
# Columns of rows whose means are kept; the others are recomputed by a run.
MEANS = (
    *METRICS,
    "prevalence_error",
    "brier",
    "log_loss",
    "balanced_accuracy",
    "auc",
    "precision_at_50",
    "unlabelled_auc",
    AT_SHARE,
    AT_HALF,
    "covered",
    "width",
    "winkler",
    "labelled",
)
# A comparison prints three digits of means over many cells, a paper of single ones.
DIGITS, DIGITS_OF_METRICS, DIGITS_OF_SD = 4, 5, 3
SEPARATOR = "\n"  # between the reasons of failed repetitions


def cells_of(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: repetitions, failures with their reasons, means, sds, seconds."""
    done = with_intervals(with_cuts(rows[rows["status"] == "ok"]))
    if "n_train" in done:
        done["labelled"] = done["n_labelled"] / done["n_train"]
    groups, failed = rows.groupby(CELL), rows[rows["status"] != "ok"].groupby(CELL)
    table = groups.agg(repetitions=("repetition", "nunique"), parameters=("parameters", "last"))
    table["settings"] = table.pop("parameters").map(settings).astype("uint32")
    table["versions"] = groups["versions"].last()
    table["failed"] = failed.size().reindex(table.index, fill_value=0)
    table["reasons"] = failed["reason"].agg(SEPARATOR.join).reindex(table.index, fill_value="")
    ok = done.groupby(CELL)
    numbers = ok[[name for name in MEANS if name in done]].mean()
    numbers = numbers.round(
        dict.fromkeys(MEANS, DIGITS) | dict.fromkeys(METRICS, DIGITS_OF_METRICS)
    )
    for name in METRICS:
        numbers[f"{name}_sd"] = ok[name].std().round(DIGITS_OF_SD)
    seconds = groups["seconds"].agg(seconds="mean", seconds_median="median")
    numbers = numbers.reindex(table.index).join(seconds.map(_significant))
    return table.join(numbers).reset_index()


def with_cuts(rows: pd.DataFrame) -> pd.DataFrame:
    """Balanced accuracy at both cuts, on draws of which every method has both."""
    if AT_SHARE not in rows:
        return rows.copy()
    draw = [name for name in KEY if name != "method"]
    complete = rows[AT_SHARE].notna().groupby([rows[name] for name in draw]).transform("all")
    return rows.assign(
        **{
            AT_SHARE: rows[AT_SHARE].where(complete),
            AT_HALF: rows["balanced_accuracy"].where(complete),
        }
    )


def with_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with cover, width and Winkler's score of their interval of the share of positives."""
    if "low" not in rows:
        return rows
    low, high, share = rows["low"], rows["high"], rows["share"]
    missed = (low - share).clip(lower=0) + (share - high).clip(lower=0)
    return rows.assign(
        covered=(missed <= 1e-9).astype(float).where(low.notna()),
        width=high - low,
        winkler=high - low + 2 / (1 - LEVEL) * missed,
    )


def long_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """One line per cell and metric, cells of which no repetition succeeded left out."""
    done = cells[cells["repetitions"] > cells["failed"]]
    keep = [*CELL, "repetitions"]
    return done.melt(id_vars=keep, value_vars=list(METRICS), var_name="metric", value_name="score")


def line_means(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean of each method on a line of a table, over parameter values."""
    line = ["mode", "scenario", "metric", "dataset", "method"]
    return long_cells(cells).groupby(line)["score"].mean().rename("mean").reset_index()


class Cells:
    """Committed cells of a directory of results: ``cells/<mode>.parquet``."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory) / "cells"

    def frame(self, plan: Plan) -> pd.DataFrame:
        """Cells of all modes of a plan, those of its earlier versions left out."""
        return pd.concat([self.of_mode(plan, mode) for mode in plan.modes], ignore_index=True)

    def of_mode(self, plan: Plan, mode: str) -> pd.DataFrame:
        """Cells of one mode that the plan would compute as it is now."""
        cells = self._stored(mode)
        return cells[matching(cells, cells["settings"], plan, mode)].reset_index(drop=True)

    def add(self, rows: pd.DataFrame, plan: Plan, mode: str) -> pd.DataFrame:
        """Write the cells of rows, and return all cells of the mode.

        A cell that is stored with more repetitions than the rows have stays, and so do those of
        other parts of the plan.
        """
        if len(rows):
            stored = self._stored(mode)
            outdated = ~matching(stored, stored["settings"], plan, mode)
            # the first of a cell stays
            ranked = stored.assign(rank=np.where(outdated, 0, stored["repetitions"]))
            added = cells_of(rows).assign(rank=lambda cells: cells["repetitions"])
            cells = pd.concat([added, ranked] if len(stored) else [added], ignore_index=True)
            cells = cells.sort_values("rank", ascending=False, kind="stable")
            cells = cells.drop_duplicates(CELL).drop(columns="rank")
            self._write(cells.sort_values(CELL, ignore_index=True), mode)
        return self.of_mode(plan, mode)

    def _stored(self, mode: str) -> pd.DataFrame:
        path = self._path(mode)
        if path.exists():
            cells = pd.read_parquet(path)
            # further digits are those of single precision
            numbers = cells.select_dtypes("float32").astype("float64").round(DIGITS_OF_METRICS)
            return cells.assign(**numbers)
        return pd.DataFrame(columns=[*CELL, "repetitions", "failed", "settings"])

    def _write(self, cells: pd.DataFrame, mode: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        with written_whole(self._path(mode)) as file:
            numbers = cells.drop(columns="value").select_dtypes("float64").astype("float32")
            cells.assign(**numbers).to_parquet(
                file, index=False, compression="zstd", compression_level=19
            )

    def repetitions(self, plan: Plan, mode: str) -> dict[tuple[str, str, int, float, str], int]:
        """Repetitions of every cell."""
        cells = self.of_mode(plan, mode)
        keys = cells[CELL].itertuples(index=False, name=None)
        return dict(zip(keys, cells["repetitions"], strict=True))

    def _path(self, mode: str) -> Path:
        return self.directory / f"{mode}.parquet"


def _significant(seconds: float) -> float:
    """Three significant digits: times repeat no better."""
    return float(np.format_float_positional(seconds, 3, fractional=False))
