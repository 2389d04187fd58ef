"""The rivals: the contract of our classifiers, limits that must hold, formulas by hand."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from contract import contract
from mixtures import mixture
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import doublelogit
from doublelogit import registry, scan_parquet
from doublelogit.fitted import LinearPair
from doublelogit.registry import METHODS, method_of
from doublelogit.studies import registry as studied
from doublelogit.studies import rivals
from doublelogit.studies.registry import DOUBLE_MODELS, RIVALS
from doublelogit.studies.rivals import risk
from doublelogit.studies.rivals.base import AbstractRival, RivalFit

pytestmark = pytest.mark.usefixtures("few_rows")

ROOT = Path(__file__).parent.parent


def cheap(method):
    """A rival that takes no time, and makes do with the smallest samples."""
    rival = getattr(rivals, method.class_name)()
    if "prevalence" in rival.get_params():
        return rival.set_params(prevalence="tice")
    return rival.set_params(n_neighbors=1) if "n_neighbors" in rival.get_params() else rival


ALL = [cheap(method) for method in RIVALS.values()]
each = pytest.mark.parametrize("rival", ALL, ids=lambda m: type(m).__name__)
RISKS = (rivals.UPUClassifier, rivals.NNPUClassifier, rivals.PUSBClassifier)


# --- the contract ---


@pytest.mark.filterwarnings("ignore::doublelogit.LabelOrderWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@contract(in_full=ALL[:1], others=ALL[1:])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@each
def test_predictions_mean_what_they_say_and_come_back_from_a_file(rival, sample, tmp_path):
    model = clone(rival).fit(sample.X, sample.s)
    y, e = model.predict_positive(sample.X), model.predict_propensity(sample.X)
    s, hidden = model.predict_label_proba(sample.X), model.predict_hidden(sample.X)
    assert ((y > 0) & (y <= 1) & (e > 0) & (e <= 1)).all()
    np.testing.assert_array_equal(model.predict(sample.X), y > 0.5)
    np.testing.assert_allclose(expit(model.decision_function(sample.X)), y)
    np.testing.assert_allclose(s, y * e)
    np.testing.assert_allclose(hidden, (y - s) / (1 - s), atol=1e-9)
    wanted = np.mean(np.where(sample.s == 1, np.log(s), np.log1p(-s)))
    assert model.score(sample.X, sample.s) == pytest.approx(wanted)
    assert sample.s.mean() <= model.prevalence_ < 1
    assert model.label_frequency_ == pytest.approx(sample.s.mean() / model.prevalence_)
    assert model.converged_
    model.save(tmp_path / "m.dlm")
    again = doublelogit.load(tmp_path / "m.dlm")
    assert again.get_params() == model.get_params()
    assert again.prevalence_ == model.prevalence_
    np.testing.assert_array_equal(again.predict_hidden(sample.X), hidden)


@each
def test_units_names_codes_and_storage_do_not_matter(rival, sample):
    X = np.where(np.abs(sample.X) > 0.8, sample.X, 0.0)
    plain = clone(rival).fit(X, sample.s).predict_positive(X)
    far = X * [1e3, 1, 1e-3, 5] + [1e4, 0, 0, -7]
    np.testing.assert_allclose(
        clone(rival).fit(far, sample.s).predict_positive(far), plain, atol=1e-4
    )
    thin = sparse.csr_array(X)
    np.testing.assert_allclose(
        clone(rival).fit(thin, sample.s).predict_positive(thin), plain, atol=1e-6
    )
    frame, words = pd.DataFrame(X, columns=list("abcd")), np.where(sample.s == 1, "yes", "no")
    named = clone(rival).set_params(pos_label="yes").fit(frame, words)
    np.testing.assert_allclose(named.predict_positive(frame), plain, atol=1e-9)
    constant = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_allclose(
        clone(rival).fit(constant, sample.s).predict_positive(constant), plain, atol=1e-9
    )


@each
def test_rivals_work_in_pipelines_and_grids(rival, sample):
    pipe = make_pipeline(StandardScaler(), clone(rival))
    grid = GridSearchCV(pipe, {f"{pipe.steps[-1][0]}__C": [0.01, 1.0]}, cv=2)
    assert np.isfinite(grid.fit(sample.X, sample.s).cv_results_["mean_test_score"]).all()


@each
def test_rows_that_are_elsewhere_are_refused(rival, table):
    with pytest.raises(TypeError, match="needs its rows in memory; got ParquetScan"):
        clone(rival).fit(scan_parquet(table[1], doublelogit.Roles(label="s")))


def test_rivals_are_known_but_not_offered(sample):
    others = RIVALS | DOUBLE_MODELS
    assert not others.keys() & METHODS.keys()
    assert set(rivals.__all__) == {method.class_name for method in others.values()}
    assert not set(rivals.__all__) & set(doublelogit.__all__)
    exported = (Path(rivals.__file__)).read_text()
    pages = (ROOT / "docs" / "rivals.md").read_text(), (ROOT / "docs" / "api.md").read_text()
    for method in others.values():
        assert f"import {method.class_name} as" in exported
        assert f"`{method.class_name}`" in pages[0]
        assert f"{method.module}.{method.class_name}" in pages[1]
    model = rivals.PGlinClassifier().fit(sample.X, sample.s)
    assert method_of(model) is RIVALS["pglin"]
    with pytest.raises(TypeError, match="needs a likelihood or a posterior"):
        doublelogit.infer(model, sample.X, sample.s)


def test_what_assumes_labels_at_random_has_a_constant_propensity_below_its_cap(sample):
    for method in RIVALS.values():
        e = cheap(method).fit(sample.X, sample.s).predict_propensity(sample.X)
        assert (np.median(e) - e.min() < 1e-9) == method.assumes_scar, method.name


# --- limits ---


@pytest.mark.parametrize("kind", RISKS)
def test_with_every_positive_labelled_the_pu_risks_are_logistic_regression(kind):
    X, y, _ = mixture(400, apart=2.0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    oracle = LogisticRegression(C=1.0, tol=1e-8).fit(Z, y)
    model = kind(C=1.0, prevalence=y.mean()).fit(Z, y)
    np.testing.assert_allclose(model.coef_, oracle.coef_, atol=1e-4)
    if kind is rivals.PUSBClassifier:
        assert model.predict(Z).mean() == pytest.approx(y.mean(), abs=1 / 400)
    else:
        np.testing.assert_allclose(model.intercept_, oracle.intercept_, atol=1e-4)
        assert model.predict_propensity(Z) == pytest.approx(1.0)


@pytest.mark.parametrize("name", [m.name for m in RIVALS.values() if m.estimates_prevalence])
def test_with_every_positive_labelled_estimates_of_the_prevalence_are_near_the_share(name):
    X, y, _ = mixture(600)
    model = cheap(RIVALS[name]).fit(X, y)
    assert model.prevalence_ == pytest.approx(0.5, abs=0.1)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("kind", [*RISKS, rivals.PUeClassifier])
@pytest.mark.parametrize("loss", sorted(risk.LOSSES))
def test_labels_at_random_with_a_known_prevalence_recover_separate_classes(kind, loss):
    X, y, s = mixture(c=0.3)
    model = kind(prevalence=0.5, loss=loss).fit(X, s)
    assert (model.predict(X) == y).mean() > 0.97
    if kind is not rivals.PUeClassifier:  # its e(x) is a multiple of s(x)
        assert model.label_frequency_ == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("variant", ["scaled", "weighted"])
@pytest.mark.parametrize("estimator", ["mean", "ratio"])
def test_elkan_and_noto_recover_separate_classes_and_their_frequency(variant, estimator):
    X, y, s = mixture(c=0.3)
    model = rivals.ElkanNotoClassifier(variant=variant, estimator=estimator).fit(X, s)
    assert model.label_frequency_ == pytest.approx(0.3, abs=0.04)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("name", [m.name for m in RIVALS.values() if m.estimates_prevalence])
def test_a_prevalence_can_be_that_of_another_rival(name):
    X, _, s = mixture(400)
    asked = rivals.NNPUClassifier(prevalence=name).fit(X, s)
    assert asked.prevalence_ == getattr(rivals, RIVALS[name].class_name)().fit(X, s).prevalence_


def test_a_prevalence_below_the_labelled_share_is_refused():
    X, _, s = mixture(100)
    with pytest.raises(ValueError, match=r"not be below the share of labelled rows.*got 0\.1"):
        rivals.UPUClassifier(prevalence=0.1).fit(X, s)


# --- the recipe ---


class HalfRival(AbstractRival):
    """A rival of one file: the naive fit as the class, and every second positive labelled."""

    def __init__(self, *, C=1.0, pos_label=None):
        self.C = C
        self.pos_label = pos_label

    def _fit_sample(self, sample):
        theta = sample.naive
        return RivalFit(LinearPair(sample.side(theta), sample.constant(0.5)), 2 * sample.mean_s)


def test_a_rival_is_one_file_and_one_line_of_the_registry(monkeypatch, sample, tmp_path):
    method = studied._rival("half", "half:HalfRival", assumes_scar=True)
    module = ModuleType(method.module)
    module.HalfRival = HalfRival
    monkeypatch.setitem(sys.modules, method.module, module)
    monkeypatch.setitem(studied.RIVALS, method.name, method)
    monkeypatch.setitem(registry.CLASSIFIERS, method.class_name, method)
    model = rivals.__getattr__("HalfRival")().fit(sample.X, sample.s)
    assert model.predict_propensity(sample.X) == pytest.approx(0.5)
    model.save(tmp_path / "half.dlm")
    assert doublelogit.load(tmp_path / "half.dlm").prevalence_ == model.prevalence_
    recipe = (ROOT / "CONTRIBUTING.md").read_text().partition("### Add a rival")[2]
    named = set(re.findall(r"`([^`]+)`", recipe.partition("### ")[0]))
    assert {"studies/rivals/mine.py", "AbstractRival", "_fit_sample(sample)", "RivalFit"} <= named
