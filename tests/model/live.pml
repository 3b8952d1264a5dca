/* SPDX-License-Identifier: MIT
 *
 * live.pml: a reader of a running program, for spin: it copies the chunks and then reads the file,
 * while a thread records into chunks that the writer thread writes and frees. Every record stored
 * before the reader began is in the copies or in the file; none is in both, apart from words that
 * blocks cover; none contradicts its chunk's header.
 *
 * Models src/spool/attach.c (probity_attach_chunk, _stands) and src/reader/spool_tail.c
 * (take_chunk), and on the other side live.c (probity_live_chunk_prepare, field by field) and
 * pass.c.
 */
#include "names.pml"

#ifndef CHUNKS
#define CHUNKS 1
#endif
#ifndef WORDS
#define WORDS 2
#endif
#ifndef USES /* number of successive uses of chunks */
#define USES 3
#endif
#define RECORDS (USES * WORDS)
#define NONE 255

byte chunk_state[CHUNKS] = PROBITY_CHUNK_FREE;
byte serial[CHUNKS], thread_of[CHUNKS], used[CHUNKS], drained[CHUNKS], word[CHUNKS * WORDS];
int file_ids, stored;
byte file_end[USES + 1];
byte handed = NONE, open_chunk = NONE;

/* Each use of a chunk has a different owner: thread n wrote everything in the chunk with serial
 * n. */
proctype owner()
{
    byte use = 1, chunk, i;

    do
    :: use > USES -> break
    :: use <= USES ->
        atomic {
            if
            :: chunk_state[0] == PROBITY_CHUNK_FREE -> chunk = 0
#if CHUNKS > 1
            :: chunk_state[1] == PROBITY_CHUNK_FREE -> chunk = 1
#endif
            fi
        }
        i = 0;
        do
        :: i == WORDS -> break
        :: else -> word[chunk * WORDS + i] = 0; i++
        od;
        thread_of[chunk] = use;
        used[chunk] = 0;
        serial[chunk] = use;
        drained[chunk] = 0;
        chunk_state[chunk] = PROBITY_CHUNK_OPEN;
        open_chunk = chunk;
        i = 0;
        do
        :: i == WORDS -> break
        :: else ->
            d_step {
                word[chunk * WORDS + i] = (use - 1) * WORDS + i + 1;
                stored = stored | (1 << ((use - 1) * WORDS + i + 1));
                i++
            }
        od;
        open_chunk = NONE;
        used[chunk] = WORDS;
        chunk_state[chunk] = PROBITY_CHUNK_FULL;
        handed == NONE -> handed = chunk;
        d_step { use++; i = 0; chunk = 0 }
    od
}

/* Writes the chunk's words from `drained` up to the first hole. */
inline write(chunk)
{
    d_step {
        end = drained[chunk];
        do
        :: end < WORDS && word[chunk * WORDS + end] != 0 ->
            file_ids = file_ids | (1 << word[chunk * WORDS + end]);
            end++
        :: else -> break
        od;
        file_end[serial[chunk]] = end
    }
}

proctype writer()
{
    byte chunk, end;

end_writer:
    do
    :: atomic { open_chunk != NONE -> chunk = open_chunk }
        if
        :: chunk_state[chunk] == PROBITY_CHUNK_OPEN -> write(chunk); drained[chunk] = end
        :: else
        fi
    :: handed != NONE ->
        chunk = handed;
#ifdef MUTATE_FREE_BEFORE_WRITE
        chunk_state[chunk] = PROBITY_CHUNK_FREE;
        write(chunk);
        drained[chunk] = end;
#else
        write(chunk);
        drained[chunk] = end;
        chunk_state[chunk] = PROBITY_CHUNK_FREE;
#endif
        d_step { handed = NONE; end = 0; chunk = 0 }
    od
}

proctype reader()
{
    byte chunk, i, state, its_serial, its_thread, first, upto, copy[WORDS], taken;
    byte serials[CHUNKS], firsts[CHUNKS];
    byte copies[CHUNKS * WORDS];
    int had, found;

    had = stored;
    do
    :: chunk == CHUNKS -> break
    :: chunk < CHUNKS ->
        state = chunk_state[chunk];
        if
        :: state == PROBITY_CHUNK_OPEN || state == PROBITY_CHUNK_FULL ->
#ifdef MUTATE_SERIAL_BEHIND_THREAD
            its_thread = thread_of[chunk];
            its_serial = serial[chunk];
#else
            its_serial = serial[chunk];
            its_thread = thread_of[chunk];
#endif
            first = drained[chunk];
            upto = used[chunk];
            d_step {
                upto = (state == PROBITY_CHUNK_FULL -> upto : WORDS);
                i = 0
            }
            do
            :: i >= upto -> break
            :: i < upto -> atomic { copy[i] = word[chunk * WORDS + i]; i++ }
            od;
#ifdef MUTATE_NO_LOOK_AGAIN
            taken = 1;
#else
            atomic { taken = chunk_state[chunk] != PROBITY_CHUNK_FREE }
            taken = taken && serial[chunk] == its_serial;
#endif
            d_step {
                i = 0;
                do
                :: taken && i < upto ->
                    assert(its_thread == its_serial);
                    assert(copy[i] == 0 || (copy[i] - 1) / WORDS + 1 == its_serial);
                    copies[chunk * WORDS + i] = copy[i];
                    i++
                :: else -> break
                od;
                if
                :: taken -> serials[chunk] = its_serial; firsts[chunk] = first
                :: else
                fi;
                i = 0; first = 0; upto = 0; taken = 0; its_serial = 0; its_thread = 0
            }
        :: else
        fi;
        d_step {
            i = 0;
            do
            :: i == WORDS -> break
            :: else -> copy[i] = 0; i++
            od;
            i = 0; state = 0; chunk++
        }
    od;
    chunk = 0;
    d_step { /* the file, and how much of the copies it covers */
        do
        :: chunk == CHUNKS -> break
        :: else ->
            i = (file_end[serials[chunk]] > firsts[chunk] -> file_end[serials[chunk]] :
                 firsts[chunk]);
            do
            :: serials[chunk] == 0 || i >= WORDS -> break
            :: else ->
                if
                :: copies[chunk * WORDS + i] != 0 ->
                    assert((found & (1 << copies[chunk * WORDS + i])) == 0);
                    found = found | (1 << copies[chunk * WORDS + i])
                :: else
                fi;
                i++
            od;
            chunk++
        od;
        assert((found & file_ids) == 0);                      /* no duplicates */
        assert(((found | file_ids) & had) == had);            /* nothing missing */
        assert(((found | file_ids) | stored) == stored)       /* nothing invented */
    }
}

init {
    atomic {
        run owner();
        run writer();
        run reader()
    }
}
