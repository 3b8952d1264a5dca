/* SPDX-License-Identifier: MIT
 *
 * probity.h: probes that record wall time and thread CPU time for little more than the cost of
 * reading the clock.
 *
 *     PROBITY_PROBE(7);               a hit of probe number 7
 *     PROBITY_PROBE_NAMED("parse");   a hit of the site named "parse"
 *
 * No call is needed to start: if PROBITY_OUT is set in the environment, the first probe starts
 * recording. Without PROBITY_OUT and without probity_start(), a probe is one predicted branch.
 * Every record whose store has retired survives the process, however it ends (doc/spool.md). The
 * `probity` command reads the trace.
 *
 * If PROBITY_DISABLE is defined before the include, probes compile to nothing and their arguments
 * are not evaluated. Requires C11 or C++11 with GNU extensions (gcc, clang) on Linux, x86-64 or
 * AArch64, or on Windows, x86-64; there also MSVC and clang-cl (C11 or C++14), with libprobity.dll.
 *
 * Contents: errors, options, control functions, the inline record path, the probe macros.
 */
#ifndef PROBITY_H
#define PROBITY_H

/* Unsupported compilers, standards and platforms get one #error and no declarations. With
 * PROBITY_DISABLE, any operating system and processor is supported. */
#if defined(_MSC_VER) && !defined(__GNUC__)
#define PROBITY_MSVC 1 /* MSVC or compatible: GNU's extensions are hidden from it */
#endif
#ifdef _MSVC_LANG
#define PROBITY_CPLUSPLUS _MSVC_LANG /* MSVC's __cplusplus stays at C++98 */
#elif defined(__cplusplus)
#define PROBITY_CPLUSPLUS __cplusplus
#endif
#if !defined(__GNUC__) && !defined(PROBITY_MSVC)
#error "Probity needs gcc, clang or MSVC"
#define PROBITY_REFUSED 1
#elif defined(__cplusplus) && PROBITY_CPLUSPLUS < 201103L
#error "Probity needs C++11 or newer (-std=c++11)"
#define PROBITY_REFUSED 1
#elif !defined(__cplusplus) && !defined(__STDC_VERSION__) && defined(__STRICT_ANSI__)
#error "Probity needs C11 or newer (-std=c11)"
#define PROBITY_REFUSED 1
#elif !defined(PROBITY_DISABLE) && !(defined(_WIN32) && defined(__x86_64__)) &&                    \
    !(defined(_M_X64) && !defined(_M_ARM64EC)) &&                                                  \
    (!defined(__linux__) || !defined(__LP64__) || !(defined(__x86_64__) || defined(__aarch64__)))
#error "Probity runs on Linux and Windows, x86-64 or AArch64; elsewhere define PROBITY_DISABLE"
#define PROBITY_REFUSED 1
#endif

/* Empty macros, so that the program's probes do not cause more errors than that #error. */
#ifdef PROBITY_REFUSED
#define PROBITY_PROBE(id) ((void)0)
#define PROBITY_PROBE_NAMED(name) ((void)0)
#else

#include <stddef.h>
#include <stdint.h>

#define PROBITY_VERSION_MAJOR 0
#define PROBITY_VERSION_MINOR 2
#define PROBITY_VERSION_PATCH 0

#ifdef __cplusplus
#define PROBITY_CAST(type, expression) static_cast<type>(expression)
#else
#define PROBITY_CAST(type, expression) ((type)(expression))
#endif
#ifdef PROBITY_MSVC
#include "probity_msvc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PROBITY_MSVC
#ifdef _WIN32
#define PROBITY_API /* libprobity.def lists what the library exports */
#else
#define PROBITY_API __attribute__((visibility("default")))
#endif

/* Makes the record path part of the calling function, even if the compiler inserts a hook into
 * every function. Not for direct use. */
#define PROBITY_INLINE static inline __attribute__((__always_inline__, __no_instrument_function__))
#define PROBITY_COLD __attribute__((__cold__))

/* Not for direct use either. LOAD: relaxed load of an object of this type; PUBLISH: release
 * store. */
#define PROBITY_EXPECT(value, expected) __builtin_expect(value, expected)
#define PROBITY_LOAD(type, at) __atomic_load_n(at, __ATOMIC_RELAXED)
#define PROBITY_PUBLISH(at, word) __atomic_store_n(at, word, __ATOMIC_RELEASE)
#endif

