/* SPDX-License-Identifier: ISC
 *
 * Checkpoints that nobody asked for: the first command that reads all of a large trace leaves them
 * beside it.
 */
#ifndef WEFT_APPS_INDEX_AUTOMATIC_H
#define WEFT_APPS_INDEX_AUTOMATIC_H

#include "cli/cli.h"

/* Notes that all of the trace was read; before it is closed. */
void index_note(const struct cli_trace *trace);

/* Makes the checkpoints of the trace that was noted, if it has none. Call it last, when the answer
 * is out. Nothing is said, and nothing of it changes the command's result. */
void index_make_noted(void);

#endif
