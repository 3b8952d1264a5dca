# Probity is built with plain GNU make. All outputs are written below $(BUILD); nothing is run while
# this file is read, so that `make setup` works on a machine without a compiler. `make help` lists
# the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
ifeq ($(origin AR),default)
AR := ar
endif
OBJCOPY ?= objcopy
NM      ?= nm

# The version is defined only in probity.h. $(1): MAJOR, MINOR or PATCH.
PUBLIC_HEADER := $(strip $(file < include/probity.h))
version_part = $(patsubst PROBITY_VERSION_$(1)=%,%,$(filter PROBITY_VERSION_$(1)=%, \
    $(subst PROBITY_VERSION_$(1) ,PROBITY_VERSION_$(1)=,$(PUBLIC_HEADER))))
VERSION := $(call version_part,MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)
SONAME  := libprobity.so.0
SHARED  := libprobity.so.$(VERSION)
PRINT_SONAME := libprobity-print.so.0
PRINT_SHARED := libprobity-print.so.$(VERSION)
FUNCTIONS_SONAME := libprobity-functions.so.0
FUNCTIONS_SHARED := libprobity-functions.so.$(VERSION)
CALLS_SONAME := libprobity-calls.so.0
CALLS_SHARED := libprobity-calls.so.$(VERSION)
# RUNPATH of libprobity, so that it finds libprobity-print in its own directory.
PRINT_RUNPATH ?= $$ORIGIN

# CFLAGS, CXXFLAGS and LDFLAGS are set by the builder; SANITIZE=address,undefined or thread makes a
# sanitizer build.
SANITIZE ?=
# DEBUG=1 compiles assertions in; sanitizer builds and fuzz targets always have them.
DEBUG ?=
COMMA := ,
# The tool loads SQLite and elfutils on first use. DLOPEN=no links them.
DLOPEN ?=
# Tests build with WERROR=-Werror; a user's newer compiler may have more warnings.
WERROR ?=
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow $(WERROR)
OPTIMIZE := $(if $(SANITIZE),-O1 -fno-omit-frame-pointer,-O2)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
ASSERT_FLAGS := $(if $(SANITIZE)$(FAST_FUZZ)$(filter 1,$(DEBUG)),-DPROBITY_DEBUG)
# -MD: a compiler cache in depend mode (tools/test.sh) relies on these lists of headers.
COMMON = $(OPTIMIZE) -g $(WARNINGS) -pthread -D_GNU_SOURCE $(SANITIZE_FLAGS) $(if $(filter no,$(DLOPEN)),-DPROBITY_WITHOUT_DLOPEN) -MD -MP
C_FLAGS   = -std=gnu11 $(COMMON) $(CFLAGS)
CXX_FLAGS = -std=gnu++17 $(COMMON) $(CXXFLAGS)
LINK_FLAGS = -pthread $(SANITIZE_FLAGS) $(LDFLAGS)
# -fexceptions: cancellation and exceptions must unwind across library frames. -fno-plt: binding a
# function at its first call needs 3 KiB more stack, which a signal handler may not have.
# -ffunction-sections: the linker drops unused functions.
SRC_FLAGS := -Isrc -Iinclude -I$(BUILD)/generated -fPIC -fvisibility=hidden -fexceptions -fno-plt \
             -ffunction-sections -fdata-sections \
             $(if $(FAST_FUZZ),-fsanitize-coverage=edge$(COMMA)inline-8bit-counters) $(ASSERT_FLAGS) \
             $(if $(SANITIZE),-g1)

# A vector load of two times, stored separately, stalls until both stores complete.
$(BUILD)/obj/src/analysis/%.o $(BUILD)/obj/src/answers/%.o: SRC_FLAGS += -fno-tree-slp-vectorize

# The operating system: doc/porting.md.
SYSTEM := src/base/linux

# Code that needs libm, or that only the tool uses.
TOOL_ANALYSIS := $(wildcard $(addsuffix *.c,$(addprefix src/analysis/, \
    duration_stats \
    inflight \
    mappings \
    probes \
    request_flow \
    request_times \
    signed_rank \
    statistics \
    thread_past \
    waits)))
