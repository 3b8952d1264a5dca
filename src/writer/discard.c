/* SPDX-License-Identifier: MIT
 *
 * discard.c: makes the same checks as recovery, of directory and files of one owner and of both
 * locks of the spool, before it removes anything.
 */
#include "writer/discard.h"

#include "probity.h"
#include "spool/attach.h"

int probity_discard(const struct probity_discard_spool *spool)
{
    struct probity_place place;
    struct probity_attach attach;
    enum probity_attach_owner owner;
    int directory = probity_place_open_directory(spool->directory, spool->owner);

    if (directory < 0)
        return directory;
    int result = probity_place_make(directory, spool->directory, spool->owner, spool->stem, &place);
    if (result != 1)
        return result;
    result = probity_attach_open(&place, spool->session, spool->boot, 1, &attach);
    if (result == 0) {
        result = probity_attach_lock(&attach, &owner);
        if (result == 0)
            result = probity_attach_retire(&attach);
        probity_attach_close(&attach);
    }
    probity_place_close(&place);
    return result;
}
