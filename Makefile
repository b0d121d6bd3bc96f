# `make demo` and `make test` need Python (3.11, 3.12 or 3.13) and make, and nothing else.
#
# Everything is installed into a virtual environment, .venv unless VENV= names another; no environment has to be
# activated. PYTHON= names the interpreter that makes it. Each set of packages leaves a stamp in the environment, so
# that nothing is installed twice until pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv

LOWEST_PYTHON ?= python3.11
LOWEST_TESTS ?= tests/reading/test_lines.py tests/measures tests/evidence tests/corrections tests/tables/test_files.py
DIST ?= dist
TAG ?=
FAULTS ?= 50
PLANTED ?=
TESTS ?=

RUN := $(VENV)/bin/python
PYTEST := "$(RUN)" -m pytest -n auto --maxprocesses 8 --dist worksteal
STAMP := $(VENV)/.bayespool

# Images of containers often set it, and then each of the many processes of a test would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test slow research fuzz planted test-lowest lint printed types audit docs outputs dist clean

help:
	@echo "make demo         score the embedded example"
	@echo "make test         the fast tests (TESTS='tests/cli tests/report' for some of them, also of make slow)"
	@echo "make slow         the slow tests, and properties with more examples (BAYESPOOL_SLOW_SCALE=1 for full size)"
	@echo "make research     the tests of research/, whose scripts are not in the wheel (BAYESPOOL_SLOW_SCALE)"
	@echo "make fuzz         50,000 mutated inputs, and 100 kills and other faults of experiments (BAYESPOOL_FUZZ_SEED, _INPUTS, _SECONDS)"
	@echo "make planted      planted faults, and which tests find each (PLANTED='--rooms measures,counts --jobs 2')"
	@echo "make test-lowest  a part of the fast tests with the lowest versions of pyproject.toml, on LOWEST_PYTHON (python3.11)"
	@echo "make lint         ruff: rules and format; codespell: misspelled words; tests/house: imports, names, pages"
	@echo "make printed      write the texts, the schema and the sizes of rooms that tests compare with"
	@echo "make types        mypy --strict on the package"
	@echo "make audit        bandit on the package; pip-audit on what it installs, which needs the package index"
	@echo "make docs         the documentation, into docs/_build/html; a warning is an error"
	@echo "make outputs      write the tables of pages, and the outputs of pages and notebooks"
	@echo "make dist         sdist and wheel into dist; checked, installed into an empty environment, and demoed there"
	@echo "make clean        remove what the targets above leave, the environment too"
	@echo "with PYTHON=python3.12 another interpreter, with VENV=folder another environment"

demo: $(STAMP)-run
	@"$(VENV)/bin/bayespool" demo

test: $(STAMP)-test
	@$(PYTEST) $(TESTS)

slow: $(STAMP)-test
	@BAYESPOOL_EXAMPLES="$${BAYESPOOL_EXAMPLES:-slow}" $(PYTEST) -m "slow or hypothesis" $(TESTS)

research: $(STAMP)-test
	@$(PYTEST) research/tests

fuzz: $(STAMP)-test
	@PYTHONPATH="tests:$$PYTHONPATH" "$(RUN)" -m fuzz
	@PYTHONPATH="tests:$$PYTHONPATH" "$(RUN)" -m fuzz.faults --faults "$(FAULTS)" --kinds kill 2>/dev/null
	@PYTHONPATH="tests:$$PYTHONPATH" "$(RUN)" -m fuzz.faults --faults "$(FAULTS)" --kinds interrupt,full,permission 2>/dev/null

planted: $(STAMP)-test
	@PYTHONPATH="tests:$$PYTHONPATH" "$(RUN)" -m planted $(PLANTED)

# Bounds are wrong if they cannot be installed together, or if what is installed is not what they say.
test-lowest: $(STAMP)-release
	@if [ -e "$(VENV)-lowest/pyvenv.cfg" ]; then rm -rf "$(VENV)-lowest"; fi
	@"$(RUN)" -m uv venv --quiet --no-project --python "$(LOWEST_PYTHON)" "$(VENV)-lowest"
	@"$(RUN)" -m uv pip install --quiet --python "$(VENV)-lowest" --resolution lowest-direct -e ".[test]"
	@"$(VENV)-lowest/bin/python" .ci/lowest.py
	@"$(VENV)-lowest/bin/bayespool" demo
	@"$(VENV)-lowest/bin/python" -m pytest -q -W ignore::DeprecationWarning $(LOWEST_TESTS)