/* Return values of functions: 0 on success, else a negative error. Values are never reused. */
enum probity_error {
    PROBITY_OK = 0,
    PROBITY_ERROR_ARGUMENT = -1,  /* an argument or option is out of range */
    PROBITY_ERROR_STATE = -2,     /* wrong state: already recording, or not recording */
    PROBITY_ERROR_MEMORY = -3,    /* out of memory, or no space for the spool */
    PROBITY_ERROR_OPEN = -4,      /* a file cannot be opened or created */
    PROBITY_ERROR_READ = -5,      /* a file cannot be read */
    PROBITY_ERROR_WRITE = -6,     /* a file cannot be written (disk full, limit, I/O error) */
    PROBITY_ERROR_FORMAT = -7,    /* not a Probity trace */
    PROBITY_ERROR_VERSION = -8,   /* unsupported version of a trace or spool */
    PROBITY_ERROR_DAMAGED = -9,   /* a checksum or length is wrong */
    PROBITY_ERROR_EXISTS = -10,   /* the output already exists */
    PROBITY_ERROR_LIMIT = -11,    /* a Probity limit is exceeded */
    PROBITY_ERROR_SYSTEM = -12    /* a system call failed */
};

/* Returns the text of an error: one sentence without a full stop, never NULL. Any thread, any
 * time. */
PROBITY_API const char *probity_error_text(int error);

/* Returns the version of the library, "MAJOR.MINOR.PATCH". Any thread, any time. */
PROBITY_API const char *probity_version(void);

/* What a probe does when all chunks are full because the writer has not kept up. */
enum probity_mode {
    PROBITY_MODE_DEFAULT = 0,
    PROBITY_MODE_BLOCK = 1, /* the thread waits: lossless; each wait is recorded (default) */
    PROBITY_MODE_DROP = 2,  /* the record is dropped and counted */
    PROBITY_MODE_RING = 3   /* the oldest records are overwritten; until flush or stop, only
                               declarations (names, sites) are written */
};

/* What writes the records to the trace. */
enum probity_writing {
    PROBITY_WRITING_DEFAULT = 0,
    PROBITY_WRITING_THREAD = 1,  /* a thread of the program (default) */
    PROBITY_WRITING_CONFINED = 2, /* the same, restricted to the system calls that it needs;
                                     SECCOMP_FILTER_FLAG_TSYNC then fails in the program */
    PROBITY_WRITING_EXTERNAL = 3 /* no thread is started in the program; `probity drain` or `probity
                                    record --writer external` writes */
};

enum probity_switch { PROBITY_DEFAULT = 0, PROBITY_ON = 1, PROBITY_OFF = 2 };

/* Options for probity_start(). Zero the struct, then set the fields that differ; 0 or NULL means
 * the default. An environment variable, if set, overrides its field (except in set-uid
 * programs). */
