# `make demo` and `make test` do all the set-up they need; `make check` is what CI runs first.
PYTHON3 := $(shell command -v python3 || command -v python3.13 || command -v python3.12 || command -v python3.11)
BIN := .venv/bin

.PHONY: demo test check install bench torture clean

install:
	@$(PYTHON3) tools/bootstrap.py dev

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
