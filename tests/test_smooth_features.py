"""Terms that bend others: they are no named features, and they tell class and labelling apart."""

import numpy as np
from tables_of_tests import bent_table

from doublelogit import JointClassifier, infer
from doublelogit.inference.estimate import Estimate

NAMES = ["x", "z", "noise"]
SQUARES = [f"{name} squared" for name in NAMES]


def columns(frame):
    """Columns and their squares, which are on average 0."""
    return frame[NAMES].join((frame[NAMES] ** 2 - 1).set_axis(SQUARES, axis=1))


def bent(frame, labelling=NAMES):
    model = JointClassifier(smooth_features=SQUARES, propensity_features=labelling)
    return model.fit(columns(frame), frame["s"])


def test_smooth_terms_do_not_count_as_named_features():
    frame = bent_table(2000, straight=True)
    lines = JointClassifier().fit(frame[NAMES], frame["s"])
    curves = bent(frame)
    assert lines.orientation_.rule == curves.orientation_.rule == "norm"
    shares = lines.predict_positive(frame[NAMES]), curves.predict_positive(columns(frame))
    assert abs(shares[0].mean() - shares[1].mean()) < 0.05


def test_a_bent_class_is_told_from_straight_labelling_by_its_curves():
    frame = bent_table(4000)
    model = bent(frame)
    assert model.orientation_.rule == "curves"
    assert np.corrcoef(model.predict_propensity(columns(frame)), frame["z"])[0, 1] > 0.9
    assert not model.propensity_coef_[0, 3:].any()
    assert model.coef_.all()


def test_an_interval_of_curves_holds_profile_and_curvature():
    frame = bent_table(800)
    found = infer(bent(frame, ["z"]), columns(frame), frame["s"])
    both, delta = (found.prevalence(level=0.9, method=how) for how in (None, "delta"))
    assert both.low <= delta.low
    assert both.high >= delta.high
    assert both.method == "profile likelihood and delta method"
    straight = JointClassifier(propensity_features=["z"]).fit(frame[NAMES], frame["s"])
    lines = infer(straight, frame[NAMES], frame["s"]).prevalence(level=0.9)
    assert lines.method == "profile likelihood"


def test_intervals_of_a_bent_class_hold_the_truth_that_those_of_lines_miss():
    frame = bent_table(6000, seed=1)
    truth = frame["y"].mean()
    curves = infer(bent(frame, ["z"]), columns(frame), frame["s"]).prevalence()
    straight = JointClassifier(propensity_features=["z"]).fit(frame[NAMES], frame["s"])
    lines = infer(straight, frame[NAMES], frame["s"]).prevalence()
    assert curves.low < truth < curves.high
    assert not lines.low < truth < lines.high


def test_an_interval_that_holds_another_keeps_its_middle():
    one = Estimate("share", 0.4, 0.1, 0.3, 0.8, 0.9, "a", ((0.3, 0.45), (0.6, 0.8)))
    wide = Estimate("share", 0.4, 0.1, 0.25, 0.9, 0.9, "b")
    assert one.hull(wide).regions == ((0.25, 0.45), (0.6, 0.9))
    assert wide.hull(one).regions == ((0.25, 0.9),)
