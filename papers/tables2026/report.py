"""REPORT.md of the comparison on real tables, from stored results.

    python papers/tables2026/report.py RESULTS OUT

RESULTS is a directory that ``doublelogit reproduce --plan tables2026 --out`` filled; its cells are
read, not its rows. OUT holds the template, editions.csv, which has the first edition of AVERAGED
beside the second, and natural.csv, which ``natural.py`` writes.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from doublelogit.common.files import write_text
from doublelogit.studies.datasets import corpus_table
from doublelogit.studies.experiments import Plan, load_plan
from doublelogit.studies.experiments.cells import AT_HALF, AT_SHARE, Cells
from doublelogit.studies.experiments.comparison import (
    DESIGN,
    MORE_IS_BETTER,
    SCORES,
    STRENGTHS,
    by_family,
    comparison_tables,
    described,
    over_families,
)
from doublelogit.studies.experiments.tables import markdown_table

ERROR = "approximation_error"
CUTS = {AT_HALF: "one half", AT_SHARE: "share"}
# Mean balanced accuracy on twelve tables of the successors' protocols, three repetitions, of 0.1.0.
FIRST_RUN = {
    "AISTATS S1-S3": {"AVERAGED": 0.705, "TM": 0.730, "JERM": 0.712, "NTC_TMI": 0.735},
    "AISTATS S4": {"AVERAGED": 0.711, "TM": 0.705, "JERM": 0.670, "NTC_TMI": 0.693},
    "JERM S1": {"AVERAGED": 0.808, "TM": 0.803, "JERM": 0.750, "NTC_TMI": 0.751},
    "JERM S2-S4": {"AVERAGED": 0.713, "TM": 0.748, "JERM": 0.780, "NTC_TMI": 0.757},
}
PGLIN = {"AISTATS S1-S3": 0.622, "AISTATS S4": 0.648, "JERM S1": 0.787, "JERM S2-S4": 0.760}
BLOCKS = {
    "AISTATS S1-S3": ("SCAR c=0.1", "AISTATS S2", "AISTATS S3"),
    "AISTATS S4": ("AISTATS S4",),
    "JERM S1": ("SCAR c=0.5",),
    "JERM S2-S4": ("JERM S2", "JERM S3", "JERM S4"),
}
# Families of the successors' tables, as the corpus names them.
SUCCESSORS = {
    *("abalone", "BreastCancer", "diabetes", "haberman", "heart-c", "ionosphere", "nasa-defects"),
    *("segment", "sonar", "vehicle", "wdbc", "yeast", "spambase", "credit-a", "vote"),
}


def losses(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Where a method is behind the best rival: mechanism by strength, worst first."""
    means = over_families(rows, ERROR, ["mechanism", "strength"]).drop(columns="ORACLE")
    best = means.drop(columns=method).idxmin(axis=1)
    behind = means[method] - means.drop(columns=method).min(axis=1)
    table = pd.DataFrame({"AE": means[method], "behind by": behind, "best": best}).reset_index()
    return table[table["behind by"] > 0].sort_values("behind by", ascending=False)


def paired(rows: pd.DataFrame, method: str, score: str) -> pd.DataFrame:
    """A method less each rival over families, with a 95% t interval; weakest third beside all."""
    lines = []
    for where, part in (("all", rows), ("weak signal", rows[rows["strength"] == STRENGTHS[0]])):
        wide = by_family(part, score)
        for rival in wide.columns.drop([method, "ORACLE"], errors="ignore"):
            difference = wide[method] - wide[rival]
            half = stats.t.ppf(0.975, len(difference) - 1) * difference.sem()
            mean = difference.mean()
            line = {"where": where, "rival": rival, "difference": mean}
            lines.append(line | {"low": mean - half, "high": mean + half})
    return pd.DataFrame(lines)


def against(rows: pd.DataFrame, method: str, score: str) -> str:
    """The paired differences as a Markdown table, clear ones in bold."""
    found = paired(rows, method, score)
    sign = -1 if score in MORE_IS_BETTER else 1
    better, worse = (sign * found["difference"] < 0), (sign * found["difference"] > 0)
    clear = np.sign(found["low"]) == np.sign(found["high"])
    text = found.apply(
        lambda line: f"{line.difference:+.3f} ({line.low:+.3f} to {line.high:+.3f})", axis=1
    )
    text = text.where(~(clear & better), "**" + text + "**").where(
        ~(clear & worse), "*" + text + "*"
    )
    wide = found.assign(text=text).pivot(index="rival", columns="where", values="text")
    return markdown_table(wide.reset_index())


def successors(test: pd.DataFrame, learn: pd.DataFrame) -> str:
    """Mean balanced accuracy on the successors' protocols: their tables, all of test, first run."""
    both = pd.concat([test, learn])
    theirs = both[both["family"].isin(SUCCESSORS)]
    lines = []
    for block, mechanisms in BLOCKS.items():
        first = FIRST_RUN[block] | {"PGLIN": PGLIN[block], "ORACLE": 0.802}
        parts = {f"{theirs['family'].nunique()} of their tables": theirs, "test half": test}
        for name, part in parts.items():
            part = part[part["mechanism"].isin(mechanisms)]
            if len(part):
                means = _means(part, "balanced_accuracy")
                lines.append({"block": block, "where": name, **means.round(3)})
        lines.append({"block": block, "where": "0.1.0, first run", **first})
    return markdown_table(_blank(pd.DataFrame(lines)))


