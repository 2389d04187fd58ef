"""Data sets: artificial ones, eight bundled tables, one as people have them, and the corpus."""

from doublelogit.datasets.artificial import make_artif1, make_artif2, make_half
from doublelogit.datasets.benchmark import BENCHMARKS, load_benchmark
from doublelogit.datasets.census import load_census
from doublelogit.datasets.corpus import (
    corpus_families,
    corpus_folder,
    corpus_names,
    corpus_table,
    load_corpus,
)
from doublelogit.datasets.natural import load_natural, natural_table

__all__ = [
    "BENCHMARKS",
    "corpus_families",
    "corpus_folder",
    "corpus_names",
    "corpus_table",
    "load_benchmark",
    "load_census",
    "load_corpus",
    "load_natural",
    "make_artif1",
    "make_artif2",
    "make_half",
    "natural_table",
]
