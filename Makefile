# On a fresh machine `make run` serves the product and `make test` tests it; both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TESTABLE := $(VENV)/.testable
WHAT_IS_INSTALLED := pyproject.toml sdk/pyproject.toml constraints.txt

.PHONY: install run demo test lint images bench soak clean

install: $(INSTALLED)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "handraise needs Python 3.11 or newer; run make with PYTHON=/path/to/it"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(BIN)/python $(WHAT_IS_INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[postgres]' -e 'sdk[receipts]'
	@touch $@

$(TESTABLE): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]' -e 'sdk[receipts]'
	@touch $@

run: $(INSTALLED)
	@$(BIN)/handraise-bot serve

demo: $(INSTALLED)
	@$(BIN)/python -m demo

lint: $(TESTABLE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	@$(BIN)/python -m tests.support.browsers
	$(BIN)/pytest -n 2 --dist loadgroup -m "not soak"

soak: $(TESTABLE)
	$(BIN)/pytest -m soak -s

images: $(TESTABLE)
	@$(BIN)/python -m tests.support.browsers
	$(BIN)/python -m tests.support.pictures

bench: $(TESTABLE)
	$(BIN)/python -m bench.cycle
	$(BIN)/python -m bench.timers
	$(BIN)/python -m bench.relay
	$(BIN)/python -m bench.inbox

clean:
	rm -rf $(VENV) build *.egg-info sdk/src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .testdata
