/* SPDX-License-Identifier: MIT
 *
 * tutorial.c: the slow program of doc/tutorial.md. Four threads price orders, a few microseconds of
 * work each, yet the program takes a tenth of a second. Compiled with -DFIXED it does not: look at
 * the difference only after the tutorial.
 *
 *     cc -g -O2 tutorial.c $(pkg-config --cflags --libs probity) -pthread -o slow
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define FN_INSTRUMENT
#include <FnTrace.h>
#include <probity_typed.h>

enum { THREADS = 4, ORDERS = 2000, ITEMS = 256, LOOKUPS_PER_RELOAD = 100 };

static struct order {
    unsigned number, item, pieces, cents;
    unsigned checksum;
} orders[ORDERS];

/* Prices, as last reported by a remote server. */
static struct {
    pthread_mutex_t lock;
    unsigned cents[ITEMS];
    unsigned lookups; /* since the last reload */
    int is_reloading;
} prices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned mix(unsigned value, int rounds)
{
    for (int i = 0; i < rounds; i++)
        value = (value ^ value >> 15) * 2654435761u + (unsigned)i;
    return value;
}

static void order_read(struct order *order, unsigned number)
{
    FN_FUNC(void, FN_1);

    order->number = number;
    order->item = mix(number, 500) % ITEMS;
    order->pieces = 1 + number % 7;
}

/* The server is on a network: an answer takes 4 ms, most of which is waiting. */
static void prices_reload(unsigned *cents)
{
    FN_FUNC(void, FN_1);

    nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
    for (unsigned item = 0; item < ITEMS; item++)
        cents[item] = 100 + mix(item, 4) % 900;
}

static void prices_lock(void)
{
    if (pthread_mutex_trylock(&prices.lock) != 0) {
        PROBITY_LOCK_WAIT("prices", &prices);
        pthread_mutex_lock(&prices.lock);
    }
    PROBITY_LOCK_HOLD("prices", &prices);
}

static void prices_unlock(void)
{
    PROBITY_LOCK_RELEASE("prices", &prices);
    pthread_mutex_unlock(&prices.lock);
}

static unsigned price_of(unsigned item)
{
    unsigned cents = 0;
    FN_FUNC_PARAMS(unsigned, cents, FN_1, 1, item);

    prices_lock();
    int is_old = ++prices.lookups > LOOKUPS_PER_RELOAD && !prices.is_reloading;
#ifdef FIXED
    if (is_old) {
        unsigned fresh[ITEMS];

        prices.is_reloading = 1;
        prices_unlock();
        prices_reload(fresh);
        prices_lock();
        for (unsigned i = 0; i < ITEMS; i++)
            prices.cents[i] = fresh[i];
        prices.is_reloading = 0;
        prices.lookups = 0;
    }
#else
    if (is_old) {
        prices_reload(prices.cents);
        prices.lookups = 0;
    }
#endif
    cents = prices.cents[item];
    prices_unlock();
    return cents;
}

static void receipt_write(struct order *order)
{
    FN_FUNC(void, FN_1);

    order->checksum = mix(order->number ^ order->cents, 3000);
}

static void order_serve(unsigned number)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, number);
    struct order *order = &orders[number];

    order_read(order, number);
    order->cents = order->pieces * price_of(order->item);
    receipt_write(order);
}

static void *worker(void *argument)
{
    const unsigned *first = argument;
    FN_FUNC(void *, FN_1);

    for (unsigned number = *first; number < ORDERS; number += THREADS)
        order_serve(number);
    return NULL;
}

int main(void)
{
    static unsigned first[THREADS];
    pthread_t threads[THREADS];
    struct timespec begin, end;
    unsigned checksum = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    prices_reload(prices.cents);
    for (unsigned i = 0; i < THREADS; i++) {
        first[i] = i;
        if (pthread_create(&threads[i], NULL, worker, &first[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (int i = 0; i < ORDERS; i++)
        checksum += orders[i].checksum;
    printf("%d orders, checksum %08x, in %.0f ms\n", ORDERS, checksum,
           (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    return 0;
}
