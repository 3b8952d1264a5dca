/* SPDX-License-Identifier: MIT
 *
 * log_colour.h: the terminal escape codes that color a log.
 */
#ifndef PROBITY_LOG_LOG_COLOUR_H
#define PROBITY_LOG_LOG_COLOUR_H

#define LOG_COLOUR_OFF "\033[0m"
#define LOG_COLOUR_THREAD "\033[2m"
#define LOG_COLOUR_FUNCTION "\033[1m"
#define LOG_COLOUR_LABEL "\033[36m"
#define LOG_COLOUR_ELAPSED "\033[32m"
#define LOG_COLOUR_RESULT "\033[34m"
#define LOG_COLOUR_NOTICE "\033[33m"
#define LOG_COLOUR_REPAIR "\033[31m"

enum { LOG_COLOUR_BYTES_MAX = 8 };

#endif
