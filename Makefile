# From a fresh clone, with git, make and python3 (3.11 or newer, with venv and pip) alone:
#
#   make all     makes .venv, then rebuilds every experiment whose results are not up to date
#   make test    makes .venv, then runs every test     (make test ARGS="-m 'not slow'" for fewer)
#   make ui      shows the runs in MLflow's pages      (make ui PORT=5001 for another port)
#   make lint    checks style, types and the workflow
#   make lock    pins the dependencies anew            (make lock ARGS=--upgrade for newer ones)
#   make clean   removes what `make all` made, but for .venv
#   make env     makes .venv and nothing else; `source .venv/bin/activate` enters it
#
# Another Python than the first on the path: make all PYTHON=python3.12

PYTHON ?= python3
PORT ?= 5000
ARGS ?=

# Snakemake's scripts and the tests start further commands of the environment by their bare names.
IN_ENV = PATH="$$PWD/.venv/bin:$$PATH"

.PHONY: all test ui lint lock clean env anew
.NOTPARALLEL:
.DEFAULT_GOAL := all

all: .venv/.runtime
	$(IN_ENV) .venv/bin/snakemake all $(ARGS)

test: .venv/.dev
	$(IN_ENV) .venv/bin/pytest $(ARGS)

lint: .venv/.dev
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/snakefmt --check Snakefile workflow
	$(IN_ENV) .venv/bin/snakemake --lint
	.venv/bin/mypy

# A server shows its own pages. MLflow's default store is mlflow.db in the folder it is started in.
# One person looks: one worker and no job runners start in a third of the time of MLflow's defaults.
ui: .venv/.runtime
	@store="$${MLFLOW_TRACKING_URI:-sqlite:///mlflow.db}"; \
	case "$$store" in http:*|https:*) echo "The runs are at $$store"; exit 0;; esac; \
	echo "Opening the runs in $$store at http://127.0.0.1:$(PORT) (Ctrl-C ends it)"; \
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false exec .venv/bin/mlflow ui --workers 1 \
	  --host 127.0.0.1 --port $(PORT) --backend-store-uri "$$store"

clean:
	@echo "Removing: results/ (but for its README.md), logs/, mlflow.db, mlruns/, mlartifacts/, .snakemake/"
	@if [ -d results ]; then find results -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +; fi
	@rm -rf logs mlflow.db mlflow.db-* mlruns mlartifacts .snakemake

# ---- The environment ------------------------------------------------------------------------------
#
# One environment that grows: the runtime lock for `make all`, the development lock, which holds the
# same pins and more, for `make test` and `make lint`. A package that somebody adds by hand stays.
# The files .venv/.runtime and .venv/.dev say what is installed; nothing is done while they are newer
# than the lock.

env: .venv/.runtime

# Bytecode is compiled here, once: where Python may not write it, each start would take thrice as long.
# What a build needs (our own and that of the few packages without a ready one) is held to the lock too.
define install
	@echo "Installing $(1) into .venv"
	@python="$$(cd .venv && pwd -P)/bin/python" && \
	uv() { "$${python%python}uv" pip install --quiet --python "$$python" --no-deps \
	  --build-constraint $(1) "$$@"; } && \
	{ uv --require-hashes --compile-bytecode -r $(1) || { \
	  echo "If a package could not be built: $$($$python -V) has no ready build of it. Install a C" \
	       "compiler and Python's headers (on Debian and Ubuntu: gcc python3-dev), or take" \
	       "a Python that has one: make PYTHON=python3.13" >&2; exit 1; }; } && \
	uv --editable .
endef

.venv/.runtime: .venv/.place requirements.lock pyproject.toml
	$(call install,requirements.lock)
	@touch $@

.venv/.dev: .venv/.place requirements-dev.lock pyproject.toml
	$(call install,requirements-dev.lock)
	@touch .venv/.runtime $@

# .venv/.place names the folder the environment was made for. Its scripts hold absolute paths, so a
# project that was moved or copied needs another one, and so does a project whose Python has gone.
ifneq ($(shell test -x .venv/bin/python && cat .venv/.place 2>/dev/null),$(CURDIR))
.venv/.place: anew
endif

.venv/.place:
	$(check_python)
	$(new_venv)
	@sed -n '/^uv==/,/^ *#/p' requirements.lock > .venv/uv.txt
	@.venv/bin/python -m pip install --quiet --require-hashes --no-deps -r .venv/uv.txt
	@pwd -P > $@

# From NEWEST on, the locked packages have no ready builds yet.
OLDEST = 3, 11
NEWEST = 3, 15

define check_python
	@command -v "$(PYTHON)" > /dev/null || { \
	  echo "kalibre needs Python 3.11 or newer, and there is no $(PYTHON) here." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(not ($(OLDEST)) <= sys.version_info < ($(NEWEST)))' || { \
	  echo "kalibre needs a Python from 3.11 to 3.14; $(PYTHON) is $$("$(PYTHON)" -V 2>&1)." \
	       "Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2> /dev/null || { \
	  echo "$(PYTHON) lacks its modules venv and ensurepip." \
	       "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
endef

# Snakemake cannot start a script when the path of the Python it runs in holds a space or another
# character that means something to a shell. Then the environment lies in the user's cache folder, and
# .venv is a link to it. An environment without .venv/.place was made by hand and is only added to.
ODD = *[[:space:]\'\"\$$\&\;\(\)\<\>\|\*\?\`\\]*

define new_venv
	@here="$$(pwd -P)"; place=.venv; \
	case "$$here" in $(ODD)) \
	  place="$${XDG_CACHE_HOME:-$$HOME/.cache}/kalibre/$$(printf %s "$$here" | cksum | tr ' ' -)"; \
	  case "$$place" in $(ODD)) \
	    echo "Snakemake cannot run from a path such as \"$$here\", nor can its environment be put" \
	         "in \"$$place\". Move the project, or set XDG_CACHE_HOME to a path without spaces." >&2; \
	    exit 1;; esac;; esac; \
	if [ -e .venv/.place ] || [ ! -e .venv ]; then rm -rf .venv; fi; \
	if [ "$$place" != .venv ]; then \
	  if [ -d .venv ] && [ ! -L .venv ]; then \
	    echo "Snakemake cannot use .venv in a path such as \"$$here\". Remove .venv and run make" \
	         "again: it will put the environment in \"$$place\"." >&2; exit 1; fi; \
	  rm -rf .venv "$$place" && mkdir -p "$$place" && ln -s "$$place" .venv || exit 1; fi; \
	echo "Making an environment in $$place with $$("$(PYTHON)" -V)"; \
	"$(PYTHON)" -m venv "$$place"
endef

# ---- The locks ------------------------------------------------------------------------------------

# One version of each package for all systems and Pythons, by its hash, and no address.
COMPILE = .venv/bin/uv pip compile pyproject.toml --group build --quiet $(ARGS) \
  --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: .venv/.place
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --extra dev --constraint requirements.lock --output-file requirements-dev.lock
