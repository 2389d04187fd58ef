"""A small plan of experiments: tests add repetitions and a method of their own."""

from dataclasses import replace

from doublelogit.studies.experiments import Store, load_plan, run

SMALL_PLAN = """
name = "small"
seed = 1
test_size = 0.3
[[datasets]]
name = "heart-c"
load = "doublelogit.datasets:load_benchmark"
options = { name = "heart-c" }
[[datasets]]
name = "Artif1"
load = "doublelogit.studies.datasets:make_artif1"
options = { n_samples = 300, n_features = 4 }
seeded = true
reference = "posterior"
[[scenarios]]
id = 1
mechanism = "doublelogit.labelling:Scar"
parameter = "c"
values = [0.3, 0.5, 0.9]
[[methods]]
name = "ORACLE"
estimator = "doublelogit:NaiveClassifier"
given = "class"
[[methods]]
name = "NAIVE"
estimator = "doublelogit:NaiveClassifier"
"""


def shorter(plan):
    """The plan with few rounds of the methods that make many."""
    quick = {"max_iter": 20}
    methods = [
        replace(m, options=m.options | quick) if "max_iter" in m.options else m
        for m in plan.methods
    ]
    return replace(plan, methods=tuple(methods))


def families():
    """Tables and their families, as a collection of a plan names them."""
    return {"heart-c": "heart", "vote": "vote", "wdbc": "cells", "BreastCancer": "cells"}


def run_quick(plan, directory):
    """Run a plan in its mode "quick": what processes that are killed are doing."""
    run(load_plan(plan), "quick", Store(directory))
