# The two commands: `make run` does the main job on the built-in scene, `make test` runs the tests.
# Both set up what is missing first: system packages where that is allowed, then a virtual
# environment.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out
ARGS ?=

.PHONY: run test lint types measure figures setup clean

run: setup
	$(BIN)/minmip run builtin --out $(OUT) $(ARGS)

test: setup
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/pyright

# The figures that README and docs quote.
measure: setup
	$(BIN)/minmip measure $(ARGS)
	$(BIN)/minmip measure-hw $(ARGS)

# The tables of docs/results: clock speed and area of every block, and every proof. Takes hours.
figures: setup
	$(BIN)/minmip synth --block all --preset full --part ecp5-85k --part ecp5-25k --grade 6 --grade 8 \
		--seeds 5 --jobs 2 --table docs/results/synth.csv
	$(BIN)/minmip formal --table docs/results/formal.csv

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml .ci/system-packages
	@PYTHON="$(PYTHON)" sh .ci/system-packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) .build out build *.egg-info
