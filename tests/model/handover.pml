/* SPDX-License-Identifier: MIT
 *
 * handover.pml: the hand-over of chunks, for spin: threads that record, signal handlers that
 * interrupt them at any step and record, too, the writer thread, and death at any step, after which
 * a reader takes the contents of file and spool. Each statement is a single store or load that is
 * visible to another party; statements that only their own thread sees are combined with the next
 * one (atomic, d_step).
 *
 * Names in capitals are those of src/spool/layout.h, from which tests/model/model.bash makes
 * names.pml; inline parts are named after the functions that they model:
 *     record.c probity_hit reserve_words unreserve move_hit     thread.c need_chunk
 *     live.c chunk_prepare chunk_release                        pass.c open_drain full_drain
 *     spool_tail.c take_all, take_chunk (READER)                             held_drain batch_write
 *
 * The lists of the pool are sets here; pool.pml models them. Chunks of cells (PROBITY_CHUNK_CELLS)
 * are never handed over. Memory is sequentially consistent: the sources explain the memory order
 * next to each store.
 *
 * A record's number is a bit. `stored`: its last store has retired. So, whenever it ends,
 *     in the file, or in the spool and not covered by the file = stored        (nothing lost, torn,
 *     both in the file and found in the spool                  = nothing        invented, doubled)
 */
#include "names.pml"

#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef WORDS
#define WORDS 3
#endif
#ifndef RECORDS /* per owner */
#define RECORDS 3
#endif
#ifndef HANDLED /* per signal handler */
#define HANDLED 1
#endif
#ifndef SIGNALLED /* owners that receive a signal, from 0 */
#define SIGNALLED 1
#endif
#ifndef NESTED /* depth of handlers */
#define NESTED 1
#endif
#ifndef HOW /* two bits per record: 0 short, 1 of two words, 2 after a gap */
#define HOW 0
#endif
#ifndef HOW_HANDLED
#define HOW_HANDLED 0
#endif
#ifndef SERIALS
#define SERIALS 12
#endif

/* Addresses are as in the spool: a chunk is the upper part of its window. The lower part has room
 * for all words that nested probes can reserve past a chunk's end, which in the spool is
 * chunk_words. */
#define LOWER 10
#define WINDOW (LOWER + WORDS)
#define inside(a)   ((a) > 0 && (a) % WINDOW >= LOWER)
#define chunk_of(a) ((a) / WINDOW)
#define start_of(c) ((c) * WINDOW + LOWER)
#define at_word(a)  word[chunk_of(a) * WORDS + (a) % WINDOW - LOWER]
#define words_left(a) (WINDOW - (a) % WINDOW)

/* A word: 0, a short hit's number, or kind * 32 + number (for pending and pad: the number of
 * words). A record of two words has its number in both. */
#define KIND(kind, rest) ((kind) * 32 + (rest))
#define BODY 6

#define NONE 255

/* Process numbers assigned by spin: init, writer, threads, handlers. */
#define PROCESSES (2 + OWNERS + SIGNALLED * NESTED)
#define pid_of(me, depth) ((depth) == 0 -> 2 + (me) : 2 + OWNERS + (me) * NESTED + (depth) - 1)

/* ---- The spool and the file: data that outlives the process ---- */
byte chunk_state[CHUNKS] = PROBITY_CHUNK_FREE;
byte serial[CHUNKS];
byte used[CHUNKS];
byte drained[CHUNKS];
byte word[CHUNKS * WORDS];
int file_ids;               /* records in the file */
byte file_end[SERIALS];     /* for the chunk with this serial: words covered by blocks */

/* ---- Memory of the process ---- */
byte free_list = (1 << CHUNKS) - 1;
byte full_list;
byte open_chunks;           /* including full ones that wait for a hole */
bool waits[CHUNKS];
byte serials;
short cursor[OWNERS];
bool valid[OWNERS];
byte slot_chunk[OWNERS] = NONE;
bool blocked[OWNERS];       /* signals are */
byte handling[OWNERS];      /* depth of handlers */
bool interrupted[PROCESSES]; /* by a handler */
bool over[OWNERS];
byte ended;

/* ---- Only in the model ---- */
int stored;                 /* records whose last store has retired */
int dropped;
byte owner[CHUNKS] = NONE;  /* the thread that took the chunk */

