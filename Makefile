# `.ci/environment` sets up `.venv`; what is here runs in it. Every path is relative, so that a checkout in a folder with
# a space in its name works.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test check bench clean
SHELL := /bin/sh
PY := .venv/bin/python

# The shell reads ARGS as a command line; make must not expand what is in it.
export DECODESCOPE_MAKE_ARGS := $(value ARGS)
EXAMPLE := Why is the sky blue?
WORKERS := -n auto --dist worksteal

help:
	@printf '%s\n' \
	  'make run     set up, then open the scope on the demo model with an example question;' \
	  '             make run ARGS='"'"'-m my.gguf "hello"'"'"' passes arguments to decodescope' \
	  'make test    set up with the test tools, then run the whole suite' \
	  'make check   lint, formatting, types and import contracts' \
	  'make bench   measure what watching costs, beside the targets' \
	  'make clean   remove the virtual environment and what tools left behind' \
	  '' \
	  'PYTHON=python3.12 make run               chooses the Python (3.11 or newer)' \
	  'CMAKE_ARGS="-DGGML_CUDA=on" make run     builds llama.cpp for a GPU (README.md has the others)'

run:
	@PYTHON='$(PYTHON)' sh .ci/environment run
	@if [ -n "$$DECODESCOPE_MAKE_ARGS" ]; then eval "set -- $$DECODESCOPE_MAKE_ARGS"; else set -- -m demo '$(EXAMPLE)'; fi; \
	unset DECODESCOPE_MAKE_ARGS; exec $(PY) -m decodescope "$$@"

test:
	@PYTHON='$(PYTHON)' sh .ci/environment test
	@$(PY) -m pytest $(WORKERS) $(PYTEST_ARGS)

check:
	@PYTHON='$(PYTHON)' sh .ci/environment test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports

bench:
	@PYTHON='$(PYTHON)' sh .ci/environment test
	@$(PY) -m benchmarks $(BENCH_ARGS)

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache snapshot_report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
