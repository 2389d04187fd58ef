"""The report: honest sentences, one self-contained page, texts of the data shown as text."""

import json
import re
from copy import copy
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import clinic

from doublelogit import Report, Roles, TableClassifier
from doublelogit.common.wording import as_options
from doublelogit.findings import Finding
from doublelogit.findings.labelling import bias
from doublelogit.inference import scar_test
from doublelogit.report import Analysis
from doublelogit.report.comparison import COMPARED, ComparedMethod, _concluded
from doublelogit.report.html import render
from doublelogit.report.page import checks, page_of, plain
from doublelogit.report.ranking import cut_list, list_lengths
from doublelogit.tables import Table
from doublelogit.tables.write import neutral, write_table

EVIL = "<script>alert(1)</script>"


def summarise(analysis, **shown):
    """Numbers of the page of an analysis, which keeps what it has computed."""
    shown_so = copy(analysis)
    vars(shown_so).update(shown)
    return page_of(shown_so)[1]


def analysed(frame=None, method="joint", **roles):
    frame = clinic() if frame is None else frame
    ignore = tuple(name for name in ("sick", "half") if name in frame)
    named = {"propensity_features": ("distance",), "by": "smoker", "id": "patient", **roles}
    table = Table.from_frame(frame, Roles("diagnosed", ignore=ignore, **named))
    model = TableClassifier(table.roles, method).fit(table)
    return Analysis(model.fitted_, table, n_resamples=39, n_jobs=1)


@pytest.fixture(scope="module")
def analysis():
    return analysed()


@pytest.fixture(scope="module")
def summary(analysis):
    return summarise(analysis, source="clinic.csv", command="doublelogit report clinic.csv")


def texts(summary):
    return " ".join(finding["text"] for finding in summary["verdict"])


def test_a_summary_is_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_the_same_seed_gives_the_same_page(analysis):
    pages = [render(summarise(analysis)) for _ in range(2)]
    assert pages[0] == pages[1]


def test_estimates_are_where_the_truth_is(summary):
    truth = clinic()["sick"].mean()
    main = summary["prevalence"]["main"]
    assert main["low"] < truth < main["high"]
    assert summary["prevalence"]["by_assumption"][0]["value"] < truth - 0.1


def test_after_evidence_of_bias_no_method_at_random_is_recommended(analysis):
    assert analysis.test.rejects
    biased = replace(analysis.test, bent=None)
    found = bias(biased, analysis.scar, allowed=False)
    assert "do not use them for these data" in found.text
    assert found.level == "attention"
    assert bias(biased, analysis.scar, allowed=True).level == "note"


def test_that_a_test_does_not_reject_is_no_good_news(analysis):
    """0.1 said "Fine: Nothing speaks against labelling at random"."""
    found = bias(replace(analysis.test, p_value=0.6), analysis.scar, allowed=True)
    assert found.level == "note"
    assert "no proof of labelling at random" in found.text
    assert "a class logistic in these columns" in found.text


def test_bias_or_curvature_is_a_question_that_may_stay_open(analysis):
    assert analysis.test.verdict == "undecided"
    found = bias(analysis.test, analysis.scar, allowed=True)
    assert found.text.startswith("Bias or curvature?")
    assert "depends on the features is open" in found.text


def test_two_answers_are_given_where_two_fit():
    analysis = analysed(clinic(400, bias=2.2), propensity_features=None)
    summary = summarise(analysis)
    assert not summary["orientation"]["clear"]
    assert "Two answers fit these labels" in texts(summary)
    assert "`propensity_features`" in summary["recommendation"]
    page = render(summary)
    assert "or, if swapped" in page
    assert "`propensity_features`" not in page


def test_weak_labels_are_reported_by_their_profile():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300))
    y = rng.random(300) < 1 / (1 + np.exp(-0.7 * x))
    s = y & (rng.random(300) < 1 / (1 + np.exp(0.7 * z)))
    frame = pd.DataFrame({"x": x, "distance": z, "diagnosed": s, "half": x > 0})
    analysis = analysed(frame, by="half", id=None)
    summary = summarise(analysis)
    assert analysis.weak
    assert summary["prevalence"]["main"]["how"] == "profile likelihood"
    assert (
        "report the interval, not the estimate" in texts(summary)
        or not summary["orientation"]["clear"]
    )
    assert all(group["low"] is None for group in summary["prevalence"]["groups"])
    assert "hardly determine" in str(checks(analysis)["Identifiability"])


