/* SPDX-License-Identifier: MIT
 *
 * truncate_bitflip.c: runs every command on traces truncated at each byte, or with one bit flipped:
 * `sweep cut|flip BITS STRIDE SEED FILE...`. There must be no crash, no exit status other than 0, 1
 * and 3, no status 0 if data is missing or changed, and no failure without a message. The output of
 * `csv` is compared with that for the whole trace: records may be missing, but not differ.
 *
 * BITS: how many bits of each byte are flipped, one at a time. STRIDE: for commands other than csv,
 * info and check, only every STRIDE-th byte, starting at one that the seed selects. The last line
 * has the number of runs.
 */
#define LLVMFuzzerTestOneInput fuzz_commands_input
#include "fuzz/fuzz_commands.c"
#undef LLVMFuzzerTestOneInput

static const char *const records[8] = {
    "csv", "--columns", "thread,tid,tick,role,correlation,object,probe", "TRACE"};

struct sweep {
    uint8_t whole[TARGET_BYTES_MAX], bytes[TARGET_BYTES_MAX];
    size_t size;
    char *reference; /* the output of csv for the whole trace */
    int trace_file, out_file, out; /* out: receives this program's output */
    char path[32];
    const char *name, *what;
    size_t place;
    unsigned long runs, faults;
};

static void fault(struct sweep *sweep, const char *const *line, const char *text)
{
    if (sweep->faults++ < 20)
        dprintf(sweep->out, "%s: %s at %zu: %s %s: %s\n", sweep->name, sweep->what, sweep->place,
                line[0], line[1], text);
}

static void set_trace(struct sweep *sweep, const uint8_t *bytes, size_t size)
{
    write_whole(sweep->trace_file, bytes, size);
}

static int run_on(struct sweep *sweep, const char *const *line)
{
    char *arguments[10] = {(char *)(uintptr_t)"probity"};
    int count = 1;

    for (int i = 0; i < 8 && line[i] != NULL; i++)
        arguments[count++] =
            strcmp(line[i], "TRACE") == 0 ? sweep->path : (char *)(uintptr_t)line[i];
    optind = 0;
    /* `csv` closes stdout. */
    if (dup2(sweep->out_file, 1) < 0 || ftruncate(1, 0) != 0 || ftruncate(2, 0) != 0 ||
        lseek(1, 0, SEEK_SET) != 0 || lseek(2, 0, SEEK_SET) != 0)
        abort();
    int status = run(count, arguments);
    fflush(stdout);
    clearerr(stdout);
    sweep->runs++;
    if (status != CLI_OK && status != CLI_FAILURE && status != CLI_DAMAGED)
        fault(sweep, line, "another exit status than 0, 1 and 3");
    if (status != CLI_OK && lseek(2, 0, SEEK_END) == 0 &&
        (lseek(sweep->out_file, 0, SEEK_END) == 0 || line[0][0] != 'i') && line[0][0] != 'c')
        fault(sweep, line, "not a word of what is wrong");
    return status;
}

/* The contents of standard output, zero-terminated. */
static char *take_text(const struct sweep *sweep)
{
    off_t bytes = lseek(sweep->out_file, 0, SEEK_END);
    char *text = malloc((size_t)bytes + 1);

    if (text == NULL || pread(sweep->out_file, text, (size_t)bytes, 0) != (ssize_t)bytes)
        abort();
    text[bytes] = '\0';
    return text;
}

/* Returns where the fields before the name end; the name is lost if its declaration is. */
static size_t fixed_part(const char *line)
{
    size_t at = 0;

    for (int commas = 0; commas < 6; at++)
        commas += line[at] == ',';
    return at;
}

static int is_same_record(const char *line, const char *whole)
{
    size_t fixed = fixed_part(line), length = strcspn(line, "\n");

    if (strncmp(line, whole, fixed) != 0)
        return 0;
    if (length == strcspn(whole, "\n") && strncmp(line, whole, length) == 0)
        return 1;
    /* If the declaration of a name was lost, a number replaces it. */
    return strchr("0123456789", whole[fixed]) == NULL &&
           (strncmp(line + fixed, "site-", 5) == 0 || strchr("0123456789", line[fixed]) != NULL);
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end != NULL ? end + 1 : line + strlen(line);
}

