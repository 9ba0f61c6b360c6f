# Each target sets up what it needs; a fresh machine needs only Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PEERS := .venv-peers
DCURVES := .venv-dcurves
DOCS := .venv-docs
ENGINES := .venv-engines
STORE := .venv-store
ADAPTERS := .venv-adapters
RELEASE := .venv-release
SHIPPED := .venv-shipped
PEERS_PIP := $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Each of the hundreds of processes that tests start would compile the modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run docs test test-long check lint types contracts screenshots benchmark benchmark-calibrators peers engines adapters agreement methods generated wheel release clean

help:
	@echo "make run          start the dashboard with a sample open"
	@echo "make test         run every test, the real browser's included"
	@echo "make test-long    run the long simulations too, for a release"
	@echo "make check        lint, format, types, contracts and tests: what CI runs"
	@echo "make screenshots  draw the README's picture and the pages in light, dark, wide and narrow"
	@echo "make docs         build the site of the documentation, which the glossary links"
	@echo "make generated    write the list of the papers and the schema of saved calibrators again"
	@echo "make wheel        build dist/fractile-VERSION-py3-none-any.whl, to install elsewhere"
	@echo "make release      build the site and what a release has in dist/: wheel, sdist, SBOM, licences, hashed constraints, notes"
	@echo "make methods      fit every method to every sample, for docs/methods.md"
	@echo "make peers        run peer libraries on every sample, for the tests to compare with"
	@echo "make engines      count rows on a real cluster of two processes, on Spark and in a store, which it installs"
	@echo "make adapters     call MLflow, evaluate and torchmetrics for real, which it installs"
	@echo "make agreement    write docs/agreement.md from what the peers found"
	@echo "make benchmark    time the core beside peer libraries and the physical floor"
	@echo "make benchmark-calibrators  time every calibrator beside the libraries that do the same"

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Fractile needs Python 3.11 or later; name one with make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable ".[dashboard]"
	@touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable ".[test]"
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt | $(VENV)/python
	$(PIP) --editable ".[dev]"
	@touch $@

# The peers bring torch; naming its tested version first keeps a build for GPUs out.
$(PEERS)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS_PIP) torch==2.13.0
	$(PEERS_PIP) --editable ".[peers]"
	@touch $@

$(ENGINES)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,dask,spark]"
	@touch $@

# A server that speaks S3, for a test; it needs a python-dateutil before 3, so it has an environment of its own.
$(STORE)/installed:
	$(PYTHON) -m venv $(STORE)
	$(STORE)/bin/python -m pip install --quiet --disable-pip-version-check "moto[server]==5.2.5"
	@touch $@

# As of the peers, torch comes first.
$(ADAPTERS)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[adapters]"
	@touch $@

# This peer needs a pandas before 3, so it has an environment of its own.
$(DCURVES)/installed: pyproject.toml
	$(PYTHON) -m venv $(DCURVES)
	$(DCURVES)/bin/python -m pip install --quiet --disable-pip-version-check dcurves==1.1.7 scipy
	$(DCURVES)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(DOCS)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	@touch $@

docs: $(DOCS)/installed
	$(DOCS)/bin/python docs/build.py

run: $(VENV)/run
	$(BIN)/fractile

test: $(VENV)/test
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder

test-long: $(VENV)/test
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder -m "long or not long"
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest --numprocesses 2 tests/core -k "loops or fractions or optimum or pooling or read_slowly or two_fits or proved_best or softmax_and_its or intercept_and_slope_solve or irm_keeps_the_first"

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

benchmark: $(PEERS)/installed
	$(PEERS)/bin/python -m benchmarks.core $(ARGS)

benchmark-calibrators: $(PEERS)/installed
	$(PEERS)/bin/python -m benchmarks.calibrators $(ARGS)

peers: $(PEERS)/installed $(DCURVES)/installed
	$(PEERS)/bin/python -m tests.peers.run
	$(DCURVES)/bin/python -m tests.peers.net_benefit

engines: $(ENGINES)/installed $(STORE)/installed
	$(ENGINES)/bin/python -m pytest tests/engines

adapters: $(ADAPTERS)/installed
	$(ADAPTERS)/bin/python -m pytest tests/adapters

agreement: $(VENV)/run
	$(BIN)/python -m benchmarks.agreement

generated: $(VENV)/run
	$(BIN)/python docs/papers.py
	$(BIN)/python docs/schemas.py

wheel: $(VENV)/run
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# The tools of a release, and what is shipped: the wheel with the site and every extra that a user may want.
$(RELEASE)/installed:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check build==1.6.1 cyclonedx-bom==7.5.0 \
		pip-licenses==5.5.5 pip-tools==7.6.2
	@touch $@

release: docs $(RELEASE)/installed
	rm -rf dist $(SHIPPED)
	$(RELEASE)/bin/python -m build --sdist --wheel --outdir dist .
	$(PYTHON) -m venv $(SHIPPED)
	$(SHIPPED)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		"$$(echo dist/fractile-*.whl)[dashboard,onnx,sign-in,sklearn]"
	$(SHIPPED)/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(RELEASE)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/sbom.cdx.json $(SHIPPED)
	$(RELEASE)/bin/pip-licenses --python $(SHIPPED)/bin/python --from mixed --with-urls --format markdown \
		--output-file dist/licences.md
	$(RELEASE)/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
		--no-annotate --extra dashboard --extra onnx --extra sign-in --extra sklearn --constraint constraints.txt \
		--strip-extras --output-file dist/constraints-hashed.txt pyproject.toml
	awk '/^## / && n++ { exit } n' CHANGELOG.md > dist/notes.md
	rm -rf $(SHIPPED)

methods: $(VENV)/run
	$(BIN)/python -m benchmarks.methods

clean:
	rm -rf dist $(VENV) $(PEERS) $(DCURVES) $(DOCS) $(ENGINES) $(STORE) $(ADAPTERS) $(RELEASE) $(SHIPPED)