def test_a_method_without_a_likelihood_has_a_report_without_intervals():
    summary = summarise(analysed(method="tm-simple", propensity_features=None))
    assert summary["prevalence"]["main"]["low"] is None
    assert "has no interval" in texts(summary)
    assert summary["drivers"]["outcome"]
    assert "no interval" in render(summary)


def test_an_average_is_reported_with_its_credible_intervals():
    summary = summarise(analysed(method="averaged"))
    main = summary["prevalence"]["main"]
    assert main["how"] == "posterior"
    assert main["low"] < clinic()["sick"].mean() < main["high"]
    drivers = [term for terms in summary["drivers"].values() for term in terms]
    assert all(term["low"] < term["odds"] < term["high"] for term in drivers)
    assert render(summary)


def test_an_average_has_credible_intervals_by_group(analysis):
    summary = summarise(analysed(method="averaged"))
    groups = summary["prevalence"]["groups"]
    truth = clinic().groupby("smoker")["sick"].mean()
    assert {group["group"] for group in groups} == {"no", "yes"}
    for group in groups:
        assert group["low"] < truth[group["group"]] < group["high"]


def test_a_notebook_shows_the_page_in_a_frame(analysis):
    report = Report(analysis.model, analysis.table)
    vars(report)["analysis"] = analysis
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "&lt;h1&gt;Hidden positives" in shown


def test_findings_are_the_same_in_page_json_and_python(analysis):
    report = Report(analysis.model, analysis.table)
    vars(report)["analysis"] = replace(analysis, command="doublelogit report")
    assert plain(report.findings) == report.to_dict()["verdict"]
    assert plain(report.checks()) == report.to_dict()["checks"]
    page = report.to_html()
    for finding in report.findings:
        assert isinstance(finding, Finding)
        assert escape(as_options(finding.text), quote=False) in unescape_quotes(page)


def unescape_quotes(page):
    return page.replace("&#39;", "'").replace("&#34;", '"')


def test_ids_are_shown_only_when_asked_for(analysis):
    ids = clinic()["patient"]
    hidden, shown = render(summarise(analysis)), render(summarise(analysis, show_ids=True))
    assert not any(name in hidden for name in ids)
    assert sum(name in shown for name in ids) >= 100


def test_audited_rows_are_not_on_the_list():
    frame = clinic()
    frame["audit"] = np.where(frame.index % 3 == 0, frame["sick"].astype(object), None)
    roles = Roles("diagnosed", id="patient", audited="audit", ignore=("sick",))
    model = TableClassifier(roles).fit(frame)
    report = Report(model, frame, n_resamples=19, n_jobs=1, top=600, show_ids=True)
    summary, analysis = report.to_dict(), report.analysis
    assert not {line["id"] for line in summary["ranking"]} & set(frame["patient"][::3])
    assert analysis.model.classifier.orientation_.rule == "audit"
    assert "audited classes and weights take no part" in summary["scar_test"]["note"]


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_a_page_needs_nothing_from_elsewhere(summary):
    page = render(summary)
    parser = Elements()
    parser.feed(page)
    links = [a.get("href", a.get("src", "")) for _, a in parser.found]
    assert all(link.startswith(("#", "data:", "")) for link in links)
    assert not any(link.startswith(("http", "//")) for link in links if link)
    assert "default-src 'none'" in page
    assert not re.search(r"url\(\s*['\"]?http|@import", page)
    headings = [tag for tag, _ in parser.found if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1


def test_texts_of_the_data_are_shown_as_text():
    frame = clinic(300).rename(columns={"smoker": EVIL, "distance": 'a"b&{{7*7}}$x^2$'})
    frame[EVIL] = frame[EVIL].map({"no": f"{EVIL}no", "yes": "'\"><img src=x onerror=alert(2)>"})
    frame["patient"] = EVIL + frame["patient"]
    model = TableClassifier(Roles("diagnosed", id="patient", by=EVIL, ignore=("sick",))).fit(frame)
    shown = {"show_ids": True, "source": EVIL, "command": EVIL}
    page = Report(model, frame, n_resamples=19, n_jobs=1, **shown).to_html()
    parser = Elements()
    parser.feed(page)
    tags = [tag for tag, _ in parser.found]
    assert tags.count("script") == 1  # ours
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attributes in parser.found for name in attributes)
    assert "&lt;script&gt;alert(1)" in page
    assert "{{7*7}}" in page