/* Returns whether all lines are in the whole output, in the same order. If a function's declaration
 * is lost, its enters and leaves appear as hits of unnamed sites. */
static int is_part(const char *part, const char *whole)
{
    for (; *part != '\0'; part = next_line(part)) {
        const char *same = whole;
        while (*same != '\0' && !is_same_record(part, same))
            same = next_line(same);
        if (*same != '\0')
            whole = next_line(same);
        else if (strncmp(part + fixed_part(part), "site-", 5) != 0)
            return 0;
    }
    return 1;
}

/* Runs all commands on the changed trace. is_reported: they must report the change. */
static void run_all(struct sweep *sweep, int is_reported, int all_commands)
{
    int status = run_on(sweep, records);
    char *text = take_text(sweep);

    if (is_reported && status == CLI_OK)
        fault(sweep, records, "the change was not found");
    if (!is_part(text, sweep->reference))
        fault(sweep, records, "a record that is not in the whole");
    free(text);
    for (int line = 0; line < LINES; line++) {
        int is_first = strcmp(lines[line][0], "info") == 0 || strcmp(lines[line][0], "check") == 0;
        if (!is_first && !all_commands)
            continue;
        if (run_on(sweep, lines[line]) == CLI_OK && is_reported)
            fault(sweep, lines[line], "the change was not found");
    }
}

static void sweep_cut(struct sweep *sweep, unsigned stride, unsigned seed)
{
    sweep->what = "cut";
    for (sweep->place = 0; sweep->place < sweep->size; sweep->place++) {
        set_trace(sweep, sweep->whole, sweep->place);
        run_all(sweep, 1, (sweep->place + seed) % stride == 0);
    }
}

/* Any minor version is valid. */
static void sweep_flip(struct sweep *sweep, unsigned bits, unsigned stride, unsigned seed)
{
    sweep->what = "bit turned";
    for (sweep->place = 0; sweep->place < sweep->size; sweep->place++) {
        for (unsigned i = 0; i < bits; i++) {
            unsigned bit = bits == 8 ? i : (uint32_t)(sweep->place + seed) * 2654435761u >> 29;
            memcpy(sweep->bytes, sweep->whole, sweep->size);
            sweep->bytes[sweep->place] ^= (uint8_t)(1 << bit);
            set_trace(sweep, sweep->bytes, sweep->size);
            run_all(sweep, sweep->place != 14 && sweep->place != 15,
                    (sweep->place + seed) % stride == 0);
        }
    }
}

static void load(struct sweep *sweep, const char *name)
{
    int file = open(name, O_RDONLY);
    ssize_t size = file >= 0 ? read(file, sweep->whole, sizeof sweep->whole) : -1;

    if (size < 0)
        abort();
    close(file);
    sweep->name = name;
    sweep->what = "whole";
    sweep->size = (size_t)size;
    set_trace(sweep, sweep->whole, sweep->size);
    if (run_on(sweep, records) != CLI_OK)
        fault(sweep, records, "the trace is not whole");
    free(sweep->reference);
    sweep->reference = take_text(sweep);
}

int main(int argc, char **argv)
{
    static struct sweep sweep;

    if (argc < 6)
        return CLI_USAGE;
    unsigned bits = (unsigned)atoi(argv[2]), stride = (unsigned)atoi(argv[3]);
    unsigned seed = (unsigned)atoi(argv[4]);
    sweep.out = dup(1);
    sweep.trace_file = memfd_create("trace", 0);
    sweep.out_file = memfd_create("out", 0);
    if (dup2(memfd_create("errors", 0), 2) < 0)
        abort();
    snprintf(sweep.path, sizeof sweep.path, "/proc/self/fd/%d", sweep.trace_file);
    opterr = 0;
    for (int i = 5; i < argc; i++) {
        load(&sweep, argv[i]);
        if (strcmp(argv[1], "cut") == 0)
            sweep_cut(&sweep, stride, seed);
        else
            sweep_flip(&sweep, bits, stride, seed);
    }
    free(sweep.reference);
    dprintf(sweep.out, "%lu runs, %lu faults\n", sweep.runs, sweep.faults);
    return sweep.faults > 0;
}