struct probity_options {
    /* sizeof(struct probity_options); 0 means the size in this version. */
    size_t struct_bytes;
    /* PROBITY_OUT: path of the trace, or of a CSV file if it ends in .csv. %p is replaced with the
     * process id, %n with the program's name, %% with a percent sign. Default "%n.%p.probity". The
     * text is copied. On Windows, all texts are UTF-8, or in the system's code page if they are not
     * valid UTF-8. */
    const char *out;
    /* PROBITY_MODE=block|drop|ring: an enum probity_mode. */
    int mode;
    /* PROBITY_WALL_TIME=1|0: an enum probity_switch; default on. */
    int wall_time;
    /* PROBITY_CPU_TIME=1|0: the same for CPU time. */
    int cpu_time;
    /* PROBITY_OVERWRITE=1|0: an enum probity_switch; default off: if the file exists, the process
     * id is added to the name. */
    int overwrite;
    /* PROBITY_CHUNK_RECORDS: size of a thread's chunk in short records of 8 bytes: 64 to 65,536;
     * 512 or more is rounded up to a power of two; default 4,096. */
    uint32_t chunk_records;
    /* PROBITY_SPOOL_RECORDS: size of a segment of the spool, shared by all threads, in short
     * records: at least 8 chunks, at most 2^27; default 524,288 (4 MiB). tmpfs allocates only the
     * part that has been used. */
    uint32_t spool_records;
    /* PROBITY_SPOOL_BYTES_MAX: limit for all segments together; default 512 MiB. */
    uint64_t spool_bytes_max;
    /* PROBITY_CPU_GAP_NS: a thread that records again within this time, 200 to 1,000,000, is
     * assumed not to have left the CPU; default 1,500. */
    uint32_t cpu_gap_ns;
    /* PROBITY_CPU_BUDGET_PERMILLE: share of its time, 1 to 1000, that a thread may spend on
     * readings of its CPU clock that show that it had not left the CPU; default 8. */
    uint32_t cpu_budget_permille;
    /* PROBITY_PROFILE=1|0: an enum probity_switch; default off. On: function scopes are not
     * recorded, but counted and timed per function and thread (profile mode). */
    int profile;
    /* PROBITY_THREADS=announced|all: an enum probity_switch; default off (all). On: only threads
     * that have called probity_thread_announce() are recorded. */
    int threads_announced;
    /* PROBITY_LOG: destination of a log of scopes and messages, printed while the program runs:
     * "stderr", "stdout" (or "-"), or a file to append to, with %p, %n and %% as in `out`. Default:
     * no log. With PROBITY_LOG but without PROBITY_OUT, the trace is removed once its log has been
     * printed. The text is copied. */
    const char *log;
    /* PROBITY_SUMMARY: destination of a summary, printed when recording ends: calls and times of
     * all functions, as `probity report` shows them. In all other respects, the same as `log`. */
    const char *summary;
    /* PROBITY_COST=1|0: an enum probity_switch; whether to measure the cost of probes and scopes
     * and store it in the trace. On: when recording starts and when it ends, about 200 microseconds
     * each time. Default: at the start, for half as long, and at the end of recordings of at least
     * 100 ms. */
    int cost;
    /* PROBITY_LABEL: a label for this run, to find it among others; at most 255 bytes. Default:
     * none. The text is copied. */
    const char *label;
    /* PROBITY_WRITER=thread|confined|external: an enum probity_writing. */
    int writing;
    /* PROBITY_ORDER=strict|relaxed: an enum probity_switch; default off (relaxed). On: before a
     * record reads the clock, it waits for all earlier instructions to finish, so that the times of
     * very short functions are exact; a record then costs two to three times as much. Off: the
     * processor may read the clock before preceding instructions have finished; `probity info`
     * shows by how much. */
    int strict_order;
};

/* Starts recording. Optional: if PROBITY_OUT is set, the library's constructor or the first probe
 * does it. options may be NULL. Returns 0, or PROBITY_ERROR_STATE if already recording, or if a
 * thread was stopped while storing a record of the last recording and has not continued. Returns
 * another error if recording cannot start: one line on stderr gives the reason, and the program
 * continues without recording. Any thread; not from a signal handler. */
PROBITY_API int probity_start(const struct probity_options *options);

/* Writes all records stored so far to the trace and waits until they are written; in ring mode,
 * writes the records in the ring. Not needed to survive a crash. Returns 0, PROBITY_ERROR_STATE if
 * not recording, or PROBITY_ERROR_WRITE if the trace cannot be written. Any thread; not from a
 * signal handler. */
PROBITY_API int probity_flush(void);

/* Requests a dump: a separate trace of what all threads have recorded in the last seconds, while
 * recording continues (man 1 probity-record, --ring). Returns at once; the writer thread writes the
 * dump. reason: at most 127 bytes, or NULL. Returns 0; PROBITY_ERROR_STATE if no ring with
 * PROBITY_RING or PROBITY_WHEN is being recorded, or no writer thread can be created;
 * PROBITY_ERROR_LIMIT if too many requests are pending. Any thread, even in a signal handler; errno
 * is untouched. A program linked with libprobity.a has conditions and dumps only if it refers to
 * this function. */
PROBITY_API int probity_snapshot(const char *reason);

/* Ends recording: writes all records, closes the trace, removes the spool, and writes the CSV file
 * if one was requested. Probes are off until the next probity_start(). Waits up to five seconds (at
 * exit: one) for threads that are in the library but get no CPU. Called automatically at exit.
 * Returns the same as probity_flush(), or PROBITY_ERROR_DAMAGED if records are missing from the CSV
 * file. Any thread; not from a signal handler. */
PROBITY_API int probity_stop(void);

/* Returns 1 while recording, else 0. Any thread, even in a signal handler. */
PROBITY_API int probity_is_recording(void);

/* Returns the path of the trace being recorded, or NULL. The string is valid until the next start
 * in this process; a forked child gets NULL until its first probe. Any thread. */
PROBITY_API const char *probity_trace_path(void);

/* Names the calling thread in the trace from now on. The name is copied; at most 255 bytes are
 * kept. Without it, the thread's name in the kernel is used. Returns 0, PROBITY_ERROR_ARGUMENT, or
 * PROBITY_ERROR_STATE if not recording. Any thread, even in a signal handler. */
