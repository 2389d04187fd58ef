"""What ``check`` says of a table: data, labels, labelling at random, identifiability."""

from doublelogit.report.analysis import Analysis
from doublelogit.report.verdict import Sentence, clear, interval, percent, verdict
from doublelogit.tables.columns import Ignored

FEW_LABELS = 10  # labelled rows per coefficient that is to be estimated
HOLES = 0.3  # share of missing values worth a word


def checks(analysis: Analysis) -> dict[str, list[Sentence]]:
    """Sentences by the part of the check that they belong to."""
    found = verdict(analysis, calibration_gap=0.0)[:3]  # calibration is no matter of the data
    prevalence, orientation, bias = found
    return {
        "Data": _data(analysis),
        "Labels": _labels(analysis),
        "Labelling at random": [bias],
        "Identifiability": [_identified(analysis), orientation, prevalence],
    }


def _data(analysis: Analysis) -> list[Sentence]:
    table, encoder = analysis.table, analysis.model.encoder
    n, p = len(table), analysis.X.shape[1]
    used = [c for c in encoder.columns_ if c.names]
    found = [Sentence("fine", f"{n:,} rows, {len(used)} features, encoded as {p} numbers.")]
    for column in encoder.columns_:
        if isinstance(column, Ignored):
            found.append(Sentence("attention", f"{column.name!r} is ignored: {column.reason}."))
    for name, share in table.features.isna().mean().items():
        if share > HOLES:
            found.append(Sentence("attention", f"{share:.0%} of {name!r} are missing."))
    return found


def _labels(analysis: Analysis) -> list[Sentence]:
    table = analysis.table
    labelled, p = int(table.s.sum()), analysis.X.shape[1]
    text = (
        f"{labelled:,} rows ({percent(float(table.s.mean()))}) are labelled: {table.roles.label!r} "
        f"is {table.roles.positive!r}."
    )
    found = [Sentence("fine", text)]
    if labelled < FEW_LABELS * p:
        found.append(
            Sentence(
                "attention",
                f"That is {labelled / p:.1f} labelled rows per coefficient; below {FEW_LABELS} "
                "estimates lean on the penalty. Name fewer features, or collect labels.",
            )
        )
    return found + [Sentence("attention", note) for note in table.notes]


def _identified(analysis: Analysis) -> Sentence:
    inference = analysis.inference
    if inference is None:
        return Sentence("problem", "The fit has not converged; no interval can be given.")
    if analysis.weak:
        return Sentence(
            "problem",
            f"The labels hardly determine the prevalence ({interval(analysis.main)}). Audit some "
            "rows, or tell the model what is known of it.",
        )
    level = "fine" if clear(analysis) else "attention"
    return Sentence(
        level,
        f"Given which model is which, the labels determine the prevalence "
        f"({interval(analysis.main)}).",
    )