/* ---- Walking words: drain.c ---- */

/* Walks words [first, end) of chunk c: `ids` are the ids of whole records, `stop` is where the walk
 * ended. One step, because words only change from zero to pending to whole, so a walk finds the
 * state at its end. */
inline walk(c, first, end, stops_at_hole, ids, stop)
{
    ids = 0;
    i = 0;
    stop = NONE;
    do
    :: i >= end || stop != NONE -> break
    :: else ->
        v = word[c * WORDS + i];
        n = 1;
        if
        :: v == 0 || v / 32 == PROBITY_WORD_PENDING ->
            if
            :: stops_at_hole -> stop = i
            :: else -> n = (v == 0 -> 1 : v % 32)
            fi
        :: else ->
            if
            :: v / 32 == PROBITY_WORD_PAD -> n = v % 32
            :: v / 32 == PROBITY_WORD_HIT ->
                n = 2;
                assert(word[c * WORDS + i + 1] == KIND(BODY, v % 32)) /* torn */
            :: else -> assert(v < 32)                                 /* invented */
            fi;
            if
            :: v / 32 != PROBITY_WORD_PAD && i >= first ->
                assert((ids & (1 << (v % 32))) == 0);
                ids = ids | (1 << (v % 32))
            :: else
            fi
        fi;
        i = i + n
    od;
    if
    :: stop == NONE -> stop = end
    :: else
    fi
}

/* ---- A reader of a dead spool: spool_tail.c, recover.c ---- */

/* Reads in every state without changing it, because the process may die at any moment. */
proctype death()
{
    byte c, i, n, v, from, upto, stop;
    int ids, found;

    do
    ::  d_step {
            c = 0;
            do
            :: c == CHUNKS -> break
            :: else ->
                if
                :: chunk_state[c] == PROBITY_CHUNK_OPEN || chunk_state[c] == PROBITY_CHUNK_FULL ->
                    from = (file_end[serial[c]] > drained[c] -> file_end[serial[c]] : drained[c]);
                    upto = (chunk_state[c] == PROBITY_CHUNK_FULL -> used[c] : WORDS);
                    walk(c, from, upto, false, ids, stop);
                    assert((found & ids) == 0);
                    found = found | ids
                :: else
                fi;
                c++
            od;
            assert((found & file_ids) == 0);           /* no duplicates */
            assert((found | file_ids) == stored);      /* nothing lost, nothing invented */
            found = 0; ids = 0; from = 0; upto = 0; stop = 0; v = 0; n = 0; i = 0; c = 0
        }
    od
}

/* ---- A thread that records: record.c, thread.c, live.c ---- */

/* One instruction. */
inline reserve(n)
{
#ifdef MUTATE_RESERVE_IN_TWO
    at = cursor[me];
#endif
    d_step {
#ifndef MUTATE_RESERVE_IN_TWO
        at = cursor[me];
#endif
        cursor[me] = at + n;
        at_serial = (inside(at) -> serial[chunk_of(at)] : 0)
    }
}

/* The chunk must still be the one in which the word was reserved. */
inline store_word(a, value)
{
    d_step {
        assert(serial[chunk_of(a)] == at_serial && at_word(a) / 32 <= PROBITY_WORD_PENDING &&
               (at_word(a) == 0 || at_word(a) / 32 == PROBITY_WORD_PENDING));
        at_word(a) = value
    }
}

/* The last store completes the record. */
inline store_last(a, value)
{
    d_step {
        assert(serial[chunk_of(a)] == at_serial &&
               (at_word(a) == 0 || at_word(a) / 32 == PROBITY_WORD_PENDING));
        at_word(a) = value;
        stored = stored | (1 << id)
    }
}

/* The inline probe has reserved a word that it must not use. */
inline unreserve(n)
{
#ifdef MUTATE_GIVE_BACK_BLINDLY
    if
    :: !valid[me] -> cursor[me] = cursor[me] - n
    :: else
    fi
#else
    do
    :: before = cursor[me];
        if
        :: valid[me] -> break
        :: else
        fi;
        atomic {
            if
            :: cursor[me] == before -> cursor[me] = before - n; break
            :: else
            fi
        }
    od;
    before = 0
#endif
}

