/* SPDX-License-Identifier: MIT
 *
 * events.c: perf_event_open() and its rings. Records are copied out of a ring before they are
 * decoded, because they may wrap around its end.
 */
#include "sched/events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"

/* All records end with these, in this order: pid, tid, time, cpu. */
#define SAMPLED (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
enum {
    ID_BYTES = 24,     /* size of the above */
    RECORD_BYTES = 256, /* maximum size of the records used */
    FLAGS_OFFSET = 2,  /* common_flags, in a tracepoint's record */
    IN_INTERRUPT = 0x08 | 0x10
};

/* Opens an event. Older kernels do not count the records that they drop. */
static int open_event(struct perf_event_attr *attr, pid_t pid, uint32_t cpu)
{
    int file = (int)syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

    if (file >= 0 || errno != EINVAL || attr->read_format == 0)
        return file;
    attr->read_format = 0;
    return (int)syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr common_attr(size_t ring_bytes)
{
    struct perf_event_attr attr = {
        .size = sizeof attr, .sample_type = SAMPLED, .read_format = PERF_FORMAT_LOST};

    attr.sample_id_all = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC_RAW;
    attr.watermark = 1;
    attr.wakeup_watermark = (uint32_t)(ring_bytes / 4);
    return attr;
}

/* Opens a software event that counts nothing: only its side-band records are used. exclude_kernel
 * lowers the privilege that the event requires, and does not affect these records. */
static int open_switches(pid_t pid, uint32_t cpu, size_t ring_bytes)
{
    struct perf_event_attr attr = common_attr(ring_bytes);

    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.disabled = attr.enable_on_exec = attr.inherit = 1;
    attr.context_switch = attr.task = attr.comm = attr.comm_exec = 1;
    return open_event(&attr, pid, cpu);
}

/* ---- The tracepoint ----------------------------------------------------------------------------
 */

static int read_text(const char *name, char *text, size_t bytes)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    ssize_t got = -1;

    for (size_t i = 0; got < 0 && i < sizeof places / sizeof *places; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/events/sched/sched_waking/%s", places[i], name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        got = read(file, text, bytes - 1);
        close(file);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? 0 : -1;
}

/* Finds the number of the tracepoint, and the offset of its field `pid`. Returns 0, or -1 with
 * errno set. */
static int find_tracepoint(struct probity_sched_rings *rings)
{
    char id[32], format[4096];

    if (read_text("id", id, sizeof id) != 0 || read_text("format", format, sizeof format) != 0)
        return -1;
    const char *field = strstr(format, "pid_t pid;"), *offset = field;
    if (field != NULL)
        offset = strstr(field, "offset:");
    rings->event_id = (uint32_t)strtoul(id, NULL, 10);
    rings->pid_offset = offset != NULL ? (uint32_t)strtoul(offset + 7, NULL, 10) : 0;
    if (rings->pid_offset >= 4 && rings->pid_offset < RECORD_BYTES)
        return 0;
    errno = ENOTSUP;
    return -1;
}

/* Opens the tracepoint for the whole system: an event on the program would miss wakings of its
 * threads by other threads. */
static int open_wakings(const struct probity_sched_rings *rings, struct probity_sched_ring *ring)
{
    struct perf_event_attr attr = common_attr(rings->ring_bytes);

    attr.type = PERF_TYPE_TRACEPOINT;
    attr.config = rings->event_id;
    attr.sample_type |= PERF_SAMPLE_RAW;
    attr.sample_period = 1;
    ring->wakings = open_event(&attr, -1, ring->cpu);
    return ring->wakings < 0 ? -1 : ioctl(ring->wakings, PERF_EVENT_IOC_SET_OUTPUT, ring->file);
}

static void close_wakings(struct probity_sched_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++) {
        if (rings->items[i].wakings >= 0)
            close(rings->items[i].wakings);
        rings->items[i].wakings = -1;
    }
}

/* The kernel translates the thread ids of its other records to the namespace of this process, but
 * not the id in the tracepoint's record, which would be missing or that of another thread. If /proc
 * does not show the namespace, assumes that it is not the initial one, unless /proc shows other
 * namespaces: then the kernel has no PID namespaces (no CONFIG_PID_NS). */
static int check_namespace(void)
{
    const ino_t first = 0xEFFFFFFC; /* number of the first process-id namespace, since Linux 3.8 */
    struct stat found;
    int error = stat("/proc/self/ns/pid", &found) == 0 ? 0 : errno;

    if (error == 0 ? found.st_ino == first : error == ENOENT && stat("/proc/self/ns", &found) == 0)
        return 0;
    errno = EXDEV;
    return -1;
}

