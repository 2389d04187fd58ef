"""Which half of the corpus a family belongs to, decided by its name before anything is fitted.

The rule: a family goes to *learn* if it is named in ``LOOKED_AT`` or if the first byte of the
SHA-256 of its name (UTF-8) is even, and to *test* otherwise.
"""

import hashlib

# Data sets on which methods of this library were tried before the split was made. They must not
# test anything.
_PAPER = "diabetes BreastCancer heart-c credit-a adult vote wdbc spambase"
_STUDIES = (
    "flchain Hdma Chile smoke nwtco happiness movies loanapp flights crime1 recid affairs fertil2 "
    "mroz thornton_hiv digits wine fair anes96 nhefs charity"
)
LOOKED_AT = frozenset([*_PAPER.split(), *_STUDIES.split()])


def half_of(family: str) -> str:
    """The half of a family of tables: ``learn`` or ``test``."""
    if family in LOOKED_AT:
        return "learn"
    first = hashlib.sha256(family.encode()).digest()[0]
    return "learn" if first % 2 == 0 else "test"
