/* SPDX-License-Identifier: MIT
 * A second decoder of Probity traces, written only from doc/trace-format.md and doc/spool.md, to
 * prove that the two suffice. It reads a trace, and the spool of a program that died before it
 * wrote END, and prints each hit as pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns in time order. Simple
 * rather than fast: everything is kept in memory. For a dump, prints the window and the reasons to
 * stderr. Exit status: 0 whole (or merely cut), 1 damage, 2 usage error. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER = 24, MAX_PAYLOAD = 1 << 24, INFO = 1, DATA, SYNC, END, DUMP = 8 };
#define NO_HIT UINT64_MAX  /* instead of a code: another moment of the thread */
__extension__ typedef __int128 Wide;
typedef struct { const uint8_t *p; uint64_t n; int bad; } Bytes;
typedef struct { void *p; size_t n; } List;
typedef struct { uint64_t tick, mono, real; } Anchor;
typedef struct { uint64_t tick, thread, order, tid, code, cpu; int has_cpu; } Hit;
typedef struct { uint64_t first, end, late; } Words;
/* Chunk ('c'): words in the trace. Site ('s'): name, and ns = 1 if it is a scope's. Thread ('t'):
 * CPU time shown. */
typedef struct Item { struct Item *next; uint64_t key, ns; int kind; Bytes name; List words; } Item;

static struct { const char *name; FILE *stream; uint8_t *p; size_t n; } file;  /* now being read */
static const uint8_t *info;  /* payload of the INFO block */
static Bytes spool;          /* path of its segment 0 */
static List anchors, hits, files;  /* files: all that were read, since names point into them */
static uint64_t rate;        /* ns per tick x 2^32: the nominal one, then the spool's */
static uint64_t yielded;     /* records in all DATA blocks, events included */
static int damaged, ended;

/* Most functions return what is wrong, or NULL; it is reported here. */
static void say(const uint8_t *at, const char *what, int harm) {
    if (what) damaged |= harm, fprintf(stderr, "%s: byte %td: %s\n", file.name, at - file.p, what);
}

static void push(List *l, const void *item, size_t size) {  /* capacity doubles at powers of two */
    if (!(l->n & (l->n - 1))) l->p = realloc(l->p, (l->n ? 2 * l->n : 1) * size);
    if (!l->p) perror("second_decoder"), exit(1);
    memcpy((char *)l->p + l->n++ * size, item, size);
}
static Item *find(int kind, uint64_t key) {  /* makes it if there is none */
    static Item *table[1 << 16];
    Item **slot = &table[key & 0xffff], *e = *slot;
    for (; e; e = e->next) if (e->key == key && e->kind == kind) return e;
    if (!(e = malloc(sizeof *e))) perror("second_decoder"), exit(1);
    *e = (Item){ .next = *slot, .key = key, .kind = kind };
    return *slot = e;
}

static uint64_t get(const uint8_t *p, int bytes) {
    uint64_t v = 0;
    while (bytes--) v = v << 8 | p[bytes];
    return v;
}
static Bytes take(Bytes *b, uint64_t n) {  /* if fewer remain: "bad", and zeroes */
    static const uint8_t zeroes[16];
    Bytes r = { b->p, n, b->bad };
    if (n > b->n) *b = r = (Bytes){ zeroes, 0, 1 };
    b->p += r.n, b->n -= r.n;
    return r;
}
static uint64_t take_int(Bytes *b, int n) { return get(take(b, (uint64_t)n).p, n); }
static uint64_t take_num(Bytes *b) {
    int len = 1;
    while (b->n && len < 9 && !(b->p[0] >> (len - 1) & 1)) len++;
    const uint8_t *p = take(b, (uint64_t)len).p;
    return len == 9 ? get(p + 1, 8) : get(p, len) >> len;
}
static uint64_t scale(uint64_t span, uint64_t by) {  /* span is signed, and so is the shift */
    return (uint64_t)(((Wide)(int64_t)span * by) >> 32);
}
static int load(const char *name) {  /* a hostile trace may name a FIFO as its spool: files only */
    struct stat st;
    file.name = name, file.p = NULL, file.stream = NULL;
    if (stat(name, &st) || !S_ISREG(st.st_mode) || !(file.stream = fopen(name, "rb"))) return 0;
    if (!(file.p = malloc((size_t)st.st_size + 1))) return 0;
    file.n = fread(file.p, 1, (size_t)st.st_size, file.stream);
    push(&files, &file.p, sizeof file.p);
    return !ferror(file.stream);
}

