# Each target is all the set-up that it needs: Python 3.11 with venv, and make.
.DEFAULT_GOAL := help
.PHONY: help install demo test check bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

install: ## make the environment and install the locked packages
	@scripts/install

demo: install ## run the demonstration; ARGS='--data FILE' passes arguments on
	@scripts/demo $(ARGS)

test: install ## run the whole test suite; ARGS='-k word' passes arguments on
	@scripts/test $(ARGS)

check: install ## lint, format, types, floors, dependencies, version
	@scripts/check

bench: install ## list the benchmarks; ARGS='NAME' runs one
	@scripts/bench $(ARGS)

clean: ## remove everything that was built or cached here
	@rm -rf .venv .venvs build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench/cache
	@find src tests scripts $(wildcard bench) -type d -name __pycache__ -prune -exec rm -rf {} +
