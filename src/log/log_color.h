/* SPDX-License-Identifier: MIT
 *
 * log_color.h: terminal escape codes for the colors of a log.
 */
#ifndef PROBITY_LOG_LOG_COLOR_H
#define PROBITY_LOG_LOG_COLOR_H

#define LOG_COLOR_OFF "\033[0m"
#define LOG_COLOR_THREAD "\033[2m"
#define LOG_COLOR_FUNCTION "\033[1m"
#define LOG_COLOR_LABEL "\033[36m"
#define LOG_COLOR_ELAPSED "\033[32m"
#define LOG_COLOR_RESULT "\033[34m"
#define LOG_COLOR_NOTICE "\033[33m"
#define LOG_COLOR_REPAIR "\033[31m"

enum { LOG_COLOR_BYTES_MAX = 8 };

#endif
