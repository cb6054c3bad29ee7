# Every target sets up what it needs, and does nothing twice.

RUNTIME ?= docker
TOPOLOGY ?= tree-13
SCHEME ?= covering-active
CLUSTER ?= lab
SCHEDULES ?= 5000

# Debian's own Python is built with optimisations that a Python in /usr/local often lacks; brokers feel the difference.
SUITABLE := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in /usr/bin/python3 python3; do \
	$$python -c '$(SUITABLE)' 2>/dev/null && echo $$python && exit; done; echo python3)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.complete
REQUIREMENTS := requirements/build.txt requirements/all.txt
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-input
APT_INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends
IMAGE := $(if $(filter docker,$(RUNTIME)),image)

.DEFAULT_GOAL := help
.PHONY: help setup image demo cluster-up cluster-down test browser screenshot lint bench bench-matching bench-audit bench-sim mutants soak paper-xroute papers docs clean requirements check-runtime

help: ## show this list
	@echo "make TARGET [RUNTIME=docker|process|sim] [TOPOLOGY=$(TOPOLOGY)] [SCHEME=$(SCHEME)] [PYTHON=python3]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make .venv with brokerlab and its pinned dependencies in it

$(STAMP): pyproject.toml $(REQUIREMENTS)
	@$(call ensure,$(PYTHON) -c '$(SUITABLE)',python3-venv,Python 3.11 or later with venv (PYTHON= names another))
	@$(PYTHON) -c '$(SUITABLE)' 2>/dev/null
	@$(call ensure,$(JAVA_IS_NEW_ENOUGH),default-jre-headless,Java 17 or later (the audit needs it))
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned dependencies into $(VENV) (two minutes when it is new)"
	@$(PIP_INSTALL) --require-hashes --requirement requirements/build.txt
	@# No build isolation: it would fetch tools that are not pinned.
	@$(PIP_INSTALL) --require-hashes --no-build-isolation --requirement requirements/all.txt
	@PYTHONWARNINGS=ignore $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# $(call ensure,test,Debian package,what it is for people): installs the package where we may, else tells.
define ensure
{ $(1); } >/dev/null 2>&1 \
|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing $(2)" \
     && { $(APT_INSTALL) $(2) || { apt-get update --quiet=2 && $(APT_INSTALL) $(2); }; } >/dev/null 2>&1; } \
|| echo "missing: $(3); on Debian: apt-get install $(2)" >&2
endef

JAVA_IS_NEW_ENOUGH = test "$$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')" -ge 17

check-runtime:
	@case "$(RUNTIME)" in docker|process|sim) ;; \
	*) echo "RUNTIME=$(RUNTIME) is unknown: docker, process or sim" >&2; exit 64;; esac

image: $(STAMP) ## build the brokers' image, if its inputs changed
	@$(BIN)/brokerlab image build

demo: check-runtime $(STAMP) $(IMAGE) ## break a network of 13 brokers on purpose, and see the verdict
	@$(BIN)/brokerlab campaign run demo --runtime $(RUNTIME)

cluster-up: check-runtime $(STAMP) $(IMAGE) ## start a cluster and leave it running
	@$(BIN)/brokerlab up $(TOPOLOGY) --scheme $(SCHEME) --runtime $(RUNTIME) --name $(CLUSTER)

cluster-down: $(STAMP) ## remove that cluster
	@$(BIN)/brokerlab down $(CLUSTER)

browser: ## what the tests look at the pages with
	@$(call ensure,command -v chromium && command -v chromedriver,chromium chromium-driver fonts-dejavu-core,Chromium with chromedriver (the tests open the report in it))

screenshot: $(STAMP) browser ## draw docs/report.png anew
	@$(BIN)/python -m tests.screenshot docs/report.png

test: lint browser ## lint, then all tests, containers included
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint: $(STAMP) ## style, types, and who may import whom
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## measure, with a baseline from the same run beside each figure
	@$(BIN)/python -m tests.bench

bench-matching: $(STAMP) ## our indexes beside their naive twins and other ways, up to 100,000 filters (minutes)
	@$(BIN)/python -m tests.bench mixed equality patterns covering sizes

bench-audit: $(STAMP) ## audit generated logs of 10^5, 10^6 and 10^7 lines, beside DuckDB (up to an hour; LINES="1e5 1e6")
	@$(BIN)/python -m tests.bench.auditing $(LINES)

bench-sim: $(STAMP) ## events per second of a simulated network, beside a bare event loop
	@$(BIN)/python -m tests.bench sim

mutants: $(STAMP) ## let the campaigns convict deliberately wrong schemes and links in the simulator (minutes)
	@$(BIN)/python -m tests.mutants

soak: $(STAMP) ## random fault schedules with fresh seeds in the simulator (SCHEDULES=5000 for each scheme)
	@$(BIN)/brokerlab campaign soak --fresh --schedules $(SCHEDULES)

paper-xroute: $(STAMP) ## repeat XROUTE's experiment: table sizes up to 50,000 subscriptions (minutes)
	@$(BIN)/brokerlab paper xroute

papers: paper-xroute ## repeat the experiments of all papers there are

docs: $(STAMP) ## write the pages that are derived from code
	@$(BIN)/python -m controller.logformat > docs/log-format.md
	@$(BIN)/python -m controller.campaigns.describing > docs/campaigns.md
	@$(BIN)/python -m controller.workloads.describing > docs/workloads.md
	@$(BIN)/brokerlab topology gallery

clean: ## remove what brokerlab left running, and caches; .venv, images and runs stay
	@if test -x $(BIN)/brokerlab; then $(BIN)/brokerlab clean; fi
	@rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf spark-warehouse metastore_db derby.log
	@find node controller tests -name __pycache__ -prune -exec rm -rf {} +

COMPILE = env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND="make requirements" $(BIN)/pip-compile --quiet \
	--generate-hashes --strip-extras --allow-unsafe --no-build-isolation \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options

requirements: $(STAMP) ## pin anew what pyproject.toml asks for (UPGRADE=--upgrade for newer versions; minutes)
	@$(COMPILE) $(UPGRADE) --output-file requirements/build.txt requirements/build.in
	@$(COMPILE) $(UPGRADE) --output-file requirements/node.txt pyproject.toml
	@$(COMPILE) $(UPGRADE) --extra controller --extra dev --output-file requirements/all.txt pyproject.toml
