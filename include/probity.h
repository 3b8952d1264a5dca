/* SPDX-License-Identifier: MIT
 *
 * probity.h: probes that record wall time and thread CPU time at the price of reading the clock.
 *
 *     PROBITY_PROBE(7);               a hit of probe number 7
 *     PROBITY_PROBE_NAMED("parse");   a hit of the site named "parse"
 *
 * Nothing needs to be started: with PROBITY_OUT in the environment the first probe starts
 * recording; without it, and without probity_start(), a probe is a predicted branch. Every record
 * whose store has retired survives the process, however it ends (doc/spool.md). The tool `probity`
 * reads the result.
 *
 * With PROBITY_DISABLE defined before the include, probes vanish and do not evaluate their
 * arguments. C11 and C++17 with GNU extensions (gcc, clang), Linux, x86-64 and AArch64.
 *
 * In this file: errors, the probe macros, control functions, and last the inline record path.
 */
#ifndef PROBITY_H
#define PROBITY_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_VERSION_MAJOR 0
#define PROBITY_VERSION_MINOR 1
#define PROBITY_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#define PROBITY_API __attribute__((visibility("default")))

/* What functions return: 0, or one of these. Values are never reused. */
enum probity_error {
    PROBITY_OK = 0,
    PROBITY_ERROR_ARGUMENT = -1,  /* an argument or option is out of its range */
    PROBITY_ERROR_STATE = -2,     /* not now: already recording, or not recording */
    PROBITY_ERROR_MEMORY = -3,    /* no memory, or no room for the spool */
    PROBITY_ERROR_OPEN = -4,      /* a file cannot be opened or made */
    PROBITY_ERROR_READ = -5,      /* a file cannot be read */
    PROBITY_ERROR_WRITE = -6,     /* a file cannot be written (disk full, limit, I/O error) */
    PROBITY_ERROR_FORMAT = -7,    /* not a Probity trace */
    PROBITY_ERROR_VERSION = -8,   /* a trace or spool of another version */
    PROBITY_ERROR_DAMAGED = -9,   /* a checksum or a length does not hold */
    PROBITY_ERROR_EXISTS = -10,   /* the output exists */
    PROBITY_ERROR_LIMIT = -11,    /* a limit of Probity is reached */
    PROBITY_ERROR_SYSTEM = -12    /* a system call was refused */
};

/* Text of an error, one sentence without a full stop. Never NULL. Any thread, any time. */
PROBITY_API const char *probity_error_text(int error);

/* "0.1.0". Any thread, any time. */
PROBITY_API const char *probity_version(void);

/* What happens to a probe when all chunks are full and the writer has not kept up. */
enum probity_mode {
    PROBITY_MODE_DEFAULT = 0,
    PROBITY_MODE_BLOCK = 1, /* the thread waits: lossless; each wait is recorded (default) */
    PROBITY_MODE_DROP = 2,  /* the record is dropped and counted */
    PROBITY_MODE_RING = 3   /* the oldest are overwritten; until flush or stop, only names and what
                               else is declared are written */
};

enum probity_switch { PROBITY_DEFAULT = 0, PROBITY_ON = 1, PROBITY_OFF = 2 };

/* Options for probity_start(). Zero a struct and set what differs; 0 or NULL means the default.
 * Where the environment names a setting, the environment wins (but not in set-uid programs). */