PROBITY_API int probity_thread_set_name(const char *name);

/* Names probe number id in this and later recordings of this process and its forked children. The
 * name is copied; at most 255 bytes are kept. Returns 0 (even while not recording),
 * PROBITY_ERROR_ARGUMENT or PROBITY_ERROR_MEMORY. Any thread; not from a signal handler. */
PROBITY_API int probity_probe_set_name(uint32_t id, const char *name);

/* Static description of a named probe. Created by PROBITY_PROBE_NAMED; not for direct use. */
struct probity_site {
    const char *name;
    const char *file;
    const char *function;
    uint32_t line; /* with PROBITY_SITE_SWITCHED: the members after `code` exist */
    uint32_t code; /* 0 before the first hit registers the site, and while it is off */
    uint32_t number; /* site number + 1, 0 until registered */
    uint32_t is_listed; /* the library may clear the code */
};
#define PROBITY_SITE_SWITCHED 0x80000000u

/* Initializes the site at this place in the source. */
#define PROBITY_SITE_HERE(name)                                                                    \
    {                                                                                              \
        "" name, __FILE__, __func__, __LINE__ | PROBITY_SITE_SWITCHED, 0, 0, 0                     \
    }

/* ---- The record path ------------------------------------------------------------------------ */

/* Per-thread state used by the inline probe. It is in memory that a forked child sees as zeroes:
 * valid_bit = 0 sends the next probe to the slow path, which starts a separate trace for the child.
 *
 * Chunks are in the upper half of windows of twice their size: an address inside a chunk has the
 * bit set, and one past its end does not. So the reserved address alone determines whether the word
 * may be used, even if a signal handler replaces the chunk between the two instructions. */
struct probity_thread {
    uint64_t cursor;    /* address of the next free word of this thread's chunk */
    uint64_t valid_bit; /* size of a chunk in bytes, a power of two; 0: take the slow path */
    uint64_t last_tick; /* tick of this thread's previous probe */
    uint64_t gap_ticks; /* after this time, the CPU clock must be read again */
};

/* 0: off. 1: recording, or not decided yet. */
extern PROBITY_API int probity_active;

/* The calling thread's state; NULL until its first record. */
#if defined(_WIN32) && !defined(PROBITY_MSVC)
#define PROBITY_THREADS_HAVE_BLOCKS 1
/* The state is in a TLS slot (TlsAlloc), since thread-local variables cannot be imported from a
 * DLL. This is the slot's offset in the thread environment block or, until the library is ready,
 * the offset of a word that is always NULL. */
extern PROBITY_API uint64_t probity_thread_offset;

PROBITY_INLINE struct probity_thread *probity_thread_own(void)
{
    struct probity_thread *self;
    /* Volatile: a slow path may change it. */
    __asm__ volatile("mov{q %%gs:(%1), %0| %0, gs:[%1]}" : "=r"(self) : "r"(probity_thread_offset));
    return self;
}
#elif !defined(PROBITY_MSVC)
extern PROBITY_API __thread struct probity_thread *probity_thread_self
    __attribute__((tls_model("initial-exec")));

PROBITY_INLINE struct probity_thread *probity_thread_own(void)
{
    return probity_thread_self;
}
#else
/* As above. */
extern PROBITY_API uint64_t probity_thread_offset;

PROBITY_INLINE struct probity_thread *probity_thread_own(void)
{
    return PROBITY_OF_THREAD(struct probity_thread, probity_thread_offset);
}
#endif

/* Slow paths: no state yet, chunk full, or the thread may have left the CPU. They are safe in
 * signal handlers and preserve errno. Not for direct use. */
PROBITY_API void probity_probe_slow(uint32_t code) PROBITY_COLD;
PROBITY_API void probity_probe_gap(uint32_t code, uint64_t slot, uint64_t tick) PROBITY_COLD;
PROBITY_API void probity_probe_wide(uint32_t id) PROBITY_COLD;
PROBITY_API void probity_site_slow(struct probity_site *site) PROBITY_COLD;

#ifdef __cplusplus
#define PROBITY_VOLATILE(address) reinterpret_cast<volatile uint64_t *>(address)
#else
#define PROBITY_VOLATILE(address) ((volatile uint64_t *)(address))
#endif
#define PROBITY_CODE_FIRST 4096u
#define PROBITY_SHORT_ID_MAX ((0xffffffu - PROBITY_CODE_FIRST) / 2u)

