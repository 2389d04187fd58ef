"""``label ~ outcome features | labelling features``, as R users write it."""

from typing import Any

from doublelogit.common.extras import needs
from doublelogit.exceptions import TableError

Names = tuple[str, ...] | None


def parse_formula(text: str) -> tuple[str, Names, Names]:
    """Label, outcome and labelling columns of a formula; None where it names all.

    Such as ``diagnosed ~ age + bmi | age + visits``.
    Names with blanks go in backticks, ``1`` is a constant, ``.`` stands for all columns. Without a
    second part both models have the same features. Functions and products are refused:
    formulaic evaluates those as Python, and a model file must never carry code.
    """
    needs("formulaic", "a formula", "formula")
    from formulaic.parser import DefaultFormulaParser

    halves = text.split("~")
    if len(halves) != 2 or not halves[0].strip() or halves[1].count("|") > 1:
        raise TableError(
            f"a formula must look like 'label ~ age + bmi | age + visits'; got {text!r}."
        )
    parser = DefaultFormulaParser(include_intercept=False)
    label = _columns(parser, halves[0], text)
    sides = [_side(parser, side, text) for side in halves[1].split("|")]
    if label is None or len(label) != 1:
        raise TableError(f"left of ~ stands the label column alone; got {halves[0].strip()!r}.")
    return label[0], sides[0], sides[-1]


def _side(parser: Any, side: str, text: str) -> tuple[str, ...] | None:
    return None if side.strip() == "." else _columns(parser, side, text)


def _columns(parser: Any, side: str, text: str) -> tuple[str, ...]:
    try:
        terms = parser.get_terms(side)
    except Exception as error:  # its syntax errors have no common class
        reason = str(error).splitlines()[0].rstrip(".")
        raise TableError(f"the formula {text!r} cannot be read: {reason}.") from None
    names = []
    for term in terms:
        factors = list(term.factors)
        if len(factors) == 1 and factors[0].eval_method.value == "literal":
            continue  # the constant, which every model has
        if len(factors) != 1 or factors[0].eval_method.value != "lookup":
            raise TableError(
                f"a formula may hold names of columns only; got {str(term)!r}. Add a column with "
                "the function or product of others to the table."
            )
        names.append(str(factors[0].expr))
    return tuple(names)