struct probity_options {
    /* sizeof(struct probity_options); 0 is taken as this version's. */
    size_t struct_bytes;
    /* PROBITY_OUT: a trace, or a CSV where it ends in .csv; %p is the process id, %n the program's
     * name, %% a percent sign. Default "%n.%p.probity". Copied. */
    const char *out;
    /* PROBITY_MODE=block|drop|ring: an enum probity_mode. */
    int mode;
    /* PROBITY_WALL_TIME=1|0: an enum probity_switch; default on. */
    int wall_time;
    /* PROBITY_CPU_TIME=1|0: likewise. */
    int cpu_time;
    /* PROBITY_OVERWRITE=1|0: likewise; default off: where the file exists, the process id is put
     * into the name. */
    int overwrite;
    /* PROBITY_CHUNK_RECORDS: a thread's own array, in short records of 8 bytes: 64 to 65,536,
     * rounded up to a power of two from 512 on; default 4,096. */
    uint32_t chunk_records;
    /* PROBITY_SPOOL_RECORDS: the global array (one segment), likewise: at least 8 chunks, at most
     * 2^27; default 524,288 (4 MiB). */
    uint32_t spool_records;
    /* PROBITY_SPOOL_BYTES_MAX: all segments together; default 512 MiB. */
    uint64_t spool_bytes_max;
    /* PROBITY_CPU_GAP_NS: a thread that probes again within this time has not left the CPU: 200 to
     * 1,000,000; default 1,500. */
    uint32_t cpu_gap_ns;
    /* PROBITY_CPU_BUDGET_PERMILLE: how much of its time a thread may spend on readings of its CPU
     * clock that find that it had not left the CPU: 1 to 1000; default 8. */
    uint32_t cpu_budget_permille;
    /* PROBITY_PROFILE=1|0: an enum probity_switch; default off. On: function scopes are not
     * recorded but counted and timed, per function and thread (profile mode). */
    int profile;
    /* PROBITY_THREADS=announced|all: likewise; default off. On: only threads that called
     * probity_thread_announce() are recorded. */
    int threads_announced;
    /* PROBITY_LOG: where the program prints the log of its scopes and messages as it runs:
     * "stderr", or the name of a file, which is added to, and in which %p, %n and %% are as in
     * `out`. Default: nowhere. PROBITY_LOG without PROBITY_OUT removes the trace once its log is
     * printed. Copied. */
    const char *log;
    /* PROBITY_SUMMARY: where, when recording ends, the calls and times of all functions are
     * printed, as `probity report` does. As `log` in all else. */
    const char *summary;
    /* PROBITY_COST=1|0: an enum probity_switch; default on: what probes and scopes cost is measured
     * when recording starts and when it ends, in some 150 microseconds each time, and is part of
     * the trace. */
    int cost;
    /* PROBITY_LABEL: what this run is called, to find it again among others; at most 255 bytes.
     * Default: nothing. Copied. */
    const char *label;
};

/* Starts recording. Optional: with PROBITY_OUT set, the constructor of the library or the first
 * probe does it. options may be NULL. Returns 0; PROBITY_ERROR_STATE when already recording;
 * another error when it cannot (one line on stderr says why): the program goes on without
 * recording. Any thread; not from a signal handler. */
PROBITY_API int probity_start(const struct probity_options *options);

/* Writes all records that threads have stored so far into the trace, and waits for it. In ring mode
 * this is the snapshot. Not needed for safety. Returns 0, PROBITY_ERROR_STATE when not recording,
 * PROBITY_ERROR_WRITE when the trace cannot be written. Any thread; not from a signal handler. */
PROBITY_API int probity_flush(void);

/* Ends recording: all is written, the trace is closed, the spool removed (and the CSV made, where
 * one was asked for). Probes then are off until probity_start(). Exit does the same by itself.
 * Returns as probity_flush(). Any thread; not from a signal handler. */
PROBITY_API int probity_stop(void);

/* 1 while recording, else 0. Any thread, signal handlers too. */
PROBITY_API int probity_is_recording(void);

/* Path of the trace that is being recorded, or NULL. The string stays valid until the next start in
 * this process; a fork child that has not probed yet gets NULL. Any thread. */
PROBITY_API const char *probity_trace_path(void);

/* Names the calling thread in the trace, from here on. At most 255 bytes are kept; copied. Without
 * it the kernel's name of the thread is used. Returns 0, PROBITY_ERROR_ARGUMENT,
 * PROBITY_ERROR_STATE when not recording. Any thread, signal handlers too. */
PROBITY_API int probity_thread_set_name(const char *name);

/* Names probe number id, in this recording and in later ones of this process and its forked
 * children. At most 255 bytes are kept; copied. Returns 0 (also while nothing is recorded),
 * PROBITY_ERROR_ARGUMENT or _MEMORY. Any thread; not from a signal handler. */
PROBITY_API int probity_probe_set_name(uint32_t id, const char *name);

/* What a named probe is, known to the compiler. Made by PROBITY_PROBE_NAMED; not for direct use. */
struct probity_site {
    const char *name;
    const char *file;
    const char *function;
    uint32_t line;
    uint32_t code; /* 0 until the first hit registers the site */
};

/* ---- The record path ------------------------------------------------------------------------ */