#if defined(PROBITY_MSVC) && defined(_M_X64)
#define PROBITY_HAS_FAST_PATH 1

PROBITY_INLINE uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    return PROBITY_ADD(&self->cursor, bytes);
}

PROBITY_INLINE uint64_t probity_ticks(void)
{
    return __rdtsc();
}

#define PROBITY_WAIT_FOR_INSTRUCTIONS() _mm_lfence()
#elif defined(PROBITY_MSVC)
#define PROBITY_HAS_FAST_PATH 0
#define PROBITY_WAIT_FOR_INSTRUCTIONS() (void)0
#elif defined(__x86_64__)
#define PROBITY_HAS_FAST_PATH 1

/* One instruction without a lock prefix: atomic with respect to this thread's signal handlers; no
 * other thread writes the cursor. */
PROBITY_INLINE uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    __asm__ volatile("xadd{q %0, %1| %1, %0}" : "+r"(bytes), "+m"(self->cursor) : : "cc");
    return bytes;
}

PROBITY_INLINE uint64_t probity_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

#define PROBITY_WAIT_FOR_INSTRUCTIONS() __asm__ volatile("lfence" : : : "memory")

/* An address in this function's frame, and the distance from there down to the word before the
 * return address. Unlike the frame pointer, this takes no register. */
#define PROBITY_FRAME __builtin_dwarf_cfa()
#define PROBITY_FRAME_ABOVE 16u

/* Returns the address of this instruction. Unique: each inlined copy has a different address. */
PROBITY_INLINE uint64_t probity_code_address(void)
{
    uint64_t address;
    __asm__ volatile("lea{q 0(%%rip), %0| %0, [rip+0]}" : "=r"(address));
    return address;
}

/* Whether the frame of an open scope (probity_scope.h) now holds another return address. In
 * assembly because the frame may no longer belong to any function. */
PROBITY_INLINE int probity_frame_is_overwritten(uint64_t minus)
{
    uint64_t frame;
    int is;
    __asm__ volatile("sar $16, %1\n\tneg %1\n\tcmp{w %w3, 8(%1)| word ptr [%1+8], %w3}"
                     : "=@ccne"(is), "=&r"(frame)
                     : "1"(minus), "r"(minus));
    return is;
}

/* Functions that are called from assembly, unknown to the compiler. */
#ifndef _WIN32
#define PROBITY_HAS_HOOKS 1
#endif

/* probity_usdt.h: a no-op instruction, and how tools read an argument. The constraint allows the
 * compiler to leave an argument in its place. */
#define PROBITY_USDT_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define PROBITY_USDT_WORD(n) "4@%" #n
#define PROBITY_USDT_LONG(n) "8@%" #n
#define PROBITY_USDT_PLACE "nor"

/* Registers that functions may change and hooks do not save. */
#if defined(__AVX512F__)
#define PROBITY_HOOK_VECTORS                                                                      \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",  \
        "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30",  \
        "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#elif defined(__SSE__)
#define PROBITY_HOOK_VECTORS                                                                      \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#else
#define PROBITY_HOOK_VECTORS "cc"
#endif

/* Calls a function through its entry in the global offset table, since binding a function at its
 * first call would change r10 and r11. */
#define PROBITY_HOOK_CALL(hook)                                                                   \
    "{call *" hook "@GOTPCREL(%%rip)|.byte 0xff, 0x15\n\t.long " hook "@GOTPCREL - 4}\n"
#elif defined(__aarch64__)
#define PROBITY_HAS_FAST_PATH 1

#define PROBITY_USDT_NOP "nop\n"
#define PROBITY_USDT_WORD(n) "4@%w" #n
#define PROBITY_USDT_LONG(n) "8@%" #n
#define PROBITY_USDT_PLACE "r"

#ifdef __ARM_FEATURE_ATOMICS
PROBITY_INLINE uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    uint64_t before;
    __asm__ volatile("ldadd %1, %0, %2"
                     : "=r"(before)
                     : "r"(bytes), "Q"(self->cursor)
                     : "memory");
    return before;
}
#else
/* Without ldadd: a return from a signal handler clears the reservation made by ldxr, so the store
 * fails and the loop repeats. */
PROBITY_INLINE uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    uint64_t before, after;
    uint32_t has_failed;
    __asm__ volatile("0:\tldxr %0, %3\n\tadd %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 0b"
                     : "=&r"(before), "=&r"(after), "=&r"(has_failed), "+Q"(self->cursor)
                     : "r"(bytes)
                     : "memory");
    return before;
}
#endif

