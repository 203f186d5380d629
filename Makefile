# SPDX-License-Identifier: ISC
# The everyday commands. Each installs missing Debian packages, then calls Meson and Ninja, which can
# also be used directly in build/.

BUILD  ?= build
FUZZ_SECONDS ?= 60
KILLS  ?= 10000
HOSTILE_SECONDS ?= 3600
PYTHON ?= python3
# On a terminal, ninja shows its progress in one line.
QUIET := $(shell [ -t 2 ] || echo --quiet)

# Compiles what is configured, for goals that do more than that.
define COMPILE
@echo "Building in $(BUILD)/; the first build takes some minutes."
@ninja -C $(BUILD) $(QUIET)
endef

all: ## build into build/; the program is build/weft
	@tools/install-packages build
	@tools/configure $(BUILD)
	@ninja -C $(BUILD)

demo: ## record the example server, draw its picture, open it if there is a display
	@tools/install-packages build
	@tools/configure $(BUILD)
	$(COMPILE)
	@tools/demo $(BUILD)

view: ## record the example server and show it in a window; `make install` then installs weft-gtk, too
	@tools/install-packages view
	@tools/configure $(BUILD)
	@$(if $(shell test -f $(BUILD)/weft-gtk && echo yes),,meson setup --reconfigure $(BUILD) >/dev/null)
	$(COMPILE)
	@tools/demo $(BUILD) view

check: ## build, run the tests that each change must pass; some minutes
	@begin=$$(date +%s) && tools/install-packages check && \
		WEFT_PACKAGES_S=$$(($$(date +%s) - begin)) tools/check.py

check-all: ## build in every way that we support, run all tests; LANES='rest threads' for some of them
	@begin=$$(date +%s) && tools/install-packages check-all && tools/install-foreign && \
		WEFT_PACKAGES_S=$$(($$(date +%s) - begin)) tools/check.py $(or $(LANES),--all)

bench: ## measure recording, decoding and layout on this machine
	@tools/install-packages bench
	@tools/bench.py

adapters-check: ## record programs from Debian that nobody changed, and compare them with themselves
	@tools/install-packages programs
	@tools/configure $(BUILD)
	$(COMPILE)
	@WEFT_BUILD=$(abspath $(BUILD)) $(PYTHON) tests/programs/check.py $(PROGRAMS)

fuzz: ## run every fuzz target for FUZZ_SECONDS (60), starting from its corpus
	@tools/install-packages fuzz
	@tools/fuzz.py --seconds $(FUZZ_SECONDS)

kills: ## kill a recording program KILLS (10,000) times: nothing that it committed may be lost
	@tools/install-packages check
	@tools/configure $(BUILD)
	@meson configure $(BUILD) -Dtests=enabled
	$(COMPILE)
	@WEFT_BUILD=$(abspath $(BUILD)) WEFT_KILLS=$(KILLS) $(PYTHON) tests/e2e/kill.py nothing_committed_is_lost

hostile: ## attack every reader of rings for HOSTILE_SECONDS (3600), with random seeds or HOSTILE_SEED
	@tools/install-packages check-all
	@HOSTILE_SECONDS=$(HOSTILE_SECONDS) HOSTILE_SEED=$(HOSTILE_SEED) $(PYTHON) tools/hostile.py

mutants: ## plant the bugs of tests/mutants one at a time, or those with a word of MUTANTS: do the tests see them?
	@tools/install-packages check-all
	@tests/mutants/mutants.py $(MUTANTS)

dropin: ## make weft.c and weft.h, the recorder in two files
	@tools/install-packages build
	@tools/configure $(BUILD)
	@ninja -C $(BUILD) --quiet tools/dropin/weft.c
	@ls $(BUILD)/tools/dropin/weft.c $(BUILD)/tools/dropin/weft.h

install: ## install below /usr/local, or PREFIX=…; DESTDIR=… is honoured
	@tools/install-packages build
	@tools/configure $(BUILD)
	@$(if $(PREFIX),meson configure $(BUILD) -Dprefix=$(PREFIX))
	$(COMPILE)
	@meson install -C $(BUILD) --no-rebuild

format: ## format every C file
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format-14 -i

clean: ## remove everything that was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 17

.PHONY: all demo view check check-all adapters-check bench fuzz kills hostile mutants dropin install format clean help
