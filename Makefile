# Rookery. `make help` lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# All processes of an installation share compiled modules, whatever the shell sets.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	command -v $$name >/dev/null 2>&1 && $$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { command -v $$name; break; }; done)
PIP := $(BIN)/pip install -q --disable-pip-version-check
# uv takes a fifth of pip's time, but does not read pip's settings: if it finds no packages, pip installs them.
install = { $(BIN)/uv pip install -q --python $(BIN)/python $(1) || { echo "uv did not find the packages; pip tries" >&2; $(PIP) $(2); }; }
# Two more than a small machine has processors: many tests wait for processes. Of these, one runs all unit tests.
JOBS ?= 4
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm
BIOME := $(VENV)/javascript/node_modules/@biomejs
SCRIPTS := --config-path=tests/javascript api/pages/static/*.js api/pages/static/proof/*.js tests/support/*.mjs

.PHONY: help run demo compile test beside run-unit-tests run-tests test-servers run-server-tests check check-types \
	check-imports check-python check-scripts format programs bench bench-compare strength chaos simulate lock audit clean

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

run: $(VENV)/product  ## install what is missing and start everything on http://127.0.0.1:8000 (ARGS="--port 9000")
	@exec $(BIN)/rookery up $(ARGS)

demo: $(VENV)/product  ## play two complete matches over HTTP on a temporary installation, in under a minute
	@$(BIN)/rookery demo $(ARGS)

compile: $(VENV)/compiler  ## compile the rules and the search, so that opponents think several times as fast (takes minutes)
	@$(BIN)/python -m deploy.local.compiled

# The slowest check starts first; each prints its findings when it is done.
check:  ## format, lint, types, names and the one-way imports
	@$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j 2) --output-sync check-types check-imports check-python check-scripts

check-types: $(VENV)/development
	$(BIN)/mypy

check-imports: $(VENV)/development
	$(BIN)/lint-imports

check-python: $(VENV)/development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m tests.lint

check-scripts: $(BIOME)
	$(BIOME)/*/biome check --error-on-warnings $(SCRIPTS)

format: $(VENV)/development $(BIOME)  ## format all code and fix what can be fixed automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIOME)/*/biome check --write $(SCRIPTS)

programs:
	@tests/programs.sh

test:  ## all checks and, at the same time, the tests, with a real server, real workers and a real browser
	@$(MAKE) -j 2 $(BIOME) programs
	@$(MAKE) -j 4 beside run-tests

# Each prints when it is done.
beside:
	@$(MAKE) --output-sync check run-unit-tests

# Apart, as every process that shares tests with others imports all of these.
run-unit-tests: $(VENV)/development
	$(BIN)/pytest -q tests/unit tests/contract

run-tests: $(VENV)/development $(BIOME)
	$(BIN)/pytest -q -n $(shell expr $(JOBS) - 1) tests/integration tests/e2e --ignore tests/integration/servers

test-servers:  ## the other tests: servers in groups, other programs, kills; and all examples of those that draw some
	@$(MAKE) -j 2 $(BIOME) programs
	@$(MAKE) run-server-tests

run-server-tests: $(VENV)/development $(BIOME)
	$(BIN)/pytest -q -n $(JOBS) tests/integration/servers
	$(BIN)/pytest -q -n $(JOBS) -m "hypothesis or sampled or thorough" --hypothesis-profile full tests --ignore tests/integration/servers

bench: $(VENV)/development  ## all tables of figures (ONLY=rules for one of them)
	@$(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY))

bench-compare: $(VENV)/development  ## figures beside those of an older checkout (OLD=directory ONLY="rules store" ROUNDS=5)
	@$(BIN)/python -m tests.bench.compare $(OLD) $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))

strength: $(VENV)/development  ## play the levels of the opponents against each other (ARGS="--games bashni --pairs 100 --jobs 2")
	@$(BIN)/python -m tests.tuning.strength $(ARGS)

chaos: $(VENV)/development  ## kill and pause everything under play, on each kind of store, and judge (ARGS="--seed 2")
	for store in single sentinel cluster; do \
		echo "$$store"; $(BIN)/python -m tests.chaos --store $$store --kills 350 --seconds 900 $(ARGS); done

simulate: $(VENV)/development  ## play and audit a year of matches, and one of a club (ARGS="--matches 500 --seed 1 --twice")
	@$(BIN)/python -m tests.simulation $(ARGS)
	@$(BIN)/python -m tests.simulation.club_year

lock: $(VENV)/development  ## pin and hash what requirements*.in ask for (UPGRADE=1 for the newest)
	for name in requirements requirements-dev requirements-install requirements-compile; do \
		$(BIN)/uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
			--no-emit-index-url --no-header $$name.in -o $$name.txt; done
	cd tests/javascript && $(NPM) $(if $(UPGRADE),update,install) --package-lock-only

audit: $(VENV)/development  ## check the pinned packages for known vulnerabilities
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements.txt

clean:  ## remove what was installed and built; the matches in var/ stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .import_linter_cache .pytest_cache .lint_cache.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The file that venv makes last: an incomplete environment is made again.
$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Rookery needs Python 3.11 or newer with venv: none was found." \
		"Install one (apt install python3 python3-venv) or say which: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(BIN)/uv: requirements-install.txt | $(BIN)/pip
	@echo "Installing uv, which installs the rest"
	@$(PIP) --require-hashes -r requirements-install.txt
	@touch $@

# The product alone; an environment that has the development tools has the product too.
$(VENV)/product: requirements.txt pyproject.toml | $(BIN)/uv
	@echo "Downloading and installing $$(grep -c == requirements.txt) pinned packages: the first time this can take a minute"
	@$(call install,--compile-bytecode --require-hashes -r requirements.txt,--require-hashes -r requirements.txt)
	@echo "Installing Rookery itself"
	@$(call install,--no-deps --no-build-isolation -e .,--no-deps --no-build-isolation -e .)
	@touch $@

# The development packages are not compiled beforehand: most modules are never imported.
$(VENV)/development: requirements-dev.txt requirements.txt pyproject.toml | $(BIN)/uv
	@echo "Downloading and installing $$(grep -c == requirements-dev.txt) pinned packages, with those of development"
	@$(call install,--require-hashes -r requirements-dev.txt,--no-compile --require-hashes -r requirements-dev.txt)
	@echo "Installing Rookery itself"
	@$(call install,--no-deps --no-build-isolation -e .,--no-deps --no-build-isolation -e .)
	@touch $(VENV)/product $@

# The compiler beside the product; the environment of development has it too.
$(VENV)/compiler: requirements-compile.txt | $(VENV)/product
	@echo "Downloading and installing mypy, which compiles"
	@$(call install,--require-hashes -r requirements-compile.txt,--require-hashes -r requirements-compile.txt)
	@touch $@

# Formats and lints the scripts of the pages and judges the OpenAPI document, pinned by version and hash.
$(BIOME): $(addprefix tests/javascript/, package.json package-lock.json .npmrc) | $(VENV)/development
	@mkdir -p $(VENV)/javascript
	@cp $^ $(VENV)/javascript
	@$(NPM) ci --loglevel=error --prefix $(VENV)/javascript
	@touch $@
