# Needs Go, make and git; the rest is installed into .tools/ or, what only the
# system's packages have, by apt-get where that may be used.

SHELL := bash
export GOBIN := $(CURDIR)/.tools
# One build cache for every checkout: what is compiled does not say where it lay.
export GOFLAGS := $(GOFLAGS) -trimpath
# Where git cannot be asked (another owner's checkout), build without the commit's name.
ifeq ($(shell git rev-parse HEAD 2>/dev/null),)
export GOFLAGS := $(GOFLAGS) -buildvcs=false
endif
# How long each fuzz target runs: make fuzz FUZZTIME=1m
FUZZTIME ?= 4s
# What the benchmarks measure: make bench SIZE=full
SIZE ?= short

.NOTPARALLEL:

.PHONY: help
help: ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: build
build: ## bin/skein, in pure Go
	CGO_ENABLED=0 go build -o bin/skein ./cmd/skein

.PHONY: run
run: build ## build, import the sessions found on this machine (or samples), show them here and in a browser
	@scripts/run

.PHONY: stop
stop: ## end the server that run left behind
	@scripts/stop

.PHONY: test
test: ## all tests, the long ones cut short: what to run before a push
	@scripts/step "test"
	@scripts/test

.PHONY: long
long: ## all tests at their full length, but those that race runs at theirs
	@scripts/step "long"
	@scripts/test long

.PHONY: check
check: tidy format vet lint long race cross cgo bench-check adapters clients ## every check and every test, as CI runs them
	@echo "all checks passed"

.PHONY: tidy
tidy: ## is go.mod what the code needs?
	@scripts/step "tidy"
	@go mod tidy -diff
	@cd bench && go mod tidy -diff
	@cd bench/leaks && go mod tidy -diff
	@cd integrations/adkgo && go mod tidy -diff

.PHONY: format
format: ## is the code formatted?
	@scripts/step "format"
	@scripts/tool gofumpt v0.12.0 mvdan.cc/gofumpt
	@scripts/format

.PHONY: vet
vet: ## go vet
	@scripts/step "vet"
	@go vet ./...

.PHONY: lint
lint: ## golangci-lint
	@scripts/step "lint"
	@scripts/tool golangci-lint v2.15.0 github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@.tools/golangci-lint run -c scripts/golangci.yml ./...

.PHONY: race
race: ## the tests of what runs side by side, with the race detector
	@scripts/step "race"
	@scripts/test race

.PHONY: programs
programs: ## open what is written with Claude Code itself: SKEIN_CLAUDE=/path/to/claude
	@go test -tags programs ./interop/formats/claudecode -run GoesOn

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME; make test runs their seeds
	@scripts/step "fuzz"
	@scripts/fuzz $(FUZZTIME)

.PHONY: cross
cross: ## build and vet for Linux, macOS and Windows
	@scripts/step "cross"
	@scripts/cross

.PHONY: cgo
cgo: ## the sqlite package on the C driver
	@scripts/step "cgo"
	@scripts/cgo

.PHONY: bench-check
bench-check: ## does the benchmarks' module build, and do its tests pass?
	@scripts/step "bench"
	@cd bench && go vet ./... && go test -timeout 30m ./...
	@cd bench/leaks && go vet ./... && go test ./...

.PHONY: adapters
adapters: ## do the adapters, modules of their own, keep their promises?
	@scripts/step "adapters"
	@cd integrations/adkgo && go vet ./... && go test -race ./...

.PHONY: clients
clients: ## the TypeScript client, against a server
	@scripts/step "clients"
	@scripts/clients

.PHONY: bench
bench: ## the table of what it costs (SIZE=short or full)
	@cd bench && go run . -size $(SIZE)

.PHONY: measure
measure: build ## how large and how entangled the code is, how large the program
	@go run ./scripts/measure
	@scripts/size

.PHONY: golden
golden: ## write the golden files anew; read the diff before you commit it
	go test ./interop/... ./render/... -update

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin dist .tools .run
