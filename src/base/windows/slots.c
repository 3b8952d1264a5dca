/* SPDX-License-Identifier: MIT
 *
 * windows/slots.c: the slots and the blocks of thread_local.h. A block is allocated at a thread's
 * first record, and released when the thread ends.
 */
#include "base/windows/slots.h"

#include <windows.h>

enum {
    /* In the thread environment block: an array of 64 slots, and a field that only 16-bit programs
     * use, which is NULL here. */
    SLOTS_AT = 0x1480,
    SLOTS = 64,
    NEVER_USED = 0x1690
};

uint64_t probity_thread_offset = NEVER_USED;
uint64_t probity_scope_offset = NEVER_USED;

/* For threads for which no memory can be allocated. They record nothing, since they count as inside
 * the library. */
static struct probity_thread_block no_memory = {.scope = {.inside = 1}};

/* Allocates a TLS slot. Returns its offset in the thread environment block, or NEVER_USED if there
 * is none left in it. */
static uint64_t slot_take(void)
{
    DWORD index = TlsAlloc();

    if (index < SLOTS)
        return SLOTS_AT + 8 * (uint64_t)index;
    if (index != TLS_OUT_OF_INDEXES)
        TlsFree(index);
    return NEVER_USED;
}

static void slot_give(uint64_t offset)
{
    if (offset != NEVER_USED)
        TlsFree((DWORD)(offset - SLOTS_AT) / 8);
}

/* Allocates a slot unless another thread has done so. */
static void slot_need(uint64_t *offset)
{
    uint64_t expected = NEVER_USED, taken;

    if (__atomic_load_n(offset, __ATOMIC_ACQUIRE) != NEVER_USED)
        return;
    taken = slot_take();
    if (!__atomic_compare_exchange_n(offset, &expected, taken, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        slot_give(taken);
}

int probity_thread_is_ready(void)
{
    slot_need(&probity_thread_offset);
    slot_need(&probity_scope_offset);
    return probity_thread_offset != NEVER_USED && probity_scope_offset != NEVER_USED;
}

static void **block_place(void)
{
    return (void **)(void *)(probity_thread_environment() + probity_scope_offset);
}

struct probity_scope_thread *probity_scope_thread_make(void)
{
    if (!probity_thread_is_ready())
        return &no_memory.scope;
    void **place = block_place();
    if (*place == NULL)
        *place = VirtualAlloc(NULL, sizeof(struct probity_thread_block), MEM_RESERVE | MEM_COMMIT,
                              PAGE_READWRITE);
    return *place != NULL ? *place : &no_memory.scope;
}

void probity_slots_thread_ends(void)
{
    if (probity_scope_offset == NEVER_USED || *block_place() == NULL)
        return;
    probity_thread_self = NULL;
    void *block = *block_place();
    *block_place() = NULL;
    VirtualFree(block, 0, MEM_RELEASE);
}
