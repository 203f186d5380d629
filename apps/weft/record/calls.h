/* SPDX-License-Identifier: ISC
 *
 * The functions and lines of the calls in which tasks waited.
 */
#ifndef WEFT_RECORD_CALLS_H
#define WEFT_RECORD_CALLS_H

#include "lines.h"
#include "name_table.h"

/* True if the trace has such calls. */
bool calls_exist(const struct name_table *names);

/* Adds the ELF files of the calls. */
void calls_add_files(const struct name_table *names, struct debug_info *info);

/* Looks each call up, once, and appends what it finds to the table of names. A call is left out if
 * its file is not the one that the program had. */
void calls_add(struct name_table *names, struct debug_info *info);

#endif
