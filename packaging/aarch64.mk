# Builds for AArch64 Linux with Debian's cross compiler, into a separate directory. Included by the
# Makefile.

AARCH64       ?= $(BUILD)/aarch64
# armv8-a has no atomic instructions except pairs of load and store; armv8.1-a has others.
AARCH64_MARCH ?= armv8-a
# Built by the targets aarch64 and aarch64-programs.
AARCH64_ALL      ?= all
AARCH64_PROGRAMS ?= test-programs
AARCH64_ROOT  := $(BUILD)/aarch64-root
AARCH64_LIBRARIES := $(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu
AARCH64_PACKAGES  := libjansson-dev libdw-dev libsqlite3-dev libprotobuf-c-dev zlib1g-dev libcmocka-dev libstdc++6
# Replacements for what qemu does not implement, for test programs.
AARCH64_SHIM  := $(AARCH64)/obj/emulated_madvise.o
# qemu finds the libraries in the root directory; no run path is needed.
AARCH64_MAKE = $(MAKE) --no-print-directory BUILD='$(AARCH64)' \
    CC='aarch64-linux-gnu-gcc -march=$(AARCH64_MARCH)' CXX='aarch64-linux-gnu-g++ -march=$(AARCH64_MARCH)' \
    AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy NM=aarch64-linux-gnu-nm \
    CFLAGS='-isystem $(abspath $(AARCH64_ROOT))/usr/include/aarch64-linux-gnu -isystem $(abspath $(AARCH64_ROOT))/usr/include' \
    LDFLAGS='-L$(abspath $(AARCH64_LIBRARIES)) -Wl,-rpath-link,$(abspath $(AARCH64_LIBRARIES)):$(abspath $(AARCH64_ROOT))/lib/aarch64-linux-gnu'

.PHONY: aarch64 aarch64-programs aarch64-test

aarch64: ## Install what is missing, and build everything for AArch64 Linux in build/aarch64
	$(call setup,build cross)
	@tools/sysroot.sh arm64 $(AARCH64_ROOT) $(AARCH64_PACKAGES)
	+@$(AARCH64_MAKE) $(PARALLEL) $(AARCH64_ALL)

aarch64-programs: aarch64 ## The same, with the programs that tests run
	$(call setup,test)
	@mkdir -p $(AARCH64)/obj
	@aarch64-linux-gnu-gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -c -o $(AARCH64_SHIM) tests/aarch64/emulated_madvise.c
	+@$(AARCH64_MAKE) $(PARALLEL) LDLIBS=$(AARCH64_SHIM) $(AARCH64_PROGRAMS)

aarch64-test: ## Install what is missing, and run the tests for AArch64 in qemu
	$(call setup,build test cross)
	@BUILD='$(BUILD)' TIER=aarch64 tools/test.sh
