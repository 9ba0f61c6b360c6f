# Each target sets up what it needs; a fresh machine needs only Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
CODE := calibcore dashboard tests benchmarks sample_logits

.PHONY: help run test check lint types contracts screenshots benchmark clean

help:
	@echo "make run          start the dashboard with a sample open"
	@echo "make test         run every test, the real browser's included"
	@echo "make check        lint, format, types, contracts and tests: what CI runs"
	@echo "make screenshots  draw the README's picture and the pages in light, dark, wide and narrow"
	@echo "make benchmark    time the core beside peer libraries and the physical floor"

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Fractile needs Python 3.11 or later; name one with make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable ".[test]"
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable ".[dev]"
	@touch $@

# The peers bring torch; naming its tested version first keeps a build for GPUs out.
$(VENV)/peers: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) torch==2.13.0
	$(PIP) --editable ".[peers]"
	@touch $@

run: $(VENV)/run
	$(BIN)/fractile

test: $(VENV)/test
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest --numprocesses 2 --dist loadscope

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

contracts: $(VENV)/dev
	$(BIN)/lint-imports

check: lint types contracts test

screenshots: $(VENV)/test
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m tests.browser.screenshots

benchmark: $(VENV)/peers
	$(BIN)/python -m benchmarks.core $(ARGS)

clean:
	rm -rf $(VENV)
