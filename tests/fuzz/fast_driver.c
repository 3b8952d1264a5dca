/* SPDX-License-Identifier: MIT
 *
 * fast_driver.c: a fuzzer for cheap targets: it reads the coverage counters, mutates inputs as
 * mutate.c does, and keeps those with new coverage. libFuzzer's own overhead is twice the reader's
 * time for a small trace. Inputs that can only be found by tracing comparisons are left to
 * libFuzzer, which uses the same corpus. Supports the options of libFuzzer that the campaign uses.
 *
 *   fuzz_NAME.often [-max_total_time=S] [-max_len=N] [-seed=N] [-artifact_prefix=P] CORPUS [SEEDS]
 */
#include "fuzz/fast_driver.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/target.h"

enum { COUNTERS_MAX = 1 << 16, INPUTS_MAX = 1 << 17, HANGS_AFTER_S = 10, ROUND = 1024 };

struct input {
    uint8_t *bytes;
    size_t size;
    int is_cut;          /* the file is longer */
    char own_name[24];   /* name in the corpus, if this driver wrote it */
};

static struct {
    uint8_t *counters;
    size_t counter_count;
    uint8_t seen[COUNTERS_MAX]; /* classes of counts, one bit each */
    struct input *inputs;
    size_t count;
    const uint8_t *now; /* the current input */
    size_t now_size;
    uint64_t executed, added, state;
    uint64_t executed_at_tick;
    unsigned idle_ticks;
    size_t size_max;
    unsigned seconds;
    const char *prefix, *corpus;
} fuzzer = {.size_max = 4096, .seconds = 60, .prefix = "", .state = 1};

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_size, const uint8_t *right,
                                 size_t right_size, uint8_t *out, size_t out_max, unsigned seed);

/* libc's own functions, because the driver's memory outlives executions. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
int __real_open(const char *path, int flags, ...);
int __real_close(int file);

/* ---- Coverage ----------------------------------------------------------------------------------
 */

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop)
{
    if ((size_t)(stop - start) > COUNTERS_MAX)
        abort();
    fuzzer.counters = start;
    fuzzer.counter_count = (size_t)(stop - start);
}

/* The same classes as in libFuzzer: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, more. */
static const uint8_t *classes(void)
{
    static uint8_t of[256];

    for (int i = 1; of[255] == 0 && i < 256; i++)
        of[i] = (uint8_t)(1 << ((i > 1) + (i > 2) + (i > 3) + (i > 7) + (i > 15) + (i > 31) +
                                (i > 127)));
    return of;
}

/* Returns whether the last execution reached a counter, or one of its classes, for the first
 * time. */
static int take_counters(void)
{
    const uint8_t *class = classes();
    size_t count = fuzzer.counter_count, at = 0;
    int is_new = 0;

    while (at < count) {
        uint64_t eight = 0;
        if (at + 8 <= count)
            memcpy(&eight, fuzzer.counters + at, 8);
        if (at + 8 <= count && eight == 0) {
            at += 8;
            continue;
        }
        for (size_t end = at + 8 < count ? at + 8 : count; at < end; at++) {
            uint8_t bit = class[fuzzer.counters[at]];
            is_new |= bit & ~fuzzer.seen[at];
            fuzzer.seen[at] |= bit;
        }
    }
    return is_new;
}

/* ---- Findings ---------------------------------------------------------------------------------
 */

static void save(const char *name, const uint8_t *bytes, size_t size)
{
    int file = __real_open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        dprintf(2, "cannot write '%s'\n", name);
    if (file >= 0)
        __real_close(file);
}

static uint64_t hash(const uint8_t *bytes, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

static void report_executed(void)
{
    dprintf(2, "stat::number_of_executed_units: %llu\nstat::new_units_added: %llu\n",
            (unsigned long long)fuzzer.executed, (unsigned long long)fuzzer.added);
}

void fast_driver_found(const char *why)
{
    char name[512];

    snprintf(name, sizeof name, "%soften-%016llx", fuzzer.prefix,
             (unsigned long long)hash(fuzzer.now, fuzzer.now_size));
    save(name, fuzzer.now, fuzzer.now_size);
    dprintf(2, "ERROR: %s: see %s\n", why, name);
    report_executed();
    _exit(77);
}

static void on_fault(int number)
{
    fast_driver_found(strsignal(number));
}

static void on_tick(int number)
{
    (void)number;
    fuzzer.idle_ticks = fuzzer.executed == fuzzer.executed_at_tick ? fuzzer.idle_ticks + 1 : 0;
    fuzzer.executed_at_tick = fuzzer.executed;
    if (fuzzer.idle_ticks >= HANGS_AFTER_S)
        fast_driver_found("it hangs");
}

/* The ticks are CPU time, so a busy machine causes no timeouts. */
static void set_handlers(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct itimerval each_second = {{1, 0}, {1, 0}};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], on_fault);
    signal(SIGVTALRM, on_tick);
    setitimer(ITIMER_VIRTUAL, &each_second, NULL);
}

