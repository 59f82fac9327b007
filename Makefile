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

# The tables of docs/results: clock speed and area of every block, proofs, rates, and the peers beside
# them. Takes hours; what is finished is kept under .build/synth, so that it may be stopped.
SYNTH = $(BIN)/minmip synth --jobs 2 --table docs/results/synth.csv
# Blocks that fit the part of the peers' figures.
SMALLER := address_generator arbiter atomic_memory clear_engine coordinate descriptor_decode \
	gradient host_port lod memory_port queue rescale stage stream_fork stream_join
figures: setup
	$(SYNTH) --block rescale --preset small --seeds 5 \
		--part ice40-hx8k --part ice40-up5k --part gowin-gw2a --part xilinx-xc7
	$(SYNTH) --block memory_port --preset small --seeds 3 \
		--part ice40-hx8k --part gowin-gw2a --part xilinx-xc7
	$(SYNTH) $(SMALLER:%=--block %) --part ecp5-25k --grade 6 --grade 8 --seeds 5
	$(SYNTH) --block footprint --block filter_unit --preset small --part ecp5-25k \
		--grade 6 --grade 8 --seeds 3
	$(SYNTH) --block all --preset small --grade 6 --grade 8 --seeds 3
	$(SYNTH) --block all --grade 6 --grade 8 --seeds 5
	$(SYNTH) --block texture_addresser --preset small --grade 6 --grade 8 --seeds 5
	$(BIN)/minmip formal --table docs/results/formal.csv
	$(BIN)/minmip rates --table docs/results/rates.csv
	$(BIN)/minmip peers --out docs/results --page docs/results.md

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml .ci/system-packages
	@PYTHON="$(PYTHON)" sh .ci/system-packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) .build out build *.egg-info
