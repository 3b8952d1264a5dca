/* SPDX-License-Identifier: MIT
 *
 * demangle.h: C++ names of functions that a trace identifies by their symbols, using the demangler
 * of the C++ library. Only the tool uses it; without that library, names are left as they are.
 */
#ifndef PROBITY_SYMBOLS_DEMANGLE_H
#define PROBITY_SYMBOLS_DEMANGLE_H

/* The full signature, as "ns::f(int)", and the name in it without parameters and return type.
 * malloc'ed; *ret_name is malloc'ed too. Returns NULL if the symbol is not mangled, or cannot be
 * demangled. For probity_functions_demangle. */
char *symbols_demangle(const char *symbol, char **ret_name);

#endif
