# Everything runs in .venv, which is made when it is missing or older than what it is made of; no activation needed.

PYTHON ?= python3
# nproc heeds OMP_NUM_THREADS, which says nothing about jobs.
CORES ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || sysctl -n hw.ncpu)
VENV := .venv
BIN := $(VENV)/bin
# Jobs may take this machine's memory together and no more (MB; empty where it cannot be found out).
MEMORY := $(shell { cat /proc/meminfo 2>/dev/null || sysctl hw.memsize; } | \
    awk '/^MemTotal/ {print int($$2 / 1024)} /^hw.memsize/ {print int($$2 / 1048576)}')
SNAKEMAKE := $(BIN)/snakemake --resources gpu=1 $(if $(MEMORY),mem_mb=$(MEMORY)) --cores $(CORES)
# Where containers set this, every job would compile all that it imports anew: four seconds each.
unexport PYTHONDONTWRITEBYTECODE
# Extra arguments for Snakemake, such as ARGS="--config skip=pokec-z,pokec-n"
ARGS ?=
# What runs nothing makes no report: n also among other letters, as -pn.
LETTERS := $(filter-out --%,$(filter -%,$(ARGS)))
DRY := $(strip $(filter --dry-run --dryrun --unlock,$(ARGS)) $(foreach word,$(LETTERS),$(findstring n,$(word))))
# Run the workflow with some arguments, and make the report when it has ended, where it wrote.
define RUN
results=$$($(BIN)/python -m tools.results_dir $(1) $(ARGS)) && \
    $(SNAKEMAKE) $(1) $(if $(DRY),,--report "$$results/report.html" --report-after-run) $(ARGS)
endef

.PHONY: help env demo own paper evidence publish test test-gpu test-slow test-cluster lint format analyses bench bench-gpu schema api lock clean

help: ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

env: $(VENV)/.complete ## Make .venv with the pinned requirements and this package

$(VENV)/.complete: requirements.lock envs/torch.lock envs/torch-cpu.lock pyproject.toml
	@sh tools/env.sh $(PYTHON)

# The columns of the comparison that fit a screen.
table = grep -s '^|' "$$results/tables/comparison.md" | cut -d'|' -f-$(1)

# The comparison first, which is there after a minute, then all the rest.
demo: env ## Run the whole workflow on small generated data sets, in three minutes
	@echo "Every method on two small generated graphs: first the comparison, in about a minute on two cores."
	$(if $(ARGS),,@results=results/demo; $(SNAKEMAKE) --configfile configs/demo.yaml -- $$results/tables/comparison.md && \
	    $(call table,6) && echo "Now every other table and figure: another minute or two.")
	@$(call RUN,--configfile configs/demo.yaml)$(if $(DRY),, && $(call table,6) && \
	    echo "These numbers mean nothing: generated graphs, few people, two splits. They show that everything runs." && \
	    echo "One page with everything: $$results/report.html.")

# The file that says what your data are: a copy of configs/own.yaml.
OWN ?= my.yaml
own: env ## Compare GAT, simpler methods and FairGAT on your own data, as my.yaml says (docs/own.md)
	@test -e "$(OWN)" || { echo "There is no $(OWN). Copy it: cp configs/own.yaml '$(OWN)', and change four lines." >&2; exit 1; }
	@# The data first: then a run trains nothing again that a mistake in $(OWN), once mended, leaves as it was.
	@$(if $(DRY),,$(SNAKEMAKE) --configfile configs/more-methods.yaml "$(OWN)" $(ARGS) --until split -- all study >/dev/null 2>&1 || true)
	@$(call RUN,--configfile configs/more-methods.yaml "$(OWN)") -- all study$(if $(DRY),, && $(call table,8) && \
	    { grep -E '^(In bold|Nothing is marked)' "$$results/tables/comparison.md" || :; } && \
	    echo "Every difference:" "$$results"/studies/*/table.md && \
	    echo "One page with everything: $$results/report.html" && \
	    $(BIN)/python -m tools.visible "$$results"/studies/*/differences.csv)

paper: env ## Run the paper's whole experiment
	@$(call RUN,)

# The studies, each with the overlays that it is laid over, and their folder.
# The matched placebo before dose, whose part it is: the audit and the provenance that stay are those of the whole.
B := beyond/studies
MORE := $B/extended+configs/more-methods
STUDIES := $B/epochs $B/pokec-structural $B/links-control configs/more-methods+$B/when $(MORE)+$B/trade-off \
    $(addprefix $(MORE)+$B/newer-methods+$B/,more-data groups dose+$B/placebo-matched dose)

