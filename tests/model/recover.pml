/* SPDX-License-Identifier: MIT
 *
 * recover.pml: which processes may recover a spool, for spin. A program holds its lock from before
 * the file has a name or, in writers before 0.2, takes it while it is already recording; it may die
 * at any step. Tools recover, concurrently and one after another, and may be killed at any step. A
 * reader checks whether the program is alive.
 *
 * Models src/spool/segment.c (map_held), src/writer/writer.c (lock_spool), src/spool/attach.c
 * (probity_attach_owner, _lock, _retire) and src/writer/recover.c. The kernel releases the locks of
 * a holder that dies.
 */
#include "names.pml"

#ifndef TOOLS
#define TOOLS 2
#endif
#ifndef RUNS /* per tool, killed or not */
#define RUNS 2
#endif
#define NOBODY 255
#define PROGRAM 100

byte spool_state = PROBITY_SPOOL_MAKING;
bool is_there;          /* the file of segment 0 has a name */
byte lock = NOBODY;     /* the write lock on byte 0 */
byte recovering;        /* read locks on byte 0 */
byte drainer = NOBODY;  /* the lock on byte 1 */
bool locked;            /* the field at 76 */
bool has_process = true;
bool records = true;    /* in the spool, and not in the file */
byte in_file;           /* how many times they are in the file */
bool has_end;
bool killed[TOOLS + 1]; /* 0: the program */

inline take_program_lock()
{
    if
    :: atomic { lock == NOBODY && recovering == 0 -> lock = PROGRAM }
    :: else -> assert(false)            /* a tool recovers the spool of a running program */
    fi
}

inline take_drainer_lock()
{
    if
    :: atomic { drainer == NOBODY -> drainer = PROGRAM }
    :: else -> assert(false)
    fi
}

proctype program()
{
    {
        if
        :: true ->                          /* current writers */
#ifdef MUTATE_NAME_BEFORE_LOCK
            locked = true;
            is_there = true;
            take_program_lock();
#else
            take_program_lock();
            locked = true;
            is_there = true;
#endif
            spool_state = PROBITY_SPOOL_RECORDING;
            take_drainer_lock()
        :: true ->                          /* writers before 0.2 */
            is_there = true;
            spool_state = PROBITY_SPOOL_RECORDING;
            take_program_lock();
            locked = true
        fi;
        /* Stops: everything is in the file, so the spool is removed. */
        d_step { in_file++; records = false }
        has_end = true;
        drainer = (drainer == PROGRAM -> NOBODY : drainer);
        spool_state = PROBITY_SPOOL_CLOSED;
        is_there = false;
        lock = NOBODY;
        false
    } unless {
        atomic {
            killed[0] -> has_process = false;
            lock = NOBODY;
            drainer = (drainer == PROGRAM -> NOBODY : drainer)
        }
    }
}

/* At any time, or never. */
proctype killer(byte who)
{
    if
    :: killed[who] = true
    :: skip
    fi
}

/* Whether the owner is alive, or may be; the tool's own lock is ignored. */
inline look(own, alive)
{
    was_state = spool_state;
#ifdef MUTATE_FIELD_BEHIND_LOCK
    is_locked = lock != NOBODY || recovering > own;
    was_locked = locked;
#else
    was_locked = locked;
    is_locked = lock != NOBODY || recovering > own;
#endif
    alive = was_state != PROBITY_SPOOL_CLOSED && (is_locked || !was_locked);
    d_step { was_state = 0; was_locked = false; is_locked = false }
}

/* recover: attach, look, lock, scan, append, retire. */
proctype tool(byte me)
{
    byte run_number, was_state, recovers;
    bool alive, was_locked, is_locked, ended, uncovered;

    do
    :: run_number == RUNS -> break
    :: run_number < RUNS ->
        {
            if
            :: !is_there -> goto done
            :: else
            fi;
            look(recovers, alive);
            if
            :: alive -> goto done
            :: else
            fi;
#ifndef MUTATE_NO_LOCK
            atomic {
                if
                :: drainer == NOBODY -> drainer = me
                :: else -> goto done
                fi
            }
#endif
            atomic {
                if
                :: lock == NOBODY -> recovering++; recovers = 1
                :: lock != NOBODY && spool_state == PROBITY_SPOOL_CLOSED -> skip
                :: else -> goto done
                fi
            }
            ended = has_end;
            if
            :: !ended && spool_state == PROBITY_SPOOL_RECORDING ->
                assert(!has_process);
                uncovered = records;
                /* The blocks cover these records, so the next scan of the file finds none left. */
                d_step { in_file = in_file + uncovered; records = false }
                assert(in_file <= 1);
                has_end = true
            :: else
            fi;
            assert(!has_process || has_end);
            spool_state = PROBITY_SPOOL_CLOSED;
            is_there = false;
done:
            skip
        } unless {
            atomic { killed[me] && run_number == 0 -> skip }
        }
        d_step {
            drainer = (drainer == me -> NOBODY : drainer);
            recovering = recovering - recovers; recovers = 0;
            was_state = 0; was_locked = false; is_locked = false; alive = false; ended = false;
            uncovered = false; run_number++
        }
    od
}

/* The reader's conclusion must have been true at some moment of its check. */
proctype reader()
{
    byte was_state;
    bool alive, was_locked, is_locked, lived;

    look(0, alive);
    lived = has_process && spool_state == PROBITY_SPOOL_RECORDING && is_there;
    assert(alive || !lived)
}

init {
    atomic {
        byte i;
        run program();
        run killer(0);
#ifndef NO_READER
        run reader();
#endif
        for (i : 1 .. TOOLS) {
            run tool(i);
            run killer(i)
        }
    }
}
