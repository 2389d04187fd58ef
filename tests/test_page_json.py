"""The page's JSON: described by a schema, versioned; its caution decides on the list."""

import copy
import json
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from json_schema import violations
from tables_of_tests import clinic

from doublelogit import Report, Roles, TableClassifier
from doublelogit.report.page import SCHEMA

SCHEME = json.loads((files("doublelogit.report") / "schema.json").read_text("utf-8"))


def page(frame, method="joint", **roles):
    named = Roles("diagnosed", ignore=("sick",), **roles)
    model = TableClassifier(named, method, parameters={"n_starts": 2} if method == "joint" else {})
    fitted = model.fit(frame, announce=lambda _: None)
    return Report(fitted, frame, n_resamples=19, n_jobs=1, show_ids="id" in roles).to_dict()


def audited(frame):
    audit = np.where(frame.index % 3 == 0, frame["sick"].astype(object), None)
    return frame.assign(audit=audit)


def apart(n=300):
    """A weak design: labels follow a column that the class does not know, and are few."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, n))
    y = rng.random(n) < 1 / (1 + np.exp(-0.7 * x))
    s = y & (rng.random(n) < 1 / (1 + np.exp(0.7 * z)))
    return pd.DataFrame({"x": x, "distance": z, "diagnosed": s, "sick": y})


def wide(n=120, columns=60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, columns))).rename(columns="c{}".format)
    return frame.assign(diagnosed=(np.arange(n) % 4 == 0).astype(int), sick=1)


FAR = {"propensity_features": ("distance",), "id": "patient"}
DESIGNS = {
    "named": lambda: page(clinic(), **FAR, by="smoker"),
    "unnamed, biased": lambda: page(clinic(400, bias=2.2), id="patient"),
    "audited": lambda: page(audited(clinic()), **FAR, audited="audit"),
    "no propensity": lambda: page(clinic(), "tm-simple", id="patient"),
    "naive": lambda: page(clinic(), "naive", id="patient"),
    "averaged, few labels": lambda: page(clinic(200), "averaged", id="patient"),
    "leak": lambda: page(clinic().assign(copy=lambda t: t["diagnosed"]), **FAR),
    "weak": lambda: page(apart()),
    "more columns than labels": lambda: page(wide()),
}


@pytest.fixture(scope="module", params=DESIGNS)
def numbers(request):
    return built(request.param)


@cache
def built(name):
    return DESIGNS[name]()


def test_a_page_is_as_its_schema_says(numbers):
    assert list(violations(numbers, SCHEME)) == []


def test_caution_is_empty_exactly_where_the_list_may_be_used(numbers):
    use_it = numbers["recommendation"].startswith("Check the rows of the list from the top")
    assert (numbers["caution"] == "") == use_it
    if any(finding["level"] == "problem" for finding in numbers["verdict"]):
        assert numbers["caution"]


def test_both_kinds_of_pages_are_among_the_designs():
    usable, leaking = (built(name) for name in ("audited", "leak"))
    assert usable["caution"] == ""
    assert leaking["caution"] == "the label is among the features"


def test_the_version_of_the_schema_is_on_the_page(numbers):
    assert numbers["schema"] == SCHEMA
    assert SCHEME["properties"]["schema"]["enum"] == [SCHEMA]


def test_keys_that_machines_read_are_there(numbers):
    main, claim = numbers["prevalence"]["main"], numbers["doubt"]["claim"]
    assert {"value", "low", "high"} <= main.keys() & claim.keys()
    assert claim["value"] == claim["expected"]
    assert all(line["probability"] >= 0 for line in numbers["ranking"])
    assert numbers["checks"]["Identifiability"][0]["level"] in ("fine", "attention", "problem")


def test_the_check_of_the_schema_finds_what_is_wrong():
    wrong = copy.deepcopy(built("named"))
    wrong["prevalence"]["main"]["value"] = 1.5
    wrong["caution"] = None
    wrong["unheard"] = 1
    del wrong["doubt"]["claim"]["low"]
    places = {line.partition(":")[0].split(" ")[0] for line in violations(wrong, SCHEME)}
    expected = {"$.prevalence.main.value", "$.caution", "$.unheard", "$.doubt.claim.low"}
    assert places == expected
