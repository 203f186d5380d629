/* SPDX-License-Identifier: ISC
 *
 * Checkpoints that nobody asked for: the command that records a large trace, or is the first to
 * read all of it, leaves them beside it.
 */
#ifndef WEFT_APPS_INDEX_AUTOMATIC_H
#define WEFT_APPS_INDEX_AUTOMATIC_H

#include "cli/cli.h"

/* Notes that all of the trace was read; before it is closed. */
void index_note(const struct cli_trace *trace);

/* Notes a trace that was recorded just now, and is complete. */
void index_note_recorded(const char *path);

/* Makes the checkpoints of the trace that was noted, if it has none. Call it last, when the answer
 * is out. Nothing is said, and nothing of it changes the command's result. */
void index_make_noted(void);

#endif