static void add_anchor(const uint8_t *p) {  /* the spool's may already be in the trace */
    const Anchor a = { get(p, 8), get(p + 16, 8), get(p + 24, 8) }, *all = anchors.p;
    if (!anchors.n || a.tick > all[anchors.n - 1].tick) push(&anchors, &a, sizeof a);
}
/* Names of sites, hits with ids, and other moments of a thread, for its CPU time. */
static void add_event(uint64_t kind, Bytes b, Hit h) {
    const uint8_t *event = b.p;
    h.code = NO_HIT;
    if (kind == 5 && b.n >= 4)  /* hits of its two sites are scopes, and not printed */
        find('s', get(b.p, 4))->ns = find('s', get(b.p, 4) + 1)->ns = 1;
    if (kind == 17 && b.n >= 8)  /* a hit with ids, which are not printed */
        h.code = 2 * get(b.p, 4) + (b.p[4] & 1);
    if (kind == 18 || kind == 22) {  /* the same, packed, each kind by its own ids */
        const uint64_t v = take_num(&b), number = kind == 18 ? v >> 6 : v >> 10;
        for (unsigned bit = 2; bit <= (kind == 18 ? 4 : 8); bit *= 2) if (v & bit) take_num(&b);
        if (!b.bad && number >> 32 == 0) h.code = number << 1 | (v & 1);
    }
    if (h.code != NO_HIT || (kind >= 7 && kind <= 13)) push(&hits, &h, sizeof h);
    if (kind != 3) return;
    Item *site = find('s', take_int(&b, 4));
    take(&b, 4);  /* its line */
    Bytes name = take(&b, take_int(&b, 2));
    for (int i = 0; i < 2; i++) take(&b, take_int(&b, 2));
    if (b.bad) say(event, "string leaves its site event", 1);
    else site->name = name;
}

