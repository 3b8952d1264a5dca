/* SPDX-License-Identifier: MIT
 *
 * answer.h: reads the values of a reply in ClickHouse's format RowBinary. Its bytes are untrusted:
 * nothing is read past the end, and a length that exceeds it is an error. Does no I/O.
 */
#ifndef PROBITY_FLEET_ANSWER_H
#define PROBITY_FLEET_ANSWER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct probity_fleet_answer {
    const uint8_t *at, *end;
    int is_bad; /* truncated: all later values are 0 or empty */
};

static inline int probity_fleet_answer_is_over(const struct probity_fleet_answer *answer)
{
    return answer->is_bad || answer->at == answer->end;
}

/* Takes the next `count` bytes; returns NULL if there are fewer. */
static inline const uint8_t *probity_fleet_take_bytes(struct probity_fleet_answer *answer,
                                                      uint64_t count)
{
    const uint8_t *at = answer->at;

    if (answer->is_bad || count > (uint64_t)(answer->end - at)) {
        answer->is_bad = 1;
        return NULL;
    }
    answer->at += count;
    return at;
}

/* Takes an integer of 1 to 8 bytes. */
static inline uint64_t probity_fleet_take_number(struct probity_fleet_answer *answer, size_t bytes)
{
    const uint8_t *at = probity_fleet_take_bytes(answer, bytes);
    uint64_t value = 0;

    if (at != NULL)
        memcpy(&value, at, bytes);
    return value;
}

static inline uint64_t probity_fleet_take_length(struct probity_fleet_answer *answer)
{
    uint64_t length = 0;

    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint64_t digit = probity_fleet_take_number(answer, 1);
        length |= (digit & 0x7f) << shift;
        if ((digit & 0x80) == 0)
            return length;
    }
    answer->is_bad = 1;
    return 0;
}

/* Takes a text, which is not zero-terminated. */
static inline const char *probity_fleet_take_text(struct probity_fleet_answer *answer,
                                                  size_t *ret_length)
{
    uint64_t length = probity_fleet_take_length(answer);
    const uint8_t *at = probity_fleet_take_bytes(answer, length);

    *ret_length = at != NULL ? (size_t)length : 0;
    return at != NULL ? (const char *)at : "";
}

#endif
