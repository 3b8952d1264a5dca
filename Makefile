# Probity is built with plain GNU make. All outputs go under $(BUILD); nothing is run while this file is
# read, so that `make setup` works on a machine without a compiler. `make help` lists the targets.

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

VERSION := 0.1.0
SONAME  := libprobity.so.0
SHARED  := libprobity.so.$(VERSION)

# CFLAGS, CXXFLAGS, LDFLAGS are the builder's; SANITIZE=address,undefined or thread makes a checked build.
SANITIZE ?=
COMMA := ,
# WERROR= builds with a compiler that knows more warnings.
WERROR ?= -Werror
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow $(WERROR)
OPTIMIZE := $(if $(SANITIZE),-O1 -fno-omit-frame-pointer,-O2)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
COMMON := $(OPTIMIZE) -g $(WARNINGS) -pthread -D_GNU_SOURCE $(SANITIZE_FLAGS) -MMD -MP
C_FLAGS   = -std=gnu11 $(COMMON) $(CFLAGS)
CXX_FLAGS = -std=gnu++17 $(COMMON) $(CXXFLAGS)
LINK_FLAGS = -pthread $(SANITIZE_FLAGS) $(LDFLAGS)
# -fexceptions: a thread that is cancelled or thrown through must unwind across library frames.
# -fno-plt: a function bound at its first call takes 3 KiB of stack more, which a signal handler may
# not have.
SRC_FLAGS := -Isrc -Iinclude -I$(BUILD)/generated -fPIC -fvisibility=hidden -fexceptions -fno-plt \
             $(if $(OFTEN),-fsanitize-coverage=edge$(COMMA)inline-8bit-counters)

# What needs libm or answers only the tool is the tool's alone.
TOOL_ANALYSIS := $(wildcard $(addsuffix *.c,$(addprefix src/analysis/, \
    blocks \
    compare \
    coverage \
    hist \
    journeys \
    model \
    open_ids \
    overhead \
    paired \
    probes \
    statistics \
    timeline \
    times)))
