"""Data sets of studies: artificial ones, and the corpus of real tables, some with real labels."""

from doublelogit.studies.datasets.artificial import make_artif1, make_artif2, make_half
from doublelogit.studies.datasets.corpus import (
    corpus_families,
    corpus_folder,
    corpus_names,
    corpus_table,
    load_corpus,
)
from doublelogit.studies.datasets.natural import load_natural, natural_table

__all__ = [
    "corpus_families",
    "corpus_folder",
    "corpus_names",
    "corpus_table",
    "load_corpus",
    "load_natural",
    "make_artif1",
    "make_artif2",
    "make_half",
    "natural_table",
]
