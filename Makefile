# Six recipes; hooks and CI call the same ones. Each sets up what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SITE := $(BIN)/sphinx-build -q -W --keep-going -b html docs build/site
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

check: $(READY)  ## Format, lint, types, import contracts, workflows, image, generated docs, the docs' site
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-actions action.yml runner/action.yml
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/actionlint .github/workflows/*.yml
	@$(BIN)/zizmor --offline --quiet --config .github/zizmor.yml .github/workflows action.yml runner/action.yml
	@$(BIN)/shellcheck tools/install tools/servers tools/release/*.sh runner/*.sh .ci/run
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/python tools/generate_docs.py --check
	@$(SITE)

engines: $(READY) ## The contract suite over every engine that can be started or is given
	@tools/servers
	@$(BIN)/python -m pytest -q tests/engines $(PYTEST)

docs: $(READY)   ## Regenerate what the docs show of the code, and build their site in build/site
	@$(BIN)/python tools/generate_docs.py
	@$(SITE)

image:           ## The container image
	docker build --tag nl2sql-gate $(BUILD) .

lock: $(READY)   ## Resolve dependencies again
	@$(BIN)/uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements-dev.lock
	@echo 'mssql-python-odbc>=18.5' | $(BIN)/uv pip compile - --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -o requirements-microsoft-odbc.lock
	@echo 'hatchling>=1.27' | $(BIN)/uv pip compile - --universal --generate-hashes --no-emit-index-url --no-annotate --upgrade -q -c requirements.lock -o runner/build.lock
