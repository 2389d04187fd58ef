"""Data sets: eight bundled tables, and one as people have them."""

from doublelogit.datasets.benchmark import BENCHMARKS, load_benchmark
from doublelogit.datasets.census import load_census

__all__ = [
    "BENCHMARKS",
    "load_benchmark",
    "load_census",
]
