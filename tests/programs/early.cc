/* SPDX-License-Identifier: MIT
 *
 * early.cc: probes before and after main(): constructors of every priority, static objects, exit
 * handlers registered at various times, destructors. Stream 0, in the order of execution. Also
 * checks that the header compiles as C++17.
 */
#include <unistd.h>

#include "programs/hits.h"

namespace
{

enum { EACH = 100 };
uint64_t made;

void make()
{
    hits_make(0, made, EACH);
    made += EACH;
}

struct Static {
    Static() { make(); }
    ~Static() { make(); }
};

Static at_file_scope;

__attribute__((constructor(102))) void very_early()
{
    make();
}

__attribute__((constructor)) void early()
{
    make();
    atexit(make);
}

/* Runs after all destructors of default priority. */
__attribute__((destructor(102))) void very_late()
{
    make();
    hits_expect(getpid(), 0, made);
    fflush(stdout);
}

__attribute__((destructor)) void late()
{
    make();
}

void at_exit_again()
{
    make();
    atexit(make);
}

} // namespace

int main()
{
    static Static in_function;

    make();
    atexit(at_exit_again);
    return 0;
}
