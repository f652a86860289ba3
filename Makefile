# Two commands for a fresh machine: `make demo` and `make test`. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: demo test test-slow lint check-python clean

demo: $(INSTALLED)
	$(BIN)/python -m experiments.demo

test: $(INSTALLED) lint
	$(BIN)/python -m pytest

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m "slow or not slow"

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The environment is made anew when what it should hold has changed.
$(INSTALLED): pyproject.toml constraints.txt | check-python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,study,dev]'
	touch $(INSTALLED)

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "This Python lacks venv. Debian, Ubuntu: apt install python3-venv"; exit 1; }

clean:
	rm -rf $(VENV) build dist *.egg-info
