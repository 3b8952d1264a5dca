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

#include <string.h>

#include "probity.h"

/* Where the hits go; %p is the process id, %n the program's name. A name that does not end in .csv
 * gives a trace. */
#ifndef LOG_FILE_NAME
#define LOG_FILE_NAME "log.csv"
#endif

/* Hits that a thread gathers before it hands them on. Taken as 64 at least and 65,536 at most. */
#ifndef LOG_THREAD_ARRAY_SIZE
#define LOG_THREAD_ARRAY_SIZE 4096
#endif

/* Hits that wait, of all threads together, for the thread that writes. Taken as eight times the
 * above at least and 134,217,728 at most. */
#ifndef LOG_GLOBAL_ARRAY_SIZE
#define LOG_GLOBAL_ARRAY_SIZE 524288
#endif

/* Wallclock time, CPU time: with the line taken out, or with 0, the log goes without, and the probe
 * without its upkeep. */
#ifndef LOG_WC_TIME
#define LOG_WC_TIME 1
#endif
#ifndef LOG_CPU_TIME
#define LOG_CPU_TIME 1
#endif

/* Without a value, a directive is on, as it was for the ancestor. */
#if !defined(LOG_WC_TIME)
#define PROBITY_LOG_WALL PROBITY_OFF
#elif (1 - LOG_WC_TIME - 1) == 2 || LOG_WC_TIME + 0 != 0
#define PROBITY_LOG_WALL PROBITY_ON
#else
#define PROBITY_LOG_WALL PROBITY_OFF
#endif
#if !defined(LOG_CPU_TIME)
#define PROBITY_LOG_CPU PROBITY_OFF
#elif (1 - LOG_CPU_TIME - 1) == 2 || LOG_CPU_TIME + 0 != 0
#define PROBITY_LOG_CPU PROBITY_ON
#else
#define PROBITY_LOG_CPU PROBITY_OFF
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Starts recording. Call it once, at the beginning; a further call does nothing. When it cannot,
 * one line on stderr says why and the program goes on without a log. Not from a signal handler. */
static inline void alexta_Initialize(void)
{
#ifndef PROBITY_DISABLE
    const long chunk = LOG_THREAD_ARRAY_SIZE < 64      ? 64
                       : LOG_THREAD_ARRAY_SIZE > 65536 ? 65536
                                                       : LOG_THREAD_ARRAY_SIZE;
    const long all = LOG_GLOBAL_ARRAY_SIZE < 8 * chunk   ? 8 * chunk
                     : LOG_GLOBAL_ARRAY_SIZE > 134217728 ? 134217728
                                                         : LOG_GLOBAL_ARRAY_SIZE;
    struct probity_options options;

    memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.out = LOG_FILE_NAME;
    options.wall_time = PROBITY_LOG_WALL;
    options.cpu_time = PROBITY_LOG_CPU;
    options.chunk_records = PROBITY_CAST(uint32_t, chunk);
    options.spool_records = PROBITY_CAST(uint32_t, all);
    PROBITY_CAST(void, probity_start(&options));
#endif
}

/* A hit of probe probeID. Any thread, signal handlers too. Nothing is recorded before Initialize(),
 * unless PROBITY_OUT is set. */
static inline __attribute__((always_inline)) void alexta_LogEvent(unsigned int probeID)
{
#ifdef PROBITY_DISABLE
    PROBITY_CAST(void, probeID);
#else
    probity_probe(probeID);
#endif
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