/* Opens the tracepoint on all CPUs, or on none. */
static void add_wakings(struct probity_sched_rings *rings)
{
    int error = find_tracepoint(rings);

    if (error == 0)
        error = check_namespace();
    for (size_t i = 0; error == 0 && i < rings->count; i++)
        error = open_wakings(rings, &rings->items[i]);
    rings->has_wakings = error == 0;
    rings->wakings_error = error == 0 ? 0 : errno;
    if (error != 0)
        close_wakings(rings);
}

/* ---- Rings -------------------------------------------------------------------------------------
 */

static void close_rings(struct probity_sched_rings *rings)
{
    close_wakings(rings);
    for (size_t i = 0; i < rings->count; i++) {
        if (rings->items[i].pages != NULL)
            munmap(rings->items[i].pages, rings->items[i].mapped_bytes);
        close(rings->items[i].file);
    }
    rings->count = 0;
}

static int map_ring(struct probity_sched_ring *ring, size_t ring_bytes)
{
    ring->mapped_bytes = (size_t)sysconf(_SC_PAGESIZE) + ring_bytes;
    ring->pages = mmap(NULL, ring->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->file,
                       0);
    if (ring->pages != MAP_FAILED)
        return 0;
    ring->pages = NULL;
    return -1;
}

/* Opens the rings of all online CPUs, or no ring. Returns 0, or -1 with errno set. */
static int open_rings(struct probity_sched_rings *rings, pid_t pid, uint32_t cpus)
{
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        struct probity_sched_ring *ring = &rings->items[rings->count];
        *ring = (struct probity_sched_ring){.cpu = cpu, .wakings = -1};
        ring->file = open_switches(pid, cpu, rings->ring_bytes);
        if (ring->file < 0 && errno == ENODEV)
            continue;
        rings->count += ring->file >= 0;
        if (ring->file >= 0 && map_ring(ring, rings->ring_bytes) == 0)
            continue;
        int error = errno;
        close_rings(rings);
        errno = error;
        return -1;
    }
    return 0;
}

/* Because of enable_on_exec, the event is off until it is enabled here. */
int probity_sched_ring_try(struct probity_sched_ring *ring, pid_t tid, uint32_t cpu)
{
    const size_t ring_bytes = (size_t)sysconf(_SC_PAGESIZE) * 4;

    *ring = (struct probity_sched_ring){.cpu = cpu, .wakings = -1};
    ring->file = open_switches(tid, cpu, ring_bytes);
    if (ring->file < 0)
        return -1;
    if (map_ring(ring, ring_bytes) == 0 && ioctl(ring->file, PERF_EVENT_IOC_ENABLE, 0) == 0)
        return 0;
    probity_sched_ring_end(ring);
    return -1;
}

void probity_sched_ring_end(struct probity_sched_ring *ring)
{
    if (ring->pages != NULL)
        munmap(ring->pages, ring->mapped_bytes);
    close(ring->file);
}

int probity_sched_rings_open(struct probity_sched_rings *rings, pid_t pid, size_t ring_bytes)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int error = -1;

    *rings = (struct probity_sched_rings){.ring_bytes = ring_bytes};
    rings->items = cpus > 0 ? calloc((size_t)cpus, sizeof *rings->items) : NULL;
    if (rings->items == NULL) {
        errno = ENOMEM;
        return -1;
    }
    /* EPERM means that the limit for locked memory would be exceeded. */
    while ((error = open_rings(rings, pid, (uint32_t)cpus)) != 0 && errno == EPERM &&
           rings->ring_bytes > (size_t)sysconf(_SC_PAGESIZE))
        rings->ring_bytes /= 2;
    if (error == 0)
        add_wakings(rings);
    else
        free(rings->items);
    return error;
}

static const struct perf_event_mmap_page *page_of(const struct probity_sched_ring *ring)
{
    return ring->pages;
}

uint64_t probity_sched_ring_head(const struct probity_sched_ring *ring)
{
    /* Pairs with the kernel's barrier before it publishes the head: the records are complete. */
    return __atomic_load_n(&page_of(ring)->data_head, __ATOMIC_ACQUIRE);
}

uint64_t probity_sched_ring_tail(const struct probity_sched_ring *ring)
{
    return page_of(ring)->data_tail;
}

static uint64_t lost_of(int file)
{
    uint64_t value_lost[2] = {0, 0};

    return file >= 0 && read(file, value_lost, sizeof value_lost) == (ssize_t)sizeof value_lost
               ? value_lost[1]
               : 0;
}

uint64_t probity_sched_ring_lost(const struct probity_sched_ring *ring)
{
    return lost_of(ring->file) + lost_of(ring->wakings);
}

