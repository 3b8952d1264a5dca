/* SPDX-License-Identifier: MIT
 *
 * linux/functions.c: functions.h, using the unwind tables (.eh_frame_hdr, .eh_frame) of ELF, which
 * are mapped with the code they describe. Supports only the encodings written by GNU ld, gold, lld
 * and mold.
 *
 *     .eh_frame_hdr  version, encodings, address of .eh_frame, count,
 *                    count × (start of a function, its FDE), sorted, both relative to the header
 *     FDE            length, distance to its CIE, start, size, augmentation, instructions
 */
#include "base/functions.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"

enum {
    HDR_VERSION = 1,
    HDR_BYTES = 12,
    HDR_FRAME_ENCODING = 0x1b, /* relative to the field, 4 bytes */
    HDR_COUNT_ENCODING = 0x03, /* 4 bytes */
    HDR_TABLE_ENCODING = 0x3b, /* relative to the header, 4 bytes */
    CIE_TEXT_AT = 9,           /* after length, id and version */
    FDE_START_AT = 8           /* after length and distance */
};

struct entry {
    int32_t start, fde;
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object /* since glibc 2.35 */
static const uint8_t *find_header(uintptr_t at)
{
    struct dl_find_object object;

    if (_dl_find_object == NULL || _dl_find_object((void *)at, &object) != 0)
        return NULL;
    return object.dlfo_eh_frame;
}
#else
static const uint8_t *find_header(uintptr_t at)
{
    (void)at;
    return NULL;
}
#endif

static struct entry entry_at(const uint8_t *header, uint32_t index)
{
    struct entry entry;

    memcpy(&entry, header + HDR_BYTES + (size_t)index * sizeof entry, sizeof entry);
    return entry;
}

/* The last function that begins at or before `at`. Returns 1, or 0 if there is none. */
static int find_entry(const uint8_t *header, uintptr_t at, struct entry *ret_entry)
{
    static const uint8_t head[] = {HDR_VERSION, HDR_FRAME_ENCODING, HDR_COUNT_ENCODING,
                                   HDR_TABLE_ENCODING};
    intptr_t distance = (intptr_t)(at - (uintptr_t)header);
    uint32_t low = 0, high;

    if (header == NULL || memcmp(header, head, sizeof head) != 0)
        return 0;
    memcpy(&high, header + 8, sizeof high);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_at(header, middle).start <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    *ret_entry = entry_at(header, low - 1);
    return 1;
}

/* Skips a LEB128 number, signed or not. */
static const uint8_t *skip_number(const uint8_t *at)
{
    while (*at & 0x80)
        at++;
    return at + 1;
}

/* Size of an address in this encoding, signed or not; 0: unsupported. */
static size_t address_bytes(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case 0x00: return sizeof(uintptr_t);
    case 0x03: return 4;
    case 0x04: return 8;
    default: return 0;
    }
}

/* The encoding of addresses in the FDEs of a CIE; 0xff: unsupported. */
static uint8_t address_encoding(const uint8_t *cie)
{
    const uint8_t *text = cie + CIE_TEXT_AT, *at = text + strlen((const char *)text) + 1;

    if (*text++ != 'z')
        return 0xff;
    at = skip_number(skip_number(at));               /* skips the alignments */
    at = cie[8] == 1 ? at + 1 : skip_number(at);     /* skips the return register */
    at = skip_number(at);                            /* skips the length of the augmentation */
    for (; *text != 0; text++) {
        if (*text == 'R')
            return *at;
        if (*text == 'P')
            at += 1 + address_bytes(*at);
        else if (*text == 'L')
            at++;
        else if (*text != 'S' && *text != 'B')
            return 0xff;
    }
    return 0xff;
}

/* Whether the code is one nop, and its unwind information begins right after it. A part that was
 * split off a function begins like this if its first instruction is a landing pad, since an offset
 * of 0 means "no landing pad". In a function with a patchable entry, the first push is between the
 * nop and its unwind information. The unit of advances is a byte or, if compiled by gcc for
 * AArch64, an instruction. */
static int is_padded_part(const uint8_t *code, uint8_t first)
{
#ifdef __aarch64__
    static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};
    return (first == 0x41 || first == 0x44) && memcmp(code, nop, sizeof nop) == 0;
#else
    enum { NOP = 0x90 };
    return first == 0x41 && *code == NOP;
#endif
}

/* Whether the code starts at a function's entry: its first unwind instruction then advances past
 * the first push. A split-off part is inside the frame from its first byte, or from its second
 * instruction. */
static int is_function_entry(const uint8_t *code, const uint8_t *fde)
{
    uint32_t distance;

    memcpy(&distance, fde + 4, sizeof distance);
    uint8_t encoding = address_encoding(fde + 4 - distance);
    size_t bytes = encoding != 0xff ? address_bytes(encoding) : 0;
    if (bytes == 0)
        return 0;
    const uint8_t *at = fde + FDE_START_AT + 2 * bytes;
    if (*at >= 0x80)
        return 0;
    at += 1 + *at; /* skips the augmentation */
    return ((*at & 0xc0) == 0x40 || (*at >= 0x01 && *at <= 0x04)) && !is_padded_part(code, *at);
}

static int differ(uintptr_t one, uintptr_t other)
{
    const uint8_t *header = find_header(one), *other_header = find_header(other);
    struct entry entry, other_entry;

    if (!find_entry(header, one, &entry) || !find_entry(other_header, other, &other_entry))
        return 0;
    if (header == other_header && entry.fde == other_entry.fde)
        return 0;
    return is_function_entry(header + entry.start, header + entry.fde) &&
           is_function_entry(other_header + other_entry.start, other_header + other_entry.fde);
}

int probity_functions_differ(struct probity_functions_cache *cache, uintptr_t one,
                             uintptr_t other)
{
    uint64_t hash = probity_hash(one ^ probity_hash(other));
    uint64_t *place = &cache->kept[hash % PROBITY_FUNCTIONS_KEPT];
    uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);

    hash |= 1;
    if ((found | 1) == hash)
        return (found & 1) == 0;
    int answer = differ(one, other);
    __atomic_store_n(place, hash - (uint64_t)answer, __ATOMIC_RELAXED);
    return answer;
}