def cut_twice(test: pd.DataFrame) -> pd.DataFrame:
    """Cells of the successors' designs with draws on which all methods were cut at both."""
    theirs = [name for block in BLOCKS.values() for name in block]
    return test[test["mechanism"].isin(theirs) & test[AT_SHARE].notna()]


def decisions(rows: pd.DataFrame) -> str:
    """Mean balanced accuracy of every method, cut at one half and at its own share."""
    lines = []
    for block, mechanisms in BLOCKS.items():
        part = rows[rows["mechanism"].isin(mechanisms)]
        for column, cut in CUTS.items():
            lines.append({"block": block, "cut at": cut, **_means(part, column).round(3)})
    return markdown_table(_blank(pd.DataFrame(lines)))


def decided(rows: pd.DataFrame, method: str) -> str:
    """A method cut at its share less each rival at the rival's better cut, block by block."""
    lines = []
    for block, mechanisms in BLOCKS.items():
        part = rows[rows["mechanism"].isin(mechanisms)]
        half, share = (by_family(part, column) for column in CUTS)
        for rival in share.columns.drop([method, "ORACLE"]):
            best = max((half[rival], share[rival]), key=lambda found: found.mean())
            lines.append({"rival": rival, "block": block, "text": _interval(share[method] - best)})
    wide = pd.DataFrame(lines).pivot(index="rival", columns="block", values="text")
    return markdown_table(wide.reset_index())


def _interval(difference: pd.Series) -> str:
    """A mean with its 95% t interval: bold if clearly positive, italic if clearly negative."""
    mean, half = difference.mean(), stats.t.ppf(0.975, len(difference) - 1) * difference.sem()
    mark = "**" if mean > half else "*" if mean < -half else ""
    return f"{mark}{mean:+.3f} ({mean - half:+.3f} to {mean + half:+.3f}){mark}"


def _blank(table: pd.DataFrame) -> pd.DataFrame:
    """The table with nothing where it has no value."""
    return table.astype(object).where(table.notna(), "")


def _means(rows: pd.DataFrame, score: str) -> pd.Series:
    return over_families(rows.assign(all=0), score, ["all"]).loc[0]


def sizes(cells: pd.DataFrame) -> pd.DataFrame:
    """Tables, mechanisms, methods, runs and failures of each mode."""
    lines = []
    for mode, part in cells.groupby("mode"):
        designs = part.drop_duplicates(DESIGN)
        lines.append(
            {
                "mode": mode,
                "tables": part["dataset"].nunique(),
                "draws": designs["repetitions"].sum(),
                "mechanisms": len(part.drop_duplicates(["scenario", "value"])),
                "methods": part["method"].nunique(),
                "repetitions": part["repetitions"].max(),
                "cells": part["repetitions"].sum(),
                "failed": part["failed"].sum(),
                "CPU hours": round((part["seconds"] * part["repetitions"]).sum() / 3600, 2),
            }
        )
    return pd.DataFrame(lines)


def best_of(rows: pd.DataFrame) -> str:
    """The best method by every score, overall and in each third of the signal."""
    lines = []
    for where in ("all", *STRENGTHS):
        part = rows if where == "all" else rows[rows["strength"] == where]
        line = {"signal": where}
        for score, name in SCORES.items():
            means = _means(part, score).drop("ORACLE")
            best = means.idxmax() if score in MORE_IS_BETTER else means.idxmin()
            line[name] = f"{best} {means[best]:.3f}"
        lines.append(line)
    return markdown_table(pd.DataFrame(lines))


def report(cells: pd.DataFrame, plan: Plan, folder: Path) -> str:
    """REPORT.md: the template with what the results say."""
    modes = [mode for mode in plan.modes if (cells["mode"] == mode).any()]
    tables = {t.name: t.markdown for mode in modes for t in comparison_tables(cells, plan, mode)}
    test = described(cells, plan, "test")
    corpus, cut = corpus_table(), cut_twice(test)
    parts = {
        "corpus": f"{len(corpus)} tables of {corpus['family'].nunique()} families",
        "sizes": markdown_table(sizes(cells)),
        "compared": f"{test.drop_duplicates(DESIGN)['repetitions'].sum():,}",
        "editions": markdown_table(_blank(pd.read_csv(folder / "editions.csv"))),
        "best": best_of(test),
        "losses": markdown_table(losses(test, "AVERAGED").head(15).round(3)),
        "paired_error": against(test, "AVERAGED", ERROR),
        "paired_brier": against(test, "AVERAGED", "brier"),
        "paired_prevalence": against(test, "AVERAGED", "prevalence_error"),
        "cut_draws": f"{len(cut.drop_duplicates(DESIGN)):,}",
        "decisions": decisions(cut),
        "decided": decided(cut, "AVERAGED"),
        "successors": successors(test, described(cells, plan, "learn")),
        "natural": markdown_table(_blank(pd.read_csv(folder / "natural.csv"))),
    }
    parts |= {name: tables.get(name, "") for name in NAMES}
    text = (folder / "REPORT.template.md").read_text()
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part.rstrip("\n"))
    return text


NAMES = [
    f"{table}_{mode}"
    for table in ("overall", "by_mechanism", "by_strength", "intervals", "failures")
    for mode in ("test", "learn", "slow", "named")
]


def main(results: str, out: str) -> None:
    plan, folder = load_plan("tables2026"), Path(out)
    write_text(folder / "REPORT.md", report(Cells(results).frame(plan), plan, folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
