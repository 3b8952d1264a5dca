/* SPDX-License-Identifier: MIT
 *
 * test_switched.c: which roles and ids are removed while sites are off, in any order of names and
 * switches, and with as many sites as a trace may have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "probity_typed.h"
#include "reader/switched.h"

static void name(struct probity_names *names, uint32_t site, const char *text)
{
    assert_int_equal(probity_names_set(names, 2 * (uint64_t)site + 1, (const uint8_t *)text,
                                       strlen(text)), 0);
}

static void switch_one(struct probity_switched_sites *sites, const struct probity_names *names,
                       uint32_t site, uint32_t is_on)
{
    uint8_t payload[8];

    probity_put_u32(payload, is_on);
    probity_put_u32(payload + 4, site);
    assert_int_equal(probity_switched_take(sites, names, payload, sizeof payload), 0);
}

/* Returns the role that remains of a hit; 100 is added if its correlation id remains. */
static uint32_t left(const struct probity_switched_sites *sites, const char *text, uint32_t role)
{
    struct probity_event hit = {.name = text, .name_bytes = strlen(text), .role = role,
                                .has_correlation = 1};

    probity_switched_adjust(sites, &hit);
    return hit.role + (hit.has_correlation ? 100 : 0);
}

static void other_sites_of_a_lock_have_no_role(void **state)
{
    struct probity_names names = {0};
    struct probity_switched_sites sites = {0};

    (void)state;
    name(&names, 1, "cache:hold");
    name(&names, 2, "cache:wait");
    switch_one(&sites, &names, 1, 0);
    switch_one(&sites, &names, 2, 0);
    switch_one(&sites, &names, 2, 0);
    switch_one(&sites, &names, 2, 1);
    assert_int_equal(left(&sites, "cache:release", PROBITY_ROLE_LOCK_RELEASE), 100);
    assert_int_equal(left(&sites, "cache2:release", PROBITY_ROLE_LOCK_RELEASE),
                     100 + PROBITY_ROLE_LOCK_RELEASE);
    switch_one(&sites, &names, 1, 1);
    switch_one(&sites, &names, 1, 1);
    assert_int_equal(sites.count, 0);
    assert_int_equal(left(&sites, "cache:release", PROBITY_ROLE_LOCK_RELEASE),
                     100 + PROBITY_ROLE_LOCK_RELEASE);
    probity_switched_release(&sites);
    probity_names_release(&names);
}

/* The name may be available at only one of the two switches. */
static void a_late_name_does_not_change_the_count(void **state)
{
    struct probity_names names = {0};
    struct probity_switched_sites sites = {0};

    (void)state;
    name(&names, 1, "request:begin");
    switch_one(&sites, &names, 1, 0);
    switch_one(&sites, &names, 2, 0);
    name(&names, 2, "other:end");
    switch_one(&sites, &names, 2, 1);
    assert_int_equal(sites.requests, 1);
    assert_int_equal(left(&sites, "request:end", PROBITY_ROLE_REQUEST_END), 0);
    switch_one(&sites, &names, 1, 1);
    assert_int_equal(left(&sites, "request:end", PROBITY_ROLE_REQUEST_END),
                     100 + PROBITY_ROLE_REQUEST_END);
    probity_switched_release(&sites);
    probity_names_release(&names);
}

/* With a search over all sites, these hits and switches would take minutes. */
static void all_sites_may_be_off(void **state)
{
    struct probity_names names = {0};
    struct probity_switched_sites sites = {0};
    char text[32];

    (void)state;
    for (uint32_t site = 0; site < PROBITY_LIMIT_SITES; site++) {
        snprintf(text, sizeof text, "lock %u:hold", (unsigned)site);
        name(&names, site, text);
        switch_one(&sites, &names, site, 0);
    }
    assert_int_equal(sites.count, PROBITY_LIMIT_SITES);
    for (uint32_t site = 0; site < PROBITY_LIMIT_SITES; site++) {
        snprintf(text, sizeof text, "lock %u:release", (unsigned)site);
        assert_int_equal(left(&sites, text, PROBITY_ROLE_LOCK_RELEASE), 100);
        switch_one(&sites, &names, site, 1);
        assert_int_equal(left(&sites, text, PROBITY_ROLE_LOCK_RELEASE),
                         100 + PROBITY_ROLE_LOCK_RELEASE);
    }
    switch_one(&sites, &names, PROBITY_LIMIT_SITES, 0);
    assert_int_equal(sites.count, 0);
    probity_switched_release(&sites);
    probity_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_sites_of_a_lock_have_no_role),
        cmocka_unit_test(a_late_name_does_not_change_the_count),
        cmocka_unit_test(all_sites_may_be_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
