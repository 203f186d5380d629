/* SPDX-License-Identifier: ISC
 *
 * The files of a trace, which the worker writes into the module's memory.
 */
#ifndef WEFT_APPS_WEB_FILES_H
#define WEFT_APPS_WEB_FILES_H

#include <weft/input.h>

/* Opens all files that were loaded as one trace, whose cycles have the rate `hz`; 0: its own. The
 * input borrows their bytes. */
int files_open(uint64_t hz, bool no_align, struct weft_input **ret_input);

/* Frees the files; no input may use them any more. */
void files_drop(void);

#endif
