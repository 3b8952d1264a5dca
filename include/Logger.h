/* SPDX-License-Identifier: MIT
 *
 * Logger.h: the interface of Logger, Probity's ancestor. A program written for it builds and links
 * unchanged:
 *
 *     C++: alexta::Initialize();  alexta::LogEvent(7);
 *     C:   alexta_Initialize();   alexta_LogEvent(7);
 *
 * The result is a CSV of one line per hit, in time order: pid, tid, probe id, CPU seconds, CPU
 * nanoseconds, wall seconds, wall nanoseconds. It is complete after a normal exit; after a kill,
 * `probity recover NAME.csv` makes the same file.
 *
 * Configuration: edit these, or define them before the include where Initialize() is called. The
 * environment overrides each: PROBITY_OUT, PROBITY_CHUNK_RECORDS, PROBITY_SPOOL_RECORDS,
 * PROBITY_WALL_TIME, PROBITY_CPU_TIME.
 */
#ifndef PROBITY_LOGGER_H
#define PROBITY_LOGGER_H

#include "probity.h"

/* Where the hits go; %p is the process id, %n the program's name. A name that does not end in .csv
 * gives a trace. */
#ifndef LOG_FILE_NAME
#define LOG_FILE_NAME "log.csv"
#endif

/* Hits that a thread gathers before it hands them on; 64 to 65,536. */
#ifndef LOG_THREAD_ARRAY_SIZE
#define LOG_THREAD_ARRAY_SIZE 4096
#endif

/* Hits that wait, of all threads together, for the thread that writes; at least eight times the
 * above. */
#ifndef LOG_GLOBAL_ARRAY_SIZE
#define LOG_GLOBAL_ARRAY_SIZE 524288
#endif

/* 0: no wallclock time in the log. */
#ifndef LOG_WC_TIME
#define LOG_WC_TIME 1
#endif

/* 0: no CPU time in the log, and no upkeep for it. */
#ifndef LOG_CPU_TIME
#define LOG_CPU_TIME 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Starts recording. Call it once, at the beginning; a further call does nothing. When it cannot,
 * one line on stderr says why and the program goes on without a log. Not from a signal handler. */
static inline void alexta_Initialize(void)
{
    struct probity_options options = {
        sizeof options,                            /* struct_bytes */
        LOG_FILE_NAME,                             /* out */
        PROBITY_MODE_DEFAULT,                      /* mode */
        LOG_WC_TIME ? PROBITY_ON : PROBITY_OFF,    /* wall_time */
        LOG_CPU_TIME ? PROBITY_ON : PROBITY_OFF,   /* cpu_time */
        PROBITY_DEFAULT,                           /* overwrite */
        LOG_THREAD_ARRAY_SIZE,                     /* chunk_records */
        LOG_GLOBAL_ARRAY_SIZE,                     /* spool_records */
        0, 0, 0,                                   /* defaults for the rest */
    };

    (void)probity_start(&options);
}

/* A hit of probe probeID. Any thread, signal handlers too. Nothing is recorded before Initialize(),
 * unless PROBITY_OUT is set. */
static inline __attribute__((always_inline)) void alexta_LogEvent(unsigned int probeID)
{
    probity_probe(probeID);
}

#ifdef __cplusplus
}

namespace alexta
{

inline void Initialize()
{
    alexta_Initialize();
}

inline __attribute__((always_inline)) void LogEvent(unsigned int probeID)
{
    alexta_LogEvent(probeID);
}

} // namespace alexta
#endif

#endif
