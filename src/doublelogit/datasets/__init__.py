"""Data sets: artificial ones, eight bundled tables, and one as people have them."""

from doublelogit.datasets.artificial import make_artif1, make_artif2, make_half
from doublelogit.datasets.benchmark import BENCHMARKS, load_benchmark
from doublelogit.datasets.census import load_census

__all__ = [
    "BENCHMARKS",
    "load_benchmark",
    "load_census",
    "make_artif1",
    "make_artif2",
    "make_half",
]
