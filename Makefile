# SPDX-License-Identifier: Apache-2.0
# Shortcuts; everything here is one of the presets of CMakePresets.json. `make help` lists the targets.
PRESET ?= release
BENCH ?=
CTEST_JOBS ?= 2

.PHONY: help setup setup-tests build test demo demo3d adversary fuzz bench results peers coverage format clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

setup: ## install the packages the build needs (Debian)
	@scripts/setup.sh

build: setup ## build everything (PRESET=release|dev|asan|tsan|engine-asan|engine-tsan|tidy|coverage|cuda)
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

setup-tests: setup
	@scripts/setup.sh --tests

test: setup-tests build ## build and run all tests
	ctest --preset $(PRESET) -j$(CTEST_JOBS)

demo: setup ## invert the KIM-ETO line of SAMTEX and show where the results are
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --target mt_invert
	scripts/demo.sh

demo3d: setup ## invert a volume, the synthetic BLOCK2 of ModEM, and show where the results are
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --target mt_invert
	scripts/demo.sh examples/block2/block2_3d.toml out/demo3d --dim 3

adversary: build ## attack the program (N=10000 attacks, SEED=… repeats a trial)
	python3 tests/adversary/run.py build/$(PRESET)/bin/mt_invert build/$(PRESET)/tests/adversary/craft_state . --count $(or $(N),1000) $(if $(SEED),--seed $(SEED))

fuzz: setup-tests ## libFuzzer on every reader (READERS="edi toml", RUNS=100000; default: all, 2000 inputs each)
	scripts/fuzz.sh $(READERS) --runs $(or $(RUNS),2000)

bench: build ## measure; writes out/bench/<name>.json (BENCH=selftest|selftest3d|physics|physics3d|scaling|inversion|engine|compile|latent|ranks|runs|estimates|defaults|checked|surveys|peers, default all; SURVEY=FOLDER of EDI files for surveys)
	python3 benchmarks/run.py $(BENCH) $(if $(SURVEY),--survey $(SURVEY))

results: bench ## measure accuracy and speed, rewrite the tables of docs/results (after `make peers`)
	benchmarks/tables.py

peers: ## make the environment of the programs that `make bench BENCH=peers` compares with
	@scripts/peers.sh

coverage: setup ## run the tests and print which share of the lines they run
	scripts/coverage.sh

format: ## format the C++ files
	scripts/format.sh

clean: ## remove build/ and out/
	rm -rf build out
