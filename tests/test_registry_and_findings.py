"""The registry says what methods can do, findings say what was found; nothing says it twice."""

import ast
import inspect
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from classifiers import CLASSIFIERS

import doublelogit
from doublelogit import registry
from doublelogit.cli.options import Common
from doublelogit.common.wording import OPTIONS, as_options, as_parameters
from doublelogit.exceptions import OrientationWarning
from doublelogit.findings import Finding, worst
from doublelogit.findings import answer as answers
from doublelogit.findings import fit as findings
from doublelogit.fitted.fit import Orientation
from doublelogit.inference.estimate import Estimate
from doublelogit.registry import METHODS, method_of
from doublelogit.studies.registry import DOUBLE_MODELS

pytestmark = pytest.mark.usefixtures("one_signal")

SOURCE = Path(doublelogit.__file__).parent


@pytest.mark.parametrize(
    "method", [*METHODS.values(), *DOUBLE_MODELS.values()], ids=lambda m: m.name
)
class TestCapabilities:
    """What the registry says of a method is what its classifier does."""

    @pytest.fixture
    def rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
        return X, y, (y & (rng.random(300) < 0.6)).astype(int)

    @pytest.fixture
    def classifier(self, method):
        return vars(import_module(method.module))[method.class_name](**method.settings)

    def test_it_is_among_the_classifiers_of_the_tests(self, method):
        assert method.class_name in {type(model).__name__ for model in CLASSIFIERS}

    def test_features_may_be_named_for_each_model_or_not(self, method, classifier):
        named = {"outcome_features", "propensity_features"}
        assert (named <= classifier.get_params().keys()) == method.has_propensity

    def test_other_classifiers_may_be_plugged_in_or_not(self, method, classifier):
        assert ({"outcome", "propensity"} <= classifier.get_params().keys()) == method.pluggable

    @pytest.mark.filterwarnings("ignore")
    def test_audits_are_taken_or_refused(self, method, classifier, rows):
        X, y, s = rows
        audited = np.where(np.arange(300) < 40, y, np.nan)
        if method.takes_audits:
            classifier.fit(X, s, audited_y=audited)
        else:
            with pytest.raises(ValueError, match="no use for audited_y"):
                classifier.fit(X, s, audited_y=audited)

    @pytest.mark.filterwarnings("ignore")
    def test_rows_out_of_core_are_taken_or_refused(self, method, classifier, rows):
        X, _, s = (da.from_array(column, chunks=(150, *column.shape[1:])) for column in rows)
        few = {"max_iter": 2, "n_starts": 1}  # what they end in is compared in test_engines.py
        classifier.set_params(**{k: few[k] for k in few.keys() & classifier.get_params().keys()})
        if method.out_of_core:
            classifier.fit(X, s)
        else:
            with pytest.raises(ValueError, match="needs rows in memory; got Array"):
                classifier.fit(X, s)

    @pytest.mark.filterwarnings("ignore")
    def test_inference_is_offered_or_refused(self, method, classifier, rows):
        X, _, s = rows
        classifier.fit(X, s)
        if method.intervals is None:
            with pytest.raises(TypeError, match="needs a likelihood or a posterior"):
                doublelogit.infer(classifier, X, s)
        else:
            kind = type(doublelogit.infer(classifier, X, s)).__name__
            assert kind.lower().startswith(method.intervals)

    def test_it_is_exported(self, method):
        if method.name in METHODS:
            assert method.class_name in doublelogit.__all__
        package = SOURCE / method.package.replace(".", "/")
        assert method.class_name in (package / "__init__.py").read_text()


def test_a_subclass_has_the_capabilities_of_its_class():
    class Mine(doublelogit.JointClassifier):
        pass

    assert method_of(Mine()) is METHODS["joint"]
    with pytest.raises(TypeError, match="a classifier of this library is needed"):
        method_of(object())


def test_names_of_methods_are_written_in_the_registry_only():
    listed = re.compile(r"""["'](tm-simple|naive|averaged|lbe)["']""")
    homes = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if listed.search(re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL))
    }
    # exports, and starts of a fit, which are named after NAIVE as well
    assert homes - {"registry.py"} <= {
        "methods/__init__.py",
        "methods/start.py",
        "methods/joint.py",
        "inference/diagnosis.py",
        "inference/scar_likelihood.py",
        "estimators/joint.py",
        "estimators/em.py",
        "estimators/lbe.py",
        "studies/methods/detm.py",
    }


def test_classes_of_classifiers_are_asked_nowhere_above_them():
    asked = re.compile(r"isinstance\([^)]*Classifier|\bgetattr\(")
    found = {
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for folder in ("report", "inference", "cli", "tables", "estimators")
        for path in (SOURCE / folder).rglob("*.py")
        for line in path.read_text().splitlines()
        if asked.search(line)
    }
    assert found == ALLOWED


