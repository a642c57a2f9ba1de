# Two commands for a newcomer: `make demo` and `make test`. Both set up everything they need.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
export PYTHONDONTWRITEBYTECODE :=
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: ready ## the whole pipeline, offline, on the sample bank
	@$(VENV)/bin/guildhall demo

test: ready ## every check: ruff, mypy --strict, pytest, the wheel
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@types=$$(mktemp); $(VENV)/bin/mypy >"$$types" 2>&1 & checking=$$!; failed=0; \
	trap 'kill $$checking 2>/dev/null || true; rm -f "$$types"' EXIT; \
	$(PY) -m pytest -n 2 --dist loadgroup || failed=$$?; \
	wait $$checking || failed=$$?; cat "$$types"; exit $$failed

prove: ready ## the full form of every claim; ONLY=name... narrows it, BUDGET=seconds limits it
	@$(PY) -m proofs --tier prove $(if $(ONLY),--only "$(ONLY)") $(if $(BUDGET),--budget $(BUDGET)) $(if $(FORCE),--force)

torture: ready ## hundreds of faults on both databases: nothing acknowledged may be lost or doubled
	@$(PY) -m proofs --tier prove --only scale-torture --force

bench: ready ## every figure side by side with its peers
	@$(PY) -m proofs --tier bench $(if $(ONLY),--only "$(ONLY)") $(if $(BUDGET),--budget $(BUDGET)) $(if $(FORCE),--force)

audit: ready ## ask the advisory service about every pinned package; a skipped one fails
	@$(VENV)/bin/uvx pip-audit --strict --disable-pip --require-hashes -r requirements/all.txt

docs: ready ## build the documentation site into site/
	@$(PY) scripts/reference.py
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

lock: ready ## pin every dependency again, with hashes and without hosts
	@$(VENV)/bin/uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes \
	  --upgrade --quiet -o requirements/all.txt
	@$(VENV)/bin/uv pip compile pyproject.toml --universal --generate-hashes \
	  --constraint requirements/all.txt --quiet -o requirements/core.txt
	@$(VENV)/bin/uv pip compile pyproject.toml --extra observe --extra postgres --extra providers --extra ray --extra s3 --universal \
	  --generate-hashes --constraint requirements/all.txt --quiet -o requirements/server.txt
	@! grep -nE 'https?://' requirements/*.txt

format: ready ## let ruff rewrite what it can
	@$(VENV)/bin/ruff check --fix . ; $(VENV)/bin/ruff format .

ready: ## set up the machine and .venv (seconds when nothing changed)
	@scripts/setup

clean: ## remove everything the targets made
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .hypothesis demo-workspace

.PHONY: help demo test prove torture bench audit docs lock format ready clean
