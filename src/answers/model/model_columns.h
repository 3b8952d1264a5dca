/* SPDX-License-Identifier: MIT
 *
 * model_columns.h: the columns of a workload model, grouped by the objects of its JSON
 * (doc/model.md). The text takes its values from the same columns.
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_COLUMNS_H
#define PROBITY_ANSWERS_MODEL_MODEL_COLUMNS_H

#include "answers/model/model.h"
#include "print/columns.h"

/* Columns of a struct probity_duration_stats. If it is empty, it has only the count. */
enum {
    MODEL_TIMES_COUNT, MODEL_TIMES_TOTAL, MODEL_TIMES_MEAN, MODEL_TIMES_VARIANCE, MODEL_TIMES_CV,
    MODEL_TIMES_MIN, MODEL_TIMES_P1, MODEL_TIMES_P10, MODEL_TIMES_P25, MODEL_TIMES_P50,
    MODEL_TIMES_P75, MODEL_TIMES_P90, MODEL_TIMES_P99, MODEL_TIMES_P999, MODEL_TIMES_MAX,
    MODEL_TIMES_COLUMNS
};
extern const struct probity_column probity_model_times_columns[MODEL_TIMES_COLUMNS];

/* Columns of a struct probity_model_node. */
enum { MODEL_NODE_COLUMNS = 7 };
extern const struct probity_column probity_model_node_columns[MODEL_NODE_COLUMNS];

/* Columns of a struct probity_model_block. */
enum {
    MODEL_BLOCK_FROM, MODEL_BLOCK_TO, MODEL_BLOCK_COUNT, MODEL_BLOCK_PROBABILITY,
    MODEL_BLOCK_COLUMNS
};
extern const struct probity_column probity_model_block_columns[MODEL_BLOCK_COLUMNS];

/* Columns of a struct probity_model_call. */
enum { MODEL_CALL_COLUMNS = 2 };
extern const struct probity_column probity_model_call_columns[MODEL_CALL_COLUMNS];

/* Columns of a struct probity_model_group. CPU_SHARE is not in the JSON. */
enum {
    MODEL_GROUP_NUMBER, MODEL_GROUP_NAME, MODEL_GROUP_THREADS, MODEL_GROUP_HITS,
    MODEL_GROUP_LIFETIME, MODEL_GROUP_WALL, MODEL_GROUP_CPU_CLOCK, MODEL_GROUP_CPU,
    MODEL_GROUP_CPU_SHARE, MODEL_GROUP_COLUMNS, MODEL_GROUP_JSON_COLUMNS = MODEL_GROUP_CPU_SHARE
};
extern const struct probity_column probity_model_group_columns[MODEL_GROUP_COLUMNS];

/* Columns of a struct probity_model_user. */
enum { MODEL_USER_COLUMNS = 4 };
extern const struct probity_column probity_model_user_columns[MODEL_USER_COLUMNS];

/* Columns of a struct probity_model_station. Many names depend on its kind. The first columns
 * identify it. */
enum {
    MODEL_STATION_NUMBER, MODEL_STATION_NAME, MODEL_STATION_PROBE, MODEL_STATION_TRACE,
    MODEL_STATION_OBJECT, MODEL_STATION_MUTEX, MODEL_STATION_IDENTITY,
    MODEL_STATION_ARRIVALS = MODEL_STATION_IDENTITY, MODEL_STATION_DEPARTURES,
    MODEL_STATION_STRAYS, MODEL_STATION_AGAIN, MODEL_STATION_NOTIFIES, MODEL_STATION_FORGOTTEN,
    MODEL_STATION_LEFT, MODEL_STATION_RATE, MODEL_STATION_COLUMNS
};
extern const struct probity_column
    probity_model_station_columns[PROBITY_MODEL_KINDS][MODEL_STATION_COLUMNS];

/* Column of a struct probity_model_station that is a lock. */
extern const struct probity_column probity_model_contention_column;

/* Columns of a struct probity_model_station. */
enum { MODEL_LEVEL_MEAN, MODEL_LEVEL_MAX, MODEL_LEVEL_COLUMNS };
extern const struct probity_column probity_model_level_columns[MODEL_LEVEL_COLUMNS];

/* Columns of a struct probity_model_little. */
enum {
    MODEL_LITTLE_LENGTH, MODEL_LITTLE_RATE, MODEL_LITTLE_STAY, MODEL_LITTLE_DIFFERENCE,
    MODEL_LITTLE_COLUMNS
};
extern const struct probity_column probity_model_little_columns[MODEL_LITTLE_COLUMNS];

/* Columns of a struct probity_model_result. */
enum {
    MODEL_FROM, MODEL_TO, MODEL_DURATION, MODEL_HITS, MODEL_THREADS, MODEL_CORES, MODEL_COLUMNS
};
extern const struct probity_column probity_model_columns[MODEL_COLUMNS];

/* Columns of a struct probity_model_result. */
enum {
    MODEL_CHECK_WALL, MODEL_CHECK_CPU, MODEL_CHECK_CORES, MODEL_CHECK_ROWS, MODEL_CHECK_LITTLE,
    MODEL_CHECK_ENDS, MODEL_CHECK_IDS, MODEL_CHECK_HITS, MODEL_CHECK_THREADS, MODEL_CHECK_COLUMNS
};
extern const struct probity_column probity_model_check_columns[MODEL_CHECK_COLUMNS];

#endif
