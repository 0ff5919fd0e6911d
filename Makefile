# make demo and make test do all set-up themselves. Everything else assumes they ran once.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Packages without heavy OpenCV work, which the race detector can run in reasonable time.
# The suite of the brokers runs twice without; it takes minutes with.
RACE_PACKAGES = ./agent/... ./kiosk/... ./localindex/... ./sync/... ./hardware/... ./ui/...
PAGE_SOURCES = $(shell find ui/kiosk -path ui/kiosk/node_modules -prune -o -path ui/kiosk/dist -prune -o -type f -print)

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## what building needs, from Debian packages
	@scripts/setup.sh

setup-test: ## what building and testing needs
	@scripts/setup.sh test

ui/kiosk/node_modules/.package-lock.json: ui/kiosk/package-lock.json | setup
	@cd ui/kiosk && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

ui/kiosk/dist/index.html: ui/kiosk/node_modules/.package-lock.json $(PAGE_SOURCES)
	@cd ui/kiosk && npm run --silent build
	@touch $@

ui/e2e/node_modules/.package-lock.json: ui/e2e/package-lock.json
	@cd ui/e2e && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

pages: ui/kiosk/dist/index.html ## the visitor's page

# What the binary says it is. A copy without git is told by the Go tool, or not at all.
VERSION = $(shell git describe --always --dirty --tags 2>/dev/null)

build: setup pages ## bin/docent, pages embedded
	@go build -ldflags "-X main.builtFrom=$(VERSION)" -o bin/docent ./cmd/docent

demo: build ## hub, kiosk and sample gallery in one process
	@bin/docent demo $(DEMO)

lint: pages ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l cmd kiosk vision localindex agent sync hardware ui/*.go)" || { gofmt -l cmd kiosk vision localindex agent sync hardware ui/*.go; echo "these files are not gofmt'ed"; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...

# Tests of the hub that damage, copy or read its SQLite file; the others run again on PostgreSQL.
SQLITE_ONLY = ^(TestHubDiskFull|TestHubStoreDamaged|TestHubAwayForSevenDays|TestClocksJumpWhileRunning|TestOlderCopyOfTheHub)$$

test: setup-test build lint ui/e2e/node_modules/.package-lock.json ## everything that must hold
	@cd ui/kiosk && npm run --silent check && npm run --silent test && node scripts/budget.mjs
	@cd ui/e2e && npm run --silent test:screens
	go test -timeout 20m ./...
	DOCENT_TEST_DATABASE=postgres go test -timeout 20m -short -skip '$(SQLITE_ONLY)' ./sync/hub ./sync/hub/brokersuite
	go test -timeout 20m -race -short $$(go list $(RACE_PACKAGES) | grep -v /brokersuite)

FAULTS = .

test-faults: build ## the long forms of the fault tests, each with a line of what held (docs/faults.md): make test-faults FAULTS=Killed
	@DOCENT_FAULTS=1 go test -v -p 1 -count=1 -timeout 120m -run '$(FAULTS)' ./sync/... ./vision/camera/... ./kiosk/... ./agent/memory/... 2>&1 \
		| grep -E '^(ok|FAIL|--- (FAIL|SKIP)|panic|fatal)|^ +[a-z0-9_]+_test\.go:'

FUZZTIME = 10s

fuzz: build ## each fuzz target for a while: make fuzz FUZZTIME=1m
	@grep -rlE '^func Fuzz' --include='*_test.go' agent cmd hardware internal kiosk localindex sync ui vision | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | sed 's/func //'); do \
			echo "$$dir $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$dir; \
		done; \
	done

VISITS = 1000

soak: pages ui/e2e/node_modules/.package-lock.json ## many visits in one browser, one after the other: make soak VISITS=1000
	@cd ui/e2e && node soak.mjs $(VISITS)

measure-screen: pages ui/e2e/node_modules/.package-lock.json ## what the page loads first, and how long each touch takes
	@node ui/kiosk/scripts/budget.mjs
	@cd ui/e2e && node measure.mjs

screenshots: pages ui/e2e/node_modules/.package-lock.json ## every screen of the page, and the sheets in docs/pictures
	@cd ui/e2e && node screenshots.mjs test-results/screenshots --sheets ../../docs/pictures

clean: ## what was built, but not the caches of Go and npm
	@rm -rf bin ui/kiosk/node_modules ui/e2e/node_modules
	@find ui/kiosk/dist -mindepth 1 ! -name .gitkeep -delete

.PHONY: help setup setup-test pages build demo lint test test-faults fuzz soak measure-screen screenshots clean
