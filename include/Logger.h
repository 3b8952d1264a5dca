/* SPDX-License-Identifier: MIT
 *
 * Logger.h: the interface of Logger, Probity's predecessor. Programs written for it build and link
 * unchanged:
 *
 *     C++: alexta::Initialize();  alexta::LogEvent(7);
 *     C:   alexta_Initialize();   alexta_LogEvent(7);
 *
 * The output is a CSV file with one line per hit, in time order: pid, tid, probe id, CPU seconds,
 * CPU nanoseconds, wall seconds, wall nanoseconds. It is complete after a normal exit; if the
 * process was killed, `probity recover NAME.csv` writes it.
 *
 * Configuration: edit the macros below, or define them before the include in the file that calls
 * Initialize(). The environment overrides them: PROBITY_OUT, PROBITY_CHUNK_RECORDS,
 * PROBITY_SPOOL_RECORDS, PROBITY_WALL_TIME, PROBITY_CPU_TIME.
 */
#ifndef PROBITY_LOGGER_H
#define PROBITY_LOGGER_H

#include "probity.h"

#ifndef PROBITY_REFUSED

#include <string.h>

/* Output file; %p is replaced with the process id, %n with the program's name. If the name does not
 * end in .csv, a trace is written. */
#ifndef LOG_FILE_NAME
#define LOG_FILE_NAME "log.csv"
#endif

/* Number of hits that a thread buffers before it passes them on. Clamped to 64 to 65,536. */
#ifndef LOG_THREAD_ARRAY_SIZE
#define LOG_THREAD_ARRAY_SIZE 4096
#endif

/* Number of buffered hits of all threads together. Clamped to 8 × LOG_THREAD_ARRAY_SIZE to
 * 134,217,728. */
#ifndef LOG_GLOBAL_ARRAY_SIZE
#define LOG_GLOBAL_ARRAY_SIZE 524288
#endif

/* Wall-clock time and CPU time: if the line is removed or the value is 0, that time is not recorded
 * and costs the probe nothing. */
#ifndef LOG_WC_TIME
#define LOG_WC_TIME 1
#endif
#ifndef LOG_CPU_TIME
#define LOG_CPU_TIME 1
#endif

/* A macro defined without a value is on, as in Logger. */
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

/* Starts recording. Call it once, at the beginning; further calls do nothing. If recording cannot
 * start, one line on stderr gives the reason and the program continues without a log. Not from a
 * signal handler. */
PROBITY_INLINE void alexta_Initialize(void)
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

/* Records a hit of probe probeID. Any thread, even in a signal handler. Nothing is recorded before
 * Initialize(), unless PROBITY_OUT is set. */
PROBITY_INLINE void alexta_LogEvent(unsigned int probeID)
{
#ifdef PROBITY_DISABLE
    PROBITY_CAST(void, probeID);
#else
    PROBITY_MARK_UNNUMBERED(probeID);
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

inline void LogEvent(unsigned int probeID)
{
    alexta_LogEvent(probeID);
}

} // namespace alexta
#endif

#endif /* PROBITY_REFUSED */

#endif