/* Per-thread state that the inline probe touches. It lies in memory that reads as zero in a forked
 * child: valid_bit = 0 makes the next probe leave by the slow path, which gives the child its own
 * trace.
 *
 * Chunks lie in the upper half of windows of twice their size: an address with the bit set is in a
 * chunk, and one that ran over the end is not. So the reserved address alone tells whether it may
 * be used, even when a signal handler changes the chunk between the two instructions. */
struct probity_thread {
    uint64_t cursor;    /* address of the next free word of this thread's chunk */
    uint64_t valid_bit; /* bytes of a chunk, a power of two; 0: leave by the slow path */
    uint64_t last_tick; /* of this thread's previous probe */
    uint64_t gap_ticks; /* from here on CPU time must be read again */
};

/* 0: off. 1: recording, or not yet decided. */
extern PROBITY_API int probity_active;

/* The calling thread's state; NULL until its first recorded probe. */
extern PROBITY_API __thread struct probity_thread *probity_thread_self
    __attribute__((tls_model("initial-exec")));

/* The cold half: no state yet, chunk full, or the thread may have left the CPU. All are safe in
 * signal handlers and leave errno alone. Not for direct use. */
PROBITY_API void probity_probe_slow(uint32_t code) __attribute__((__cold__));
PROBITY_API void probity_probe_gap(uint32_t code, uint64_t slot, uint64_t tick)
    __attribute__((__cold__));
PROBITY_API void probity_probe_wide(uint32_t id) __attribute__((__cold__));
PROBITY_API void probity_site_slow(struct probity_site *site) __attribute__((__cold__));

#ifdef __cplusplus
#define PROBITY_VOLATILE(address) reinterpret_cast<volatile uint64_t *>(address)
#else
#define PROBITY_VOLATILE(address) ((volatile uint64_t *)(address))
#endif
#define PROBITY_CODE_FIRST 4096u
#define PROBITY_SHORT_ID_MAX ((0xffffffu - PROBITY_CODE_FIRST) / 2u)

#if defined(__x86_64__)
#define PROBITY_HAS_FAST_PATH 1

/* One instruction without lock: atomic against this thread's signal handlers, and no other thread
 * adds. */
static inline uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    __asm__ volatile("xadd{q %0, %1| %1, %0}" : "+r"(bytes), "+m"(self->cursor) : : "cc");
    return bytes;
}

static inline uint64_t probity_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_ATOMICS)
#define PROBITY_HAS_FAST_PATH 1

static inline uint64_t probity_reserve(struct probity_thread *self, uint64_t bytes)
{
    uint64_t before;
    __asm__ volatile("ldadd %1, %0, %2"
                     : "=r"(before)
                     : "r"(bytes), "Q"(self->cursor)
                     : "memory");
    return before;
}

static inline uint64_t probity_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#define PROBITY_HAS_FAST_PATH 0
#endif

/* Records a hit: about 20 instructions and three predicted branches beside the clock's own, all
 * hidden behind it. The word is reserved before the clock is read (doc/spool.md, "Reserving"). */
static inline __attribute__((__always_inline__)) void probity_hit(uint32_t code)
{
#if PROBITY_HAS_FAST_PATH
    struct probity_thread *self = probity_thread_self;

    if (__builtin_expect(self == NULL, 0)) {
        if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
            probity_probe_slow(code);
        return;
    }
    uint64_t slot = probity_reserve(self, 8);
    /* Volatile: stays behind the reservation. Pairs with the end of a session, which clears
     * valid_bit and then, behind a process-wide barrier, reads cursor. */
    uint64_t valid_bit = __atomic_load_n(PROBITY_VOLATILE(&self->valid_bit), __ATOMIC_RELAXED);
    if (__builtin_expect((slot & valid_bit) == 0, 0)) {
        probity_probe_slow(code);
        return;
    }
    uint64_t tick = probity_ticks();
    if (__builtin_expect(tick - self->last_tick >= self->gap_ticks, 0)) {
        probity_probe_gap(code, slot, tick);
        return;
    }
    self->last_tick = tick;
    /* Release, a plain store here: the consumer (src/spool/) that sees it may let go of the chunk,
     * where a signal handler has handed that over, and the next thread's zeroes come behind it. */
    __atomic_store_n(PROBITY_VOLATILE(slot), tick << 24 | code, __ATOMIC_RELEASE);
#else
    if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
        probity_probe_slow(code);
#endif
}

