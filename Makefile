# `make demo` and `make test` do all the set-up they need. `make check test` is what CI runs.
PYTHON3 := $(shell command -v python3 || command -v python3.13 || command -v python3.12 || command -v python3.11)
BIN := .venv/bin
ARGS ?=
# Most tests wait for processes, so more of them than cores run at once.
WORKERS ?= $(shell expr 3 \* `nproc`)

.PHONY: help demo test check format lock install runtime services bench screenshots torture torture-ssh clean

help:
	@echo "make demo     try Tarmac in a throw-away home (simulated GPUs where there are none)"
	@echo "make test     run every test; make test ARGS='-k kill -x' runs some"
	@echo "make check    formatting, lint, types (of the page as well), import arrows, the agent's oldest Python"
	@echo "make bench    latencies as ratios to this machine's own limits, waits beside textbook schedulers"
	@echo "make screenshots  pictures of the page, in build/screenshots and docs/images"
	@echo "make torture  1,000 kills over 10,000 jobs"
	@echo "make torture-ssh  200 cuts and 200 kills of links to four nodes"
	@echo "make lock     renew requirements.lock: the newest versions that pyproject.toml allows"
	@echo "make format   apply the formatter;  make clean removes .venv and caches"

demo: runtime
	@$(BIN)/python tools/demo.py

test: install services
	@$(BIN)/python tests/precompile.py
	@$(BIN)/python tests/in_turn.py -n $(WORKERS) --dist loadscope --no-loadscope-reorder $(ARGS)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/vermin --quiet --no-tips --violations --target=3.8- src/tarmac/agent src/tarmac/shared
	$(BIN)/python tools/page_types.py

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: install
	@$(BIN)/python tools/lock.py

bench: install services
	@$(BIN)/python -m bench $(ARGS)

screenshots: install services
	@$(BIN)/python tools/screenshots $(ARGS)

torture: install services
	@$(BIN)/python -m tests.faults.torture $(ARGS)

torture-ssh: install services
	@$(BIN)/python -m tests.ssh.torture $(ARGS)

install:
	@$(PYTHON3) tools/bootstrap.py dev

runtime:
	@$(PYTHON3) tools/bootstrap.py

services: install
	@$(BIN)/python tests/services.py

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