inline chunk_release()
{
    d_step {
        mine = slot_chunk[me];
        count = cursor[me] - start_of(mine);
        count = (count < WORDS -> count : WORDS);
        valid[me] = false;      /* signals are blocked: no other code sees it */
        slot_chunk[me] = NONE
    }
#ifdef MUTATE_FULL_BEFORE_USED
    chunk_state[mine] = PROBITY_CHUNK_FULL;
    used[mine] = count;
#else
    used[mine] = count;
    chunk_state[mine] = PROBITY_CHUNK_FULL;
#endif
    atomic {
        open_chunks--;
        owner[mine] = NONE;
        full_list = full_list | (1 << mine);
        mine = NONE;
        count = 0
    }
}

inline zero_words()
{
    d_step {
        count = 0;
        do
        :: count == WORDS -> break
        :: else -> word[mine * WORDS + count] = 0; count++
        od;
        count = 0
    }
}

/* No other process reads a free chunk; live.pml models a copy made while it becomes free. */
inline chunk_prepare()
{
#ifndef MUTATE_ZEROES_LAST
    zero_words();
#endif
    d_step {
        used[mine] = 0;
        drained[mine] = 0;
        serials++;
        assert(serials < SERIALS);
        serial[mine] = serials
    }
    chunk_state[mine] = PROBITY_CHUNK_OPEN;
#ifdef MUTATE_ZEROES_LAST
    zero_words()
#endif
}

/* result: 1 a chunk with space, 0 wait, 2 dropped. */
inline need_chunk()
{
    if
    :: atomic { slot_chunk[me] != NONE && inside(cursor[me]) -> result = 1 } /* a handler's */
    :: else ->
        if
        :: slot_chunk[me] != NONE -> chunk_release()
        :: else
        fi;
        atomic { /* pool.pml */
            if
            :: free_list & 1 -> mine = 0
            :: free_list & 2 -> mine = 1
#if CHUNKS > 2
            :: free_list & 4 -> mine = 2
#endif
            :: free_list == 0 -> mine = NONE
            fi;
            if
            :: mine != NONE ->
                free_list = free_list & ~(1 << mine);
                assert(owner[mine] == NONE && chunk_state[mine] == PROBITY_CHUNK_FREE);
                owner[mine] = me;
                open_chunks++
            :: else ->
#ifdef DROP
                result = 2
#else
                result = (open_chunks >= CHUNKS -> 2 : 0) /* waiting would never end */
#endif
            fi
        }
        if
        :: mine == NONE
        :: else ->
            chunk_prepare();
            cursor[me] = start_of(mine);
            d_step { slot_chunk[me] = mine; valid[me] = true; mine = NONE; result = 1 }
        fi
    fi
}

/* at: the address of n reserved words; 0 if the record is dropped. */
inline reserve_words(n)
{
    do
    ::  if
        :: slot_chunk[me] != NONE -> reserve(n)
        :: else
        fi;
        if
        :: inside(at) && inside(at + n - 1) -> break
        :: else ->
            if
            :: inside(at) -> store_word(at, KIND(PROBITY_WORD_PAD, words_left(at)))
            :: else
            fi
        fi;
#ifdef MUTATE_CHANGE_WITH_SIGNALS_OPEN
        at = 0;
#else
        d_step { blocked[me] = true; at = 0; at_serial = 0 }
#endif
        need_chunk();
        if
        :: d_step { result == 2 -> blocked[me] = false; dropped = dropped | (1 << id) } break
        :: d_step { result == 1 -> blocked[me] = false; result = NONE }
        :: d_step { result == 0 -> blocked[me] = false; result = NONE }
            free_list != 0 || open_chunks >= CHUNKS /* futex, or a timeout */
        fi
    od
}

inline store_long()
{
#ifndef MUTATE_NO_PENDING
    store_word(at, KIND(PROBITY_WORD_PENDING, 2));
#endif
#ifdef MUTATE_HEAD_FIRST
    store_last(at, KIND(PROBITY_WORD_HIT, id));
    store_word(at + 1, KIND(BODY, id))
#else
    store_word(at + 1, KIND(BODY, id));
    store_last(at, KIND(PROBITY_WORD_HIT, id))
#endif
}

