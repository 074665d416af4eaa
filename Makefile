# Tidemark. `make help` lists the targets.

BIN     := bin/tidemark
PORT    ?= 7432
TIMEOUT ?= 20m
export CGO_ENABLED := 0

CONCURRENT := ./exec/engine/... ./exec/dataflow ./exec/partition ./sql/workers ./state/... ./checkpoint/... ./wire/...
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help build run test race lint slt golden fuzz bench bench-peers clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

build: ## build the binary into bin/
	go build -o $(BIN) ./cmd/tidemark

run: build ## start a server with a live example on 127.0.0.1:7432
	$(BIN) serve --listen 127.0.0.1:$(PORT) --data data --init examples/machine/machine.sql

test: ## run every test; what needs psql or PostgreSQL says so where it is missing
	go vet ./...
	go test -timeout $(TIMEOUT) ./...

race: ## the packages with concurrency, under the race detector (needs gcc)
	CGO_ENABLED=1 go test -race -short -timeout $(TIMEOUT) $(CONCURRENT)
	CGO_ENABLED=1 go test -race -short -timeout $(TIMEOUT) -run 'TestReadYourWrites|TestOneEpoch|TestMachine' ./cmd/tidemark

lint: ## formatting, modules, vet, staticcheck, the rules of the tree
	@files=$$(gofmt -l .); test -z "$$files" || { echo "$$files"; echo "run gofmt -w ."; exit 1; }
	go mod tidy -diff
	go vet ./...
	go run $(STATICCHECK) ./...
	go test -run 'TestImport|TestComments|TestLength|TestForbiddenWords|TestFunctionsDocumented' ./cmd/tidemark

slt: build ## the SQL suites over the wire, in all modes
	$(BIN) sqllogictest --mode all sqllogictest/suites
	$(BIN) test --mode all sqllogictest/clocked

golden: ## rewrite golden files; read the diff
	go test ./parser/... ./planner/... -rewrite

FUZZTIME ?= 10s
fuzz: ## run each fuzz target for FUZZTIME
	@./.ci/fuzz $(FUZZTIME)

bench: build ## measure the engine
	$(BIN) bench

bench-peers: build ## compare with other engines on the same files (PEERS_KIT: their runners) and write docs/benchmarks.md
	go run ./bench/peers -tidemark $(BIN) -out docs/benchmarks.md

clean: ## remove what was built, and the example's data directory
	rm -rf bin data
