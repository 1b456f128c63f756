# make demo, make test: each creates .venv, installs what it needs once, and runs.

VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --disable-pip-version-check install --quiet
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: browser help demo test test-all bench dist docs docs-gallery lint release clean

help:
	@echo 'make demo      the rolling disk as one interactive page: equations by every principle, proof that they agree, motion'
	@echo 'make test      linter, type checker, and every test that is not slow'
	@echo 'make test-all  the same with the slow tests'
	@echo 'make bench     measure against other tools; writes benchmarks/results.md and the README table'
	@echo 'make dist      build wheel and sdist, and try the wheel in a clean environment of every Python at hand'
	@echo 'make docs      build the documentation into docs/_build/html; every piece of code in it runs'
	@echo 'make docs-gallery  the same with the report pages of all systems of the gallery; several minutes'
	@echo 'make release   check that this is a release: version, changelog, citation, documentation, wheel, tag'
	@echo 'make lint      linter and type checker only'
	@echo 'make clean     remove .venv, caches and builds'

demo: $(VENV)/.run
	@$(BIN)/dalembert report rolling-disk --open
	@echo 'change masses and initial conditions under "Try it" next to the animation; the page works offline'

test: lint browser
	$(BIN)/python -m pytest -m 'not slow' -n $(WORKERS)

test-all: lint browser $(VENV)/.export
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# a browser for the tests of the page: found, or installed where that is allowed
browser:
	@for name in "$$CHROMIUM" chromium chromium-browser google-chrome google-chrome-stable chrome; do \
	    if [ -n "$$name" ] && command -v "$$name" >/dev/null 2>&1; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo 'installing chromium for the tests of the page ...'; \
	    { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1 && exit 0; \
	fi; \
	echo 'SKIPPED: no Chromium was found and none could be installed; the browser tests of the page are skipped.' >&2; \
	echo 'On Debian and Ubuntu this fixes it: apt-get install chromium (or set CHROMIUM to where it is).' >&2

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python docs/measured.py

# the wheel, installed alone, must derive, prove, compile and run
dist: $(VENV)/.dist
	rm -rf build dist
	$(BIN)/python -m build --outdir dist
	@for python in $(PYTHONS); do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    tried=build/$$($$python -c 'import sys; print("python%d.%d" % sys.version_info[:2])'); \
	    [ -d $$tried ] && continue; \
	    echo "trying the wheel in $$tried ..."; \
	    $$python -m venv $$tried && $$tried/bin/python -m pip --disable-pip-version-check install --quiet dist/*.whl \
	        && (cd build && ../$$tried/bin/python -I ../packaging/smoke.py) || exit 1; \
	done
	@ls -l dist

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo 'written: docs/_build/html/index.html'

# the report pages first: the gallery page links those that are there
docs-gallery: $(VENV)/.docs
	$(BIN)/dalembert report --all -o docs/_build/html/gallery
	$(MAKE) docs

# every check of a release, after the wheel and the documentation are built
release: dist docs
	$(BIN)/python packaging/release.py

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# a stamp per set of packages: installed again only when pyproject.toml changes
$(VENV)/.run: $(VENV)/pyvenv.cfg pyproject.toml
	@echo 'installing dalembert and its run-time packages into $(VENV) ...'
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.run
	@echo 'installing the test tools into $(VENV) ...'
	@$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.export: $(VENV)/.test
	@echo 'installing the tools that exports are checked with into $(VENV) ...'
	@$(PIP) --editable '.[export]' || echo 'SKIPPED: some could not be installed; their tests say so' >&2
	@touch $@

$(VENV)/.bench: $(VENV)/.run
	@echo 'installing the peers to measure against into $(VENV) ...'
	@$(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/.dist: $(VENV)/pyvenv.cfg
	@$(PIP) build
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	@echo 'installing what builds the documentation into $(VENV) ...'
	@$(PIP) --editable '.[docs]'
	@touch $@

# the first Python that is new enough and can make a virtual environment
$(VENV)/pyvenv.cfg:
	@found=; \
	for python in $(PYTHONS); do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    found=$$python; \
	    $$python -c 'import ensurepip, venv' 2>/dev/null || continue; \
	    exec $$python -m venv $(VENV); \
	done; \
	if [ -n "$$found" ]; then \
	    echo "$$found cannot make a virtual environment; on Debian and Ubuntu this fixes it:" >&2; \
	    echo '    apt-get install python3-venv' >&2; \
	else \
	    echo 'dalembert needs Python 3.11 or later, and none was found; on Debian 12 and later this fixes it:' >&2; \
	    echo '    apt-get install python3-venv' >&2; \
	fi; \
	exit 1