def test_reports_are_written_whole_or_not_at_all(analysis, tmp_path):
    path, report = tmp_path / "r.html", Report(analysis.model, analysis.table)
    vars(report)["analysis"] = analysis
    numbers = report.write_html(path)
    assert json.loads(numbers.read_text()) == report.to_dict()
    before = path.read_bytes()
    report.to_dict()["drivers"] = None
    with pytest.raises(TypeError):
        report.write_html(path)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_large_tables_are_tested_by_the_chi_square_law(monkeypatch):
    monkeypatch.setattr("doublelogit.report.analysis.LARGE_SAMPLE", 500)
    frame = clinic()
    model = TableClassifier(Roles("diagnosed", id="patient", ignore=("sick",))).fit(frame)
    summary = model.report(frame).to_dict()
    assert summary["scar_test"]["asymptotic"]
    assert "chi-square law of large samples" in summary["scar_test"]["sentence"]
    assert summary["scar_test"]["rejects"]


def test_the_chi_square_law_agrees_with_samples_where_both_hold():
    rng = np.random.default_rng(0)
    rejected = []
    for seed in range(40):  # under SCAR, well identified
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2000, 2))
        y = rng.random(2000) < 1 / (1 + np.exp(-3 * X[:, 0]))
        s = y & (rng.random(2000) < 0.6)
        test = scar_test(X, s, asymptotic=True)
        assert test.freedom == 2
        rejected.append(test.rejects)
    assert sum(rejected) <= 6  # 2 expected, more than 6 in one of 500 studies


def test_expected_precision_falls_and_recall_rises_with_the_list():
    found = list_lengths(np.random.default_rng(0).random(500))
    assert found["length"][0] == 1
    assert found["length"][-1] == 500
    assert (np.diff(found["precision"]) <= 1e-12).all()
    assert (np.diff(found["recall"]) >= 0).all()
    assert np.isclose(found["recall"][-1], 1)


def test_a_check_is_worth_its_cost_or_not_on_the_list():
    chances = np.array([0.9, 0.5, 0.2, 0.1])
    assert cut_list(chances, check_cost=10, miss_cost=50)[0] == 3
    assert cut_list(chances, check_cost=10, budget=25)[0] == 2
    assert cut_list(chances, top=9)[0] == 4


def line(method, difference, agreement=1.0):
    return ComparedMethod(method, 0.3, -0.5, difference, 0.001, 1.0, 1.0, agreement, ())


def test_a_method_that_ranks_against_all_others_is_never_recommended(analysis):
    """0.1 recommended joint, whose ranks correlated by -.55 to -.88 with every other method."""
    lines = [line("joint", 0.0, agreement=-0.7), line("em", -0.01), line("tm", -0.02)]
    found = _concluded(lines, analysis.test)
    assert found.recommended == "em"
    assert any("opposed" in f.text and f.level == "problem" for f in found.findings)
    assert _concluded(lines[:1], analysis.test).recommended is None


def test_a_scar_method_may_be_recommended_only_without_evidence_of_bias(analysis):
    lines = [line("joint", 0.0), line("em", 0.05)]
    lines += [
        replace(line(m.name, 0.1), assumes_scar=True, models_class=m.takes_audits)
        for m in COMPARED
        if m.assumes_scar
    ]
    biased = replace(analysis.test, bent=None)
    assert _concluded(lines, biased).recommended == "em"
    plain = replace(biased, p_value=0.6)
    assert _concluded(lines, plain).recommended == "joint, SCAR"


def test_cells_that_spreadsheets_would_run_are_neutralised(tmp_path):
    frame = pd.DataFrame({"=a": ["=1+1", "+x", "-y", "@z", "fine", None], "n": [-1.0] * 6})
    safe = neutral(frame)
    assert safe.columns[0] == "'=a"
    assert safe.iloc[:4, 0].tolist() == ["'=1+1", "'+x", "'-y", "'@z"]
    assert (safe["n"] == -1).all()
    write_table(frame, tmp_path / "t.csv")
    write_table(frame, tmp_path / "t.parquet")
    assert pd.read_parquet(tmp_path / "t.parquet").iloc[0, 0] == "=1+1"
    with pytest.raises(ValueError, match="written as"):
        write_table(frame, tmp_path / "t.doc")


def test_a_check_computes_nothing_that_it_does_not_show(monkeypatch):
    def unwanted(*_):
        raise AssertionError("not shown")

    monkeypatch.setattr("doublelogit.report.sections.prevalence.with_false_labels", unwanted)
    monkeypatch.setattr("doublelogit.report.sections.prevalence.by_group", unwanted)
    analysis = analysed()
    assert "Identifiability" in checks(analysis)
    with pytest.raises(AssertionError, match="not shown"):
        summarise(analysis)