outputs: $(STAMP)-docs
	@"$(RUN)" docs/outputs.py

lint: $(STAMP)-dev $(STAMP)-test
	@"$(RUN)" -m ruff check .
	@"$(RUN)" -m ruff format --check .
	@"$(RUN)" -m codespell_lib
	@$(PYTEST) -q tests/house

printed: $(STAMP)-test
	@BAYESPOOL_PRINTED=write $(PYTEST) tests/cli/test_printed.py tests/scoring/test_score_tables.py tests/report/test_result.py tests/house/test_rooms.py tests/whole/test_printed_pages.py

types: $(STAMP)-dev
	@"$(RUN)" -m mypy

# The former needs no network and fails on whatever is new; the latter fails on a known vulnerability alone.
audit: $(STAMP)-dev
	@"$(RUN)" -m bandit -q -r bayespool -c pyproject.toml
	@"$(RUN)" .ci/audit.py

docs: $(STAMP)-docs
	@"$(RUN)" docs/outputs.py --check
	@"$(RUN)" -m sphinx -W --keep-going -q -j 2 -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(STAMP)-release
	@rm -f "$(DIST)"/bayespool-*
	@"$(RUN)" -m build --outdir "$(DIST)" .
	@"$(RUN)" -m twine check --strict "$(DIST)"/bayespool-*
	@"$(RUN)" .ci/release.py "$(DIST)" "$(TAG)"

clean:
	rm -rf docs/_build docs/_api docs/_generated .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@for env in "$(VENV)" "$(VENV)-lowest"; do if [ -e "$$env/pyvenv.cfg" ]; then rm -rf "$$env"; fi; done

$(STAMP)-run: EXTRA =
$(STAMP)-test: EXTRA = [test]
$(STAMP)-docs: EXTRA = [docs]
$(STAMP)-dev: EXTRA = [dev]
$(STAMP)-release: EXTRA = [release]
$(STAMP)-all: EXTRA = [test,docs,dev,release]

# One recipe for every set of packages. Nothing is compiled at installation: most is never imported, and what is, is
# compiled then. An environment that is only half there (an interrupted run) is made again; a folder that holds
# something else is never touched.
$(STAMP)-run $(STAMP)-test $(STAMP)-docs $(STAMP)-dev $(STAMP)-release $(STAMP)-all: pyproject.toml
	@if ! "$(RUN)" -m pip --version >/dev/null 2>&1; then \
	    command -v "$(PYTHON)" >/dev/null 2>&1 && "$(PYTHON)" -c "" 2>/dev/null || { \
	        echo "bayespool: no working Python under the name '$(PYTHON)'." >&2; \
	        echo "Install Python 3.11 or newer, or name one that is there: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; \
	        exit 1; }; \
	    "$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11))" || { \
	        echo "bayespool: '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1), too old: 3.11 or newer is needed." >&2; \
	        echo "Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	        exit 1; }; \
	    "$(PYTHON)" -c "import venv, ensurepip" 2>/dev/null || { \
	        echo "bayespool: '$(PYTHON)' cannot make virtual environments: its module venv or ensurepip is missing." >&2; \
	        echo "On Debian and Ubuntu: apt-get install python3-venv. Or name another interpreter with PYTHON=." >&2; \
	        exit 1; }; \
	    if [ -e "$(VENV)" ] && [ ! -e "$(VENV)/pyvenv.cfg" ] && [ -n "$$(ls -A "$(VENV)" 2>/dev/null)" ]; then \
	        echo "bayespool: '$(VENV)' is there and is not a virtual environment; name another folder with VENV=." >&2; \
	        exit 1; fi; \
	    echo "making the environment $(VENV)"; \
	    "$(PYTHON)" -m venv --clear "$(VENV)" || exit 1; \
	fi
	@echo "installing bayespool$(EXTRA) into $(VENV) (some minutes the first time)"
	@"$(RUN)" -m pip install --quiet --disable-pip-version-check --no-compile -e ".$(EXTRA)" || { \
	    if "$(RUN)" -m pip download --quiet --retries 0 --no-deps -d "$(VENV)/probe" hatchling >/dev/null 2>&1; then \
	        echo "bayespool: the installation failed; pip's own reason stands above." >&2; \
	    else \
	        echo "bayespool: pip cannot reach a package index, so that nothing can be installed." >&2; \
	        echo "Check the network, or point pip at an index that can be reached (PIP_INDEX_URL, HTTPS_PROXY)." >&2; \
	    fi; rm -rf "$(VENV)/probe"; exit 1; }
	@touch "$@"
