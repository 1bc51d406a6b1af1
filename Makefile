# Tombolo. `make help` lists the targets; the text behind ## is the help.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
TOMBOLO := bin/tombolo

# Kustomize can load plugins of Go, which nobody uses here: with them the linker keeps what
# nobody calls, which is half of a program and of the time to link it.
TAGS := kustomize_disable_go_plugin_support
# One set of compiler flags for the program, its tools, its tests and what these build, so that
# what they share is compiled once (ADR 11): a package is compiled anew for other flags. Nobody
# debugs here, so there are no tables for debuggers, and only Go's own library is inlined: both
# take a third off compiling. Without a symbol table, which traces of a panic do not need, linking
# bin/tombolo takes a fifth less, and functions that are aligned to 16 bytes in place of 32 take
# 2 MB off it. -trimpath has a copy of the checkout use what the checkout has compiled. DEBUG=1
# leaves them out, for a debugger; `eval "$$(make env)"` has go run use them.
FLAGS := -trimpath '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false '-ldflags=-s -funcalign=16' -tags=$(TAGS)
ifeq (,$(DEBUG)$(findstring -dwarf=false -l,$(GOFLAGS)))
export GOFLAGS := $(shell $(GO) env GOFLAGS) $(FLAGS)
endif
# Tests are linked without the tables of debuggers, and the linter vets them: both would
# take minutes of a run from nothing.
TEST := -vet=off -ldflags=-s -tags $(TAGS)
# Compilers, the linter and what the lab starts live for minutes: with memory to spare they need
# not collect garbage so often. A cluster's life in the lab takes an eighth less of the
# processors. At its peak a run has 9 GB.
LESS_GARBAGE = GOGC="$${GOGC:-400}"
# The packages with tests in the lab, whose other tests run with these; and all others, whose
# tests need no lab and run before. tests/lab takes longer than the rest together, and begins
# first: the others fill the time in which it waits.
LAB_PACKAGES = ./tests/lab $(shell grep -rl --include='*_test.go' '^//go:build lab$$' automation lab tests tools/build tools/release | xargs -n1 dirname | sort -u | sed 's|^|./|' | grep -vx ./tests/lab)
UNIT_PACKAGES = $(filter-out $(LAB_PACKAGES:./%=tombolo/%),$(shell $(GO) list ./...))

##@ The two commands

CLUSTER ?= demo

.PHONY: demo
demo: ## Build what clusters/demo.yaml asks for, start the lab, deploy it, verify it (CLUSTER=argocd, CLUSTER=aks: other files)
	@$(GO) run ./tools/build -cluster $(CLUSTER) -program
	@$(TOMBOLO) up $(CLUSTER) --lab --yes --verify

# A test of the lab that has passed with the same inputs is not run again (tests/record);
# TOMBOLO_TEST_FRESH=1 runs it.
LAB_TEST = $(LESS_GARBAGE) TOMBOLO_TEST_RECORD=1 $(GO) tool gotestsum --format standard-verbose --jsonfile bin/lab-tests.json -- $(TEST),lab -count=1 -p 2 -parallel 4

.PHONY: test
test: tools-test test-packages ## Run every unit and command-line test, and the lab's short tier
	$(LAB_TEST) -short -timeout 60m $(LAB_PACKAGES)

.PHONY: test-all
test-all: tools-test test-packages test-rules ## Run those, the lab's long tests and the alert rules; no browser and no linter
	$(LAB_TEST) -timeout 90m $(LAB_PACKAGES)

##@ The lab

.PHONY: demo-down
demo-down: build ## Destroy the demo cluster and remove the whole lab
	@if [ -e .lab ]; then $(TOMBOLO) destroy $(CLUSTER) --lab --yes --leftovers delete; fi
	@$(TOMBOLO) lab down

##@ Build

.PHONY: setup
setup: ## Build what you need for the lab: tools and bin/tombolo
	@$(GO) run ./tools/build -program

.PHONY: setup-aws
setup-aws: build ## Build what you need for AWS: bin/tombolo, the Pulumi CLI, kubectl; install the plugins
	@$(GO) run ./tools/build -for aws
	@PATH="$(CURDIR)/.tools/bin:$$PATH" $(TOMBOLO) plugins install

.PHONY: setup-azure
setup-azure: setup-aws ## Build what you need for Azure: the same, and kubelogin
	@$(GO) run ./tools/build -for azure

.PHONY: tools
tools: ## Build the lab's pinned tools into .tools (once; cached by their go.sum)
	@$(GO) run ./tools/build