static const char *read_stream(Bytes *s) {
    const uint8_t *data = take(s, 72).p;
    const uint64_t first = get(data + 32, 8);
    const Words words = { get(data + 16, 4), get(data + 20, 4), data[28] >> 2 & 1 };
    uint64_t table[256] = { 0 }, last = first, off = 0, prev = 0, count = 0;
    Hit h = { first, get(data, 4), 0, get(data + 4, 4), 0, 0, data[28] & 1 };
    push(&find('c', get(data + 8, 8))->words, &words, sizeof words);
    while (s->n) {
        uint64_t *slot = &table[(uint32_t)((uint32_t)prev * UINT32_C(2654435761)) >> 24];
        uint64_t v = take_num(s), c = v & 1 ? take_num(s) : *slot;
        uint64_t z = c == 1 || c == 2 ? take_num(s) : 0;
        Bytes event = take(s, c == 2 ? take_num(s) : 0);
        if (s->bad || v >> 1 > UINT64_MAX - h.tick) return "stream is cut, or tick passes 2^64";
        h.tick += v >> 1;
        if (c == 1) off += (z >> 1) ^ (0 - (z & 1));
        if (c == 1) continue;
        if (c < 16 ? c != 2 || event.n > 2040 : (c - 16) >> 33) return "code or length is wrong";
        h.code = c - 16, h.order = hits.n, last = h.tick, count++;
        h.cpu = get(data + 48, 8) + scale(h.tick - first - off, get(data + 56, 8));
        if (c == 2) add_event(z, event, h);
        else push(&hits, &h, sizeof h), *slot = prev = c;
    }
    yielded += count;
    if (!count || count != get(data + 24, 4)) return "stream yields another number of records";
    return last != get(data + 40, 8) ? "last tick is not the last record's" : NULL;
}
static const char *read_info(Bytes b) {
    info = take(&b, 128).p, rate = get(info + 56, 8);
    add_anchor(info + 64);
    for (uint64_t strings = get(info + 124, 4); strings && !b.bad; strings--) {
        uint64_t tag = take_int(&b, 2);
        Bytes string = take(&b, take_int(&b, 2));
        if (tag == 6) spool = string;
    }
    return b.bad ? "string leaves the INFO block" : NULL;
}
static void print_text(Bytes text) {
    for (; text.n; text.n--, text.p++) fputc(*text.p < 32 || *text.p > 126 ? '?' : *text.p, stderr);
}
static const char *read_dump(Bytes b) {  /* ticks, less the one at which the window begins */
    const uint8_t *p = take(&b, 64).p;
    if (b.bad) return "DUMP is too short";
    const uint64_t wanted = get(p + 24, 8);
    fprintf(stderr, "dump %" PRIu64 ": had %" PRIu64 ", end %" PRIu64 ", %s\n", get(p + 16, 4),
            get(p + 32, 8) - wanted, get(p + 40, 8) - wanted, p[20] & 1 ? "whole" : "not whole");
    for (uint64_t reasons = get(p + 48, 4); reasons; reasons--) {
        Bytes r = take(&b, take_int(&b, 4));
        const uint8_t *q = take(&r, 56).p;
        Bytes condition = take(&r, take_int(&r, 2)), text = take(&r, take_int(&r, 2));
        if (b.bad || r.bad) return "a reason leaves the DUMP block";
        fprintf(stderr, "  kind %" PRIu64 ", thread %" PRIu64 ", from %" PRIu64 " to %" PRIu64 ", ",
                get(q, 4), get(q + 8, 4), get(q + 24, 8) - wanted, get(q + 32, 8) - wanted);
        fprintf(stderr, "limit %" PRIu64 ", id %" PRIu64 ": ", get(q + 40, 8), get(q + 48, 8));
        print_text(condition), fputs(" | ", stderr), print_text(text), fputc('\n', stderr);
    }
    return NULL;
}
static const char *read_block(const uint8_t *block) {
    static uint64_t serial;
    Bytes b = { block + HEADER, get(block + 4, 4), 0 };
    const uint64_t type = get(block + 12, 2), mine = get(block + 16, 8);
    if (ended || mine < serial) return "block is after END, or repeated: serial steps back";
    if (mine != serial) say(block, "serial jumps: blocks before are lost", 1);
    serial = mine + 1;
    if (type == DUMP) return read_dump(b);
    if (type > END || type == 0) return NULL;
    if (b.n < (type == INFO ? 128U : type == DATA ? 72U : 112U)) return "payload is too short";
    if (type == INFO) return info || mine ? "INFO is not the first block" : read_info(b);
    if (type == DATA) return read_stream(&b);
    add_anchor(b.p);
    ended = type == END;
    return !damaged && get(b.p + 48, 8) != yielded ? "count of records is wrong" : NULL;
}

