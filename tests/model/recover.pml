/* SPDX-License-Identifier: MIT
 *
 * recover.pml: who may fold a spool, for spin: a program whose writing thread takes the spool's lock
 * and may die at any step; tools that recover, at once and one after another, and may be killed at
 * any step; and a reader that wants to know whether the program lives.
 *
 * Stands for src/writer/writer.c (lock_spool), src/spool/attach.c (probity_attach_is_alive, _lock,
 * _retire) and src/writer/recover.c. The kernel lets go of a lock when its holder dies.
 */
#include "names.pml"

#ifndef TOOLS
#define TOOLS 2
#endif
#ifndef RUNS /* of each tool, killed or not */
#define RUNS 2
#endif
#define NOBODY 255
#define PROGRAM 100

byte spool_state = PROBITY_SPOOL_MAKING;
bool is_there = true;   /* the file of segment 0 */
byte lock = NOBODY;
bool locked;            /* the field at 76 */
bool has_process = true;
bool records = true;    /* in the spool, and not in the file */
byte in_file;           /* how often they are in the file */
bool has_end;
bool killed[TOOLS + 1]; /* 0: the program */

proctype program()
{
    {
        spool_state = PROBITY_SPOOL_RECORDING;
        if
        :: atomic { lock == NOBODY -> lock = PROGRAM }
        :: else -> assert(false)            /* a tool took it from one that lives */
        fi;
        locked = true;
        /* Stops: all is in the file, and then the spool goes. */
        d_step { in_file++; records = false }
        has_end = true;
        spool_state = PROBITY_SPOOL_CLOSED;
        is_there = false;
        false
    } unless {
        atomic { killed[0] -> has_process = false; lock = (lock == PROGRAM -> NOBODY : lock) }
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

/* Whether the owner lives; the tool's own lock does not count. */
inline look(me, alive)
{
    was_state = spool_state;
#ifdef MUTATE_FIELD_BEHIND_LOCK
    is_locked = lock != NOBODY && lock != me;
    was_locked = locked;
#else
    was_locked = locked;
    is_locked = lock != NOBODY && lock != me;
#endif
    if
    :: was_state == PROBITY_SPOOL_CLOSED -> alive = false
    :: was_state != PROBITY_SPOOL_CLOSED && is_locked -> alive = true
    :: else -> alive = !was_locked && has_process
    fi;
    d_step { was_state = 0; was_locked = false; is_locked = false }
}

/* recover: attach, look, lock, look again, scan, fold, retire. */
proctype tool(byte me)
{
    byte run_number, was_state;
    bool alive, was_locked, is_locked, ended, uncovered;

    do
    :: run_number == RUNS -> break
    :: run_number < RUNS ->
        {
            if
            :: !is_there -> goto done
            :: else
            fi;
            look(me, alive);
            if
            :: alive -> goto done
            :: else
            fi;
#ifndef MUTATE_NO_LOCK
            atomic {
                if
                :: lock == NOBODY -> lock = me
                :: else -> goto done
                fi
            }
#endif
            look(me, alive);
            if
            :: alive -> goto done
            :: else
            fi;
            ended = has_end;
            if
            :: !ended && spool_state == PROBITY_SPOOL_RECORDING ->
                assert(!has_process);
                uncovered = records;
                /* Its blocks cover them: whoever scans the file next finds none. */
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
            lock = (lock == me -> NOBODY : lock);
            was_state = 0; was_locked = false; is_locked = false; alive = false; ended = false;
            uncovered = false; run_number++
        }
    od
}

/* What a reader believes must have been so at some moment of its looking. */
proctype reader()
{
    byte was_state;
    bool alive, was_locked, is_locked, lived;

    look(PROGRAM + 1, alive);
    lived = has_process && spool_state == PROBITY_SPOOL_RECORDING;
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
