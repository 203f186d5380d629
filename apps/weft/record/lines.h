/* SPDX-License-Identifier: ISC
 *
 * File and line of the functions that labels name, from the debug information of the program.
 */
#ifndef WEFT_RECORD_LINES_H
#define WEFT_RECORD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks up the functions that a saved trace's adapters have named, and appends their lines to its
 * table of names. Does nothing where there is no debug information, and takes at most some seconds.
 */
void record_add_lines(const char *file);

/* ---- Looking up (debug_info.c) ---- */

struct debug_info;

/* NULL: libdw is not installed, or there is no memory. */
struct debug_info *debug_info_open(void);
void debug_info_close(struct debug_info *info);

/* The line of the code at an address of an ELF file, as its linker counts: "hello.c:12". False if
 * it is unknown. */
bool debug_info_find(
	struct debug_info *info, const char *file, uint64_t address, char *ret_location, size_t room);

#endif