/* In the last step, the word reserved before the clock was read becomes padding. */
inline move_hit()
{
    d_step { moved_from = at; moved_serial = at_serial; at = 0 }
    reserve_words(1);
    if
    :: at != 0 -> store_last(at, id)
    :: else
    fi;
    d_step { at = moved_from; at_serial = moved_serial; moved_from = 0; moved_serial = 0 }
    store_word(at, KIND(PROBITY_WORD_PAD, 1))
}

/* One record: of one word, of two, or after a gap. */
inline probity_hit(how)
{
    if
    :: how == 1 ->
        reserve_words(2);
        if
        :: at != 0 -> store_long()
        :: else
        fi
    :: else ->
        reserve(1);
        if
        :: !(valid[me] && inside(at)) ->
            at = 0;
            unreserve(1);
            reserve_words(1);
            if
            :: at != 0 -> store_last(at, id)
            :: else
            fi
        :: else ->
            if
            :: how == 2 -> move_hit()
            :: else -> store_last(at, id)
            fi
        fi
    fi;
    d_step { at = 0; at_serial = 0; result = NONE; id++; made++ }
}

#define LOCALS                                                                                     \
    short at, before, moved_from;                                                                  \
    byte at_serial, moved_serial, mine = NONE, count, result = NONE, id, made

proctype thread(byte me) provided (!interrupted[_pid])
{
    LOCALS;

    id = 1 + me * RECORDS;
    do
    :: made == RECORDS -> break
    :: made < RECORDS -> probity_hit(((HOW >> (2 * (id - 1))) & 3))
    od;
    /* thread_ends */
    blocked[me] = true;
    if
    :: slot_chunk[me] != NONE -> chunk_release()
    :: else
    fi;
    atomic { over[me] = true; ended++ }
}

/* Starts between any two steps of the thread or, if nested, of the previous handler. */
proctype handler(byte me; byte depth) provided (!interrupted[_pid])
{
    LOCALS;

    atomic { (handling[me] == depth - 1 && !blocked[me]) || over[me] ->
             if
             :: over[me] -> goto gone
             ::  else ->
                 handling[me] = depth;
                 interrupted[pid_of(me, depth - 1)] = true;
                 id = 1 + OWNERS * RECORDS + (me * NESTED + depth - 1) * HANDLED
             fi }
    do
    :: made == HANDLED -> break
    :: made < HANDLED -> probity_hit(((HOW_HANDLED >> (2 * made)) & 3))
    od;
    atomic { interrupted[pid_of(me, depth - 1)] = false; handling[me] = depth - 1 }
gone:
    skip
}

/* ---- The writer thread: pass.c ---- */

#define KEEP 1
#define FREE 2

/* The next chunk, from c on, for which this holds, or CHUNKS. */
inline next_of(what)
{
    do
    :: c < CHUNKS && !(what) -> c++
    :: else -> break
    od
}

inline put_blocks()
{
    do
    ::  d_step { next_of(then[c] != 0 && block_ids[c] != 0) }
        if
        :: d_step { c == CHUNKS -> c = 0 } break
        :: d_step {
            c < CHUNKS ->
            assert((file_ids & block_ids[c]) == 0);
            file_ids = file_ids | block_ids[c];
            file_end[serial[c]] = block_end[c];
            block_ids[c] = 0
        }
        fi
    od
}

inline let_go()
{
    do
    ::  d_step { next_of(then[c] != 0) }
        if
        :: d_step { c == CHUNKS -> c = 0 } break
        :: c < CHUNKS ->
            drained[c] = block_end[c];
            if
            :: then[c] == FREE ->
                chunk_state[c] = PROBITY_CHUNK_FREE;
                d_step {
                    open_chunks = open_chunks - waits[c];
                    waits[c] = false;
                    free_list = free_list | (1 << c);
                    then[c] = 0;
                    block_end[c] = 0
                }
            :: else -> d_step { then[c] = 0; block_end[c] = 0 }
            fi
        fi
    od
}

inline batch_write()
{
#ifdef MUTATE_FREE_BEFORE_WRITE
    let_go();
    put_blocks()
#else
    put_blocks();
    let_go()
#endif
}

