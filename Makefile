# Six recipes; hooks and CI call the same ones. Each sets up what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat requirements-dev.lock requirements-model.lock pyproject.toml tools/install 2>/dev/null | cksum | cut -d' ' -f1)

.PHONY: demo test check engines docs image lock help
help:
	@echo "make demo | test | check | engines | docs | image   (CONTRIBUTING.md says more)"

$(READY): requirements-dev.lock pyproject.toml tools/install
	@PYTHON="$(PYTHON)" tools/install $(VENV)
	@rm -f $(VENV)/.ready-* && touch $@

demo: $(READY)   ## The main job on the bundled dataset, offline
	@$(BIN)/python tools/demo.py

test: $(READY)   ## All tests; installs database servers where it may
	@tools/servers
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --ignore=tests/docker --ignore=tests/browser $(PYTEST)
	@$(BIN)/python -m pytest -q tests/browser tests/docker $(PYTEST)

check: $(READY)  ## Format, lint, types, import contracts, generated docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/generate_docs.py --check

engines: $(READY) ## The contract suite over every engine that can be started or is given
	@tools/servers
	@$(BIN)/python -m pytest -q tests/engines $(PYTEST)

docs: $(READY)   ## Regenerate what the docs show of settings, options and exit codes
	@$(BIN)/python tools/generate_docs.py

image:           ## The container image
	docker build --tag nl2sql-gate $(BUILD) .

lock: $(READY)   ## Resolve dependencies again
	@$(BIN)/uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements-dev.lock
	@echo 'mssql-python-odbc>=18.5' | $(BIN)/uv pip compile - --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements-microsoft-odbc.lock
	@echo 'hatchling>=1.27' | $(BIN)/uv pip compile - --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -c requirements.lock -o runner/build.lock