# each with its reason
ALLOWED = {
    # a stream is passed on as it is
    "cli/output.py: return getattr(self._stream, name)",
    # standard output and error, whichever a caller has closed
    "cli/output.py: if getattr(sys, name) is None:",
    # what has no shape has no rows to cut into blocks
    'estimators/out_of_core.py: shape = getattr(X, "shape", ())',
    # a reader of pandas is chosen by its name
    "tables/read.py: return getattr(pd, name)(path)  # pandas is imported only now",
}


def test_options_of_messages_are_options_of_the_commands():
    offered = {field.name for field in fields(Common)} | {"method", "label_model"}
    assert {name for name in OPTIONS if name not in ("audited_y", "sample_weight")} <= offered


def test_parameters_are_shown_as_options_in_a_terminal():
    text = "Name `propensity_features`, audit rows (`audited_y`) or raise `max_iter`."
    assert (
        as_options(text) == "Name --propensity-features, audit rows (--audited) or raise max_iter."
    )
    assert (
        as_parameters(text) == "Name propensity_features, audit rows (audited_y) or raise max_iter."
    )


def test_a_finding_has_a_level_that_exists():
    with pytest.raises(ValueError, match="level must be one of note, fine, attention, problem"):
        Finding("terrible", "data", "No.")
    found = [Finding("fine", "data", "a"), Finding("problem", "data", "b")]
    assert worst(found) == "problem"
    assert worst([]) == "fine"


@pytest.mark.parametrize(
    ("decided", "level", "said"),
    [
        (None, "attention", "has no rule"),
        (Orientation("features", 12.0, "log-likelihood", True), "fine", "worse by 12.0 log-like"),
        (Orientation("audit", np.inf, "log-likelihood", True), "fine", "nothing fits"),
        (Orientation("norm", 5.0, "standard errors", True), "attention", "differ by 5.0 standard"),
        (Orientation("norm", 1.0, "standard errors", False), "problem", "may be swapped"),
        (Orientation("norm", np.nan, "standard errors", False), "problem", "not be computed"),
        (
            Orientation("features", 3.0, "log-evidence", True),
            "fine",
            "log-evidence is lower by 3.0",
        ),
    ],
)
def test_one_fact_about_orientation_has_one_wording(decided, level, said):
    finding = findings.orientation(decided)
    assert finding.level == level
    assert said in finding.text


def test_what_is_not_fine_is_also_a_warning(sample):
    with pytest.warns(OrientationWarning) as caught:
        model = doublelogit.JointClassifier(n_starts=1).fit(sample.X[:150], sample.s[:150])
    texts = {as_parameters(f.text) for f in model.findings_ if f.level != "fine"}
    assert {str(w.message) for w in caught} == texts


def test_every_sentence_of_a_finding_is_made_in_one_place():
    makers = [
        path
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bFinding\((FINE|ATTENTION|PROBLEM|\"|level)", path.read_text())
    ]
    assert {path.parent.name for path in makers} == {"findings"}


def sentences(node):
    """Texts with a full stop, but for docstrings, errors and warnings."""
    if isinstance(node, ast.Raise) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        return
    if isinstance(node, ast.Constant | ast.JoinedStr):
        pieces = [node] if isinstance(node, ast.Constant) else node.values
        text = "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in pieces)
        if text.strip().endswith(".") and text.strip().count(" ") > 2:
            yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from sentences(child)


@pytest.mark.parametrize("room", ["report", "audit", "table_models", "averaged", "simulation.py"])
def test_sentences_are_made_by_findings_only(room):
    paths = [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))
    texts = {p.name: list(sentences(ast.parse(p.read_text()))) for p in paths}
    assert {name: said for name, said in texts.items() if said} == {}


def test_the_registry_imports_nothing_heavy():
    imports = re.findall(r"^(?:from|import) (\S+)", inspect.getsource(registry), flags=re.MULTILINE)
    assert set(imports) == {"collections.abc", "dataclasses", "typing"}


@pytest.mark.parametrize(("low", "level"), [(0.3, "fine"), (0.1, "attention")])
def test_a_wide_interval_is_not_called_determined_beside_a_doubt_of_it(low, level):
    main = Estimate("prevalence", 0.4, 0.05, low, 0.45, 0.95, "profile")
    answer = answers.prevalence(main, 0.1, 30.0, weak=False, without="")
    determined = answers.determined(main, converged=True, weak=False, clear=True)
    assert answer.level == determined.level == level
    assert ("only roughly" in determined.text) == (level == "attention")