evidence: env ## Run most studies of docs/evidence.md one after the other; finished runs are kept. Reports: results/STUDY.html
	@trap 'exit 130' INT; failed=; for overlays in $(STUDIES); do study=$$(basename $$overlays); \
	    $(SNAKEMAKE) --configfile $$(echo "$$overlays.yaml" | sed 's/+/.yaml /g') \
	    $(if $(DRY),,--report results/$$study.html --report-after-run) $(ARGS) -- study provenance || \
	    failed="$$failed $$study"; \
	done; test -z "$$failed" || { echo "Not finished:$$failed. Run it again to go on." >&2; exit 1; }

# The folder `studies` of a run.
FROM ?= results/reference/studies
analyses: env ## Draw what single studies need from their published CSV files: FROM=results/dose/studies
	$(BIN)/python -m beyond.analyses $(FROM)

# README's picture has the planned study in it, which stays where a run is published over another one.
publish: env ## Finish the run and copy it to results/reference
	results=$$($(BIN)/python -m tools.results_dir $(ARGS)) && \
	    $(SNAKEMAKE) $(ARGS)$(if $(DRY),, && $(BIN)/fairgat publish --results-dir "$$results" && \
	    if test -e "$$results/reference/studies/centring"; then \
	    $(BIN)/python -m beyond.analyses.verdict "$$results/reference" docs/verdict.svg; \
	    else echo "docs/verdict.svg stays: $$results/reference has no planned study."; fi)

# Validates RO-Crates in a test; in another environment, as it wants another version of rich than Snakemake's logger.
.crate-validator: | env
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet --disable-pip-version-check roc-validator==0.13.0 || \
	    { rm -rf $@; echo "roc-validator cannot be installed; the test of RO-Crates will be skipped."; }

test: env lint .crate-validator ## Check style, then run the unit tests and the demo's: eight minutes on two cores
	$(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=worksteal -m 'not slow' $(ARGS)

# Triton's interpreter, where there is no GPU: its wheel unpacks to 1 GB, and stays out of .venv. With PyTorch for CUDA
# comes a Triton that belongs to it.
.gpu-test: | env
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target $@ triton==3.9.0

test-gpu: env ## Test kernels and trainings on a GPU; without one only the kernels, by Triton's interpreter
	if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then \
	    $(BIN)/pytest tests/unit/nn/test_gpu.py tests/gpu $(ARGS); else \
	    $(MAKE) .gpu-test && TRITON_INTERPRET=1 PYTHONPATH=.gpu-test $(BIN)/pytest tests/unit/nn/test_gpu.py $(ARGS); fi

test-slow: env ## Disturb runs, follow the longest pages of docs/, time the layers once: ten minutes
	$(BIN)/pytest -m slow $(ARGS)

test-cluster: env ## Start a two-node Slurm on this machine (Debian 12, as root), run the workflow through it, and disturb it
	$(BIN)/pytest tests/cluster $(ARGS)

lint: env ## Check style, the direction of imports, types and the workflow's form
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/snakemake --lint

# DGL is only a peer in the benchmark: it stays out of .venv, in a folder that only its process reads.
.bench-peers: | env
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target $@ dgl==2.1.0 || \
	    echo "DGL cannot be installed for this Python; its rows will say so."

bench: env .bench-peers ## Time the attention layers and write docs/performance.md (half an hour, with the machine to itself)
	for graph in recidivism small growth; do $(BIN)/python benchmarks/turns.py $$graph $(ARGS) || exit 1; done
	$(BIN)/python benchmarks/page.py

bench-gpu: env ## Time the attention layers on a GPU and write docs/performance.md's part on it (five minutes)
	$(BIN)/python benchmarks/gpu.py $(ARGS)
	$(BIN)/python benchmarks/page.py

format: env ## Put all code into form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

schema: env ## Write schemas/ from the models in fairgat/config/
	$(BIN)/python -m tools.schema schemas/config.schema.json

api: env ## Write docs/api.md from the docstrings of fairgat.nn
	$(BIN)/python -m tools.api docs/api.md

lock: env ## Write requirements.lock and envs/ from what .venv holds, with all hashes
	$(BIN)/python -m tools.requirements

clean: ## Start over: remove .venv, downloaded data and all results of runs but the published ones, results/reference
	@$(PYTHON) tools/clean.py
	@test -e results/reference || echo "results/reference is missing, which Git keeps: git checkout results/reference"
