"""Draw the pictures of the docs: a report, photographed by chromium, and a posterior.

    python tools/draw_docs.py

Writes docs/report.png and docs/posterior.png.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from doublelogit import AveragedClassifier
from doublelogit.datasets import load_benchmark
from doublelogit.labelling import LogisticSar, draw

DOCS = Path(__file__).parent.parent / "docs"
BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]


def report() -> None:
    """The page of the demo, as much of it as fits a screen."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["doublelogit", "demo", "--out", folder], check=True, capture_output=True)
        page = Path(folder) / "report.html"
        picture = f"--screenshot={DOCS / 'report.png'}"
        size = "--window-size=1140,1540"
        subprocess.run([*BROWSER, size, picture, page.as_uri()], check=True, capture_output=True)


def posterior() -> None:
    """The posterior that docs/averaged.md speaks of."""
    X, y = load_benchmark("diabetes", return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    s = draw(y, LogisticSar(g=0.5).propensity(X), np.random.default_rng(0))
    ax = AveragedClassifier().fit(X, s).plot_prevalence()
    ax.figure.savefig(DOCS / "posterior.png", dpi=160)


if __name__ == "__main__":
    report()
    posterior()
