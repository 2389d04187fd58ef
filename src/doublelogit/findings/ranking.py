"""Sentences about a list of rows to check, and about labels that were drawn."""

NOTHING_HIDDEN = (
    "This method takes every unlabelled row for negative, so none of these is expected to be "
    "positive: they are listed by how much they look like labelled rows, and the probability is "
    "that of a label. Choose another `method` for a list of likely positives."
)


def check_pays(threshold: float, length: int, gain: float) -> str:
    """A list that ends where a check no longer pays."""
    return (
        f"A check pays where the probability is at least {threshold:.1%}: {length} rows, with an "
        f"expected gain of {gain:,.0f}."
    )


def budget_pays(budget: float, length: int) -> str:
    """A list as long as a budget pays for."""
    return f"A budget of {budget:,.0f} pays for {length} checks."


def expected(length: int, positives: float) -> str:
    """Expected positives on a list."""
    return f"Of these {length} rows about {positives:.0f} are expected to be positive."


HARDLY_TOLD_APART = "class and labelling hard to tell apart"


def simulated(rows: int, positives: int, labelled: int, low: float, high: float) -> str:
    """A table whose positives were hidden; ``low`` to ``high``: their probability of a label."""
    return (
        f"{rows:,} rows, {positives:,} positive ({positives / rows:.1%}); a positive is labelled "
        f"with a probability of {low:.0%} to {high:.0%}: {labelled:,} are labelled, "
        f"{positives - labelled:,} are hidden."
    )