PROBITY_INLINE uint64_t probity_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* The frame record: the address of the caller's record, and the return address. clang puts it above
 * the function's variables, gcc below them. */
#define PROBITY_FRAME __builtin_frame_address(0)
#define PROBITY_FRAME_ABOVE 0u
#define PROBITY_FRAMES_ARE_LINKED 1

PROBITY_INLINE uint64_t probity_code_address(void)
{
    uint64_t address;
    __asm__ volatile("adr %0, ." : "=r"(address));
    return address;
}

PROBITY_INLINE int probity_frame_is_overwritten(uint64_t minus)
{
    uint64_t frame = (0 - minus / 65536) & (UINT64_MAX / 65536);
    uint32_t low;
    __asm__ volatile("ldrh %w0, [%1, #8]" : "=r"(low) : "r"(frame));
    return low != (minus & 0xffff);
}

/* The caller's frame record, whose address is at the beginning of this one. */
PROBITY_INLINE uint64_t probity_frame_next(uint64_t frame)
{
    uint64_t next;
    __asm__ volatile("ldr %0, [%1]" : "=r"(next) : "r"(frame));
    return next;
}

#define PROBITY_WAIT_FOR_INSTRUCTIONS() __asm__ volatile("dsb ishld\n\tisb" : : : "memory")
#else
#define PROBITY_HAS_FAST_PATH 0
#define PROBITY_WAIT_FOR_INSTRUCTIONS() (void)0

#define PROBITY_FRAME __builtin_frame_address(0)
#define PROBITY_FRAME_ABOVE 0u

PROBITY_INLINE uint64_t probity_code_address(void)
{
    return 0;
}

PROBITY_INLINE int probity_frame_is_overwritten(uint64_t minus)
{
    (void)minus;
    return 0;
}
#endif

#ifndef PROBITY_FRAMES_ARE_LINKED
#define PROBITY_FRAMES_ARE_LINKED 0
PROBITY_INLINE uint64_t probity_frame_next(uint64_t frame)
{
    (void)frame;
    return 0;
}
#endif

#ifndef PROBITY_HAS_HOOKS
#define PROBITY_HAS_HOOKS 0
#endif

/* While recording, waits for all earlier instructions to finish. Directly before a probe, it orders
 * that probe's reading of the clock, as PROBITY_ORDER=strict does for all probes. (The compiler may
 * still move computations in registers past the probe.) Any thread, even in a signal handler. */
PROBITY_INLINE void probity_order(void)
{
    if (probity_thread_own() != NULL)
        PROBITY_WAIT_FOR_INSTRUCTIONS();
}

/* Records a hit: about 20 instructions and three predicted branches besides reading the clock, the
 * latency of which hides them. The word is reserved before the clock is read (doc/spool.md,
 * "Reserving"). */
PROBITY_INLINE void probity_hit(uint32_t code)
{
#if PROBITY_HAS_FAST_PATH
    struct probity_thread *self = probity_thread_own();

    if (PROBITY_EXPECT(self == NULL, 0)) {
        if (PROBITY_LOAD(int, &probity_active))
            probity_probe_slow(code);
        return;
    }
    uint64_t slot = probity_reserve(self, 8);
    /* Volatile, so that it stays after the reservation. Pairs with the end of a session, which
     * clears valid_bit and, after a process-wide barrier, reads cursor. */
    uint64_t valid_bit = PROBITY_LOAD(uint64_t, PROBITY_VOLATILE(&self->valid_bit));
    if (PROBITY_EXPECT((slot & valid_bit) == 0, 0)) {
        probity_probe_slow(code);
        return;
    }
    uint64_t tick = probity_ticks();
    if (PROBITY_EXPECT(tick - self->last_tick >= self->gap_ticks, 0)) {
        probity_probe_gap(code, slot, tick);
        return;
    }
    self->last_tick = tick;
    /* Release, a plain store here: a consumer (src/spool/) that sees this word may free the chunk,
     * if a signal handler has handed the chunk over; the next thread's zeroes then come after this
     * store. */
    PROBITY_PUBLISH(PROBITY_VOLATILE(slot), tick << 24 | code);
#else
    if (PROBITY_LOAD(int, &probity_active))
        probity_probe_slow(code);
#endif
}

/* Records a hit of probe number id, 0 to 2^32 - 1. Any thread, even in a signal handler; errno is
 * untouched. */
