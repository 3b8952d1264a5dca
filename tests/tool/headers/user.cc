// SPDX-License-Identifier: MIT
// For checks of the headers: probes in a template and a lambda.
#include "probity.h"
template <class T> T user_probe(T id)
{
    auto probe = [id] { PROBITY_PROBE(id); PROBITY_PROBE_NAMED("lambda"); };
    probe();
    return id;
}
unsigned user_instance() { return user_probe(7u) + static_cast<unsigned>(user_probe(8L)); }