.PHONY: tools-argocd
tools-argocd: ## Build Argo CD and its tools, for clusters with that engine
	@$(GO) run ./tools/build -for argocd

.PHONY: tools-azure
tools-azure: ## Build what clusters in Azure need in the lab: kubelogin, and no Node.js
	@$(GO) run ./tools/build -for azure

.PHONY: tools-secrets
tools-secrets: ## Build Sealed Secrets and External Secrets, for clusters with these addons
	@$(GO) run ./tools/build -for secrets

.PHONY: tools-test
tools-test: ## Build every tool that tests need, and bin/tombolo
	@$(GO) run ./tools/build -for test -program

.PHONY: env
env: ## Print the flags that all of this is compiled with, for a shell: eval "$(make env)"
	@printf 'export GOFLAGS="%s"\n' "$${GOFLAGS:-}"

.PHONY: build
build: ## Build bin/tombolo (DEBUG=1: for a debugger)
	@$(GO) run ./tools/build -for program

##@ Releases

.PHONY: release
release: ## Make a release of the commit that is checked out: bin/release (docs/guide/releases.md)
	@$(GO) run ./tools/release -base "$(IMAGE_BASE)"

.PHONY: release-tools
release-tools: ## Build the lab's tools, and those of jobs, for the release $TAG: archives for this platform into bin/release-tools
	@$(GO) run ./tools/build -for release -pack bin/release-tools -release "$${TAG:-}"

# The archives of what jobs run are built beside a release: their checksums go to its others, by which
# projects pin both.
define release-sums
	@cd bin/release && sha256sum --check --quiet SHA256SUMS
	@for sums in $$(cd bin/release-tools 2>/dev/null && LC_ALL=C ls | grep '^tombolo-tools_.*\.sha256$$' || true); do \
		(cd bin/release-tools && sha256sum --check --quiet "$$sums"); cat "bin/release-tools/$$sums" >>bin/release/SHA256SUMS; done
endef

.PHONY: release-check
release-check: ## Compare bin/release with a second build in bin/release-again, and with its checksums
	@cmp bin/release/SHA256SUMS bin/release-again/SHA256SUMS
	$(release-sums)

