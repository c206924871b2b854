# Everything a contributor types. Needs only make and a Python of 3.11 or later.
#   make setup TORCH=default   takes the torch build that pip finds by itself (CUDA on Linux)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TORCH ?= cpu
TORCH_CPU_INDEX ?= https://download.pytorch.org/whl/cpu
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# A file's tests share what they start, so they stay together, in the order that tests/conftest.py
# puts them; one process after another: JOBS=0.
JOBS ?= 2
PYTEST ?= $(BIN)/python -m pytest -rs -n $(JOBS) --dist loadfile --no-loadscope-reorder

# No test may reach for a model hub, and a PostgreSQL in a test wants a private runtime folder.
# Tests in several processes have one core each: more threads would wait for one another, spinning.
OFFLINE := HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=1
IN_RUNTIME_DIR := export XDG_RUNTIME_DIR=$$(mktemp -d); trap 'rm -rf "$$XDG_RUNTIME_DIR"' EXIT;

.PHONY: help setup demo test test-fast check format bench bench-smoke docs-check wheel-test clean

help:
	@echo "make setup        create .venv with everything that server, training and tests need"
	@echo "make demo         see the whole loop work on recorded agent runs"
	@echo "make test         every test;  make test-fast leaves out the slow ones"
	@echo "make check        style, types and layers;  make format mends the style"
	@echo "make docs-check   is every setting, route, error code and flag documented?"
	@echo "make wheel-test   does the wheel install as the client alone?"
	@echo "make bench-smoke  a few minutes of measuring;  make bench, up to an hour"
	@echo "make clean        remove .venv and whatever the tools left behind"

setup: $(READY)

# torch goes first: the CPU build where pip's own index has it, else from PyTorch's index.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "memserver needs Python 3.11 or later; say which: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV); the first time takes a few minutes."
ifeq ($(TORCH),cpu)
	@$(PIP) torch==2.13.0+cpu 2>/dev/null || $(PIP) --extra-index-url $(TORCH_CPU_INDEX) torch==2.13.0
else
	@$(PIP) torch==2.13.0
endif
	@$(PIP) -e '.[server,train,dev]'
	@touch $@

demo: $(READY)
	$(BIN)/memserver demo

test: $(READY)
	@$(IN_RUNTIME_DIR) $(OFFLINE) $(PYTEST) $(ARGS)

test-fast: $(READY)
	@$(IN_RUNTIME_DIR) $(OFFLINE) $(PYTEST) -m "not slow" $(ARGS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs-check: $(READY)
	@$(OFFLINE) $(BIN)/python -m pytest -rs tests/docs $(ARGS)

wheel-test: $(READY)
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(BIN)/python -m build --wheel --no-isolation --outdir "$$work" . >"$$work/log" || { cat "$$work/log"; exit 1; }; \
	$(PYTHON) -m venv "$$work/venv"; \
	"$$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$$work"/*.whl; \
	cd "$$work" && venv/bin/python -I "$(CURDIR)/tests/wheel/check_wheel.py" *.whl

bench: $(READY)
	@$(PIP) -e '.[bench]'
	$(BIN)/memserver-bench all --json

bench-smoke: $(READY)
	$(BIN)/memserver-bench smoke --json

clean:
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
