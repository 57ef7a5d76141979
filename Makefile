# The things one can do here. Each target sets up what it needs: a fresh clone and Python 3.10+ are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

# Many tests start processes, servers and browsers. One that fails is tried once more, alone: on a busy machine a server
# may be late. What fails twice fails.
twice = $(BIN)/python -m pytest $(1) || $(BIN)/python -m pytest $(1) --last-failed

.PHONY: help demo test test-browser check format bench eval pictures model clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Pinakes needs Python 3.10 or newer; set PYTHON=…" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(STAMP)

demo: $(STAMP)  ## index examples/ and show a few searches
	$(BIN)/python scripts/demo.py

test: $(DEV_STAMP)  ## run the tests
	$(call twice,-n auto --dist loadfile --ignore tests/stores/providers --ignore tests/browser)
	$(call twice,-n 3 tests/stores/providers)

test-browser: $(DEV_STAMP)  ## try the page in Chromium
	@test -n "$$CHROMIUM" || command -v chromium chromium-browser google-chrome > /dev/null || \
		{ echo 'The browser tests need Chromium: apt-get install chromium, or its path in CHROMIUM.' >&2; exit 1; }
	$(call twice,tests/browser)

check: $(DEV_STAMP)  ## lint, format check and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

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
	$(BIN)/python scripts/build_model.py

clean:  ## remove what was built
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