/* Records a hit of probe number id, 0 to 2^32 - 1. Any thread, signal handlers too; errno is
 * untouched. */
static inline __attribute__((__always_inline__)) void probity_probe(uint32_t id)
{
    if (__builtin_expect(id <= PROBITY_SHORT_ID_MAX, 1))
        probity_hit(PROBITY_CODE_FIRST + 2u * id);
    else
        probity_probe_wide(id);
}

/* Records a hit of a named site. Likewise. */
static inline __attribute__((__always_inline__)) void probity_probe_site(struct probity_site *site)
{
    uint32_t code = __atomic_load_n(&site->code, __ATOMIC_RELAXED);

    if (__builtin_expect(code != 0, 1))
        probity_hit(code);
    else if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
        probity_site_slow(site);
}

#ifdef __cplusplus
}
#define PROBITY_CAST(type, expression) static_cast<type>(expression)
#else
#define PROBITY_CAST(type, expression) ((type)(expression))
#endif

/* ---- What is compiled in --------------------------------------------------------------------- */

enum { PROBITY_LISTED_NAMED = 1, PROBITY_LISTED_NUMBERED = 2, PROBITY_LISTED_FUNCTION = 3 };

/* Of each probe and scope the object file tells by an ELF note (doc/trace-format.md, "SITES"), so
 * that `probity list` knows those that were never hit. No instruction, no relocation at load time;
 * strip leaves it. `?`: the note is discarded with an inline function's other copies. `o`: and with
 * a function that --gc-sections discards; older assemblers do not know it, so there the note
 * stays. Texts are literals, __func__ and the like. With PROBITY_UNLISTED there are no notes, nor
 * with -mcmodel=large, where texts may be too far away. */
#if defined(PROBITY_UNLISTED) || defined(__code_model_large__) || \
    (!defined(__clang__) && __GNUC__ < 9) || (defined(__clang__) && __clang_major__ < 12)
#define PROBITY_LIST(kind, level, flags, number, name, file, function, returns) ((void)(number))
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
#define PROBITY_LIST(kind, level, flags, number, name, file, function, returns)                    \
    __asm__ __inline__(PROBITY_NOTE_SECTION                                                        \
                       "\t.balign 4\n\t.long 8, 28, 1\n\t.asciz \"Probity\"\n"                    \
                       "\t.byte %c0, %c1, %c2, 0\n\t.long %c3, %c4\n"                             \
                       "\t.long %c5 - ., %c6 - ., %c7 - ., %c8 - .\n\t.popsection"                \
                       :                                                                           \
                       : "i"(kind), "i"(level), "i"(flags), "i"(__LINE__), "i"(number),            \
                         PROBITY_NOTE_TEXT(name), PROBITY_NOTE_TEXT(file),                         \
                         PROBITY_NOTE_TEXT(function), PROBITY_NOTE_TEXT(returns))
#endif

/* A number that the compiler does not know is not listed. It must know at once: what it finds out
 * when it optimizes comes too late for an operand. */
#ifdef __cplusplus
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

#ifdef PROBITY_DISABLE
#define PROBITY_PROBE(id) PROBITY_CAST(void, 0 ? PROBITY_CAST(uint32_t, id) : 0u)
#define PROBITY_PROBE_NAMED(name) PROBITY_CAST(void, sizeof(name))
#else
/* A hit of probe number id (uint32_t). A statement. */
#define PROBITY_PROBE(id)                                                                          \
    do {                                                                                           \
        PROBITY_LIST_NUMBER(id);                                                                   \
        probity_probe(PROBITY_CAST(uint32_t, id));                                                 \
    } while (0)

/* A hit of the site with this name, a string literal. A statement. File, line and function come
 * from the compiler. */
#define PROBITY_PROBE_NAMED(name)                                                                  \
    do {                                                                                           \
        static struct probity_site probity_site_here = {"" name, __FILE__, __func__, __LINE__, 0}; \
        PROBITY_LIST(PROBITY_LISTED_NAMED, 0, 0, 0, "" name, __FILE__, __func__, "");              \
        probity_probe_site(&probity_site_here);                                                    \
    } while (0)
#endif

#endif
