# Needs Go, make and git. Other tools are installed into .tools/ or, if only the
# system has a package for them, with apt-get if that is permitted.

SHELL := bash
export GOBIN := $(CURDIR)/.tools
# -trimpath lets all checkouts share one build cache.
export GOFLAGS := $(GOFLAGS) -trimpath
# If git refuses to answer (the checkout has another owner), build without the commit.
ifeq ($(shell git rev-parse HEAD 2>/dev/null),)
export GOFLAGS := $(GOFLAGS) -buildvcs=false
endif
# How long each fuzz target runs: make fuzz FUZZTIME=1m
FUZZTIME ?= 4s
# How much the benchmarks measure: make bench SIZE=full
SIZE ?= short

.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: build
build: ## build bin/skein, in pure Go
	CGO_ENABLED=0 go build -o bin/skein ./cmd/skein

.PHONY: run
run: build ## build, import the sessions on this machine (or samples), and open the dashboard
	@scripts/run

.PHONY: stop
stop: ## stop the server that run started
	@scripts/stop

.PHONY: test
test: ## run all tests in their short form: do this before a push
	@scripts/step "test"
	@scripts/test

.PHONY: long
long: ## run all tests in full, except those that race runs in full
	@scripts/step "long"
	@scripts/test long

.PHONY: check
check: tidy format vet lint long race cross cgo bench-check adapters clients ## run every check and every test, as CI does
	@echo "all checks passed"

.PHONY: tidy
tidy: ## check that go.mod is tidy
	@scripts/step "tidy"
	@go mod tidy -diff
	@cd bench && go mod tidy -diff
	@cd bench/leaks && go mod tidy -diff
	@cd integrations/adkgo && go mod tidy -diff

.PHONY: format
format: ## check that the code is formatted
	@scripts/step "format"
	@scripts/tool gofumpt v0.12.0 mvdan.cc/gofumpt
	@scripts/format

.PHONY: vet
vet: ## run go vet
	@scripts/step "vet"
	@go vet ./...

.PHONY: lint
lint: ## run golangci-lint
	@scripts/step "lint"
	@scripts/tool golangci-lint v2.15.0 github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@.tools/golangci-lint run -c scripts/golangci.yml ./...

.PHONY: race
race: ## run the tests of concurrent code with the race detector
	@scripts/step "race"
	@scripts/test race

.PHONY: programs
programs: ## open exported sessions with Claude Code: SKEIN_CLAUDE=/path/to/claude
	@go test -tags programs ./interop/formats/claudecode -run GoesOn

.PHONY: agents
agents: ## set up real agents, run, kill and resume them: installs them from npm into .tools/agents
	@scripts/step "agents"
	@scripts/agents .tools/agents
	@SKEIN_AGENTS=$(CURDIR)/.tools/agents go test -tags programs ./cmd/skein -run RealAgents -skip 'WorkInEditors|GoOn' -timeout 0

.PHONY: acp
acp: ## test skein acp against the protocol's schemas, with real clients and real agents: installs them from npm into .tools
	@scripts/step "acp"
	@scripts/acp .tools/acp
	@SKEIN_ACP=$(CURDIR)/.tools/acp go test ./server/acp/...
	@SKEIN_ACP=$(CURDIR)/.tools/acp go test -tags programs ./cmd/skein -run 'OurOwn|TwoEditors|OnDisk|SkeinDies|OutlivesKills|ACP'
	@scripts/agents .tools/agents
	@SKEIN_AGENTS=$(CURDIR)/.tools/agents go test -tags programs ./cmd/skein -run 'RealAgents(WorkInEditors|GoOn)' -v | grep -E '_test.go|^ *agent|^ok|FAIL|PASS|, record'

TURNS ?= 10000
.PHONY: soak
soak: ## kill skein acp, the editor and the agent in the course of TURNS turns
	@scripts/step "soak"
	@SKEIN_TEST_ACP_TURNS=$(TURNS) go test ./cmd/skein -run OutlivesKills -v -timeout 0

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME; make test runs their seeds
	@scripts/step "fuzz"
	@scripts/fuzz $(FUZZTIME)

.PHONY: cross
cross: ## build and vet for Linux, macOS and Windows
	@scripts/step "cross"
	@scripts/cross

.PHONY: cgo
cgo: ## test store/sqlite with the C driver
	@scripts/step "cgo"
	@scripts/cgo

.PHONY: bench-check
bench-check: ## build and test the module of the benchmarks
	@scripts/step "bench"
	@cd bench && go vet ./... && go test -timeout 30m ./...
	@cd bench/leaks && go vet ./... && go test ./...

.PHONY: adapters
adapters: ## test the adapters, which are separate modules
	@scripts/step "adapters"
	@cd integrations/adkgo && go vet ./... && go test -race ./...

.PHONY: clients
clients: ## test the TypeScript client against a server
	@scripts/step "clients"
	@scripts/clients

.PHONY: bench
bench: ## print the table of costs (SIZE=short or full)
	@cd bench && go run . -size $(SIZE)

.PHONY: measure
measure: build ## measure the size and structure of the code, and the size of the program
	@go run ./scripts/measure
	@scripts/size

.PHONY: golden
golden: ## rewrite the golden files; read the diff before you commit it
	go test ./interop/... ./render/... -update

.PHONY: clean
clean: ## remove what make built and installed here
	rm -rf bin dist .tools .run