PROBITY_INLINE void probity_probe(uint32_t id)
{
    if (PROBITY_EXPECT(id <= PROBITY_SHORT_ID_MAX, 1))
        probity_hit(PROBITY_CODE_FIRST + 2u * id);
    else
        probity_probe_wide(id);
}

/* Records a hit of a named site. Any thread, even in a signal handler; errno is untouched. */
PROBITY_INLINE void probity_probe_site(struct probity_site *site)
{
    uint32_t code = PROBITY_LOAD(uint32_t, &site->code);

    if (PROBITY_EXPECT(code != 0, 1))
        probity_hit(code);
    else if (PROBITY_LOAD(int, &probity_active))
        probity_site_slow(site);
}

#ifdef __cplusplus
}
#endif

/* ---- The list of sites ---------------------------------------------------------------------- */

enum { PROBITY_LISTED_NAMED = 1, PROBITY_LISTED_NUMBERED = 2, PROBITY_LISTED_FUNCTION = 3 };

/* Each probe and scope is described by an ELF note in the object file (doc/trace-format.md,
 * "SITES"), so that `probity list` also shows those that were never hit. Notes require no
 * instructions and no relocations at load time; strip keeps them. `?`: the note is discarded
 * together with duplicate copies of an inline function. `o`: it is also discarded when
 * --gc-sections discards the function; older assemblers do not support this, and the note stays.
 * Texts are literals, __func__ and the like. There are no notes with PROBITY_UNLISTED, with
 * -mcmodel=large (texts may be too far away) or on Windows. */
#if defined(PROBITY_UNLISTED) || defined(__code_model_large__) || defined(_WIN32) ||             \
    defined(PROBITY_MSVC) ||                                                                       \
    (!defined(__clang__) && __GNUC__ < 9) || (defined(__clang__) && __clang_major__ < 12)
#define PROBITY_UNNOTED 1
#ifdef PROBITY_MSVC
#define PROBITY_LIST(...) ((void)0)
#else
#define PROBITY_LIST(...) PROBITY_LIST_NOT(__VA_ARGS__)
#define PROBITY_LIST_NOT(kind, level, flags, number, ...) ((void)(number))
#endif
#else
#if defined(__clang__) || __GNUC__ >= 11
#define PROBITY_NOTE_SECTION \
    ".Lprobity_here%=:\n\t.pushsection .probity.note, \"ao?\", %%note, .Lprobity_here%=\n"
#else
#define PROBITY_NOTE_SECTION "\t.pushsection .note.probity, \"a?\", %%note\n"
#endif
#ifdef __aarch64__
#define PROBITY_NOTE_TEXT "S"
#else
#define PROBITY_NOTE_TEXT "i"
#endif
/* The arguments are the numbers of the operands in PROBITY_NOTE_OF(), without percent signs. */
#define PROBITY_NOTE(a, b, c, d, e, f, g, h, i)                                                    \
    PROBITY_NOTE_WITH("28", "0", "", a, b, c, d, e, f, g, h, i)
/* bytes: size of the description. parts: number of additional parts, which are in `more`. */
#define PROBITY_NOTE_WITH(bytes, parts, more, a, b, c, d, e, f, g, h, i)                           \
    PROBITY_NOTE_SECTION "\t.balign 4\n\t.long 8, " bytes ", 1\n\t.asciz \"Probity\"\n"           \
                         ".Lprobity_note%=:\n\t.byte %c" #a ", %c" #b ", %c" #c ", " parts "\n"    \
                         "\t.long %c" #d ", %c" #e "\n\t.long %c" #f " - ., %c" #g " - ., %c" #h   \
                         " - ., %c" #i " - .\n" more "\t.popsection"
#define PROBITY_NOTE_OF(kind, level, flags, number, name, file, function, returns)                 \
    "i"(kind), "i"(level), "i"(flags), "i"(__LINE__), "i"(number), PROBITY_NOTE_TEXT(name),        \
        PROBITY_NOTE_TEXT(file), PROBITY_NOTE_TEXT(function), PROBITY_NOTE_TEXT(returns)
#define PROBITY_LIST(...)                                                                          \
    __asm__ __inline__(PROBITY_NOTE(0, 1, 2, 3, 4, 5, 6, 7, 8) : : PROBITY_NOTE_OF(__VA_ARGS__))
#endif

/* A number that is not a compile-time constant is not listed. It must be a constant to the front
 * end: constants found by the optimizer come too late for an asm operand. */