# libprobity, for the traced programs: it records, and writes the trace.
LIB_SRC := $(filter-out $(addprefix src/,base/hashtable.c base/array_grow.c base/arguments.c base/called.c base/cpu_return.c base/library.c spool/attach.c spool/control_ask.c \
             spool/place.c writer/discard.c writer/drainer.c writer/recover.c writer/snapshot.c writer/request.c writer/wake_process.c writer/wake_page.c), \
             $(wildcard src/base/*.c $(SYSTEM)/*.c src/format/*.c src/spool/*.c src/runtime/*.c src/writer/*.c \
             src/embed/*.c))
# Conditions and dumps: a separate member of the static library, linked only into programs that refer
# to probity_snapshot.
DUMPS_SRC := $(addprefix src/,base/conditions.c base/selection.c format/dump.c runtime/change.c runtime/switches.c runtime/trigger.c \
               runtime/trigger_settings.c writer/dump_chunks.c writer/dump_file.c writer/dumps.c writer/watch.c writer/watch_gaps.c writer/watch_rates.c writer/watch_requests.c writer/durations.c)
# libprobity-print, linked or loaded only by programs that also read their trace: for a CSV, a log or
# a summary. It has a separate copy of the code that it shares with libprobity, and needs only libc.
PRINT_SRC := $(filter-out src/spool/control_ask.c $(SYSTEM)/thread_count.c src/base/selection.c src/base/arguments.c src/base/called.c src/base/cpu_return.c \
               src/base/library.c src/base/conditions.c src/base/window.c \
               $(addprefix src/reader/,activity.c ahead.c ahead_hits.c align.c bundle.c hosts.c hosts_links.c hosts_place.c index_build.c index_group.c index_write.c runs.c thread_stack.c), \
               $(wildcard src/base/*.c $(SYSTEM)/*.c src/format/*.c src/spool/*.c src/reader/*.c src/embed_print/*.c \
               src/exports/csv/csv.c src/exports/csv/csv_file.c)) \
             $(addprefix src/writer/,append.c pass.c profile.c recover.c) \
             $(addprefix src/print/,csv_cell.c text.c time_text.c values.c) \
             $(addprefix src/log/,log.c log_lines.c log_names.c log_write.c) \
             $(addprefix src/answers/,$(addprefix report/,profiled.c report.c report_sort.c \
               report_text.c safe_text.c table.c) threads/threads.c tree/tree.c tree/tree_nodes.c tree/tree_view.c) \
             $(filter-out $(TOOL_ANALYSIS),$(wildcard src/analysis/*.c))
# libprobity-functions, for programs without macros: the functions that the compiler's hooks call.
# It needs libprobity.
FUNCTIONS_SRC := $(wildcard src/functions/*.c) $(addprefix $(SYSTEM)/,functions.c os.c os_signals.c objects.c) \
                   src/base/hash.c src/base/selection.c src/base/arguments.c src/base/assert.c
# libprobity-calls, for programs without probes: it defines functions with libc's names. It needs
# libprobity.
CALLS_SRC := $(wildcard src/calls/*.c) $(addprefix src/base/,called.c assert.c cpu_return.c) \
               $(addprefix $(SYSTEM)/,objects.c os.c os_signals.c)
# The remaining files are only for the tool. A command's file is NAME_command.c, in the directory of
# its answer or export, or in src/cli/.
ROOMS := src/answers/*/ src/exports/ src/exports/*/ src/log/ src/page/
CLI_SRC := $(wildcard src/cli/*.c $(ROOMS:%=%*_command.c))
TOOL_SRC := $(filter-out $(LIB_SRC) $(PRINT_SRC) $(CLI_SRC),$(wildcard $(addsuffix /*.c,$(addprefix src/, \
              base spool writer reader analysis print symbols sched store fleet)) $(ROOMS:%=%*.c)))
# Messages of other tools' formats: protobuf-c generates C from their descriptions.
PROTO_SRC := $(wildcard src/exports/*/*.proto)

OBJ      := $(BUILD)/obj
# Code that runs once per recording is compiled for size, since it is in every program.
$(addprefix $(OBJ)/src/,base/cpu.o base/error.o base/linux/functions.o spool/cells.o spool/pool.o runtime/settings.o runtime/trace_file.o runtime/spool_file.o runtime/ceiling.o \
    runtime/outputs.o runtime/describe.o runtime/declare.o runtime/sites.o runtime/budget.o \
    runtime/external.o runtime/child.o runtime/hooks.o runtime/session.o runtime/session_mapping.o runtime/session_messages.o runtime/wake.o writer/writer.o spool/segment.o \
    runtime/profile_set.o spool/place.o spool/usage.o base/linux/objects.o base/conditions.o base/share.o base/window.o base/selection.o \
    format/dump.o format/stream.o writer/dumps.o writer/dump_chunks.o writer/dump_file.o writer/watch.o writer/watch_gaps.o writer/watch_rates.o writer/watch_requests.o writer/durations.o runtime/change.o runtime/switches.o runtime/trigger.o \
    runtime/control_page.o runtime/frames.o runtime/values.o runtime/scope.o runtime/thread.o spool/live.o spool/control.o base/linux/clock.o base/own_threads.o runtime/trigger_settings.o runtime/levels.o embed/embed.o base/temporary.o base/parent.o \
    base/linux/os_confine.o base/linux/os.o base/linux/os_signals.o format/block.o format/sites.o format/cost.o format/profile.o writer/append.o writer/pass.o writer/profile.o writer/ring.o writer/tally.o base/linux/thread_count.o): OPTIMIZE := $(if $(SANITIZE),$(OPTIMIZE),-Os)
# Code that runs only in our own threads, at load, during a fork, or while signals and cancellation
# are blocked, is never unwound by an exception or a cancellation. So its unwind tables, a fifth of its
# size, are left out; debuggers have .debug_frame.
NOT_UNWOUND := $(addprefix $(OBJ)/src/,$(addprefix base/,called.o checksum.o share.o conditions.o own_threads.o parent.o selection.o temporary.o window.o linux/objects.o linux/os.o linux/os_confine.o linux/thread_count.o) \
    $(patsubst src/%.c,%.o,$(wildcard src/format/*.c src/writer/*.c)) \
    $(addprefix spool/,cells.o control.o drain.o pool.o segment.o usage.o) \
    $(addprefix runtime/,budget.o ceiling.o change.o child.o control_page.o cost.o external.o hooks.o outputs.o profile_set.o session.o session_messages.o settings.o sites.o spool_file.o switches.o trace_file.o trigger_settings.o wake.o))
ifeq ($(SANITIZE),)
$(NOT_UNWOUND): private SRC_FLAGS += -fno-exceptions -fno-asynchronous-unwind-tables
endif
# Code that runs while vector registers hold parameters or results of functions must not use these
# registers. Sanitizers would call code that does.
GENERAL_OBJ := $(addprefix $(OBJ)/src/functions/,sled_calls.o site_calls.o fentry.o)
$(GENERAL_OBJ): private SRC_FLAGS += -mgeneral-regs-only
$(GENERAL_OBJ): private SANITIZE_FLAGS :=
# Replacements for libc's functions are called before a sanitizer is ready, and must not be compiled
# into calls to themselves (calloc into malloc and memset).
CALLS_OWN_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard src/calls/*.c))
$(CALLS_OWN_OBJ): private SRC_FLAGS += -fno-builtin-malloc -fno-builtin-calloc -U_FORTIFY_SOURCE -foptimize-sibling-calls \
    -fno-exceptions -fasynchronous-unwind-tables
$(CALLS_OWN_OBJ): private SANITIZE_FLAGS :=
GENERATED := $(BUILD)/generated
LIB_OBJ  := $(LIB_SRC:%.c=$(OBJ)/%.o)
DUMPS_OBJ := $(DUMPS_SRC:%.c=$(OBJ)/%.o)
PRINT_OBJ := $(PRINT_SRC:%.c=$(OBJ)/%.o)
FUNCTIONS_OBJ := $(FUNCTIONS_SRC:%.c=$(OBJ)/%.o) $(addprefix $(OBJ)/src/functions/,fentry_x86_64.o sites_x86_64.o)
CALLS_OBJ := $(CALLS_SRC:%.c=$(OBJ)/%.o)
BOTH_OBJ := $(sort $(LIB_OBJ) $(PRINT_OBJ))
PROTO_OBJ := $(PROTO_SRC:src/%.proto=$(OBJ)/generated/%.pb-c.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(OBJ)/%.o) $(PROTO_OBJ)
CLI_OBJ  := $(CLI_SRC:%.c=$(OBJ)/%.o)
# Kept in the tree, so that building the tool requires no Node.js; `make page` builds it from view/.
PAGE     := view/dist/page.html
PAGE_OBJ := $(OBJ)/src/page/view_page.o
STATIC_LIB := $(BUILD)/lib/libprobity.a
SHARED_LIB := $(BUILD)/lib/$(SHARED)
STATIC_PRINT := $(BUILD)/lib/libprobity-print.a
SHARED_PRINT := $(BUILD)/lib/$(PRINT_SHARED)
STATIC_FUNCTIONS := $(BUILD)/lib/libprobity-functions.a
SHARED_FUNCTIONS := $(BUILD)/lib/$(FUNCTIONS_SHARED)
SHARED_CALLS := $(BUILD)/lib/$(CALLS_SHARED)
# Functions that replace libc's need glibc's symbols and versions.
HAS_CALLS := $(shell printf '\043include <features.h>\n' | $(CC) -E -dM - 2>/dev/null | grep -o __GLIBC__)
LIBRARIES  := $(STATIC_LIB) $(SHARED_LIB) $(STATIC_PRINT) $(SHARED_PRINT) $(STATIC_FUNCTIONS) \
    $(SHARED_FUNCTIONS) $(if $(HAS_CALLS),$(SHARED_CALLS))
# Only libprobity refers to this name, weakly.
LINK_DUMPS := -Wl,-u,probity_snapshot
LINK_PRINT := -Wl,-u,probity_print_hooks $(STATIC_PRINT)
TOOL       := $(BUILD)/bin/probity
RPATH      := -Wl,-rpath,$(abspath $(BUILD)/lib)

EXAMPLE_SRC := $(wildcard examples/*.c examples/*.cc)
EXAMPLES    := $(addprefix $(BUILD)/examples/,$(notdir $(basename $(EXAMPLE_SRC))))
HTTPD_SRC   := $(wildcard examples/httpd/*.c)
HTTPD_OBJ   := $(HTTPD_SRC:%.c=$(OBJ)/%.o)
HTTPD_PLAIN_OBJ := $(HTTPD_SRC:%.c=$(OBJ)/plain/%.o)
HTTPD       := $(if $(HTTPD_SRC),$(BUILD)/examples/httpd $(BUILD)/examples/httpd-plain)

BENCH_COMMON := $(wildcard bench/common*.c)
BENCH_SRC    := $(filter-out $(BENCH_COMMON),$(wildcard bench/*.c bench/*.cc))
BENCH_COMMON_OBJ := $(BENCH_COMMON:%.c=$(OBJ)/%.o)
BENCHES      := $(addprefix $(BUILD)/bench/,$(notdir $(basename $(BENCH_SRC))))

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_COMMON := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
UNIT_COMMON_OBJ := $(UNIT_COMMON:%.c=$(OBJ)/%.o)
UNITS    := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
# Fuzz targets, each linked with their common code and, without a fuzzer, with a driver.
FUZZ_TARGET_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_TARGETS    := $(FUZZ_TARGET_SRC:tests/fuzz/%.c=$(BUILD)/tests/%)
TRUNCATE_BITFLIP    := $(if $(findstring fuzzer,$(SANITIZE)),,$(BUILD)/tests/truncate_bitflip)
# FAST_FUZZ=1, with clang, uses the driver with the most executions per second, with coverage
# counters only in the sources.
FUZZ_TARGET_OBJ := $(addprefix $(OBJ)/tests/fuzz/,fix_checksums.o mutate_fields.o $(if $(FAST_FUZZ),mutate.o fast_driver.o arena.o, \
              $(if $(findstring fuzzer,$(SANITIZE)),mutate.o,standalone_main.o)))
WRAPPED  := $(if $(FAST_FUZZ),malloc calloc realloc free strdup strndup open close)
DEATH_SRC := $(wildcard tests/death/*.c)
# Built for x86-64 only: programs that use its registers or single-step its instructions.
OTHER_CPU   := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),,tests/programs/registers_avx512.c)
DEATH    := $(if $(OTHER_CPU),,$(BUILD)/tests/death)
# plugin*.c are loaded with dlopen() or preloaded, and must not contain the library themselves;
# *_internal.c use internals of the library.
PLUGIN_SRC  := $(wildcard tests/programs/plugin*.c)
PROGRAM_SRC := $(filter-out $(PLUGIN_SRC) $(OTHER_CPU),$(wildcard tests/programs/*.c tests/programs/*.cc))
PROGRAM_NAMES := $(notdir $(basename $(PROGRAM_SRC)))
PROGRAMS := $(addprefix $(BUILD)/tests/programs/,$(PROGRAM_NAMES) \
              $(addsuffix .shared,$(filter-out %_internal,$(PROGRAM_NAMES))) \
              $(PLUGIN_SRC:tests/programs/%.c=%.so))

# Further flags for code that is only in the tool: without optimization, it is compiled in half the
# time.
TOOL_FLAGS ?=
$(TOOL_OBJ) $(CLI_OBJ): private C_FLAGS += $(TOOL_FLAGS)
# Unit tests are not optimized, which compiles them in a third of the time; the code under test is.
# Reports of sanitizers need line numbers; only test_symbols reads types.
$(OBJ)/tests/unit/%.o: private C_FLAGS += -O0 $(if $(SANITIZE),$(if $(filter %/test_symbols.o,$@),,-g1))
# All types of the C++ library: clang takes 19 s to optimize one of these files. gcc does so here, clang
# in campaigns (STANDARDS in tests/fntrace/fntrace.sh).
$(OBJ)/tests/programs/fntrace_types%.o: private CXX_FLAGS += $(if $(findstring clang,$(CC)),-O0)

# For the tool only; the library needs just libc.
TOOL_LIBS = -ljansson $(if $(filter no,$(DLOPEN)),-ldw -lelf -lsqlite3) -lprotobuf-c -lz -lm $(LDLIBS)

# For programs that only tests run, a linker that takes a third of the time, if there is one.
FAST_LINKER := $(if $(shell command -v "$$($(CC) -print-prog-name=ld.gold)"),-fuse-ld=gold)

EXAMPLE_FLAGS := -Iinclude
BENCH_FLAGS   := -Iinclude -Isrc -Ibench
TEST_FLAGS    := -Iinclude -Isrc -Itests $(ASSERT_FLAGS) $(if $(findstring fuzzer,$(SANITIZE)),-DPROBITY_FUZZER)

# Prints a short line per step; V=1 shows the commands, QUIET=1 nothing.
say = $(if $(V),,@$(if $(QUIET),,echo '  $(1) $@' && ))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
FORCE:

.PHONY: all lib tool examples bench-programs trace-generators unit-tests traced-programs fuzz-programs death-programs \
        test-programs page completion pictures setup check test demo fleet-demo bench \
        fuzz fuzz-coverage campaign install install-strip uninstall print-lib-sources cmake-sources amalgamation \
        dist deb clean help FORCE

all: lib tool examples bench-programs ## Build libraries, tool, examples and benchmarks
lib: $(LIBRARIES) ## Build the static and the shared libraries
tool: $(if $(CLI_SRC),$(TOOL)) ## Build the command-line tool (needs jansson, libdw, SQLite, protobuf-c, zlib; libcurl to send)
examples: $(EXAMPLES) $(HTTPD) ## Build the example programs
bench-programs: $(BENCHES)
trace-generators: $(addprefix $(BUILD)/bench/,gen gen_scopes corrected)
unit-tests: $(UNITS)
# TRACED=tree,plugin%: only these, in all variants.
traced-programs: $(if $(TRACED),$(filter $(foreach name,$(subst $(COMMA), ,$(TRACED)),\
    $(addprefix $(BUILD)/tests/programs/,$(name) $(name).shared $(name).so)),$(PROGRAMS)),$(PROGRAMS))
fuzz-programs: $(FUZZ_TARGETS) $(TRUNCATE_BITFLIP)
death-programs: $(DEATH)
test-programs: unit-tests traced-programs fuzz-programs death-programs ## Build the unit tests and the programs that tests run

# A build with other compilers or flags in the same directory starts from scratch.
FLAGS_LINE = $(CC) $(CXX) $(C_FLAGS) $(CXX_FLAGS) $(LINK_FLAGS) $(SRC_FLAGS) $(TOOL_FLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_LINE)' | cmp -s - $@ || echo '$(FLAGS_LINE)' > $@

# ---- Compiling ------------------------------------------------------------------------------------

$(OBJ)/src/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(SRC_FLAGS) -c -o $@ $<

$(GENERATED)/%.pb-c.c $(GENERATED)/%.pb-c.h: src/%.proto
	@mkdir -p $(@D)
	$(call say,GEN )protoc-c --proto_path=$(<D) --c_out=$(@D) $<

$(OBJ)/generated/%.o: $(GENERATED)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(SRC_FLAGS) -I$(GENERATED) -c -o $@ $<

# Before the first compilation, no dependency file lists which files include generated ones.
PROTO_HEADERS := $(PROTO_SRC:src/%.proto=$(GENERATED)/%.pb-c.h)
$(filter $(OBJ)/src/exports/%,$(TOOL_OBJ)): | $(PROTO_HEADERS)

$(OBJ)/plain/examples/%.o: examples/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(EXAMPLE_FLAGS) -DPROBITY_DISABLE -c -o $@ $<

# $(1) directory, $(2) its flags.
define compile_rules
$(OBJ)/$(1)/%.o: $(1)/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC  )$$(CC) $$(C_FLAGS) $(2) -c -o $$@ $$<
$(OBJ)/$(1)/%.o: $(1)/%.cc $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CXX )$$(CXX) $$(CXX_FLAGS) $(2) -c -o $$@ $$<
endef
$(eval $(call compile_rules,examples,$(EXAMPLE_FLAGS)))
$(eval $(call compile_rules,bench,$(BENCH_FLAGS)))
$(eval $(call compile_rules,tests,$(TEST_FLAGS)))

# ---- The page of `probity view` -------------------------------------------------------------------

$(PAGE_OBJ): src/page/view_page.S $(PAGE) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS  )$(CC) -c -DPAGE='"$(PAGE)"' -o $@ $<

$(OBJ)/src/functions/%.o: src/functions/%.S src/functions/hooks_x86_64.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS  )$(CC) $(CFLAGS) -fPIC -c -o $@ $<

# ---- Linking --------------------------------------------------------------------------------------

PUBLIC_NAMES = $(shell sed -n 's/^ *\(probity_[a-z_]*\);/\1/p' src/libprobity.map)

# $(1) and $(2) objects: prints the names to which one refers and which the other defines.
names_between = $(shell { $(NM) -u $(1); echo; echo of; $(NM) --defined-only -g $(2); } 2> /dev/null | \
    awk '/^of$$/ { of = 1 } !of && NF == 2 { wanted[$$2] } of && NF == 3 && $$3 in wanted { print $$3 }' | sort -u)
# One object: constructor and exit handler come with any symbol, and hidden symbols stay hidden,
# except DW.ref.*, which unwinding reads: the linker keeps one of each, the program's or ours, and
# references to a local one would dangle. If only dropped sections refer to a name weakly, the linker
# makes it strong, so all weak names are made weak again.
# $(1) the object, $(2) the names that stay, $(3) objcopy's choice of what is hidden, $(4) objects,
# $(5) names that stay for another member of the archive
define one_object
	@mkdir -p $(@D)
	@$(CC) -nostdlib -r -Wl,--gc-sections $(patsubst %,-Wl$(COMMA)-u$(COMMA)%,$(2) $(5)) -o $(1) $(4)
	@$(NM) $(4) | awk '$$1 == "w" { print $$2 } END { print "# an empty list is an error" }' > $(1:.o=.weak)
	@$(OBJCOPY) $(3) --weaken-symbols=$(1:.o=.weak) $(1)
	@$(OBJCOPY) --wildcard --globalize-symbol='DW.ref.*' $(patsubst %,--globalize-symbol=%,$(5)) $(1)
endef
define archive
	@rm -f $@
	$(call say,AR  )$(AR) rcs $@ $(1)
endef
archive_object = $(@:$(BUILD)/lib/lib%.a=$(OBJ)/%.o)

CORE_OBJ := $(filter-out $(DUMPS_OBJ),$(LIB_OBJ))
$(STATIC_LIB): $(LIB_OBJ) src/libprobity.map
	$(call one_object,$(OBJ)/probity.o,$(filter-out probity_snapshot,$(PUBLIC_NAMES)),--localize-hidden,$(CORE_OBJ), \
	    $(call names_between,$(DUMPS_OBJ),$(CORE_OBJ)))
	$(call one_object,$(OBJ)/probity-dumps.o,probity_snapshot,--localize-hidden,$(DUMPS_OBJ), \
	    $(call names_between,$(CORE_OBJ),$(DUMPS_OBJ)))
	$(call archive,$(OBJ)/probity.o $(OBJ)/probity-dumps.o)
# It also contains public functions of libprobity, for internal use.
$(STATIC_PRINT): $(PRINT_OBJ)
	$(call one_object,$(archive_object),probity_print_hooks,--localize-hidden $(PUBLIC_NAMES:%=--localize-symbol=%),$(PRINT_OBJ))
	$(call archive,$(archive_object))

# nodelete: threads and exit handlers of the library survive a dlclose() of the library that loaded
# it. A sanitizer's runtime is in the program, so only a build without a sanitizer can reject
# undefined symbols. $(1) soname, $(2) version script, $(3) further flags, $(4) objects
define shared_library
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -shared $(LINK_FLAGS) -Wl,-soname,$(1) -Wl,--version-script=$(2) \
	    $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-z,nodelete -Wl,-Bsymbolic-functions -Wl,--gc-sections $(3) -o $@ $(4)
	@ln -sf $(@F) $(@D)/$(1)
	@ln -sf $(1) $(@:.so.$(VERSION)=.so)
endef
# Two segments instead of four: 5 KB less, and fewer mappings at program start.
$(SHARED_LIB): $(LIB_OBJ) src/libprobity.map
	$(call shared_library,$(SONAME),src/libprobity.map,-Wl$(COMMA)-z$(COMMA)noseparate-code \
	    $(PRINT_RUNPATH:%=-Wl$(COMMA)-rpath$(COMMA)'%'),$(LIB_OBJ))
$(SHARED_PRINT): $(PRINT_OBJ) src/libprobity-print.map
	$(call shared_library,$(PRINT_SONAME),src/libprobity-print.map,,$(PRINT_OBJ))
# It has separate copies of the code that it shares with libprobity.
FUNCTIONS_NAMES = __cyg_profile_func_enter __cyg_profile_func_exit \
    $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),__fentry__ __return__ \
    probity_scope_site_enter_hook probity_scope_site_leave_hook probity_scope_sites_loaded \
    probity_hooked_start probity_hooked_take_out)
$(STATIC_FUNCTIONS): $(filter-out %/unload.o,$(FUNCTIONS_OBJ)) src/libprobity-functions.map
	$(call one_object,$(archive_object),$(FUNCTIONS_NAMES),--localize-hidden,$(filter %.o,$^))
	$(call archive,$(archive_object))
$(SHARED_FUNCTIONS): $(FUNCTIONS_OBJ) src/libprobity-functions.map $(SHARED_LIB)
	$(call shared_library,$(FUNCTIONS_SONAME),src/libprobity-functions.map,$(PRINT_RUNPATH:%=-Wl$(COMMA)-rpath$(COMMA)'%'),$(FUNCTIONS_OBJ) \
	    -L$(BUILD)/lib -lprobity)

# Shared only: static programs have no symbol lookup that could be intercepted.
$(SHARED_CALLS): $(CALLS_OBJ) src/libprobity-calls.map $(SHARED_LIB)
	$(call shared_library,$(CALLS_SONAME),src/libprobity-calls.map,$(PRINT_RUNPATH:%=-Wl$(COMMA)-rpath$(COMMA)'%'),$(CALLS_OBJ) \
	    -L$(BUILD)/lib -lprobity)

# Without the recording code: the tool must not trace itself if PROBITY_OUT is set.
TOOL_PARTS := $(CLI_OBJ) $(TOOL_OBJ) $(PAGE_OBJ) $(filter-out $(addprefix $(OBJ)/src/, \
           runtime/% embed/% embed_print/% writer/writer.o),$(BOTH_OBJ))
# At a fixed address, a start need not relocate the sanitizers' descriptors of all variables: 6 MB.
$(TOOL): $(TOOL_PARTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) $(if $(SANITIZE),-no-pie $(FAST_LINKER)) -o $@ $^ $(TOOL_LIBS)

program_name = $(notdir $(basename $(1)))

# A fuzz target of the tool's commands, or of parts of them. $(1) name, $(2) objects. The reader's
# target keeps its files in memory.
FUZZ_TARGET_PARTS := $(filter-out %/main.o,$(TOOL_PARTS))
define fuzz_target_rule
$(BUILD)/tests/$(1): $(OBJ)/tests/fuzz/$(1).o $(FUZZ_TARGET_OBJ) $(2)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(LINK_FLAGS) $(FAST_LINKER) $(if $(findstring fuzzer,$(SANITIZE)),-fsanitize=fuzzer) \
	    $(WRAPPED:%=-Wl$(COMMA)--wrap=%) -o $$@ $$^ $$(TOOL_LIBS) $(if $(filter fuzz_runs,$(1)),-lsqlite3)
endef
$(foreach s,$(filter-out %/fuzz_reader.c %/fuzz_settings.c,$(FUZZ_TARGET_SRC)),\
    $(eval $(call fuzz_target_rule,$(call program_name,$(s)),$(FUZZ_TARGET_PARTS) \
    $(if $(filter %/fuzz_commands.c %/fuzz_index.c,$(s)),$(OBJ)/tests/fuzz/command_lines.o))))
# Every command on a trace truncated at every byte: the target of the commands, with a different
# driver.
$(BUILD)/tests/truncate_bitflip: $(addprefix $(OBJ)/tests/fuzz/,truncate_bitflip.o fix_checksums.o command_lines.o) $(FUZZ_TARGET_PARTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) $(FAST_LINKER) -o $@ $^ $(TOOL_LIBS)
$(eval $(call fuzz_target_rule,fuzz_reader,$(OBJ)/tests/fuzz/memory_file.o \
    $(filter-out %/reader/file.o,$(filter $(foreach f,base format spool reader,$(OBJ)/src/$(f)/%), \
    $(PRINT_OBJ)))))
$(eval $(call fuzz_target_rule,fuzz_settings,$(LIB_OBJ)))

$(DEATH): $(DEATH_SRC:%.c=$(OBJ)/%.o) $(BOTH_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(LDLIBS)

# Programs are linked with CXX if their source is C++. $(1) program, $(2) source.
linker = $(if $(filter %.cc,$(1)),$(CXX),$(CC))

# $(1) source, $(2) program, $(3) further objects, $(4) libraries, $(5) prerequisites
define program_rule
$(2): $(OBJ)/$(basename $(1)).o $(3) $(5)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(call linker,$(1)) $$(LINK_FLAGS) -o $$@ $(OBJ)/$(basename $(1)).o $(3) $(4) $$(LDLIBS)
endef
# The archive is one object without internal names; the linker omits it if all symbols that it
# defines are already defined.
internal_objects = $(if $(filter %_internal,$(basename $(1))),$(BOTH_OBJ))

$(foreach s,$(EXAMPLE_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/examples/$(call program_name,$(s)),,$(LINK_DUMPS) $(STATIC_LIB) $(RPATH),$(STATIC_LIB) $(SHARED_PRINT))))
$(foreach s,$(BENCH_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/bench/$(call program_name,$(s)),$(BENCH_COMMON_OBJ),$(STATIC_LIB) -lm,$(STATIC_LIB))))
$(foreach s,$(PROGRAM_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/tests/programs/$(call program_name,$(s)),$(call internal_objects,$(s)),\
    $(if $(filter count_marks.c,$(notdir $(s))),,$(LINK_DUMPS)) $(STATIC_LIB) $(LINK_PRINT) -lm -ldl,$(STATIC_LIB) $(STATIC_PRINT))))
$(foreach s,$(PROGRAM_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/tests/programs/$(call program_name,$(s)).shared,,\
    -L$(BUILD)/lib $(RPATH) -lprobity -lm -ldl,$(SHARED_LIB) $(SHARED_PRINT))))

$(BUILD)/examples/httpd: $(HTTPD_OBJ) $(STATIC_LIB) | $(SHARED_PRINT)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) $(LINK_DUMPS) -o $@ $^ $(RPATH) $(LDLIBS)

$(BUILD)/examples/httpd-plain: $(HTTPD_PLAIN_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(LDLIBS)

# Everything except src/cli, from which unit tests are linked only with the objects that they need,
# in a quarter of the time. UNIT_LIBRARY=1 excludes code that is only in the tool, for tests of the
# libraries.
UNIT_LIBRARY ?=
UNIT_TOOL_OBJ := $(if $(UNIT_LIBRARY),$(filter $(addprefix $(OBJ)/src/,base/% spool/% writer/% analysis/% \
    answers/hist/hist.o),$(TOOL_OBJ)), \
    $(TOOL_OBJ) $(PAGE_OBJ))
UNIT_PARTS := $(OBJ)/unit_parts$(if $(UNIT_LIBRARY),_library).a
$(UNIT_PARTS): $(UNIT_COMMON_OBJ) $(UNIT_TOOL_OBJ) $(BOTH_OBJ)
	@rm -f $@
	$(call say,AR  )$(AR) rcsT $@ $^

# A unit test may name additional linker flags in a comment: "link-flags: -Wl,--wrap=write".
$(BUILD)/tests/unit/%: $(OBJ)/tests/unit/%.o $(UNIT_PARTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) $(FAST_LINKER) $$(sed -n 's,.*link-flags: *\(.*[^ */]\).*,\1,p' tests/unit/$*.c) \
	    -o $@ $^ -lcmocka $(TOOL_LIBS)

$(BUILD)/tests/programs/plugin%.so: tests/programs/plugin%.c $(SHARED_LIB) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(TEST_FLAGS) -MF $(OBJ)/plugin$*.d -fPIC -shared $(LINK_FLAGS) -o $@ $< \
	    -L$(BUILD)/lib $(RPATH) -Wl,--as-needed -lprobity

-include $(BOTH_OBJ:.o=.d) $(FUNCTIONS_OBJ:.o=.d) $(CALLS_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(HTTPD_OBJ:.o=.d) \
    $(HTTPD_PLAIN_OBJ:.o=.d) $(BENCH_COMMON_OBJ:.o=.d) $(UNIT_COMMON_OBJ:.o=.d) \
    $(patsubst %.c,$(OBJ)/%.d,$(wildcard tests/fuzz/*.c tests/death/*.c)) \
    $(patsubst %,$(OBJ)/%.d,$(basename $(EXAMPLE_SRC) $(BENCH_SRC) $(UNIT_SRC) $(PROGRAM_SRC))) \
    $(PLUGIN_SRC:tests/programs/%.c=$(OBJ)/%.d)

# ---- Running --------------------------------------------------------------------------------------

# Installs the missing packages of the groups in $(1), or none with SETUP=no.
SETUP ?=
setup = $(if $(filter no,$(SETUP)),@:,@tools/setup.sh $(1))

# All CPUs, unless the caller's make was given -j.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc))

setup: ## Install with apt-get what building and testing need (as root or with sudo)
	$(call setup)

# Setup runs first, even with -j: before it there may be no compiler.
check: ## Install what is missing, build with gcc, and run the quick tests (2 minutes)
	$(call setup,build test)
	@BUILD='$(BUILD)' TIER=check tools/test.sh

test: ## Install what is missing, build all variants, and run all tests
	$(call setup,build page test fleet windows)
	$(if $(filter no,$(SETUP)),,@tests/engine/install.sh $(BUILD)/engine || \
	    echo "test: without a current ClickHouse engine; tests/fleet/fleet_current.sh is skipped")
	$(if $(filter no,$(SETUP)),,@$(WINDOWS_SOURCES))
	@BUILD='$(BUILD)' tools/test.sh

demo: ## Install what is missing, build, and trace a web server under load
	$(call setup,build demo)
	@echo "demo: building the library, the tool and the examples in $(BUILD)/"
	@$(MAKE) -s --no-print-directory $(PARALLEL) QUIET=1 lib tool examples
	@tools/demo.sh $(BUILD)

fleet-demo: ## Install what is missing, build, and send traces of web servers to a ClickHouse server
	$(call setup,build demo fleet)
	@echo "fleet-demo: building the library, the tool and the examples in $(BUILD)/"
	@$(MAKE) -s --no-print-directory $(PARALLEL) QUIET=1 lib tool examples
	@CC='$(CC)' tools/fleet_demo.sh $(BUILD)

bench: ## Install what is missing, build, and run the benchmarks
	$(call setup,build bench)
	@$(MAKE) all
	@bench/run.sh $(BUILD)

page: ## Build view/dist/page.html, which is kept in the tree, from view/
	$(call setup,page)
	@tools/build_page.sh $(BUILD)/view view/dist/page.html

fuzz fuzz-coverage campaign: export WERROR = -Werror

fuzz: ## Fuzz the reading commands for SECONDS (default 600) with libFuzzer
	$(call setup,build fuzz)
	@$(MAKE) BUILD=$(BUILD) lib examples test-programs
	@$(MAKE) BUILD=$(BUILD)-fuzz CC=clang CXX=clang++ SANITIZE=fuzzer-no-link,address,undefined \
	    $(BUILD)-fuzz/tests/fuzz_commands
	@BUILD=$(BUILD) tests/fuzz/fuzz.sh $(or $(SECONDS),600)

fuzz-coverage: ## Print which lines of the readers the fuzzers' corpus reaches
	$(call setup,build fuzz)
	@BUILD=$(BUILD) tests/fuzz/coverage.sh

campaign: ## Run the long campaigns of doc/reliability.md, or PARTS of them; resumes after an interruption
	$(call setup,build page test campaign)
	@$(MAKE) BUILD=$(BUILD) all test-programs
	@BUILD=$(BUILD) tools/campaign.sh $(PARTS)

completion: $(TOOL) ## Write completion/, which is kept in the tree, from the tables of options
	@$(TOOL) --completion bash > completion/probity.bash
	@$(TOOL) --completion zsh > completion/_probity
	@$(TOOL) --completion fish > completion/probity.fish

pictures: all ## Regenerate the screenshots for the README (needs wrk, chromium, node and npm)
	@tools/pictures.sh $(BUILD)

clean: ## Remove the build directory and those of the variants
	rm -rf $(BUILD) $(BUILD)-windows $(BUILD)-clang $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-coverage

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  make %-16s %s\n", $$1, $$2 }' Makefile packaging/*.mk
	@echo "  Variables: BUILD CC CXX CFLAGS CXXFLAGS LDFLAGS WERROR SANITIZE DEBUG SETUP V PREFIX DESTDIR LIBDIR"

# ---- Installing -----------------------------------------------------------------------------------

include packaging/install.mk
include packaging/packages.mk
include packaging/aarch64.mk
include packaging/windows.mk
