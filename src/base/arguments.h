/* SPDX-License-Identifier: MIT
 *
 * arguments.h: the description of functions whose arguments and results are recorded, which
 * `probity record --args` derives from DWARF and passes to libprobity-functions: doc/arguments.md.
 * It is checked once, in memory to which nothing else writes; all other functions here rely on the
 * check. Allocates nothing, takes no lock, async-signal-safe.
 */
#ifndef PROBITY_BASE_ARGUMENTS_H
#define PROBITY_BASE_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_ARGUMENTS_MAGIC "PRBYARGS"

/* A function has at most as many values as FnTrace's macros accept. STACK_WORDS_MAX: words above
 * the return address that may hold arguments. */
enum {
    PROBITY_ARGUMENTS_VERSION = 1,
    PROBITY_ARGUMENTS_BYTES_MAX = 16 << 20,
    PROBITY_ARGUMENTS_VALUES_MAX = 32,
    PROBITY_ARGUMENTS_STACK_WORDS_MAX = 256,
    PROBITY_ARGUMENTS_BUILD_ID_MAX = 32
};

struct probity_arguments_head {
    char magic[8];
    uint32_t version, bytes; /* bytes: total size */
    uint32_t objects, functions, values, enumerators, text_bytes, reserved;
};

/* An executable or shared library: its build id or, without one, its file and the time of the
 * file's last change. */
struct probity_arguments_object {
    uint32_t build_id_bytes;
    uint32_t first_function, functions;
    uint32_t reserved;
    uint8_t build_id[PROBITY_ARGUMENTS_BUILD_ID_MAX];
    uint64_t device, inode, file_bytes, changed_ns;
};

/* Sorted by address, as linked. A function's results follow its arguments. */
struct probity_arguments_function {
    uint64_t address;
    uint32_t first_value;
    uint16_t arguments, results;
};

enum probity_arguments_kind {
    PROBITY_ARGUMENTS_UNKNOWN,   /* shown as "?" */
    PROBITY_ARGUMENTS_PLAIN,     /* the bytes of a number, bool, character or pointer */
    PROBITY_ARGUMENTS_TEXT,      /* a pointer to text */
    PROBITY_ARGUMENTS_ENUM,      /* an integer, shown by name */
    PROBITY_ARGUMENTS_KINDS,
    PROBITY_ARGUMENTS_REFERENCE = 16 /* flag: the place holds the address of the value */
};

/* GENERAL: arguments 0 to 5 are in rdi, rsi, rdx, rcx, r8, r9; results 0 and 1 in rax, rdx. VECTOR:
 * the low 8 bytes of xmm0 to xmm7. STACK: words above the return address. On AArch64: x0 to x7, v0
 * to v7, and the words at the stack pointer; VECTOR_HIGH: the high 8 bytes of v0 to v7. */
enum probity_arguments_where {
    PROBITY_ARGUMENTS_GENERAL,
    PROBITY_ARGUMENTS_VECTOR,
    PROBITY_ARGUMENTS_STACK,
    PROBITY_ARGUMENTS_VECTOR_HIGH,
    PROBITY_ARGUMENTS_WHERES
};

/* offset: that of the value within these 8 bytes. */
struct probity_arguments_place {
    uint8_t where, offset;
    uint16_t index;
};

/* A value of 16 bytes has two places of 8 bytes each, any other value has one. */
struct probity_arguments_value {
    uint32_t name;
    uint8_t kind;
    uint8_t type;  /* as in doc/trace-format.md; for an enum, that of its integer */
    uint8_t bytes; /* 1, 2, 4, 8 or 16 */
    uint8_t reserved;
    struct probity_arguments_place place[2];
    uint32_t first_enumerator, enumerators;
};

/* Sorted by value, within an enum. */
struct probity_arguments_enumerator {
    int64_t value;
    uint32_t name, reserved;
};

struct probity_arguments {
    const struct probity_arguments_head *head;
    const struct probity_arguments_object *objects;
    const struct probity_arguments_function *functions;
    const struct probity_arguments_value *values;
    const struct probity_arguments_enumerator *enumerators;
    const char *texts; /* zero-terminated texts; names are given as byte offsets from here */
};

/* Checks every number in the description; bytes: aligned to 8. Returns 0, or -1 with *ret_arguments
 * unchanged. */
int probity_arguments_check(const void *bytes, size_t size,
                            struct probity_arguments *ret_arguments);

/* Finds the function that begins at an address, as linked. Returns NULL if there is none. */
const struct probity_arguments_function *
probity_arguments_find(const struct probity_arguments *arguments,
                       const struct probity_arguments_object *object, uint64_t address);

/* Returns the name of a value of an enum, or NULL. */
const char *probity_arguments_enumerator_name(const struct probity_arguments *arguments,
                                              const struct probity_arguments_value *value,
                                              int64_t number);

#endif
