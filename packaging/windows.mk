# Builds for Windows on x86-64 with Debian's mingw-w64, into a separate directory. Included by the
# Makefile.

WINDOWS     ?= $(BUILD)-windows
WINDOWS_CC  ?= x86_64-w64-mingw32-gcc
WINDOWS_CXX ?= x86_64-w64-mingw32-g++
WINDOWS_AR  ?= x86_64-w64-mingw32-ar
WINDOWS_SYSTEM := src/base/windows
# msvcrt's printf() supports neither %zu nor %lld. WaitOnAddress() needs Windows 8.
WINDOWS_COMMON := -O2 -g $(WARNINGS) -Wno-format -D_WIN32_WINNT=0x0602 -DWIN32_LEAN_AND_MEAN \
    -D__USE_MINGW_ANSI_STDIO=1 -D_FILE_OFFSET_BITS=64 -MD -MP
WINDOWS_FLAGS := -std=gnu11 $(WINDOWS_COMMON) -D_GNU_SOURCE -DNO_OLDNAMES -Isrc -Iinclude -isystem $(WINDOWS_SYSTEM)/posix \
    -include $(WINDOWS_SYSTEM)/thread_local.h -ffunction-sections -fdata-sections $(ASSERT_FLAGS)
WINDOWS_LIBS := -lsynchronization -ladvapi32 -lntdll
# This library also prints: it is libprobity and libprobity-print in one.
WINDOWS_LEFT_OUT := src/reader/spools.c src/runtime/thread_self.c
WINDOWS_SRC := $(filter-out $(SYSTEM)/% $(WINDOWS_LEFT_OUT),$(sort $(LIB_SRC) $(PRINT_SRC))) \
    $(wildcard $(WINDOWS_SYSTEM)/*.c)
WINDOWS_OBJ := $(WINDOWS_SRC:%.c=$(WINDOWS)/obj/%.o)
WINDOWS_DLL := $(WINDOWS)/bin/libprobity.dll
WINDOWS_LIB := $(WINDOWS)/lib/libprobity.a


# The sources of SQLite and protobuf-c are downloaded, since Debian has neither for mingw-w64.
# Without one, the commands and formats that need it are replaced with messages, too.
WINDOWS_SQLITE := $(WINDOWS)/sqlite3
WINDOWS_HAS_SQLITE := $(wildcard $(WINDOWS_SQLITE)/sqlite3.c)
WINDOWS_PROTOBUF := $(WINDOWS)/protobuf-c
WINDOWS_HAS_PROTOBUF := $(wildcard $(WINDOWS_PROTOBUF)/protobuf-c/protobuf-c.c)
# probity.exe: commands that need a library without a mingw-w64 package, or features that only Linux
# has, are replaced with messages (doc/porting.md). It does not need libprobity.dll, and does not
# record itself.
WINDOWS_EXE := $(WINDOWS)/bin/probity.exe
WINDOWS_TOOL_LEFT_OUT := $(addprefix src/cli/,arguments.c attach.c launch.c preload.c program_file.c sched_dumps.c \
        terminal.c) \
    $(wildcard src/cli/ship*.c src/sched/*.c src/symbols/*.c) \
    $(if $(WINDOWS_HAS_PROTOBUF),src/exports/otlp/otlp_answer.c,$(wildcard src/exports/otlp/*.c src/exports/pprof/*.c)) \
    $(if $(WINDOWS_HAS_SQLITE),,$(wildcard src/answers/runs/*.c src/store/*.c src/exports/sqlite/*.c)) \
    src/base/cpu_return.c src/store/sqlite.c src/writer/wake_page.c src/writer/wake_process.c
WINDOWS_TOOL_SRC := $(filter-out $(WINDOWS_TOOL_LEFT_OUT),$(CLI_SRC) $(TOOL_SRC)) \
    $(if $(WINDOWS_HAS_SQLITE),,src/answers/runs/runs_without_sqlite_command.c src/store/store_without_sqlite.c) \
    src/symbols/symbols_without_dwarf.c src/sched/sched_without_events.c src/reader/spools.c \
    $(wildcard $(WINDOWS_SYSTEM)/tool/*.c)
WINDOWS_TOOL_OBJ := $(WINDOWS_TOOL_SRC:%.c=$(WINDOWS)/obj/%.o) $(WINDOWS)/obj/view_page.o
WINDOWS_PROTO_OBJ := $(if $(WINDOWS_HAS_PROTOBUF),$(PROTO_SRC:src/%.proto=$(WINDOWS)/obj/generated/%.pb-c.o))
WINDOWS_WITHOUT := $(addprefix -DPROBITY_WITHOUT_,DLOPEN PROGRAMS FORK SIGNALS DWARF CURL ANSWERS MICROHTTPD \
    $(if $(WINDOWS_HAS_SQLITE),,SQLITE) $(if $(WINDOWS_HAS_PROTOBUF),,PROTOBUF))
$(WINDOWS_TOOL_OBJ) $(WINDOWS_PROTO_OBJ): private WINDOWS_FLAGS += -isystem $(WINDOWS_SYSTEM)/tool $(WINDOWS_WITHOUT) $(TOOL_FLAGS) \
    $(if $(WINDOWS_HAS_SQLITE),-isystem $(WINDOWS_SQLITE) -Dsqlite3_system_errno=probity_sqlite_errno) \
    $(if $(WINDOWS_HAS_PROTOBUF),-isystem $(WINDOWS_PROTOBUF) -I$(GENERATED))
# A library that was downloaded in the meantime changes what is compiled.
$(WINDOWS)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(WINDOWS_FLAGS) $(WINDOWS_WITHOUT) $(TOOL_FLAGS)' | cmp -s - $@ || echo '$(WINDOWS_FLAGS) $(WINDOWS_WITHOUT) $(TOOL_FLAGS)' > $@
$(WINDOWS_TOOL_OBJ) $(WINDOWS_PROTO_OBJ): $(WINDOWS)/flags
WINDOWS_LIBRARY_OBJ := $(if $(WINDOWS_HAS_SQLITE),$(WINDOWS)/obj/sqlite3.o) \
    $(if $(WINDOWS_HAS_PROTOBUF),$(WINDOWS)/obj/protobuf-c.o)
$(filter $(WINDOWS)/obj/src/exports/%,$(WINDOWS_TOOL_OBJ)): | $(if $(WINDOWS_HAS_PROTOBUF),$(PROTO_HEADERS))

# Missing libraries are reported, and the features that need them are left out.
WINDOWS_SOURCES := tools/library_source.sh sqlite $(WINDOWS_SQLITE) || \
    echo "without SQLite: no \`runs\`, no SQLite exports"; \
    tools/library_source.sh protobuf-c $(WINDOWS_PROTOBUF) || \
    echo "without protobuf-c: no exports for pprof and OpenTelemetry"

.PHONY: windows windows-lib windows-tool windows-test

windows: ## Install what is missing, and build the libraries and the tool for Windows in build-windows
	$(call setup,windows)
	$(if $(filter no,$(SETUP)),,@$(WINDOWS_SOURCES))
	+@$(MAKE) --no-print-directory $(PARALLEL) windows-lib windows-tool

windows-test: windows tool lib ## Build for Windows, and run the tests under Wine (ROUNDS=10 kills)
	@for script in tests/windows/*.sh; do \
	    echo "  TEST $$script" && PROBITY='$(abspath $(TOOL))' WINDOWS='$(abspath $(WINDOWS))' \
	        AARCH64='$(abspath $(AARCH64))' ROUNDS=$(or $(ROUNDS),10) bash $$script || exit; done

windows-lib: $(WINDOWS_DLL) $(WINDOWS_LIB)
windows-tool: $(WINDOWS_EXE)

$(WINDOWS)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC  )$(WINDOWS_CC) $(WINDOWS_FLAGS) -c -o $@ $<

# Names in the map that do not exist on Windows: thread-local variables, and hooks in assembly.
WINDOWS_MISSING := probity_thread_self|probity_thread_inside|probity_scope_(counters|depth|exceptions|frame|never|enter_hook|enter_values_hook|leave_hook)
WINDOWS_VARIABLES := probity_(active|thread_offset|scope_(offset|level|profiles|param_level))
$(WINDOWS)/libprobity.def: src/libprobity.map packaging/windows.mk
	@mkdir -p $(@D)
	@{ echo EXPORTS; { sed -nE '/^ *($(WINDOWS_MISSING));/d; s/^ *(probity_[a-z_]*);/    \1/p' $<; \
	    printf '    %s\n' probity_thread_offset probity_scope_offset probity_scope_thread_make; } | \
	    sed -E 's/ ($(WINDOWS_VARIABLES))$$/ \1 DATA/'; } > $@

$(WINDOWS_DLL): $(WINDOWS_OBJ) $(WINDOWS)/libprobity.def
	@mkdir -p $(@D) $(WINDOWS)/lib
	$(call say,LINK)$(WINDOWS_CC) -shared -static-libgcc -Wl,--gc-sections -Wl,--out-implib,$(WINDOWS)/lib/libprobity.dll.a \
	    -o $@ $^ $(WINDOWS_LIBS)

# One object: constructor and exit handler must come with any symbol.
$(WINDOWS_LIB): $(WINDOWS_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	@$(WINDOWS_CC) -nostdlib -r -o $(WINDOWS)/obj/probity.o $^
	$(call say,AR  )$(WINDOWS_AR) rcs $@ $(WINDOWS)/obj/probity.o

$(WINDOWS)/obj/view_page.o: $(WINDOWS_SYSTEM)/tool/view_page.S $(PAGE)
	@mkdir -p $(@D)
	$(call say,AS  )$(WINDOWS_CC) -c -DPAGE='"$(PAGE)"' -o $@ $<

$(WINDOWS)/obj/generated/%.o: $(GENERATED)/%.c
	@mkdir -p $(@D)
	$(call say,CC  )$(WINDOWS_CC) $(WINDOWS_FLAGS) -c -o $@ $<

$(WINDOWS)/obj/protobuf-c.o: $(WINDOWS_PROTOBUF)/protobuf-c/protobuf-c.c
	@mkdir -p $(@D)
	$(call say,CC  )$(WINDOWS_CC) -O2 -w -I$(WINDOWS_PROTOBUF) -c -o $@ $<

# SQLite's code has warnings. Tests compile it without optimization, in a sixth of the time.
WINDOWS_SQLITE_OPTIMIZE ?= -O2
$(WINDOWS)/obj/sqlite3.o: $(WINDOWS_SQLITE)/sqlite3.c
	@mkdir -p $(@D)
	$(call say,CC  )$(WINDOWS_CC) $(WINDOWS_SQLITE_OPTIMIZE) -w -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DQS=0 -c -o $@ $<

$(WINDOWS_EXE): $(WINDOWS_TOOL_OBJ) $(WINDOWS_PROTO_OBJ) $(WINDOWS_LIBRARY_OBJ) $(filter-out $(addprefix $(WINDOWS)/obj/src/, \
           runtime/% embed/% embed_print/% writer/writer.o),$(WINDOWS_OBJ))
	@mkdir -p $(@D)
	$(call say,LINK)$(WINDOWS_CC) -municode -static -Wl,--gc-sections -o $@ $^ -lz $(WINDOWS_LIBS)

-include $(WINDOWS_OBJ:.o=.d) $(WINDOWS_TOOL_OBJ:.o=.d) $(WINDOWS_PROTO_OBJ:.o=.d)
