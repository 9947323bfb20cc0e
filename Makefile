# Everything starts from Python 3.11 or newer, pip, make and git; the rest goes into .venv.
# `make` alone says what there is. Another interpreter: `make test PYTHON=python3.13`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FOLDERS := ledger cli hooks mcp_facade
SHIPPED := $(shell find $(FOLDERS) -name __pycache__ -prune -o -type f -print | LC_ALL=C sort)

# A path set for another program must not decide what is imported here.
unexport PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all lint bench conformance clients soak docs pictures dev lock clean FORCE

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed ## see the main job done on a small project
	$(BIN)/python examples/demo.py

test: lint ## lint, then all tests, against the installed wheel
	$(BIN)/python -P -m pytest -n 2 --dist worksteal

test-all: lint ## the same with the slow tests of many processes
	$(BIN)/python -P -m pytest -n 2 --dist worksteal --all

lint: $(VENV)/installed ## ruff, mypy (strict) and the layout of the folders
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -P -m pytest -q tests/test_layout.py

bench: $(VENV)/installed ## measure against the targets of docs/benchmarks.md
	$(BIN)/python tests/bench/run.py

conformance: $(VENV)/installed ## run the official MCP suite on a server of ours (needs npm)
	$(BIN)/python tests/conformance/run.py

clients: $(VENV)/installed ## try the server, the plugin and init in people's clients (needs npm)
	$(BIN)/python tests/clients/run.py
	@command -v npm >/dev/null || { echo "skipped: npm, which gives Claude Code, is not here"; exit 0; }; \
	npm install --prefix $(VENV)/clients --no-audit --no-fund --silent @anthropic-ai/claude-code || \
	  { echo "skipped: npm does not give Claude Code here"; exit 0; }; \
	CLIENT_UNDER_TEST=$(abspath $(VENV))/clients/node_modules/.bin/claude \
	  $(BIN)/python -P -m pytest -q tests/clients

soak: $(VENV)/installed ## let many use one ledger at once for ten minutes, and judge it
	$(BIN)/python tests/soak/run.py

docs: $(VENV)/installed ## write docs/reference anew and check the rest
	$(BIN)/python docs/generate.py

pictures: $(VENV)/installed ## draw docs/pictures anew: what a terminal shows
	$(BIN)/python docs/pictures.py

dev: $(VENV)/locked ## install the folders themselves, so that edits count at once
	rm -rf build memprove.egg-info $(VENV)/installed
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --force-reinstall \
	  --config-settings editable_mode=strict --editable .

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" \
	  --output-file requirements.lock

clean: ## remove everything that make and the tools made
	rm -rf $(VENV) build dist memprove.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

ANOTHER := Name another one: make PYTHON=/path/to/python3

# The locked packages, and the four folders as links under the name `memprove` for mypy.
$(VENV)/locked: requirements.lock
	@command -v $(PYTHON) >/dev/null || { \
	  echo "memprove needs Python 3.11 or newer; there is no $(PYTHON). $(ANOTHER)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "memprove needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1). $(ANOTHER)"; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments (on Debian and Ubuntu:" \
	    "apt install python3-venv). $(ANOTHER)"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement requirements.lock
	mkdir -p $(VENV)/typed/memprove
	for folder in $(FOLDERS); do ln -s ../../../$$folder $(VENV)/typed/memprove/$$folder; done
	touch $@

# The project as users get it: a wheel. build/ goes first, because a module deleted from the tree
# would be shipped from there.
$(VENV)/installed: $(VENV)/locked $(VENV)/shipped pyproject.toml README.md LICENSE $(SHIPPED)
	rm -rf build memprove.egg-info
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --force-reinstall .
	rm -rf build memprove.egg-info
	touch $@

# The names of the shipped files, rewritten only when they change: a deleted file reinstalls too.
$(VENV)/shipped: $(VENV)/locked FORCE
	@echo $(SHIPPED) | cmp -s - $@ || echo $(SHIPPED) > $@

FORCE:
