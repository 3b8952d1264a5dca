/* SPDX-License-Identifier: MIT
 *
 * error.c: the messages of enum probity_error, and the version string.
 */
#include "probity.h"

PROBITY_API const char *probity_error_text(int error)
{
    switch (error) {
    case PROBITY_OK: return "no error";
    case PROBITY_ERROR_ARGUMENT: return "an argument or option is out of range";
    case PROBITY_ERROR_STATE: return "not possible in this state";
    case PROBITY_ERROR_MEMORY: return "out of memory, or no room for the spool";
    case PROBITY_ERROR_OPEN: return "cannot open or create the file";
    case PROBITY_ERROR_READ: return "cannot read the file";
    case PROBITY_ERROR_WRITE: return "cannot write the file (disk full, limit or I/O error)";
    case PROBITY_ERROR_FORMAT: return "not a Probity trace";
    case PROBITY_ERROR_VERSION: return "written by another version of Probity";
    case PROBITY_ERROR_DAMAGED: return "the trace is damaged";
    case PROBITY_ERROR_EXISTS: return "the output already exists";
    case PROBITY_ERROR_LIMIT: return "a limit of Probity was reached";
    case PROBITY_ERROR_SYSTEM: return "a system call failed";
    default: return "unknown error";
    }
}

#define TEXT_OF(value) TEXT_OF_EXPANDED(value)
#define TEXT_OF_EXPANDED(value) #value

PROBITY_API const char *probity_version(void)
{
    return TEXT_OF(PROBITY_VERSION_MAJOR) "." TEXT_OF(PROBITY_VERSION_MINOR) "." TEXT_OF(
        PROBITY_VERSION_PATCH);
}