/* ---- Inputs -----------------------------------------------------------------------------------
 */

static uint64_t draw(void)
{
    fuzzer.state ^= fuzzer.state << 13;
    fuzzer.state ^= fuzzer.state >> 7;
    fuzzer.state ^= fuzzer.state << 17;
    return fuzzer.state >> 11;
}

static int execute(const uint8_t *bytes, size_t size)
{
    fuzzer.now = bytes;
    fuzzer.now_size = size;
    memset(fuzzer.counters, 0, fuzzer.counter_count);
    LLVMFuzzerTestOneInput(bytes, size);
    fast_driver_memory_anew();
    fuzzer.executed++;
    return take_counters();
}

static struct input *keep(const uint8_t *bytes, size_t size)
{
    if (fuzzer.count == INPUTS_MAX)
        fuzzer.count--;
    struct input *input = &fuzzer.inputs[fuzzer.count++];
    *input = (struct input){.bytes = __real_malloc(size), .size = size};
    if (input->bytes == NULL)
        abort();
    memcpy(input->bytes, bytes, size);
    return input;
}

static void load_file(int directory, const char *name, int is_corpus)
{
    static uint8_t bytes[TARGET_BYTES_MAX];
    int file = openat(directory, name, O_RDONLY);
    ssize_t size = file >= 0 ? read(file, bytes, sizeof bytes) : -1;
    size_t most = fuzzer.size_max;

    if (size > 0) {
        struct input *input = keep(bytes, (size_t)size < most ? (size_t)size : most);
        input->is_cut = (size_t)size > most;
        if (is_corpus && strncmp(name, "often-", 6) == 0 && !input->is_cut)
            snprintf(input->own_name, sizeof input->own_name, "%s", name);
    }
    if (file >= 0)
        __real_close(file);
}

static void load_directory(const char *name)
{
    DIR *directory = opendir(name);
    struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            load_file(dirfd(directory), entry->d_name, name == fuzzer.corpus);
    }
    if (directory != NULL)
        closedir(directory);
}

/* Truncated inputs come last, so that the inputs that are kept are unchanged files. */
static int compare_sizes(const void *left, const void *right)
{
    const struct input *a = left, *b = right;

    if (a->is_cut != b->is_cut)
        return a->is_cut - b->is_cut;
    return (a->size > b->size) - (a->size < b->size);
}

static void forget(struct input *input)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", fuzzer.corpus, input->own_name);
    if (input->own_name[0] != '\0')
        unlink(path);
    __real_free(input->bytes);
}

/* Keeps the inputs that reach a counter or class that no smaller input does. */
static void sift(void)
{
    size_t kept = 0;

    qsort(fuzzer.inputs, fuzzer.count, sizeof *fuzzer.inputs, compare_sizes);
    for (size_t i = 0; i < fuzzer.count; i++) {
        if (execute(fuzzer.inputs[i].bytes, fuzzer.inputs[i].size))
            fuzzer.inputs[kept++] = fuzzer.inputs[i];
        else
            forget(&fuzzer.inputs[i]);
    }
    dprintf(2, "INFO: %zu counters; %zu of %zu inputs kept\n", fuzzer.counter_count, kept,
            fuzzer.count);
    fuzzer.count = kept;
}

/* ---- Mutations ---------------------------------------------------------------------------------
 */

static size_t insert(uint8_t *data, size_t size, size_t size_max)
{
    size_t at = draw() % (size + 1), count = 1 + draw() % 16;
    size_t from = draw() % (size + 1);

    if (size + count > size_max)
        return size;
    memmove(data + at + count, data + at, size - at);
    if (from + count <= size && draw() % 2 == 0)
        memmove(data + at, data + from, count);
    else
        memset(data + at, (int)(draw() % 4 == 0 ? draw() : draw() % 2 * 255), count);
    return size + count;
}

static size_t erase(uint8_t *data, size_t size)
{
    size_t at = draw() % size, count = 1 + draw() % 16;

    count = count < size - at ? count : size - at;
    memmove(data + at, data + at + count, size - at - count);
    return size - count;
}

