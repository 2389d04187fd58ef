"""Scores that need no true class: right on average against those that know it."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import precision_score, recall_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from doublelogit import JointClassifier
from doublelogit import metrics as m


@pytest.fixture(scope="module")
def data():
    """Many rows, so that estimates are near what they estimate."""
    rng = np.random.default_rng(0)
    n = 200_000
    x = rng.normal(size=(n, 2))
    y = rng.random(n) < expit(2 * x[:, 0])
    e_x = expit(0.5 + x[:, 0] + x[:, 1])
    s = y & (rng.random(n) < e_x)
    score = expit(2 * x[:, 0] + 0.5 * rng.normal(size=n))
    return y.astype(int), s.astype(int), e_x, score


def test_scores_by_inverse_propensity_are_those_of_the_true_class(data):
    y, s, e_x, score = data
    predicted = (score > 0.5).astype(int)
    assert m.ipw_prevalence(s, e_x) == pytest.approx(y.mean(), abs=0.01)
    assert m.ipw_recall(s, predicted, e_x) == pytest.approx(recall_score(y, predicted), abs=0.01)
    wanted = precision_score(y, predicted)
    assert m.ipw_precision(s, predicted, e_x) == pytest.approx(wanted, abs=0.01)
    assert m.ipw_roc_auc(s, score, e_x) == pytest.approx(roc_auc_score(y, score), abs=0.01)
    top = np.argsort(-score)[:5000]
    assert m.ipw_precision_at_k(s, score, e_x, 5000) == pytest.approx(y[top].mean(), abs=0.03)
    lee_liu = recall_score(y, predicted) ** 2 / predicted.mean()
    assert m.ipw_lee_liu(s, predicted, e_x) == pytest.approx(lee_liu, abs=0.02)


def test_a_constant_propensity_is_wrong_under_bias(data):
    """What these scores are for: the recall that SCAR would report is too high here."""
    y, s, _, score = data
    predicted = (score > 0.5).astype(int)
    c = s.sum() / y.sum()
    scar = m.ipw_recall(s, predicted, c)
    assert scar - recall_score(y, predicted) > 0.05


def test_weights_are_repetitions(data):
    _, s, e_x, score = (column[:500] for column in data)
    w = np.random.default_rng(0).integers(0, 4, 500)
    r = np.repeat(np.arange(500), w)
    predicted = (score > 0.5).astype(int)
    for metric, given in ((m.ipw_roc_auc, score), (m.ipw_recall, predicted)):
        weighted = metric(s, given, e_x, sample_weight=w)
        assert weighted == pytest.approx(metric(s[r], given[r], e_x[r]))


def test_the_true_label_chance_is_calibrated(data):
    _, s, _, _ = data
    rng = np.random.default_rng(1)
    s_x = rng.random(len(s))
    drawn = (rng.random(len(s)) < s_x).astype(int)
    right = m.label_calibration(drawn, s_x)
    assert right.error < 0.01
    assert right.rows.sum() == len(s)
    assert m.label_calibration(drawn, s_x**2).error > 0.1


def test_scorers_work_in_grids_and_pipelines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = rng.random(400) < expit(2 * X[:, 0])
    s = np.where(y & (rng.random(400) < 0.6), "yes", "no")
    model = JointClassifier(pos_label="yes", n_starts=1)
    grid = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring=m.scorer(m.ipw_roc_auc), cv=2)
    assert 0.5 < grid.fit(X, s).best_score_ <= 1.2
    alone = make_pipeline(model)
    assert np.isfinite(cross_val_score(alone, X, s, scoring=m.scorer(m.ipw_recall), cv=2)).all()
    pipe = make_pipeline(StandardScaler(), model)
    for metric, options in (
        (m.ipw_precision_at_k, {"k": 20, "propensity": 0.6}),
        (m.ipw_lee_liu, {}),
    ):
        scores = cross_val_score(pipe, X, s, scoring=m.scorer(metric, **options), cv=2)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: m.ipw_prevalence([1, 0], [0.5, 1.5]), "between 0 and 1; got 0.5 to 1.5"),
        (lambda: m.ipw_precision_at_k([1, 0], [0.1, 0.2], 0.5, 3), "number of rows, 2; got 3"),
        (lambda: m.label_calibration([1, 0], [0.5, 0.5], 5), "n_bins must be between"),
        (lambda: m.ipw_recall([1, 0], [[1], [0]], 0.5), "one value per row"),
    ],
)
def test_wrong_arguments_get_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