LIB_SRC := $(wildcard src/base/*.c src/format/*.c src/spool/*.c src/runtime/*.c src/writer/*.c \
             src/reader/*.c src/library/*.c src/output/csv*.c src/output/log*.c) \
           src/output/text.c src/output/values.c src/output/report_text.c src/output/table.c \
           $(filter-out $(TOOL_ANALYSIS),$(wildcard src/analysis/*.c))
TOOL_SRC := $(filter-out $(LIB_SRC),$(wildcard src/analysis/*.c src/output/*.c src/symbols/*.c \
              src/store/*.c))
CLI_SRC := $(wildcard src/cli/*.c)
# Messages of other tools' formats: protobuf-c makes C of their descriptions.
PROTO_SRC := $(wildcard src/output/*.proto)

OBJ      := $(BUILD)/obj
GENERATED := $(BUILD)/generated
LIB_OBJ  := $(LIB_SRC:%.c=$(OBJ)/%.o)
PROTO_OBJ := $(PROTO_SRC:src/%.proto=$(OBJ)/generated/%.pb-c.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(OBJ)/%.o) $(PROTO_OBJ)
CLI_OBJ  := $(CLI_SRC:%.c=$(OBJ)/%.o)
PAGE     := $(BUILD)/view/page.html
PAGE_OBJ := $(OBJ)/src/output/view_page.o
STATIC_LIB := $(BUILD)/lib/libprobity.a
SHARED_LIB := $(BUILD)/lib/$(SHARED)
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
# Doors that a fuzzer enters by, each with what they share. A door without a fuzzer has a driver.
DOOR_SRC := $(wildcard tests/fuzz/fuzz_*.c)
DOORS    := $(DOOR_SRC:tests/fuzz/%.c=$(BUILD)/tests/%)
SWEEP    := $(if $(findstring fuzzer,$(SANITIZE)),,$(BUILD)/tests/sweep)
# OFTEN=1, with clang, has the driver that executes most often, by counters in the sources alone.
DOOR_OBJ := $(addprefix $(OBJ)/tests/fuzz/,mend.o $(if $(OFTEN),mutate.o often.o arena.o, \
              $(if $(findstring fuzzer,$(SANITIZE)),mutate.o,plain.o)))
WRAPPED  := $(if $(OFTEN),malloc calloc realloc free strdup strndup open close)
DEATH_SRC := $(wildcard tests/death/*.c)
DEATH    := $(BUILD)/tests/death
# plugin*.c are loaded with dlopen(); *_internal.c use what the library does not offer.
PLUGIN_SRC  := $(wildcard tests/programs/plugin*.c)
PROGRAM_SRC := $(filter-out $(PLUGIN_SRC),$(wildcard tests/programs/*.c tests/programs/*.cc))
PROGRAM_NAMES := $(notdir $(basename $(PROGRAM_SRC)))
PROGRAMS := $(addprefix $(BUILD)/tests/programs/,$(PROGRAM_NAMES) \
              $(addsuffix .shared,$(filter-out %_internal,$(PROGRAM_NAMES))) \
              $(PLUGIN_SRC:tests/programs/%.c=%.so))

# Of the tool alone; the library needs libc.
TOOL_LIBS = -ljansson -ldw -lelf -lsqlite3 -lprotobuf-c -lz -lm $(LDLIBS)

EXAMPLE_FLAGS := -Iinclude
BENCH_FLAGS   := -Iinclude -Isrc -Ibench
TEST_FLAGS    := -Iinclude -Isrc -Itests $(if $(findstring fuzzer,$(SANITIZE)),-DPROBITY_FUZZER)

# Says in short what is done; V=1 shows the commands.
say = $(if $(V),,@echo '  $(1) $@' && )

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
FORCE:

.PHONY: all lib tool examples bench-programs test-programs setup test demo bench fuzz fuzz-coverage campaign \
        install uninstall clean help FORCE

all: lib tool examples bench-programs ## Build libraries, tool, examples and benchmarks
lib: $(STATIC_LIB) $(SHARED_LIB) ## Build the static and the shared library
tool: $(if $(CLI_SRC),$(TOOL)) ## Build the command-line tool (needs jansson, libdw, SQLite, protobuf-c, zlib, libcurl)
examples: $(EXAMPLES) $(HTTPD) ## Build the example programs
bench-programs: $(BENCHES)
test-programs: $(UNITS) $(PROGRAMS) $(DOORS) $(DEATH) $(SWEEP) ## Build the unit tests and the programs that tests run

# A build with other compilers or flags in the same directory starts afresh.
FLAGS_LINE = $(CC) $(CXX) $(C_FLAGS) $(CXX_FLAGS) $(LINK_FLAGS) $(SRC_FLAGS)
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

# Before the first compilation nothing else tells who includes what is generated.
PROTO_HEADERS := $(PROTO_SRC:src/%.proto=$(GENERATED)/%.pb-c.h)
$(filter $(OBJ)/src/output/%,$(TOOL_OBJ)): | $(PROTO_HEADERS)

$(OBJ)/plain/examples/%.o: examples/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(EXAMPLE_FLAGS) -DPROBITY_DISABLE -c -o $@ $<

# $(1) folder, $(2) its flags.
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

# Bundled by esbuild in a copy of view/, since node_modules must not lie between the sources. Without
# npm, or where it cannot get the packages, the tool is built all the same, and `view` says why.
VIEW_SRC := $(sort $(wildcard view/*.* view/src/*))

$(PAGE): $(VIEW_SRC) tools/build_page.sh tools/npm_install.sh
	$(call say,PAGE)tools/build_page.sh $(BUILD)/view

$(PAGE_OBJ): src/output/view_page.S $(PAGE) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS  )$(CC) -c -DPAGE='"$(PAGE)"' -o $@ $<

# ---- Linking --------------------------------------------------------------------------------------

# One object: constructor and exit handler come with any symbol, and what is hidden stays hidden. But
# for DW.ref.*: of these, which unwinding reads, the linker keeps one, the program's or ours, and
# would leave what refers to a local one without.
$(STATIC_LIB): $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@ $(OBJ)/probity.o
	@$(CC) -nostdlib -r -o $(OBJ)/probity.o $^
	@$(OBJCOPY) --localize-hidden $(OBJ)/probity.o
	@$(OBJCOPY) --wildcard --globalize-symbol='DW.ref.*' $(OBJ)/probity.o
	$(call say,AR  )$(AR) rcs $@ $(OBJ)/probity.o

# nodelete: threads and exit handlers of the library outlive a dlclose() of whatever brought it in.
# A sanitizer's runtime is in the program, so only an unchecked build can refuse undefined symbols.
$(SHARED_LIB): $(LIB_OBJ) src/libprobity.map
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -shared $(LINK_FLAGS) -Wl,-soname,$(SONAME) -Wl,--version-script=src/libprobity.map \
	    $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-z,nodelete -Wl,-Bsymbolic-functions -o $@ $(LIB_OBJ)
	@ln -sf $(SHARED) $(@D)/$(SONAME)
	@ln -sf $(SONAME) $(@D)/libprobity.so

# Without what records: the tool must not trace itself when PROBITY_OUT is set.
TOOL_PARTS := $(CLI_OBJ) $(TOOL_OBJ) $(PAGE_OBJ) $(filter-out $(OBJ)/src/runtime/% $(OBJ)/src/library/% \
           $(OBJ)/src/writer/writer.o,$(LIB_OBJ))
$(TOOL): $(TOOL_PARTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(TOOL_LIBS)

program_name = $(notdir $(basename $(1)))

# A door to the tool's commands, or to parts of them. $(1) name, $(2) objects. The reader's door has
# its files in memory.
DOOR_PARTS := $(filter-out %/main.o,$(TOOL_PARTS))
define door_rule
$(BUILD)/tests/$(1): $(OBJ)/tests/fuzz/$(1).o $(DOOR_OBJ) $(2)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(LINK_FLAGS) $(if $(findstring fuzzer,$(SANITIZE)),-fsanitize=fuzzer) \
	    $(WRAPPED:%=-Wl$(COMMA)--wrap=%) -o $$@ $$^ $$(TOOL_LIBS)
endef
$(foreach s,$(filter-out %/fuzz_reader.c %/fuzz_settings.c,$(DOOR_SRC)),\
    $(eval $(call door_rule,$(call program_name,$(s)),$(DOOR_PARTS))))
# Every command on all cuts of a trace: the door of the commands, and a driver of its own.
$(BUILD)/tests/sweep: $(OBJ)/tests/fuzz/sweep.o $(OBJ)/tests/fuzz/mend.o $(DOOR_PARTS)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(TOOL_LIBS)
$(eval $(call door_rule,fuzz_reader,$(OBJ)/tests/fuzz/memory_file.o \
    $(filter-out %/reader/file.o,$(filter $(foreach f,base format spool reader,$(OBJ)/src/$(f)/%), \
    $(LIB_OBJ)))))
$(eval $(call door_rule,fuzz_settings,$(LIB_OBJ)))

$(DEATH): $(DEATH_SRC:%.c=$(OBJ)/%.o) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(LDLIBS)

# Programs link with CXX where their source is C++. $(1) program, $(2) source.
linker = $(if $(filter %.cc,$(1)),$(CXX),$(CC))

# $(1) source, $(2) program, $(3) further objects, $(4) libraries, $(5) prerequisites
define program_rule
$(2): $(OBJ)/$(basename $(1)).o $(3) $(5)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(call linker,$(1)) $$(LINK_FLAGS) -o $$@ $(OBJ)/$(basename $(1)).o $(3) $(4) $$(LDLIBS)
endef
# The archive is one object without internal names, and is left out where its names are there already.
internal_objects = $(if $(filter %_internal,$(basename $(1))),$(LIB_OBJ))

$(foreach s,$(EXAMPLE_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/examples/$(call program_name,$(s)),,$(STATIC_LIB),$(STATIC_LIB))))
$(foreach s,$(BENCH_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/bench/$(call program_name,$(s)),$(BENCH_COMMON_OBJ),$(STATIC_LIB) -lm,$(STATIC_LIB))))
$(foreach s,$(PROGRAM_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/tests/programs/$(call program_name,$(s)),$(call internal_objects,$(s)),\
    $(STATIC_LIB) -lm -ldl,$(STATIC_LIB))))
$(foreach s,$(PROGRAM_SRC),$(eval $(call program_rule,$(s),\
    $(BUILD)/tests/programs/$(call program_name,$(s)).shared,,\
    -L$(BUILD)/lib $(RPATH) -lprobity -lm -ldl,$(SHARED_LIB))))

$(BUILD)/examples/httpd: $(HTTPD_OBJ) $(STATIC_LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/examples/httpd-plain: $(HTTPD_PLAIN_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) -o $@ $^ $(LDLIBS)

# A unit test may name linker flags of its own in a comment: "link-flags: -Wl,--wrap=write".
$(BUILD)/tests/unit/%: $(OBJ)/tests/unit/%.o $(UNIT_COMMON_OBJ) $(TOOL_OBJ) $(PAGE_OBJ) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK_FLAGS) $$(sed -n 's,.*link-flags: *\(.*[^ */]\).*,\1,p' tests/unit/$*.c) \
	    -o $@ $^ -lcmocka $(TOOL_LIBS)

