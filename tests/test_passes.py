"""How often inference looks at the rows: passes are counted, not timed."""

import numpy as np
import pytest

from doublelogit import AveragedClassifier, JointClassifier, Roles, infer, scan_parquet
from doublelogit.engines.parquet import Blocks

pytestmark = pytest.mark.usefixtures("one_signal")

FEATURES = ["a", "b", "c"]
APART = {"outcome_features": ["a", "b"], "propensity_features": ["c"]}


@pytest.fixture
def passes(monkeypatch):
    """Number of passes over the features of Parquet files so far."""
    made, iterate = [], Blocks.__iter__

    def counted(self):
        made.append(1)
        return iterate(self)

    monkeypatch.setattr(Blocks, "__iter__", counted)
    return made


@pytest.fixture(scope="module")
def scan(table):
    return scan_parquet(table[1], Roles("s", features=FEATURES))


@pytest.mark.parametrize("cov_type", ["observed", "robust", "cluster"])
@pytest.mark.parametrize("what", ["prevalence", "label_frequency", "hidden"])
def test_twenty_groups_take_as_many_passes_as_one(what, cov_type, scan, table, passes):
    model = JointClassifier(**APART, n_starts=1).fit(scan)
    clusters = np.arange(3000) % 40 if cov_type == "cluster" else None
    counts = {}
    for n_groups in (1, 20):
        found = infer(model, scan, cov_type=cov_type, groups=clusters)
        passes.clear()
        getattr(found, what)(by=np.arange(3000) % n_groups)
        counts[n_groups] = len(passes)
    assert counts[20] == counts[1] <= 7


def test_twenty_groups_of_a_posterior_take_one_pass(scan, table, passes):
    model = AveragedClassifier(**APART).fit(scan)
    found = infer(model, scan)
    for n_groups in (1, 20):
        passes.clear()
        found.prevalence(by=np.arange(3000) % n_groups)
        assert len(passes) == 1


def test_the_information_is_computed_once(scan, table, monkeypatch):
    from doublelogit.objective import DoubleLogisticObjective

    model = JointClassifier(**APART, n_starts=1).fit(scan)
    found = infer(model, scan)
    hessians, compute = [], DoubleLogisticObjective.value_grad_hess
    monkeypatch.setattr(
        DoubleLogisticObjective,
        "value_grad_hess",
        lambda self, theta: hessians.append(1) or compute(self, theta),
    )
    found.summary(), found.prevalence(), found.label_frequency(), found.hidden()
    found.prevalence(by=np.arange(3000) % 20)
    assert len(hessians) == 1
