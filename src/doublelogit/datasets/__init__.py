"""Data sets of the experiments: two artificial ones and eight bundled tables."""

from doublelogit.datasets.artificial import make_artif1, make_artif2
from doublelogit.datasets.benchmark import BENCHMARKS, load_benchmark

__all__ = ["BENCHMARKS", "load_benchmark", "make_artif1", "make_artif2"]