void probity_sched_ring_release(const struct probity_sched_ring *ring, uint64_t at)
{
    struct perf_event_mmap_page *page = ring->pages;

    /* Pairs with the kernel's control dependency: the kernel does not overwrite anything that is
     * still being read. */
    __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

static void copy_out(const struct probity_sched_ring *ring, uint64_t at, void *to, size_t bytes)
{
    size_t size = (size_t)page_of(ring)->data_size, from = (size_t)(at % size);
    const uint8_t *data = (const uint8_t *)ring->pages + page_of(ring)->data_offset;
    size_t first = bytes < size - from ? bytes : size - from;

    probity_assert(bytes <= size);
    memcpy(to, data + from, first);
    memcpy((uint8_t *)to + first, data, bytes - first);
}

/* ---- Records -----------------------------------------------------------------------------------
 */

/* Takes a sample: header, pid, tid, time, cpu, size, raw. In an interrupt, the thread on the CPU is
 * not the waker: then other is 0. */
static int take_waking(const struct probity_sched_rings *rings, const uint8_t *record,
                       size_t bytes, struct probity_sched_event *event)
{
    const size_t raw = 8 + ID_BYTES + 4;

    if (bytes < raw + rings->pid_offset + 4)
        return 0;
    event->kind = PROBITY_SCHED_WOKEN;
    event->time_ns = probity_get_u64(record + 16);
    event->payer = probity_get_u32(record + 12);
    event->other = record[raw + FLAGS_OFFSET] & IN_INTERRUPT ? 0 : event->payer;
    event->tid = probity_get_u32(record + raw + rings->pid_offset);
    return 1;
}

/* Takes a record. Fork and exit: header, pid, ppid, tid, ptid, time. Lost: header, id, count. */
static int take_record(uint32_t type, uint32_t misc, const uint8_t *record, size_t bytes,
                       struct probity_sched_event *event)
{
    const uint8_t *id = record + bytes - ID_BYTES;

    event->time_ns = probity_get_u64(id + 8);
    event->tid = probity_get_u32(id + 4);
    event->other = 0;
    switch (type) {
    case PERF_RECORD_SWITCH:
        event->kind = !(misc & PERF_RECORD_MISC_SWITCH_OUT)        ? PROBITY_SCHED_IN
                      : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PROBITY_SCHED_PREEMPTED
                                                                   : PROBITY_SCHED_OUT;
        return 1;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        if (bytes < 8 + 24 + ID_BYTES)
            return 0;
        event->kind = type == PERF_RECORD_FORK ? PROBITY_SCHED_BORN : PROBITY_SCHED_EXIT;
        event->tid = probity_get_u32(record + 16);
        event->other = type == PERF_RECORD_FORK ? probity_get_u32(record + 20) : 0;
        return 1;
    case PERF_RECORD_COMM:
        event->kind = PROBITY_SCHED_EXEC;
        return (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    case PERF_RECORD_LOST: {
        uint64_t lost = bytes >= 8 + 16 + ID_BYTES ? probity_get_u64(record + 16) : 1;
        event->kind = PROBITY_SCHED_LOST;
        event->tid = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
        return 1;
    }
    default: return 0;
    }
}

int probity_sched_ring_read(const struct probity_sched_rings *rings,
                            const struct probity_sched_ring *ring, uint64_t *at, uint64_t head,
                            struct probity_sched_event *ret_event)
{
    struct perf_event_header header;
    uint8_t record[RECORD_BYTES];

    copy_out(ring, *at, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - *at) {
        *at = head; /* not a record that the kernel writes */
        return 0;
    }
    uint64_t from = *at;
    *at += header.size;
    if (header.size < sizeof header + ID_BYTES || header.size > sizeof record)
        return 0;
    copy_out(ring, from, record, header.size);
    if (header.type == PERF_RECORD_SAMPLE)
        return take_waking(rings, record, header.size, ret_event);
    return take_record(header.type, header.misc, record, header.size, ret_event);
}

/* Events on the program include those inherited by its threads. */
void probity_sched_rings_switch(const struct probity_sched_rings *rings, int is_on)
{
    unsigned long what = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

    for (size_t i = 0; i < rings->count; i++) {
        ioctl(rings->items[i].file, what, 0);
        if (rings->items[i].wakings >= 0 && !rings->are_wakings_off)
            ioctl(rings->items[i].wakings, what, 0);
    }
}

void probity_sched_rings_stop_wakings(struct probity_sched_rings *rings)
{
    rings->are_wakings_off = 1;
    for (size_t i = 0; i < rings->count; i++) {
        if (rings->items[i].wakings >= 0)
            ioctl(rings->items[i].wakings, PERF_EVENT_IOC_DISABLE, 0);
    }
}

void probity_sched_rings_close(struct probity_sched_rings *rings)
{
    close_rings(rings);
    free(rings->items);
    *rings = (struct probity_sched_rings){.items = NULL};
}
