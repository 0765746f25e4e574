# SPDX-License-Identifier: MIT
# Each target installs what it needs, builds and runs; `make help` lists them. Longer trials: tools/try.

PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  := /usr/bin/python3
OPTIONS := -Doptimization=3 -Ddebug=true

# Where `make run` starts the box: the directory make was called in, also with `make -C`.
with_C = $(shell tr '\0' '\n' </proc/$$PPID/cmdline | grep -m 1 -E '^(-[A-Za-z]*C|--directory)')
DIR    = $(if $(with_C),$(value PWD),$(CURDIR))
ARGS   =

# How long `make fuzz` runs.
SECONDS = 60

# $(call quote,TEXT): as one word of the shell.
quote = '$(subst ','\'',$(1))'

# $(call compile,DIRECTORY[,TARGET]): silent when there is nothing to do.
define compile
@ninja -C $(1) -n $(2) 2>&1 | grep -q 'no work to do' || ninja -C $(1) $(2)
$(call give_back,$(1))
endef

# Files that root builds in a user's clone belong to that user: `sudo make install` must not break the next `make`.
give_back = @[ "$$(id -u)" -ne 0 ] || chown -Rh --reference=. $(1)

.PHONY: build run test sanitize fuzz accept stress lint fmt bench install uninstall deb static clean help need-to-run configure-install
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

build: need-build build/build.ninja ## build claudebox (the default)
	$(call compile,build)

# The program alone: the tests are some 200 files more.
run: need-to-run build/build.ninja ## start Claude Code in a box: make run [DIR=project] [ARGS='-p "two words"']
	$(call compile,build,claudebox)
	@dir=$(call quote,$(DIR)) && case $$dir in '~' | '~/'*) dir=$$HOME$${dir#'~'} ;; esac && \
		CLAUDEBOX_CLAUDE=$$(tools/claude.sh) && export CLAUDEBOX_CLAUDE && box=$$PWD/build/claudebox && \
		cd -- "$$dir" && exec "$$box" $(ARGS)

test: need-build+run+test build ## run all tests
	@$(PYTHON) tests/run.py build

sanitize: need-build+run+test+sanitize build-asan/build.ninja ## run all tests with ASan and UBSan, each as one user
	$(call compile,build-asan)
	@$(PYTHON) tests/run.py build-asan --once

fuzz: need-build+fuzz build-fuzz/build.ninja ## fuzz the parsers of profiles, package settings and git's files, and the terminal filter: make fuzz [SECONDS=60]
	@ninja -C build-fuzz --quiet tests/fuzz_config_edit tests/fuzz_index tests/fuzz_profile tests/fuzz_registries tests/fuzz_terminal
	$(call give_back,build-fuzz)
	@tests/fuzz/run.sh build-fuzz $(SECONDS)

accept: need-build+run+test build ## rewrite the expected outputs of the tests; review the difference before you commit
	@for test in plan render quarantine profile documents; do \
		UPDATE_GOLDEN=1 SOURCE=. BUILD=build build/tests/test_$$test | grep -A 20 '^not ok' && exit 1; \
	done; git --no-pager diff --stat

# The factor for the rounds of `make stress`, and for the seconds of its fuzzing.
STRESS = 20
stress: need-build+run+test build ## run the tests with repeated rounds for longer, then fuzz for longer: make stress [STRESS=20]
	@STRESS=$(STRESS) $(PYTHON) tests/run.py build $$(cd tests && grep -lE 'lib.stress|check_stress\(' */test_*.py */test_*.c | sed 's/\.c$$//')
	@$(MAKE) fuzz SECONDS=$$(($(SECONDS) * $(STRESS)))

lint: need-build+lint build ## check format, C, shell and prose
	@tools/lint.sh build

fmt: need-lint ## format all C files
	@find src tests -name '*.[ch]' -exec clang-format -i {} +

bench: need-build+run+test+bench build ## measure start-up, terminal and network against bare bwrap
	@$(PYTHON) tests/bench/run.py build
	@$(PYTHON) tests/bench/guard.py build
	@$(PYTHON) tests/bench/network.py build

install: configure-install ## install into PREFIX (/usr/local), below DESTDIR if given
	$(call compile,build-install)
	@root=$(call quote,$(DESTDIR)); case $$root in '' | /*) ;; *) root=$$PWD/$$root ;; esac; \
		DESTDIR=$$root meson install -C build-install --no-rebuild --quiet
	$(call give_back,build-install)

uninstall: configure-install ## remove the installed files, with the same PREFIX and DESTDIR
	@meson introspect build-install --installed | \
		$(PYTHON) -c 'import json, sys; print(*json.load(sys.stdin).values(), sep="\n")' | \
		while IFS= read -r file; do \
			file=$(call quote,$(DESTDIR))$$file; rm -f -- "$$file"; \
			case $$file in */share/claudebox/*/*|*/share/doc/claudebox/*) rmdir -- "$${file%/*}" "$${file%/*/*}" 2>/dev/null || : ;; esac; \
		done

deb: need-build+install+package ## build the Debian package
	@tools/deb.sh
	$(call give_back,build-deb)

static: need-build build-static/build.ninja ## build a static program: build-static/claudebox
	@ninja -C build-static --quiet claudebox
	$(call give_back,build-static)

clean: ## remove the build directories
	@rm -rf build build-asan build-deb build-fuzz build-install build-static

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

# need-A+B: installs what is missing of the groups A and B of tools/deps.sh.
need-%:
	@tools/deps.sh $(subst +, ,$*)

# npm only where Claude Code has to be installed. One call, so that one message lists everything that is missing.
need-to-run:
	@needs=$$(tools/claude.sh --needs) && tools/deps.sh build run $$needs

build/build.ninja:
	@meson setup build $(OPTIONS)

build-asan/build.ninja:
	@meson setup build-asan --buildtype=debugoptimized -Db_sanitize=address,undefined \
		-Db_lundef=false -Dc_args=-fno-sanitize-recover=all

build-fuzz/build.ninja:
	@CC=clang meson setup build-fuzz --buildtype=debugoptimized -Dfuzz=true -Db_sanitize=address,undefined \
		-Db_lundef=false -Dc_args='-fno-sanitize-recover=all -fsanitize=fuzzer-no-link'

build-static/build.ninja:
	@meson setup build-static $(OPTIONS) -Dstatic=true

configure-install: need-build+install
	@prefix=$(call quote,$(PREFIX)); \
	if [ ! -f build-install/build.ninja ]; then \
		meson setup build-install $(OPTIONS) -Dtests=false -Dman=enabled --prefix "$$prefix"; \
	elif [ "$$(cat build-install/.prefix)" != "$$prefix" ]; then \
		meson configure build-install -Dprefix="$$prefix"; \
	fi && printf '%s\n' "$$prefix" >build-install/.prefix
	$(call give_back,build-install)
