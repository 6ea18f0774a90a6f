# Every command a developer needs. `make help` lists them.
SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
# Without paths in binaries, this checkout, others and the tool modules share what is compiled.
export GOFLAGS ?= -mod=readonly -buildvcs=false -trimpath

BIN := bin
CONTROLLER_GEN := $(BIN)/controller-gen
CLIENT_GEN := $(BIN)/client-gen
GOLANGCI_LINT := $(BIN)/golangci-lint
CRD_REF_DOCS := $(BIN)/crd-ref-docs
VALE := $(BIN)/vale
COSIGN := $(BIN)/cosign
# PROSE are the pages that the prose linter reads. The reference has the help of flags and metrics, the texts of reasons, and the
# doc comments of the API.
PROSE := README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md ROADMAP.md SECURITY.md $(wildcard docs/*.md) docs/contributing docs/how-to docs/runbooks docs/tutorial docs/reference \
	$(filter-out docs/decisions/README.md,$(wildcard docs/decisions/*.md)) charts/karmada-compute/README.md charts/karmada-compute/templates/NOTES.txt
# SPEAKING have the texts that users see: errors, conditions, events, log lines. Of the folders in COMMENTED, and of tests, the prose linter reads
# the comments alone.
SPEAKING := addon api cell cli cmd/internal cmd/karmada-compute cmd/karmada-compute-cell hub internal interpreter milo namespaces policies webhook
COMMENTED := charts cmd/karmadactl cmd/kubectl-compute hack test testenv
TEST_TIMEOUT ?= 120m
FUZZTIME ?= 1m
COUNT ?= 1
VERSION ?= v0.0.0-devel
PLATFORMS ?= linux/amd64,linux/arm64
OUT ?= $(BIN)/images
SITE ?= $(BIN)/site
# RELEASE is the folder of a release, REGISTRY what users pull its images and chart from.
RELEASE ?= $(BIN)/release
REGISTRY ?= ghcr.io/karmada-compute
# MODULES are the modules beside the product's whose sources the linters check.
MODULES := api test hack/tools/gitops hack/tools/images
# API is the path of the module of the types, BOILERPLATE the header of its generated files.
API := github.com/karmada-compute/karmada-compute/api
BOILERPLATE := $(CURDIR)/hack/boilerplate.go.txt
# go vet runs with the linters. Twice as many packages as cores: most wait for their API servers. A fifth of the CPU time is saved
# by tests and API servers that collect garbage less often, and a second of each package by binaries without debug information.
UNIT = GOGC=400 go test -ldflags=-w -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) -vet=off -timeout $(TEST_TIMEOUT)
LONG := '^TestLong'
# NAMES are the tests that `make test` leaves to `make test-all`, as an alternative of a regular expression.
NAMES := $$(grep '^Test' $(CURDIR)/hack/later.txt | paste -sd '|' -)
# packages lists the packages of a module whose tests have a name. The product's module has two folders with modules of their own.
packages = $$(grep -rlE --include='*_test.go' --exclude-dir=test --exclude-dir=tools "^func ($(1))\(" . | xargs -rn1 dirname | sort -u)
MODEL = go test -count=1 -timeout 30m -run 'TestModel|TestLong' -v
SIMULATION = -args -model.steps=$(or $(STEPS),1000000) -model.seed=$(or $(SEED),1)
# Compilers that collect garbage less often take a third less time.
BUILD := GOGC=400 go build
SMALL := -trimpath -ldflags "-s -w"

##@ General

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*##"; print "Usage: make <target>"} \
		/^[a-zA-Z_-]+:.*?##/ { printf "  %-14s %s\n", $$1, $$2 } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Start a local federation, run the tutorial on it, stop it. KEEP=1 leaves it and the Workload running, CONTAINERS=1 runs containers, and opens the Workload by its name, PROJECTS=namespaces runs without Milo.
	@echo "Building what the demo needs; with nothing cached that takes some minutes."
	@go run ./hack/federation demo $(if $(KEEP),--keep) $(if $(CONTAINERS),--containers) $(if $(filter namespaces,$(PROJECTS)),--without-milo)

##@ Development

.PHONY: build
build: ## Build every binary into bin/.
	@# karmadactl takes the images of Karmada's own addons from Karmada's version.
	go build -ldflags "-X github.com/karmada-io/karmada/pkg/version.gitVersion=$$(go list -m -f '{{.Version}}' github.com/karmada-io/karmada)" -o $(BIN)/ ./cmd/...

.PHONY: images
images: ## Build OCI images of both binaries into OUT=bin/images, without an engine. VERSION, PLATFORMS, PUSH=registry/prefix.
	@go run -C hack/tools/images . --source=$(CURDIR) --version=$(VERSION) --platforms=$(PLATFORMS) --out=$(abspath $(OUT)) $(if $(PUSH),--push=$(PUSH))

.PHONY: release
release: $(COSIGN) ## Build a release of the tagged commit into RELEASE=bin/release. VERSION, PUSH=registry/prefix, REGISTRY, KEY=path or keyless.
	@version=$(if $(filter file,$(origin VERSION)),$$(git describe --tags --exact-match --match='v[0-9]*'),$(VERSION)) && \
	go run -C hack/tools/images . release --source=$(CURDIR) --version="$$version" --registry=$(or $(PUSH),$(REGISTRY)) --out=$(abspath $(RELEASE)) \
		--cosign=$(abspath $(COSIGN)) $(if $(PUSH),--push=$(PUSH)) $(if $(KEY),--key=$(KEY)) $(if $(BUILDER),--builder=$(BUILDER))

.PHONY: release-test
release-test: $(COSIGN) ## Release the commit for this platform, verify it, and install it on a federation of its own, from its registry and its archives alone. ALL=1 releases for every platform.
	KARMADA_COMPUTE_COSIGN=$(abspath $(COSIGN)) KARMADA_COMPUTE_PLATFORMS=$(if $(ALL),all) go test -C hack/tools/images -count=1 -timeout $(if $(ALL),2h,$(TEST_TIMEOUT)) -v -run TestInstallRelease .

.PHONY: generate
generate: $(CONTROLLER_GEN) $(CLIENT_GEN) $(CRD_REF_DOCS) ## Generate deepcopy functions, apply configurations, the typed client, CRDs, RBAC, the customization in Lua, the chart's files, its dashboards and the reference.
	cd api && $(CURDIR)/$(CONTROLLER_GEN) object paths=./v1alpha
	cd api && $(CURDIR)/$(CONTROLLER_GEN) applyconfiguration:headerFile=$(BOILERPLATE) paths=./v1alpha
	cd api && $(CURDIR)/$(CLIENT_GEN) --go-header-file=$(BOILERPLATE) --clientset-name=client --fake-clientset=false --input-base= --input=$(API)/v1alpha \
		--apply-configuration-package=$(API)/applyconfiguration --output-dir=. --output-pkg=$(API)
	$(CONTROLLER_GEN) object paths=./milo/...
	cd api && $(CURDIR)/$(CONTROLLER_GEN) crd:generateEmbeddedObjectMeta=true paths=./v1alpha output:crd:dir=crds
	go run ./hack/descriptions api/crds
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-hub paths=./hub/access/hub output:rbac:dir=hub/access/hub
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-namespace paths=./hub/access/namespace output:rbac:dir=hub/access/namespace
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-webhook paths=./hub/access/webhooks/hub output:rbac:dir=hub/access/webhooks/hub
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-webhook paths=./hub/access/webhooks/project output:rbac:dir=hub/access/webhooks/project
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-sessions paths=./hub/access/sessions/hub output:rbac:dir=hub/access/sessions/hub
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-sessions-server paths=./hub/access/sessions/server output:rbac:dir=hub/access/sessions/server
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-sessions-streams paths=./hub/access/sessions/streams output:rbac:dir=hub/access/sessions/streams
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-sessions-project paths=./hub/access/sessions/project output:rbac:dir=hub/access/sessions/project
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-project paths=./hub/access/project output:rbac:dir=hub/access/project
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-namespaces paths=./hub/access/namespaces output:rbac:dir=hub/access/namespaces
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-consumer paths=./hub/access/consumers/consumer output:rbac:dir=hub/access/consumers/consumer
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-viewer paths=./hub/access/consumers/viewer output:rbac:dir=hub/access/consumers/viewer
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-types paths=./hub/access/consumers/types output:rbac:dir=hub/access/consumers/types
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-cell paths=./cell/access output:rbac:dir=cell/access
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-cell-streams paths=./cell/access/streams output:rbac:dir=cell/access/streams
	$(CONTROLLER_GEN) rbac:roleName=karmada-compute-cell-sessions paths=./cell/access/sessions output:rbac:dir=cell/access/sessions
	go run ./hack/customization interpreter/customization
	go run ./hack/chart
	go run ./hack/reasons
	go run ./hack/metrics
	go run ./hack/flags
	go run ./hack/commands
	go run ./hack/fields
	$(CRD_REF_DOCS) --log-level=ERROR --renderer=markdown --source-path=api/v1alpha --max-depth=30 --output-path=docs/reference/api.md \
		--config=hack/tools/reference/config.yaml --templates-dir=hack/tools/reference/templates
	go run ./hack/dashboards

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the sources.
	$(GOLANGCI_LINT) fmt ./...

##@ Tests

.PHONY: presubmit
presubmit: $(GOLANGCI_LINT) ## Check what differs from BASE=origin/main: generated files, lint and tests of changed packages and their importers.
	hack/presubmit.sh $(BASE)

.PHONY: test
test: binaries verify lint unit main ## Run verify, lint, unit tests, and the scenarios of the main path of a Workload.

.PHONY: test-all
test-all: test later ## Run `make test`, and then all other tests and scenarios but the long ones: everything that CI runs for each change.
	@go run ./hack/federation binaries --dns
	@$(MAKE) --no-print-directory features TAGS='~@main && ~@long'

.PHONY: main
main: ## Run the scenarios tagged @main.
	@$(MAKE) --no-print-directory features TAGS=@main

.PHONY: core
core: ## Run the scenarios tagged @core: the main path of every capability.
	$(CORE)

.PHONY: binaries
binaries: ## Build the binaries that a federation runs, unless they are cached.
	@go run ./hack/federation binaries

.PHONY: verify
verify: ## Fail when generated files are out of date.
	@hack/verify.sh

.PHONY: lint
lint: $(GOLANGCI_LINT) lint-lua lint-prose ## Run the linters, import rules among them.
	GOGC=200 $(GOLANGCI_LINT) run --allow-parallel-runners ./...
	@for module in $(MODULES); do \
		(cd $$module && GOGC=200 $(CURDIR)/$(GOLANGCI_LINT) run --allow-parallel-runners --config=$(CURDIR)/.golangci.yaml ./...) || exit 1; \
	done

.PHONY: lint-lua
lint-lua: ## Check the customization in Lua with karmadactl.
	@karmadactl=$$(go run ./hack/federation tool karmadactl) && \
	$$karmadactl interpret -f interpreter/customization/customization.yaml --check

.PHONY: lint-prose
lint-prose: $(VALE) ## Check the English of the pages, of generated texts, of messages and comments in the code, and of the scenarios. The rules are in hack/prose.
	$(VALE) --config=hack/prose/vale.ini --output=line $(PROSE)
	@go run ./hack/prose $(BIN)/texts $(SPEAKING) -- $(COMMENTED)
	@mkdir -p $(BIN)/texts/features && for feature in features/*.feature; do cp $$feature $(BIN)/texts/$$feature.txt; done
	$(VALE) --config=hack/prose/vale.ini --output=line $(BIN)/texts

.PHONY: rules
rules: ## Test the alerts with promtool.
	@promtool=$$(go run ./hack/federation tool promtool) && $$promtool test rules charts/rules.test.yaml

.PHONY: lua
lua: ## Run the interpreter's tests on the Lua of each older version of Karmada in hack/tools.
	@for lua in $$(for module in hack/tools/karmada-*; do go list -C $$module -m github.com/yuin/gopher-lua; done | sort -u | tr ' ' @); do \
		echo "$$lua"; mkdir -p $(BIN)/lua && cp go.mod $(BIN)/lua/go.mod && sort -u go.sum hack/tools/karmada-*/go.sum > $(BIN)/lua/go.sum && \
		go mod edit -replace=$${lua%@*}=$$lua $(BIN)/lua/go.mod && go test -modfile=$(BIN)/lua/go.mod -vet=off ./interpreter || exit 1; \
	done

.PHONY: unit
unit: rules ## Run unit tests, reconcilers against a real kube-apiserver among them.
	$(UNIT) -skip "^(TestLong.*|$(NAMES))$$" ./...
	go test -C api -vet=off ./...
	cd test && $(UNIT) -skip "^(TestLong.*|$(NAMES))$$" $$(go list ./... | grep -v /features)
	go test -C hack/tools/gitops -vet=off ./...

.PHONY: later
later: lua ## Run the unit tests that `make test` leaves out: hack/later.txt, helm, the prose linter, and the interpreter on older versions of Karmada.
	$(UNIT) -run "^($(NAMES))$$" $(call packages,$(NAMES))
	cd test && $(UNIT) -run "^($(NAMES))$$" $(call packages,$(NAMES))
	go test -C hack/tools/helm -count=1 -timeout $(TEST_TIMEOUT) ./...
	go test -C hack/tools/prose -count=1 -timeout $(TEST_TIMEOUT) ./...

.PHONY: long
long: ## Run what takes long, before a release: TestLong… of each package, the tests of images and releases, and the scenarios tagged @long.
	$(UNIT) -run $(LONG) $(call packages,TestLong.*)
	cd test && $(UNIT) -run $(LONG) $(call packages,TestLong.*)
	go test -C hack/tools/images -count=1 -timeout $(TEST_TIMEOUT) ./...
	@go run ./hack/federation binaries --dns
	@$(MAKE) --no-print-directory features TAGS=@long

.PHONY: features
features: ## Run the scenarios on local federations. TAGS='@name' selects some, COUNT=20 repeats them.
	go test -C test -count=1 -timeout $(if $(filter 1,$(COUNT)),$(TEST_TIMEOUT),0) -v ./features -args --repeat=$(COUNT) $(if $(EARLIER),--earlier=$(EARLIER)) $(if $(TAGS),--godog.tags='$(TAGS)')

.PHONY: compatibility
compatibility: ## Run the scenarios tagged @core on every version of Karmada, and of Kubernetes in cells, in hack/tools. KARMADA=1.17 or CELLS=1.26 selects one, KARMADA_SOURCE=folder a checkout of Karmada.
	@for version in $(if $(KARMADA_SOURCE),$(abspath $(KARMADA_SOURCE)),$(if $(CELLS),$(KARMADA),$(or $(KARMADA),$(patsubst hack/tools/karmada-%,%,$(wildcard hack/tools/karmada-*))))); do \
		echo "Karmada $$version"; $(CORE) --godog.tags=@core --karmada-version=$$version || exit 1; \
	done
	@for version in $(if $(KARMADA)$(KARMADA_SOURCE),$(CELLS),$(or $(CELLS),$(patsubst hack/tools/kubernetes-%,%,$(wildcard hack/tools/kubernetes-*)))); do \
		echo "Kubernetes $$version in the cells"; $(CORE) --godog.tags='@core && ~@containers' --cell-kubernetes-version=$$version || exit 1; \
	done

# CORE runs scenarios on other versions. Those tagged @containers need kubelets of the version in go.mod.
CORE = go test -C test -count=1 -timeout $(TEST_TIMEOUT) -v ./features -args

.PHONY: docs
docs: ## Run the commands of pages on the federation of `make up`, and compare what they print. PAGES='docs/tutorial/*.md' selects some.
	go test -C test -count=1 ./docs
	go run -C test ./cmd/docs $(addprefix ../,$(or $(PAGES),docs/tutorial/first-workload.md))

.PHONY: site
site: ## Build the documentation as a site with a search into SITE=bin/site. Any web server serves the folder.
	go run -C test ./cmd/site .. $(abspath $(SITE))
	@echo "The site is in $(SITE). To read it: python3 -m http.server --directory $(SITE) --bind 127.0.0.1"

.PHONY: bench
bench: ## Measure admission, creation, the guard of the hub, and the interpreter's operations, on an idle machine. Results: docs/benchmarks.md.
	go run -C test ./bench latency
	go run -C test ./bench ready
	go test -run '^$$' -bench BenchmarkOperations -benchtime 1s ./interpreter
	go test -run '^$$' -bench BenchmarkGuard -benchtime 3x ./charts

.PHONY: bench-quick
bench-quick: ## Print the ratios to the floors at small sizes, in 2 minutes, on an idle machine.
	go run -C test ./bench latency --n=300 --warmup=50
	go run -C test ./bench ready --n=10 --warmup=3 --burst=20

.PHONY: model
model: ## Check rollouts and the protocol of the disruption budget by random simulations: STEPS=1000000 from SEED=1.
	cd test && $(MODEL) ./model $(SIMULATION)

.PHONY: fuzz
fuzz: ## Fuzz what parses external input, FUZZTIME (1m) each.
	@for fuzz in FuzzAdmission:./webhook FuzzWorkload:./webhook/validation FuzzPath:./webhook/server FuzzDecode:./webhook/rotation/certificates FuzzHandler:./interpreter FuzzAnswers:./milo \
		FuzzIndices:./internal/wire FuzzStatus:./internal/wire FuzzSlice:./internal/wire FuzzReport:./hub/path FuzzCellStatus:./hub/collector FuzzAggregateStatus:./interpreter \
		FuzzRequest:./hub/sessions FuzzFrames:./hub/sessions FuzzConvert:./cli/convert FuzzRefusal:./internal/naming FuzzAnswer:./hub/names; do \
		echo "$$fuzz"; go test -run '^$$' -fuzz "^$${fuzz%%:*}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$${fuzz##*:}" || exit 1; \
	done

.PHONY: soak
soak: ## Kill processes of a federation while Workloads change, and compare all planes after. SEED=1, DURATION=5m, PROJECTS=namespaces without Milo, ARGS=--help for more. FAULTS=rollout: each process is down during one rollout with a budget. FAULTS=year: the moves of an operator. FAULTS=silence: parts are away while a client sends requests to a name.
	@go run ./hack/federation soak $(if $(FAULTS),--faults=$(FAULTS)) $(if $(SEED),--seed=$(SEED)) $(if $(DURATION),--duration=$(DURATION)) $(if $(filter namespaces,$(PROJECTS)),--without-milo) $(ARGS)

.PHONY: hostile
hostile: ## Have hostile parties (consumers, a cell, a user and an agent of the hub, a neighbour) write at random all that they may, and compare what is not theirs. SEED=1, DURATION=5m, PROJECTS=namespaces without Milo, ARGS=--help for more.
	@go run ./hack/federation hostile $(if $(SEED),--seed=$(SEED)) $(if $(DURATION),--duration=$(DURATION)) $(if $(filter namespaces,$(PROJECTS)),--without-milo) $(ARGS)

##@ Local federation

.PHONY: up
up: ## Start a local federation with the add-on and leave it running. CONTAINERS=1 gives its cells nodes that run containers, PROJECTS=namespaces starts no Milo, DNS=1 gives them load balancers and names.
	@go run ./hack/federation up --add-on $(if $(CONTAINERS),--containers) $(if $(DNS),--dns) $(if $(filter namespaces,$(PROJECTS)),--without-milo)

.PHONY: down
down: ## Stop it.
	@go run ./hack/federation down

.PHONY: clean
clean: ## Remove bin/. The binaries of a federation stay in the cache of the user.
	rm -rf $(BIN)

$(CONTROLLER_GEN): hack/tools/codegen/go.mod hack/tools/codegen/go.sum
	@echo "building controller-gen"
	@$(BUILD) -C hack/tools/codegen $(SMALL) -o $(CURDIR)/$@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(CLIENT_GEN): hack/tools/codegen/go.mod hack/tools/codegen/go.sum
	@echo "building client-gen"
	@$(BUILD) -C hack/tools/codegen $(SMALL) -o $(CURDIR)/$@ k8s.io/code-generator/cmd/client-gen

$(CRD_REF_DOCS): hack/tools/reference/go.mod hack/tools/reference/go.sum
	@echo "building crd-ref-docs"
	@$(BUILD) -C hack/tools/reference $(SMALL) -o $(CURDIR)/$@ github.com/elastic/crd-ref-docs

$(GOLANGCI_LINT): hack/tools/lint/go.mod hack/tools/lint/go.sum
	@echo "building golangci-lint (a few minutes the first time)"
	@$(BUILD) -C hack/tools/lint $(SMALL) -o $(CURDIR)/$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VALE): hack/tools/prose/go.mod hack/tools/prose/go.sum
	@echo "building vale"
	@$(BUILD) -C hack/tools/prose $(SMALL) -o $(CURDIR)/$@ github.com/vale-cli/vale/v3/cmd/vale

$(COSIGN): hack/tools/cosign/go.mod hack/tools/cosign/go.sum
	@echo "building cosign (some minutes the first time)"
	@$(BUILD) -C hack/tools/cosign $(SMALL) -o $(CURDIR)/$@ github.com/sigstore/cosign/v3/cmd/cosign
