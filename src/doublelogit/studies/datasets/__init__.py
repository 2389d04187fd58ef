"""The corpus: real tables with known classes, and those whose labels are real as well."""

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
    "natural_table",
]
