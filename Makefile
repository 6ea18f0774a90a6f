# Every command a developer needs. `make help` lists them.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
export GOFLAGS ?= -mod=readonly -buildvcs=false

BIN := bin
CONTROLLER_GEN := $(BIN)/controller-gen
GOLANGCI_LINT := $(BIN)/golangci-lint
KARMADACTL := $(BIN)/karmadactl
TEST_TIMEOUT ?= 40m
FUZZTIME ?= 1m

##@ General

.PHONY: help
help: ## Say what can be made.
	@awk 'BEGIN {FS = ":.*##"; print "Usage: make <target>"} \
		/^[a-zA-Z_-]+:.*?##/ { printf "  %-14s %s\n", $$1, $$2 } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Run a Workload in two cities on a local federation, from nothing to nothing. KEEP=1 leaves it running.
	@go run ./cmd/federation demo $(if $(KEEP),--keep)

##@ Development

.PHONY: build
build: ## Build every binary into bin/.
	go build -o $(BIN)/ ./cmd/...

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Make what is made from the sources: deepcopy functions, CRDs, RBAC, the customization in Lua.
	$(CONTROLLER_GEN) object paths=./api/... paths=./milo
	$(CONTROLLER_GEN) crd:generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir=api/crds
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-hub paths=./hub/access/hub output:rbac:dir=hub/access/hub
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-project paths=./hub/access/project output:rbac:dir=hub/access/project
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-cell paths=./cell/access output:rbac:dir=cell/access
	go run ./hack/customization interpreter/customization

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the sources.
	$(GOLANGCI_LINT) fmt ./...

##@ Tests

.PHONY: test
test: verify lint unit features ## Run everything that CI runs.

.PHONY: verify
verify: ## Fail when something generated is not what the sources make.
	@hack/verify.sh

.PHONY: lint
lint: $(GOLANGCI_LINT) lint-lua ## Check style, mistakes and who imports whom.
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...

.PHONY: lint-lua
lint-lua: $(KARMADACTL) ## Let karmadactl check the customization in Lua.
	$(KARMADACTL) interpret -f interpreter/customization/customization.yaml --check

.PHONY: unit
unit: ## Run the tests that need no federation.
	go test -timeout $(TEST_TIMEOUT) $$(go list ./... | grep -v /features)

.PHONY: features
features: ## Run every scenario on a local federation. TAGS='@name' runs some.
	go test -count=1 -timeout $(TEST_TIMEOUT) -v ./features $(if $(TAGS),-args --godog.tags='$(TAGS)')

.PHONY: bench
bench: ## Measure admission and the way of a status to the hub. On a machine that does nothing else: docs/benchmarks.md says what it found here.
	go run ./bench latency
	go run ./bench throughput
	go run ./bench projects
	go run ./bench interpreter
	go test -run '^$$' -bench BenchmarkOperations -benchtime 1s ./interpreter

.PHONY: fuzz
fuzz: ## Fuzz whatever reads bytes from outside, FUZZTIME (1m) each.
	@for fuzz in FuzzAdmission:./webhook FuzzWorkload:./webhook/validation FuzzHandler:./interpreter FuzzAnswers:./milo; do \
		echo "$$fuzz"; go test -run '^$$' -fuzz "^$${fuzz%%:*}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$${fuzz##*:}" || exit 1; \
	done

##@ Local federation

.PHONY: up
up: ## Start a local federation with the add-on and leave it running.
	@go run ./cmd/federation up --add-on

.PHONY: down
down: ## Stop it.
	@go run ./cmd/federation down

.PHONY: clean
clean: ## Remove what was built here. Binaries of Kubernetes and Karmada stay in the user's cache.
	rm -rf $(BIN)

$(CONTROLLER_GEN): hack/tools/codegen/go.mod hack/tools/codegen/go.sum
	@echo "building controller-gen"
	@go build -C hack/tools/codegen -trimpath -o $(CURDIR)/$@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOLANGCI_LINT): hack/tools/lint/go.mod hack/tools/lint/go.sum
	@echo "building golangci-lint (a few minutes the first time)"
	@go build -C hack/tools/lint -trimpath -ldflags "-s -w" -o $(CURDIR)/$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# With the flags of federation/binaries.go, so that both share what is compiled.
$(KARMADACTL): hack/tools/karmada/go.mod hack/tools/karmada/go.sum
	@echo "building karmadactl (a few minutes the first time)"
	@go build -C hack/tools/karmada -trimpath -ldflags "-s -w" -o $(CURDIR)/$@ github.com/karmada-io/karmada/cmd/karmadactl
