"""The designs of grid.py by the first edition of AVERAGED, beside what the present one says.

    git worktree add build/first 2a21f2e
    PYTHONPATH=build/first/src python benchmarks/grid_first.py [samples]

With the present library on the path it writes of that; results of the edition that runs go to
benchmarks/results/grid_first.csv in place of its own lines of an earlier run.
"""

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from grid import LEVEL, USUAL, Design, designs, sample
from joblib import Parallel, delayed
from shared import measured

from doublelogit import AveragedClassifier

RESULT = Path(__file__).parent / "results" / "grid_first.csv"


def edition() -> str:
    """Which of the two is on the path: the first one had no learned prior."""
    return "present" if find_spec("doublelogit.averaged") else "first"


def interval(design: Design, seed: int) -> dict[str, float]:
    X, y, s = sample(design, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = AveragedClassifier().fit(X, s).prevalence_interval(LEVEL)
    found = {name: float(value) for name, value in measured(ends, y.mean(), LEVEL).items()}
    return design._asdict() | found


def main(samples: int = 10) -> None:
    jobs = (
        delayed(interval)(design, seed)
        for k, design in enumerate(designs())
        for seed in range(samples if k < USUAL else -(-samples // 2))
    )
    lines = pd.DataFrame(Parallel(n_jobs=-1)(jobs))
    table = lines.groupby(list(Design._fields), as_index=False).mean().assign(edition=edition())
    others = pd.read_csv(RESULT) if RESULT.exists() else pd.DataFrame({"edition": []})
    table = pd.concat([others[others["edition"] != edition()], table.round(4)])
    table.to_csv(RESULT, index=False)
    for by in ("mechanism", "norm"):
        print(table.groupby(["edition", by])[["covers", "width", "score"]].mean().round(3))
    print(table.groupby("edition")[["covers", "width", "score"]].mean().round(3))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
