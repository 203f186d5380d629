/* SPDX-License-Identifier: ISC
 *
 * The functions of the source at an address, inlined ones too.
 */
#ifndef WEFT_RECORD_INLINED_H
#define WEFT_RECORD_INLINED_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#include "lines.h"

/* False: libdw is not installed, or lacks a function. */
bool inlined_load(void);

/* Finds the functions at an address of the module, from the innermost one on. The last one is not
 * inlined, and its symbol is NULL here. Inlined functions of the system's headers are left out: no
 * reader has written those. Returns their number, at least 1. The texts stay as long as the module.
 */
size_t inlined_find(
	Dwfl_Module *module, Dwarf_Addr address, struct debug_call ret_list[DEBUG_CALLS_MAX]);

#endif