static size_t block_end(size_t at) {  /* 0: there is no whole block */
    const uint8_t *b = file.p + at;
    const uint64_t left = file.n - at, n = left < HEADER ? left : get(b + 4, 4);
    uint32_t crc = UINT32_MAX;
    if (left < HEADER || memcmp(b, "PBLK", 4) || n > MAX_PAYLOAD || n > left - HEADER) return 0;
    for (size_t i = 0; i < HEADER + n; i++) {
        crc ^= i >= 8 && i < 12 ? 0 : b[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return (crc ^ UINT32_MAX) == get(b + 8, 4) ? at + HEADER + n : 0;
}
static void read_trace(void) {
    int known = file.n >= 16 && !memcmp(file.p, "\x89PROBITY\r\n\x1a\n\1", 14);
    for (size_t at = known ? 16 : file.n, next; at < file.n; at = next) {
        const uint8_t *b = file.p + at;
        const uint64_t left = file.n - at, n = left < HEADER ? MAX_PAYLOAD : get(b + 4, 4);
        if ((next = block_end(at))) { say(b, read_block(b), 1); continue; }
        for (next = at + 1; next < file.n && !block_end(next); next++) {}
        int cut = !ended && next == file.n && n <= MAX_PAYLOAD && n + HEADER > left
            && !memcmp(b, "PBLK", left < 4 ? left : 4);
        say(b, cut ? "file is cut in this block" : "block is damaged", !cut);
    }
    if (!info) say(file.p, "not a trace of version 1, or it lacks its INFO block", 1);
}

static int covered(List l, uint64_t word, uint64_t late) {  /* late: only such blocks hold it */
    for (const Words *w = l.p; l.n--; w++)
        if (word >= w->first && word < w->end && w->late >= late) return 1;
    return 0;
}
/* c: the chunk's header. Later ticks also depend on those of words that are in the trace. */
static const char *read_words(const uint8_t *c, Bytes w) {
    static const uint8_t least[16] = { 0, 0, 0, 3, 2, 3 };
    const uint64_t order = UINT64_C(1) << 63 | get(c + 16, 8) << 16;  /* after those in the trace */
    const uint64_t all = w.n / 8, drained = get(c + 40, 4), held = c[44] >> 1 & 1;
    const List done = find('c', get(c + 16, 8))->words;
    uint64_t base = get(c + 24, 8), cpu = get(c + 32, 8);
    Hit h = { base, get(c + 4, 4), 0, get(c + 8, 4), 0, 0, c[44] & 1 };
    const char *wrong = NULL;
    while (w.n) {
        const uint64_t i = all - w.n / 8, head = get(w.p, 8), code = head & 0xffffff;
        const uint64_t kind = code < 4096 ? code & 15 : 4, n = head && code < 4096 ? code >> 4 : 1;
        const int bad = !n || n * 8 > w.n || (code < 4096 && n < least[kind]);
        Bytes r = take(&w, bad ? 8 : n * 8);
        if (bad) wrong = "head of a record is wrong";
        if (bad || kind < 3 || kind > 5) continue;  /* a hole in a dead spool never was a record */
        h.tick = kind != 4 ? get(r.p + 8, 8)
            : h.tick + (uint64_t)((int64_t)(((head >> 24) - h.tick) << 24) >> 24);
        if (kind == 3) base = h.tick, cpu = get(r.p + 16, 8);
        if (kind == 3 || covered(done, i, held) || (held ? i != drained : i < drained)) continue;
        h.code = code < 4096 ? get(r.p + 8, 8) : code - 4096;
        h.cpu = cpu + scale(h.tick - base, rate), h.order = order | i;
        Bytes payload = { r.p + 24, kind == 5 ? get(r.p + 18, 2) : 0, 0 };
        if (kind == 5 ? payload.n > r.n - 24 : h.code >> 33) wrong = "number or length is wrong";
        else if (kind == 5) add_event(get(r.p + 16, 2), payload, h);
        else push(&hits, &h, sizeof h);
    }
    return wrong;
}

static const char *read_segment(uint64_t number, uint64_t *segments) {
    const uint8_t *s = file.p, *c = s + 4096;
    struct flock program = { .l_type = F_WRLCK, .l_start = 0, .l_len = 1 }, drainer = program;
    if (file.n < 4096 || memcmp(s, "PBSPOOL1\1\0\0", 12) || get(s + 12, 4) != number
        || memcmp(s + 16, info, 32)) return "not a segment of this trace's spool";
    drainer.l_start = 1;
    if (number == 0 && get(s + 68, 4) != 2) {  /* "Alive or dead" */
        const int known = !fcntl(fileno(file.stream), F_GETLK, &program)
            && !fcntl(fileno(file.stream), F_GETLK, &drainer);
        const int failed = get(s + 480, 4) && known && drainer.l_type == F_UNLCK;
        if (!known || (program.l_type == F_UNLCK && !get(s + 76, 4)))
            return "its program may still run: its spool is not read";
        if (program.l_type == F_RDLCK || (program.l_type == F_WRLCK && !failed))
            return "the program runs, or its spool is being recovered: it is not read";
    }
    uint64_t n = get(s + 64, 4), words = get(s + 52, 4), window = 16 * words;
    uint64_t at = (4096 + n * 64 + window - 1) & ~(window - 1);
    if (words & (words - 1) || words < 512 || words > 65536 || at + n * window > file.n)
        return say(s, "segment is cut, or its chunks have a wrong size", 1), NULL;
    if (number == 0) {
        uint64_t taken = get(s + 152, 8), k = taken > 7 ? taken - 7 : 0;
        *segments = get(s + 72, 4), rate = get(s + 144, 8) ? get(s + 144, 8) : rate;
        for (; k < taken; k++) add_anchor(s + 160 + k % 8 * 40);  /* the 8th may be half stored */
    }
    if (get(s + 68, 4) % 2 == 0) return NULL;  /* being created, or all is in the trace */
    for (const uint8_t *w = s + at + window / 2; n--; c += 64, w += window) {
        uint64_t state = get(c, 4), used = state == 2 ? get(c + 12, 4) : words;
        if (state > 3 || used > words) say(c, "header of a chunk is wrong", 1);
        else if (state % 3) say(c, read_words(c, (Bytes){ w, used * 8, 0 }), 1);
    }
    return NULL;
}

static void read_spool(void) {
    static char path[4096 + 16];
    uint64_t segments = 1;
    for (uint64_t i = 0; i < segments && spool.n > 2 && spool.n < 4096; i++) {
        snprintf(path, sizeof path, "%.*s%" PRIu64, (int)spool.n - 1, (const char *)spool.p, i);
        const char *wrong = load(path) ? read_segment(i, &segments) : "cannot be read";
        say(file.p, wrong, i > 0);  /* only a part of a spool that exists is damage */
        if (file.stream) fclose(file.stream);
        if (wrong) return;
    }
}

static int compare(const void *x, const void *y) {
    const Hit *a = x, *b = y;
    if (a->tick != b->tick) return a->tick < b->tick ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}
static uint64_t wall_time(uint64_t tick) {
    static size_t i;  /* ticks come in order */
    const Anchor *a = anchors.p;
    while (i + 1 < anchors.n && a[i + 1].tick <= tick) i++;
    if (anchors.n == 1) return a->real + scale(tick - a->tick, rate);
    const Anchor *from = &a[i + 1 < anchors.n ? i : i - 1];
    Wide span = from[1].tick - from->tick, real = (int64_t)(from[1].real - from->real);
    Wide mono = (int64_t)(from[1].mono - from->mono);
    if (real < 0 || real - mono > 10000000 || mono - real > 10000000) real = mono;  /* set */
    Wide rise = ((Wide)tick - (Wide)a[i].tick) * real;
    return a[i].real + (uint64_t)(rise / span - (rise % span < 0));  /* rounded down */
}

static void print_time(int known, uint64_t ns) {
    if (known) printf(",%" PRIu64 ",%" PRIu64, ns / 1000000000, ns % 1000000000);
    else fputs(",,", stdout);
}
static void print_name(Bytes name) {  /* one line: escapes of C, quotes of RFC 4180 */
    int quote = 0;
    for (uint64_t i = 0; i < name.n; i++) quote |= !!memchr(",\"", name.p[i], 2);
    if (quote) putchar('"');
    for (; name.n; take(&name, 1)) {
        const uint8_t c = *name.p;
        if (c >= 7 && c <= 13) printf("\\%c", "abtnvfr"[c - 7]);
        else if (c < 32 || c == 127) printf("\\%03o", c);
        else printf(c == '"' ? "\"%c" : c == '\\' ? "\\%c" : "%c", c);
    }
    if (quote) putchar('"');
}
static void print_hits(void) {
    const Hit *h = hits.p;
    for (size_t i = 0; i < hits.n; i++, h++) {
        Item *site = h->code & 1 ? find('s', h->code / 2) : NULL, *shown = find('t', h->thread);
        if (h->has_cpu && (int64_t)h->cpu > (int64_t)shown->ns) shown->ns = h->cpu;
        if (h->code == NO_HIT || (site && site->ns)) continue;
        printf("%" PRIu64 ",%" PRIu64 ",", get(info + 32, 4), h->tid);
        if (site && site->name.p) print_name(site->name);
        else printf("%s%" PRIu64, site ? "site-" : "", h->code / 2);
        print_time(h->has_cpu, shown->ns);
        print_time(info[52] >> 1 & 1, wall_time(h->tick));
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    if (argc != 2 || !load(argv[1])) return fputs("usage: second_decoder TRACE\n", stderr), 2;
    read_trace();
    if (info && !ended) read_spool();
    if (info && hits.n) qsort(hits.p, hits.n, sizeof(Hit), compare), print_hits();
    return fflush(stdout) || ferror(stdout) || damaged;
}
