/* SPDX-License-Identifier: MIT
 *
 * workload.c ROWS [REPEATS]: uses a database in memory, with inserts, a join, groups, updates,
 * deletes, and many small queries. Prints the wall time of each repetition in seconds.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(sqlite3 *database, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE)
        return;
    fprintf(stderr, "workload: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void run(sqlite3 *database, const char *sql)
{
    check(database, sqlite3_exec(database, sql, NULL, NULL, NULL));
}

static void insert(sqlite3 *database, int rows)
{
    sqlite3_stmt *statement;
    char text[64];

    run(database, "begin");
    check(database, sqlite3_prepare_v2(database, "insert into t values(?1, ?2, ?3)", -1, &statement,
                                       NULL));
    for (int i = 0; i < rows; i++) {
        snprintf(text, sizeof text, "text %d", (int)(i * 7919ll % rows));
        check(database, sqlite3_bind_int(statement, 1, i));
        check(database, sqlite3_bind_int(statement, 2, (int)(i * 31ll % rows)));
        check(database, sqlite3_bind_text(statement, 3, text, -1, SQLITE_TRANSIENT));
        check(database, sqlite3_step(statement));
        check(database, sqlite3_reset(statement));
    }
    check(database, sqlite3_finalize(statement));
    run(database, "commit");
}

static void query(sqlite3 *database, int rows)
{
    char sql[64];

    run(database, "select count(*), sum(t.b) from t join t u on u.b = t.a where t.c like '%7%'");
    run(database, "select c, count(*) from t group by substr(c, 6, 2) order by 2 desc, c");
    run(database, "update t set b = b + 1 where a % 3 = 0");
    run(database, "delete from t where b % 5 = 0");
    for (int i = 0; i < rows / 10; i++) {
        snprintf(sql, sizeof sql, "select * from t where b = %d", i);
        run(database, sql);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 0, repeats = argc > 2 ? atoi(argv[2]) : 1;

    for (int i = 0; i < repeats && rows > 0; i++) {
        sqlite3 *database;
        double begun = seconds();
        check(NULL, sqlite3_open(":memory:", &database));
        run(database, "create table t(a integer primary key, b integer, c text);"
                      "create index i on t(b)");
        insert(database, rows);
        query(database, rows);
        check(database, sqlite3_close(database));
        printf("%.6f\n", seconds() - begun);
    }
    return rows > 0 ? 0 : 2;
}
