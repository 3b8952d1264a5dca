/* SPDX-License-Identifier: MIT
 *
 * levels.pml: concurrent changes of levels, for spin: two tools that send requests through the
 * spool, the writer thread, which replies, and the program. At the end, the levels that scopes see,
 * and those in the spool's header, are the last ones set; each request has one reply, made before
 * its tool continued.
 *
 * Models src/spool/control.c and control_ask.c, and src/runtime/levels.c (change, publish,
 * publish_outside).
 */
#ifndef TOOLS
#define TOOLS 2
#endif
#ifndef CHANGES /* by the program */
#define CHANGES 2
#endif

byte word;              /* requested levels as one number */
byte functions, parameters; /* what scopes see */
byte header_levels;
byte request_serial, request_level, answered;
byte tools_ended, answers;
bool program_ended;

inline publish()
{
    again = word;
    do
    ::  seen = again;
        functions = seen;
        parameters = seen;
        again = word;
        if
        :: again == seen -> break
        :: else
        fi
    od
}

inline publish_outside()
{
    again = word;
    do
    ::  seen = again;
        header_levels = seen;
        again = word;
#ifdef MUTATE_PUBLISH_ONCE
        break
#else
        if
        :: again == seen -> break
        :: else
        fi
#endif
    od
}

proctype program()
{
    byte seen, again, i;

    for (i : 1 .. CHANGES) {
        word = 10 + i;
        publish();
        publish_outside()
    }
    program_ended = true
}

proctype writer()
{
    byte seen, again, serial, level;

end_writer:
    do
    :: request_serial != answered ->
        d_step { serial = request_serial; level = request_level } /* one word */
        word = level;
        publish();
#ifdef MUTATE_ANSWER_STORES_LEVELS
        header_levels = level;
#else
        publish_outside();
#endif
        again = 0;
        d_step { answered = serial; answers++ }
    od
}

proctype tool(byte me)
{
    byte before;
    bool won;

    do
    ::  before = request_serial;
        answered >= before;
        d_step {
            won = request_serial == before;
            if
            :: won -> request_serial = before + 1; request_level = me
            :: else
            fi
        }
        if
        :: won -> break
        :: else
        fi
    od;
    answered >= before + 1;
    atomic { tools_ended++ }
}

proctype monitor()
{
    program_ended && tools_ended == TOOLS && request_serial == answered;
    d_step {
        assert(answers == TOOLS);
        assert(functions == word && parameters == word);
        assert(header_levels == word)
    }
}

init {
    byte i;

    atomic {
        run program();
        run writer();
        for (i : 1 .. TOOLS) {
            run tool(i)
        }
        run monitor()
    }
}
