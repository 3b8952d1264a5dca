/* SPDX-License-Identifier: MIT
 *
 * pool.pml: the two stacks of src/spool/pool.c, for spin, load by load: threads take and hand over,
 * the writer thread collects and frees. Proves what handover.pml assumes: each chunk has one owner
 * at a time, and none is lost. A take may be interrupted between its loads for any time, during
 * which a chunk may be taken and returned; the tag must reveal this.
 */
#include "names.pml"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef CHUNKS
#define CHUNKS 3
#endif
#ifndef TAKES /* per thread */
#define TAKES 2
#endif
#define NONE 0 /* chunks are numbered from 1 */

/* A head: a chunk and a count of changes. */
typedef head { byte chunk, tag };
head free_list, full_list;
byte next[CHUNKS + 1];
byte chunk_state[CHUNKS + 1] = PROBITY_CHUNK_FREE;
byte owner[CHUNKS + 1];
byte ended;

#ifdef MUTATE_NO_TAG
#define same(list, old) (list.chunk == old.chunk)
#else
#define same(list, old) (list.chunk == old.chunk && list.tag == old.tag)
#endif

inline load(list, old)
{
    d_step { old.chunk = list.chunk; old.tag = list.tag }
}

/* Compare and exchange; `won` is the result. */
inline exchange(list, old, with)
{
    d_step {
        won = same(list, old);
        if
        :: won -> list.chunk = with; list.tag = old.tag + 1
        :: else -> old.chunk = list.chunk; old.tag = list.tag
        fi
    }
}

inline push(list, chunk)
{
    load(list, old);
    do
    ::  next[chunk] = old.chunk;
        exchange(list, old, chunk);
        if
        :: won -> break
        :: else
        fi
    od;
    won = false;
    d_step { old.chunk = 0; old.tag = 0 }
}

inline pop(list, chunk)
{
    load(list, old);
    do
    :: old.chunk == NONE -> chunk = NONE; break
    :: else ->
        link = next[old.chunk]; /* may be stale */
        chunk = old.chunk;
        exchange(list, old, link);
        if
        :: won -> break
        :: else
        fi
    od;
    won = false;
    d_step { link = 0; old.chunk = 0; old.tag = 0 }
}

proctype thread(byte me)
{
    head old;
    byte chunk, link, taken;
    bool won;

    do
    :: taken == TAKES -> break
    :: taken < TAKES ->
        pop(free_list, chunk);
        if
        :: chunk == NONE -> free_list.chunk != NONE
        :: else ->
            d_step {
                assert(owner[chunk] == 0 && chunk_state[chunk] == PROBITY_CHUNK_FREE);
                owner[chunk] = me;
                chunk_state[chunk] = PROBITY_CHUNK_OPEN
            }
            d_step { owner[chunk] = 0; chunk_state[chunk] = PROBITY_CHUNK_FULL; taken++ }
            push(full_list, chunk)
        fi
    od;
    chunk = 0;
    atomic { ended++ }
}

proctype writer()
{
    head old;
    byte chunk, link, list;
    bool won;

    do
    :: full_list.chunk != NONE ->
        load(full_list, old); /* collect */
        do
        ::  list = old.chunk;
            exchange(full_list, old, NONE);
            if
            :: won -> break
            :: else
            fi
        od;
        won = false;
        do
        :: list == NONE -> break
        :: list != NONE ->
            d_step { chunk = list; list = next[list] }
            d_step {
                assert(chunk_state[chunk] == PROBITY_CHUNK_FULL && owner[chunk] == 0);
                chunk_state[chunk] = PROBITY_CHUNK_FREE
            }
            push(free_list, chunk)
        od;
        chunk = 0
    :: full_list.chunk == NONE && ended == THREADS -> break
    od;
    chunk = 0;
    d_step { /* all are free, and in the list exactly once */
        list = free_list.chunk;
        do
        :: list == NONE -> break
        :: else ->
            assert(chunk < CHUNKS && chunk_state[list] == PROBITY_CHUNK_FREE);
            chunk++;
            list = next[list]
        od;
        assert(chunk == CHUNKS)
    }
}

init {
    byte i;

    atomic {
        for (i : 1 .. CHUNKS) {
            next[i] = (i < CHUNKS -> i + 1 : NONE)
        }
        free_list.chunk = 1;
        run writer();
        for (i : 1 .. THREADS) {
            run thread(i)
        }
    }
}