#ifdef PROBITY_MSVC
#define PROBITY_LIST_NUMBER(id) ((void)0)
#elif defined(__cplusplus)
#define PROBITY_LIST_NUMBER(id)                                                                    \
    do {                                                                                           \
        constexpr bool probity_is_known = __builtin_constant_p(id);                                \
        constexpr uint32_t probity_number =                                                        \
            __builtin_constant_p(id) ? static_cast<uint32_t>(id) : 0u;                             \
        if (probity_is_known)                                                                      \
            PROBITY_LIST(PROBITY_LISTED_NUMBERED, 0, 0, probity_number, "", __FILE__, __func__,    \
                         "");                                                                      \
    } while (0)
#else
#define PROBITY_LIST_NUMBER(id)                                                                    \
    do {                                                                                           \
        if (__builtin_choose_expr(__builtin_constant_p(id), 1, 0))                                 \
            PROBITY_LIST(                                                                          \
                PROBITY_LISTED_NUMBERED, 0, 0,                                                     \
                __builtin_choose_expr(__builtin_constant_p(id), (uint32_t)(id), (uint32_t)0), "",  \
                __FILE__, __func__, "");                                                           \
    } while (0)
#endif

/* Markers for other tracers (probity_usdt.h), only with PROBITY_USDT. PROBITY_MARK_NUMBER: the
 * marker, then the call, with the number evaluated once. */
#if defined(PROBITY_USDT) && !defined(PROBITY_DISABLE) && !defined(PROBITY_MSVC)
#include "probity_usdt.h"
#ifdef __cplusplus
#define PROBITY_MARK_NUMBER(id, call)                                                              \
    constexpr bool probity_is_constant = __builtin_constant_p(id);                                 \
    constexpr uint32_t probity_constant =                                                          \
        __builtin_constant_p(id) ? static_cast<uint32_t>(id) : 0u;                                 \
    if (probity_is_constant) {                                                                     \
        PROBITY_USDT_NUMBERED(probity_constant);                                                   \
        probity_probe(probity_constant);                                                           \
    } else {                                                                                       \
        PROBITY_MARK_UNNUMBERED(id);                                                               \
    }
#else
#define PROBITY_MARK_NUMBER(id, call)                                                              \
    if (__builtin_choose_expr(__builtin_constant_p(id), 1, 0)) {                                   \
        PROBITY_USDT_NUMBERED(                                                                     \
            __builtin_choose_expr(__builtin_constant_p(id), (uint32_t)(id), (uint32_t)0));         \
        call;                                                                                      \
    } else {                                                                                       \
        PROBITY_MARK_UNNUMBERED(id);                                                               \
    }
#endif
#define PROBITY_MARK_UNNUMBERED(id)                                                                \
    const uint32_t probity_id = PROBITY_CAST(uint32_t, id);                                        \
    PROBITY_USDT_UNNUMBERED(probity_id);                                                           \
    probity_probe(probity_id)
#define PROBITY_MARK_NAMED(name) PROBITY_USDT_NAMED(name)
#else
#define PROBITY_MARK_NUMBER(id, call) call
#define PROBITY_MARK_NAMED(name) (void)0
#define PROBITY_MARK_UNNUMBERED(id) probity_probe(PROBITY_CAST(uint32_t, id))
#endif

#ifdef PROBITY_DISABLE
#define PROBITY_PROBE(id) PROBITY_CAST(void, 0 ? PROBITY_CAST(uint32_t, id) : 0u)
#define PROBITY_PROBE_NAMED(name) PROBITY_CAST(void, sizeof(name))
#else
/* Records a hit of probe number id (uint32_t). A statement. */
#define PROBITY_PROBE(id)                                                                          \
    do {                                                                                           \
        PROBITY_LIST_NUMBER(id);                                                                   \
        PROBITY_MARK_NUMBER(id, probity_probe(PROBITY_CAST(uint32_t, id)));                        \
    } while (0)

/* Records a hit of the site with this name, a string literal. A statement. File, line and function
 * are supplied by the compiler. */
#define PROBITY_PROBE_NAMED(name)                                                                  \
    do {                                                                                           \
        static struct probity_site probity_site_here = PROBITY_SITE_HERE(name);                    \
        PROBITY_LIST(PROBITY_LISTED_NAMED, 0, 0, 0, "" name, __FILE__, __func__, "");              \
        PROBITY_MARK_NAMED("" name);                                                               \
        probity_probe_site(&probity_site_here);                                                    \
    } while (0)
#endif

#endif /* PROBITY_REFUSED */

#endif
