"""Natural mechanisms: a truth and a real label, side by side, read from the corpus's cache."""

from typing import Any

from sklearn.utils import Bunch

from doublelogit.studies.datasets.corpus import corpus_folder, described, read_cached

LAST = ["raw_label", "s", "y"]


def natural_table() -> Any:
    """Describe the natural mechanisms: one row per table, as a pandas DataFrame.

    Returns
    -------
    table : DataFrame
        Indexed by name: ``family``, ``half``, ``package``, ``version``, ``licence``, ``n``, ``p``,
        ``prevalence`` (of the truth), ``label_frequency`` (share of the positives that are
        labelled), ``false_labels`` (share of raw labels that negatives have), ``drivers``,
        ``truth``, ``label``, ``story`` and ``sha256``.
    """
    return described("natural.csv")


def load_natural(name: str) -> Bunch:
    """Load a table with a true class and the label that somebody really gave.

    Parameters
    ----------
    name : str
        One of the index of :func:`natural_table`.

    Returns
    -------
    data : Bunch
        ``data`` of shape (n, p), not standardised; ``target``, the truth; ``s``, the label of true
        positives; ``raw_label``, the label as it was given, to negatives too where
        ``false_labels`` is true (at the share ``false_label_rate`` of all labels);
        ``feature_names``; ``drivers``, the features that drive labelling by design or by the
        story; ``prevalence``, ``label_frequency``, ``truth``, ``label``, ``story``, ``family``,
        ``half`` and ``name``.
    """
    table = natural_table()
    if name not in table.index:
        raise ValueError(f"name must be one of {', '.join(table.index)}; got {name!r}.")
    row = table.loc[name]
    path = corpus_folder() / "natural" / f"{name}.parquet"
    names, columns = read_cached(path, str(row["sha256"]), LAST)
    raw, s, y = (columns[:, j].astype(int) for j in (-3, -2, -1))
    about = {key: row[key] for key in ("truth", "label", "story", "family", "half")}
    return Bunch(
        data=columns[:, : -len(LAST)],
        target=y,
        s=s,
        raw_label=raw,
        feature_names=names,
        drivers=row["drivers"].split("; "),
        prevalence=float(y.mean()),
        label_frequency=float(s[y == 1].mean()),
        false_labels=bool(row["false_labels"] > 0),
        false_label_rate=float(row["false_labels"]),
        name=name,
        **about,
    )