$(BUILD)/tests/programs/plugin%.so: tests/programs/plugin%.c $(SHARED_LIB) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(C_FLAGS) $(TEST_FLAGS) -MF $(OBJ)/plugin$*.d -fPIC -shared $(LINK_FLAGS) -o $@ $< \
	    -L$(BUILD)/lib $(RPATH) -lprobity

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(HTTPD_OBJ:.o=.d) \
    $(HTTPD_PLAIN_OBJ:.o=.d) $(BENCH_COMMON_OBJ:.o=.d) $(UNIT_COMMON_OBJ:.o=.d) \
    $(patsubst %.c,$(OBJ)/%.d,$(wildcard tests/fuzz/*.c tests/death/*.c)) \
    $(patsubst %,$(OBJ)/%.d,$(basename $(EXAMPLE_SRC) $(BENCH_SRC) $(UNIT_SRC) $(PROGRAM_SRC))) \
    $(PLUGIN_SRC:tests/programs/%.c=$(OBJ)/%.d)

# ---- Running --------------------------------------------------------------------------------------

setup: ## Install with apt what is missing (Debian 12; as root or with sudo)
	@tools/setup.sh

# Setup comes first whatever -j says: before it there may be no compiler.
test: ## Install what is missing, build all variants, run all tests
	@tools/setup.sh
	@BUILD='$(BUILD)' tools/test.sh

demo: ## Install what is missing, build, trace a web server under load
	@tools/setup.sh
	@$(MAKE) all
	@tools/demo.sh $(BUILD)

bench: ## Install what is missing, build, run the benchmarks
	@tools/setup.sh
	@$(MAKE) all
	@bench/run.sh $(BUILD)

fuzz: ## Fuzz the reading commands for SECONDS (default 600) with libFuzzer
	@tools/setup.sh
	@$(MAKE) BUILD=$(BUILD) lib examples test-programs
	@$(MAKE) BUILD=$(BUILD)-fuzz CC=clang CXX=clang++ SANITIZE=fuzzer-no-link,address,undefined \
	    $(BUILD)-fuzz/tests/fuzz_commands
	@BUILD=$(BUILD) tests/fuzz/fuzz.sh $(or $(SECONDS),600)

fuzz-coverage: ## Tell which lines of the readers the fuzzers' corpus reaches
	@tools/setup.sh
	@BUILD=$(BUILD) tests/fuzz/coverage.sh

campaign: ## Run the long campaigns of doc/reliability.md, or PARTS of them; goes on where it was
	@tools/setup.sh
	@$(MAKE) BUILD=$(BUILD) all test-programs
	@BUILD=$(BUILD) tools/campaign.sh $(PARTS)

clean: ## Remove the build directory and those of the variants
	rm -rf $(BUILD) $(BUILD)-clang $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-coverage

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  make %-16s %s\n", $$1, $$2 }' Makefile packaging/install.mk
	@echo "  Variables: BUILD CC CXX CFLAGS CXXFLAGS LDFLAGS WERROR SANITIZE V PREFIX DESTDIR LIBDIR"

# ---- Installing -----------------------------------------------------------------------------------

include packaging/install.mk
