/* SPDX-License-Identifier: MIT
 *
 * elfutils.h: the functions of libelf and libdw that are used, loaded on first use
 * (base/library.h).
 */
#ifndef PROBITY_SYMBOLS_ELFUTILS_H
#define PROBITY_SYMBOLS_ELFUTILS_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "base/library.h"

#define SYMBOLS_ELF_FUNCTIONS(X) \
    X(elf_begin) X(elf_end) X(elf_getdata) X(elf_getphdrnum) X(elf_getshdrstrndx) X(elf_kind) \
    X(elf_nextscn) X(elf_strptr) X(elf_version) X(gelf_getdyn) X(gelf_getehdr) X(gelf_getphdr) \
    X(gelf_getshdr)

#define SYMBOLS_DWARF_FUNCTIONS(X) \
    X(dwarf_aggregate_size) X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_begin) X(dwarf_child) \
    X(dwarf_decl_file) X(dwarf_decl_line) X(dwarf_diecu) X(dwarf_diename) X(dwarf_dieoffset) \
    X(dwarf_end) X(dwarf_entrypc) X(dwarf_formflag) X(dwarf_formref_die) X(dwarf_formsdata) \
    X(dwarf_formstring) X(dwarf_formudata) X(dwarf_get_units) X(dwarf_getlocation_addr) \
    X(dwarf_getsrc_die) X(dwarf_hasattr) X(dwarf_haspc) X(dwarf_lineno) X(dwarf_linesrc) \
    X(dwarf_offdie) X(dwarf_ranges) X(dwarf_siblingof) X(dwarf_tag) X(dwarf_whatform) \
    X(dwelf_dwarf_gnu_debugaltlink) \
    X(dwfl_begin) X(dwfl_build_id_find_debuginfo) X(dwfl_end) X(dwfl_module_addrdie) \
    X(dwfl_module_addrinfo) \
    X(dwfl_module_build_id) X(dwfl_module_getdwarf) X(dwfl_module_getelf) \
    X(dwfl_module_getsym_info) X(dwfl_module_getsymtab) X(dwfl_module_info) \
    X(dwfl_module_nextcu) \
    X(dwfl_offline_section_address) X(dwfl_report_end) X(dwfl_report_offline) \
    X(dwfl_standard_find_debuginfo)

/* Begins a session that reads files, because the addresses of their program in memory are unknown.
 * The data of its modules must be a struct symbols_debug_files. Call before any other function of
 * libdw. Returns NULL if out of memory or, after reporting it (probity_library_load()), if the
 * library cannot be loaded. */
Dwfl *symbols_begin_offline(void);

#ifdef PROBITY_WITHOUT_DLOPEN
static inline int symbols_elf_load(void)
{
    return 0;
}
#else

struct symbols_elf {
    SYMBOLS_ELF_FUNCTIONS(PROBITY_LIBRARY_POINTER)
};

struct symbols_dwarf {
    SYMBOLS_DWARF_FUNCTIONS(PROBITY_LIBRARY_POINTER)
};

extern struct symbols_elf symbols_elf;
extern struct symbols_dwarf symbols_dwarf;

/* If there is no session, call before any function of libelf. Returns the same as
 * probity_library_load(). */
int symbols_elf_load(void);

#define elf_begin symbols_elf.elf_begin
#define elf_end symbols_elf.elf_end
#define elf_getdata symbols_elf.elf_getdata
#define elf_getphdrnum symbols_elf.elf_getphdrnum
#define elf_getshdrstrndx symbols_elf.elf_getshdrstrndx
#define elf_kind symbols_elf.elf_kind
#define elf_nextscn symbols_elf.elf_nextscn
#define elf_strptr symbols_elf.elf_strptr
#define elf_version symbols_elf.elf_version
#define gelf_getdyn symbols_elf.gelf_getdyn
#define gelf_getehdr symbols_elf.gelf_getehdr
#define gelf_getphdr symbols_elf.gelf_getphdr
#define gelf_getshdr symbols_elf.gelf_getshdr

#define dwarf_aggregate_size symbols_dwarf.dwarf_aggregate_size
#define dwarf_attr symbols_dwarf.dwarf_attr
#define dwarf_attr_integrate symbols_dwarf.dwarf_attr_integrate
#define dwarf_begin symbols_dwarf.dwarf_begin
#define dwarf_child symbols_dwarf.dwarf_child
#define dwarf_decl_file symbols_dwarf.dwarf_decl_file
#define dwarf_decl_line symbols_dwarf.dwarf_decl_line
#define dwarf_diecu symbols_dwarf.dwarf_diecu
#define dwarf_diename symbols_dwarf.dwarf_diename
#define dwarf_dieoffset symbols_dwarf.dwarf_dieoffset
#define dwarf_end symbols_dwarf.dwarf_end
#define dwarf_entrypc symbols_dwarf.dwarf_entrypc
#define dwarf_formflag symbols_dwarf.dwarf_formflag
#define dwarf_formref_die symbols_dwarf.dwarf_formref_die
#define dwarf_formsdata symbols_dwarf.dwarf_formsdata
#define dwarf_formstring symbols_dwarf.dwarf_formstring
#define dwarf_formudata symbols_dwarf.dwarf_formudata
#define dwarf_get_units symbols_dwarf.dwarf_get_units
#define dwarf_getlocation_addr symbols_dwarf.dwarf_getlocation_addr
#define dwarf_getsrc_die symbols_dwarf.dwarf_getsrc_die
#define dwarf_hasattr symbols_dwarf.dwarf_hasattr
#define dwarf_haspc symbols_dwarf.dwarf_haspc
#define dwarf_lineno symbols_dwarf.dwarf_lineno
#define dwarf_linesrc symbols_dwarf.dwarf_linesrc
#define dwarf_offdie symbols_dwarf.dwarf_offdie
#define dwarf_ranges symbols_dwarf.dwarf_ranges
#define dwarf_siblingof symbols_dwarf.dwarf_siblingof
#define dwarf_tag symbols_dwarf.dwarf_tag
#define dwarf_whatform symbols_dwarf.dwarf_whatform
#define dwelf_dwarf_gnu_debugaltlink symbols_dwarf.dwelf_dwarf_gnu_debugaltlink
#define dwfl_begin symbols_dwarf.dwfl_begin
#define dwfl_build_id_find_debuginfo symbols_dwarf.dwfl_build_id_find_debuginfo
#define dwfl_end symbols_dwarf.dwfl_end
#define dwfl_module_addrdie symbols_dwarf.dwfl_module_addrdie
#define dwfl_module_addrinfo symbols_dwarf.dwfl_module_addrinfo
#define dwfl_module_build_id symbols_dwarf.dwfl_module_build_id
#define dwfl_module_getdwarf symbols_dwarf.dwfl_module_getdwarf
#define dwfl_module_getelf symbols_dwarf.dwfl_module_getelf
#define dwfl_module_getsym_info symbols_dwarf.dwfl_module_getsym_info
#define dwfl_module_getsymtab symbols_dwarf.dwfl_module_getsymtab
#define dwfl_module_info symbols_dwarf.dwfl_module_info
#define dwfl_module_nextcu symbols_dwarf.dwfl_module_nextcu
#define dwfl_offline_section_address symbols_dwarf.dwfl_offline_section_address
#define dwfl_report_end symbols_dwarf.dwfl_report_end
#define dwfl_report_offline symbols_dwarf.dwfl_report_offline
#define dwfl_standard_find_debuginfo symbols_dwarf.dwfl_standard_find_debuginfo
#endif

#endif