inline open_drain(t)
{
    c = slot_chunk[t];
    if
    :: c != NONE && chunk_state[c] == PROBITY_CHUNK_OPEN ->
        d_step {
            upto = cursor[t] - start_of(c);
            upto = (upto >= 0 && upto < WORDS -> upto : WORDS)
        }
        d_step {
#ifdef MUTATE_DRAIN_OVER_HOLES
            walk(c, drained[c], upto, false, ids, stop);
#else
            walk(c, drained[c], upto, true, ids, stop);
#endif
            if
            :: stop > drained[c] ->
                chunk_commit(KEEP)
            :: else
            fi;
            ids = 0; stop = 0; upto = 0; i = 0; n = 0; v = 0
        }
    :: else
    fi;
    c = 0
}

/* The result of walking chunk c is to be written, followed by this action. */
inline chunk_commit(what)
{
    assert(then[c] == 0);
    then[c] = what;
    block_ids[c] = ids;
    block_end[c] = stop
}

inline walk_as_full(stops_at_hole)
{
    walk(c, drained[c], used[c], stops_at_hole, ids, stop);
    i = 0;
    n = 0;
    v = 0
}

/* A full chunk with a hole waits; after a timeout it is held, and the part before the hole is
 * written. */
inline full_drain()
{
    d_step { walk_as_full(true) }
    if
    :: stop == used[c] -> chunk_commit(FREE)
#ifdef MUTATE_FREE_WITH_HOLE
    :: stop < used[c] -> d_step { walk_as_full(false); chunk_commit(FREE) }
#else
    :: stop < used[c] && ended == OWNERS -> d_step { walk_as_full(false); chunk_commit(FREE) }
    :: stop < used[c] && ended != OWNERS ->
        d_step { open_chunks = open_chunks + !waits[c]; waits[c] = true }
        if
        :: atomic { waiting = waiting | (1 << c) }
        :: atomic { chunk_commit(KEEP); held_list = held_list | (1 << c) }
        fi
#endif
    fi;
    d_step { ids = 0; stop = 0; c++ }
}

/* Its hole may have been filled since, or never will be. */
inline held_drain()
{
    d_step { walk_as_full(true) }
    if
    :: stop == used[c] -> atomic { chunk_commit(FREE); held_list = held_list & ~(1 << c) }
    :: stop < used[c] && ended == OWNERS ->
        d_step { walk_as_full(false); chunk_commit(FREE); held_list = held_list & ~(1 << c) }
    :: stop < used[c] && ended != OWNERS && stop > drained[c] -> chunk_commit(KEEP)
    :: stop < used[c] && ended != OWNERS && stop == drained[c]
    fi;
    d_step { ids = 0; stop = 0; c++ }
}

/* Takes chunks from `list`, one at a time. */
#define for_each(what)                                                                             \
    do                                                                                             \
    ::  d_step { next_of(list & (1 << c)) }                                                        \
        if                                                                                         \
        :: d_step { c == CHUNKS -> c = 0; list = 0 } break                                         \
        :: c < CHUNKS -> what                                                                      \
        fi                                                                                         \
    od

proctype writer()
{
    byte c, i, n, v, stop, waiting, held_list, list;
    short upto;
    byte then[CHUNKS], block_end[CHUNKS];
    int ids, block_ids[CHUNKS];
    bool last;

    do
    ::  atomic {
#ifdef NO_DEATH /* without a timer, everything that may be lost must wake the writer */
            full_list != 0 || waiting != 0 || held_list != 0 || ended == OWNERS;
#endif
            last = ended == OWNERS
        }
        open_drain(0);
#if OWNERS > 1
        open_drain(1);
#endif
#ifndef MUTATE_ONE_BATCH
        batch_write();
#endif
        atomic { list = waiting | full_list; waiting = 0; full_list = 0 }
        for_each(full_drain());
        batch_write();
        list = held_list;
        for_each(held_drain());
        batch_write();
        if
        :: last && held_list == 0 && waiting == 0 -> break
        :: last && (held_list != 0 || waiting != 0)
        :: !last
        fi
    od;
    c = 0;
    d_step {
        assert(file_ids == stored);
        assert(free_list == (1 << CHUNKS) - 1);
        assert((dropped & stored) == 0);
    }
}

init {
    byte t;

    atomic {
        run writer();
        for (t : 0 .. OWNERS - 1) {
            run thread(t)
        }
        for (t : 0 .. SIGNALLED - 1) {
            run handler(t, 1);
#if NESTED > 1
            run handler(t, 2);
#endif
            skip
        }
#ifndef NO_DEATH
        run death()
#endif
    }
}