/* Changes a number of 1, 2, 4 or 8 bytes slightly, or to an extreme value. */
static void change_number(uint8_t *data, size_t size)
{
    static const uint64_t edges[] = {0, 1, 127, 128, 255, 32767, 65535, INT32_MAX, UINT32_MAX,
                                     INT64_MAX, UINT64_MAX};
    size_t bytes = (size_t)1 << draw() % 4;
    uint64_t value = 0;

    if (bytes > size)
        return;
    uint8_t *at = data + draw() % (size - bytes + 1);
    memcpy(&value, at, bytes);
    if (draw() % 2 == 0)
        value += draw() % 64 - 32;
    else
        value = edges[draw() % (sizeof edges / sizeof *edges)];
    memcpy(at, &value, bytes);
}

static void copy_within(uint8_t *data, size_t size)
{
    size_t to = draw() % size, from = draw() % size, most = size - (to > from ? to : from);

    memmove(data + to, data + from, draw() % (most + 1));
}

/* Replaces libFuzzer's function, which mutate.c calls. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max)
{
    for (uint64_t changes = 1 + draw() % 3; changes > 0; changes--) {
        uint64_t way = size == 0 ? 0 : draw() % 8;
        switch (way) {
        case 0: size = insert(data, size, size_max); break;
        case 1: size = erase(data, size); break;
        case 2:
        case 3: data[draw() % size] ^= (uint8_t)(1 << draw() % 8); break;
        case 4: data[draw() % size] = (uint8_t)draw(); break;
        case 5: copy_within(data, size); break;
        default: change_number(data, size);
        }
    }
    return size;
}

/* Prefers small and new inputs. */
static const struct input *choose(void)
{
    size_t newest = fuzzer.count < 64 ? fuzzer.count : 64;
    const struct input *one = &fuzzer.inputs[draw() % fuzzer.count];
    const struct input *other = &fuzzer.inputs[draw() % fuzzer.count];

    if (draw() % 4 == 0)
        return &fuzzer.inputs[fuzzer.count - 1 - draw() % newest];
    return other->size < one->size && draw() % 4 != 0 ? other : one;
}

static size_t make_input(uint8_t *bytes)
{
    const struct input *base = choose();

    if (draw() % 8 == 0) {
        const struct input *other = choose();
        size_t size = LLVMFuzzerCustomCrossOver(base->bytes, base->size, other->bytes, other->size,
                                                bytes, fuzzer.size_max, (unsigned)draw());
        if (size > 0)
            return size;
    }
    memcpy(bytes, base->bytes, base->size);
    return LLVMFuzzerCustomMutator(bytes, base->size, fuzzer.size_max, (unsigned)draw());
}

static void save_new(const uint8_t *bytes, size_t size)
{
    char name[1024];

    snprintf(name, sizeof name, "%s/often-%016llx", fuzzer.corpus,
             (unsigned long long)hash(bytes, size));
    save(name, bytes, size);
    keep(bytes, size);
    fuzzer.added++;
}

/* Mutates an input several times, adding to the previous mutations. */
static void fuzz(time_t end)
{
    static uint8_t bytes[TARGET_BYTES_MAX];

    do {
        for (int i = 0; i < ROUND; i++) {
            size_t size = make_input(bytes);
            if (execute(bytes, size))
                save_new(bytes, size);
        }
    } while (time(NULL) < end);
}

static void take_option(const char *option)
{
    const char *value = strchr(option, '=');
    size_t bytes = value != NULL ? (size_t)(value++ - option) : 0;

    if (bytes == 15 && memcmp(option, "-max_total_time", bytes) == 0)
        fuzzer.seconds = (unsigned)atoi(value);
    else if (bytes == 8 && memcmp(option, "-max_len", bytes) == 0)
        fuzzer.size_max = strtoul(value, NULL, 10);
    else if (bytes == 5 && memcmp(option, "-seed", bytes) == 0)
        fuzzer.state = strtoull(value, NULL, 0) | 1;
    else if (bytes == 16 && memcmp(option, "-artifact_prefix", bytes) == 0)
        fuzzer.prefix = value;
}

int main(int argc, char **argv)
{
    time_t start = time(NULL);

    fuzzer.state = ((uint64_t)start * 1000003 ^ (uint64_t)getpid()) | 1;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            take_option(argv[i]);
    }
    fuzzer.inputs = __real_calloc(INPUTS_MAX, sizeof *fuzzer.inputs);
    if (fuzzer.counters == NULL || fuzzer.inputs == NULL || fuzzer.size_max > TARGET_BYTES_MAX)
        return 2;
    dprintf(2, "INFO: Seed: %llu\n", (unsigned long long)fuzzer.state);
    set_handlers();
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        fuzzer.corpus = fuzzer.corpus != NULL ? fuzzer.corpus : argv[i];
        load_directory(argv[i]);
    }
    sift();
    if (fuzzer.corpus == NULL || fuzzer.count == 0)
        return 2;
    fuzz(start + (time_t)fuzzer.seconds);
    report_executed();
    return 0;
}