.PHONY: release-publish
release-publish: ## Publish bin/release as the release of the tag $TAG at GitHub, by gh
	$(release-sums)
	@gh release create "$$TAG" --verify-tag --title "$$TAG" --notes-file bin/release/NOTES.md \
		bin/release/*.tar.gz bin/release/*.cdx.json bin/release/SHA256SUMS bin/release-tools/* bin/attestation/*

.PHONY: release-image
release-image: ## Copy the operator's image of bin/release to $IMAGE:$TAG
	@cd bin/release && sha256sum --check --quiet SHA256SUMS
	@$(GO) run ./tools/release -push "$${IMAGE@L}:$$TAG"

##@ Development

.PHONY: test-unit
test-unit: ## Run the tests that need no tools, no lab and no network
	$(GO) test -tags $(TAGS) ./...

# No test of these packages looks at -short.
.PHONY: test-packages
test-packages:
	$(LESS_GARBAGE) $(GO) tool gotestsum --format pkgname -- $(TEST) $(UNIT_PACKAGES)
	$(GO) -C tools/awsmodels test $(TEST) -count=1 ./...
	$(GO) -C tools/azuremodels test $(TEST) -count=1 ./...
	$(GO) -C tools/externalsecrets test $(TEST) -count=1 ./policy

# Three modules of their own: to compile these engines takes minutes.
.PHONY: test-rules
test-rules: ## Run the alert rules of the trees in the engines of Prometheus and Loki, on what kube-state-metrics makes
	for module in state rules logrules; do $(LESS_GARBAGE) $(GO) -C tools/$$module test $(TEST) -count=1 ./...; done

MINUTES ?= 15
BASE ?=

.PHONY: test-rest
test-rest: tools-test ## Run, of what make test leaves out, what a change touches and a fifth (MINUTES=15 BASE=HEAD~3)
	$(GO) run ./tools/choose -minutes "$(MINUTES)" -base "$(BASE)" -- env $(LAB_TEST)

.PHONY: test-browser
test-browser: ## Open the pages of status and preview in Chromium (docs/guide/watching.md#watching-a-fleet)
	$(GO) test $(TEST),browser -count=1 -run Browser ./cmd/tombolo/cli/status ./cmd/tombolo/cli/review

# A seed that was not tried yet, unless somebody gives one to repeat a run.
SEED ?= $(shell date +%s)
TREES ?= 300

.PHONY: check-corpus
check-corpus: tools-test ## Give random trees to check and to the real engines, and compare (SEED=7 TREES=300)
	TOMBOLO_TEST_SEED="$(SEED)" TOMBOLO_TEST_TREES="$(TREES)" $(LESS_GARBAGE) $(GO) test $(TEST),lab -count=1 -v -timeout 60m ./tests/engines

MUTATIONS ?=
TABLE ?= bin/mutations.md

.PHONY: mutate
mutate: ## Take out one behaviour at a time, and see whether its test fails (MUTATIONS=A7,B2: some rows; LAB=1: those of the lab, too)
	@mkdir -p $(dir $(TABLE))
	$(LESS_GARBAGE) $(GO) run ./tools/mutate -only "$(MUTATIONS)" $(if $(LAB),-lab) -table "$(TABLE)" -- -ldflags=-s

FUZZ_TIME ?= 30s

.PHONY: fuzz
fuzz: ## Give what reads text of others any text, FUZZ_TIME for each reader; make test reads the known texts
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		for test in $$(grep -rhoE '^func Fuzz[A-Za-z]+' "$$dir"/*_test.go | sed 's/^func //'); do \
			echo "► $$dir $$test"; $(GO) test -run none -fuzz "^$$test\$$" -fuzztime $(FUZZ_TIME) "$$dir" || exit 1; \
		done; \
	done

.PHONY: plugins-lock
plugins-lock: build ## Write down the digests of plugins that are not known yet (docs/guide/releases.md#plugins)
	@$(GO) run ./tools/pluginlock

# FROM= is a checkout of the repository that calls.json, or types.json, names. Default: download.
.PHONY: aws-models
aws-models: ## Read again what AWS's API models say of the calls in lab/aws/apimodel/calls.json
	$(GO) run -C tools/awsmodels . $(if $(FROM),-from $(abspath $(FROM))) ../../lab/aws/apimodel

.PHONY: azure-models
azure-models: ## Read again what Microsoft's descriptions say of the types in lab/azure/apimodel/types.json
	$(GO) run -C tools/azuremodels . $(if $(FROM),-from $(abspath $(FROM))) ../../lab/azure/apimodel

.PHONY: fresh
fresh: ## Run the README's commands in a new clone, with an empty home and no caches, and write docs/guide/lab.md's table
	@GOFLAGS= tools/fresh.sh -table docs/guide/lab.md

.PHONY: fresh-all
fresh-all: ## The same with every test
	@GOFLAGS= tools/fresh.sh -all

.PHONY: upstream
upstream: tools-argocd ## Compare the pinned charts with what is known of them, into bin/upstream.md
	@$(GO) build -tags $(TAGS) -o bin/ ./tools/upstream
	@PATH="$(CURDIR)/.tools/bin:$$PATH" bin/upstream -report bin/upstream.md || test $$? -eq 9

BENCHSTAT := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
ROUNDS ?= 1
# What is measured has Go's garbage collector as people have it.
MEASURE = env -u GOGC -u GOMEMLIMIT $(GO) test $(TEST) -run '^$$' -bench '(?i)$(or $(BENCH),.)' -benchtime 1x -count $(ROUNDS) -timeout 0 ./tools/bench

.PHONY: bench
bench: tools-test ## Measure fleets, driver, scheduler, systems and rebuilds: docs/performance.md (BENCH=Start ROUNDS=31: one part)
	$(GO) build -tags $(TAGS) -o bin/ ./cmd/program
	$(if $(BEFORE),TOMBOLO_BENCH_CHECKOUT="$(abspath $(BEFORE))" $(MEASURE) | tee bin/before.txt)
	$(MEASURE) | tee bin/bench.txt
	@$(GO) run $(BENCHSTAT) -ignore /first $(if $(BEFORE),before=bin/before.txt) now=bin/bench.txt

.PHONY: lint
lint: ## Check style, import arrows and formatting
	@$(GO) run ./tools/build -for lint
	@$(LESS_GARBAGE) .tools/bin/golangci-lint run --build-tags $(TAGS),lab,browser,lint ./...
	$(GO) test $(TEST),lint -count=1 ./tests/arrows

.PHONY: fmt
fmt: ## Format the Go code
	@$(GO) run ./tools/build -for lint
	@.tools/bin/golangci-lint fmt ./...

.PHONY: clean
clean: ## Remove what was built in the checkout (the tool cache stays)
	rm -rf bin .tools

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
