"""The report in a real browser: no error, no network, tables that work, nothing that overflows."""

import base64
import json
import os
import re
import shutil

import pytest
from tables_of_tests import clinic

from doublelogit import Roles, TableClassifier

pytestmark = pytest.mark.browser
LONG = "a_column_whose_name_is_long_enough_to_break_any_layout_that_trusts_its_data" * 2


@pytest.fixture(scope="module")
def browser():
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        message = "no chromium and chromedriver: the report was not tested in a browser"
        if os.environ.get("DOUBLELOGIT_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    frame = clinic().rename(columns={"bmi": LONG})
    roles = Roles(
        "diagnosed",
        id="patient",
        by="smoker",
        ignore=("sick",),
        propensity_features=("distance", LONG),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    shown = {"show_ids": True, "source": "clinic.csv"}
    model = TableClassifier(roles).fit(frame)
    model.report(frame, n_resamples=19, n_jobs=1, **shown).write_html(path)
    return path.as_uri()


def opened(browser, page, width=1440, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.get_log("browser"), browser.get_log("performance")  # of pages before
    browser.get(page)
    return browser


def column(browser, n):
    return browser.execute_script(
        "return [...document.querySelectorAll('#list tbody tr:not([hidden])')]"
        f".map(row => row.cells[{n}].textContent.trim())"
    )


def test_it_loads_with_no_error_and_no_request(browser, page):
    opened(browser, page)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("data:")} == {page}


def test_all_pictures_are_there_and_have_words(browser, page):
    opened(browser, page)
    figures = browser.execute_script(
        "return [...document.querySelectorAll('figure')].map(f => ["
        "f.querySelector('svg').getBoundingClientRect().height,"
        "f.querySelector('[role=img]').getAttribute('aria-label')])"
    )
    assert len(figures) == 10
    assert all(height > 60 and label for height, label in figures)


def test_the_list_sorts_and_filters(browser, page):
    from selenium.webdriver.common.by import By

    opened(browser, page)
    ranks = column(browser, 0)
    assert ranks == [str(i + 1) for i in range(len(ranks))]
    button = browser.find_element(By.CSS_SELECTOR, "#list th button")
    button.click()
    assert column(browser, 0) == ranks[::-1]
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    identifier = column(browser, 1)[4]
    browser.find_element(By.ID, "search").send_keys(identifier.lower())
    assert column(browser, 1) == [identifier]
    assert browser.find_element(By.ID, "count").text == f"1 of {len(ranks)} rows"


def test_the_list_is_saved_with_formulas_neutralised(browser, page):
    opened(browser, page)
    text = browser.execute_script(
        "document.querySelector('#list tbody tr').cells[1].textContent = '=1+1';"
        "let kept; const make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { kept = blob; return make(blob); };"
        "document.getElementById('export').click(); return kept.text();"
    )
    lines = text.strip().split("\r\n")
    assert len(lines) == 101
    assert ",'=1+1," in lines[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_overflows(browser, page, width, scheme):
    opened(browser, page, width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    outside = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter(e => {"
        "const box = e.getBoundingClientRect();"
        "return box.width && box.right > innerWidth + 1 && !e.closest('.scroll'); })"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []


def test_light_and_dark_can_both_be_read(browser, page):
    script = (
        "const rgb = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => {"
        "v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });"
        "const light = c => { const [r, g, b] = rgb(c); return 0.2126*r + 0.7152*g + 0.0722*b; };"
        "const back = light(getComputedStyle(document.body).backgroundColor);"
        "const words = document.querySelectorAll('p, li, td, th, figcaption, dt, dd, a, text');"
        "return [...words].map(e => { const s = getComputedStyle(e);"
        "const c = light(e.tagName === 'text' && s.fill !== 'none' ? s.fill : s.color);"
        "return (Math.max(c, back) + 0.05) / (Math.min(c, back) + 0.05); })"
    )
    backgrounds = set()
    for scheme in ("light", "dark"):
        opened(browser, page, scheme=scheme)
        assert min(browser.execute_script(script)) > 4.5  # WCAG AA
        backgrounds.add(
            browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        )
    assert len(backgrounds) == 2


def test_keys_reach_everything_that_can_be_used(browser, page):
    opened(browser, page)
    unreachable = browser.execute_script(
        "return [...document.querySelectorAll('button, a, input, summary')]"
        ".filter(e => e.tabIndex < 0).length"
    )
    assert unreachable == 0
    unlabelled = browser.execute_script(
        "return [...document.querySelectorAll('input')].filter(e => !e.labels.length).length"
    )
    assert unlabelled == 0


def test_it_prints(browser, page):
    opened(browser, page)
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    assert 4 < len(re.findall(rb"/Type\s*/Page\b", pdf)) < 40
