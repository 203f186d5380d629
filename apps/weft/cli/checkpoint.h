/* SPDX-License-Identifier: ISC
 *
 * The file of checkpoints that `weft index` puts beside a trace, and the state of a time in it.
 */
#ifndef WEFT_APPS_CHECKPOINT_H
#define WEFT_APPS_CHECKPOINT_H

#include <weft/checkpoint.h>

#include "cli/cli.h"

struct cli_checkpoint {
	struct weft_source *source; /* of the file; NULL: there is no such state */
	struct weft_checkpoint found;
	struct weft_decoder *decoder; /* of the state's events */
};

/* The name of the file beside the trace at `path`. The caller frees it; NULL without memory. */
char *cli_checkpoint_path(const char *path);

/* The key of the trace, opened from `path`. False if the file may change unnoticed, or is read as
 * a whole anyway: checkpoints are of no use then. */
bool cli_checkpoint_key(
	const struct cli_trace *trace, const char *path, struct weft_checkpoint_key *ret_key);

/* Finds the latest state up to a time, in a file that belongs to us or to whom the trace belongs
 * to. False if there is none: nothing is said about it, as all can be read instead. */
bool cli_checkpoint_find(const struct cli_trace *trace, const char *path, uint64_t time_ns,
	struct cli_checkpoint *ret_checkpoint);

/* True if the file of checkpoints beside the trace at `path` was made from the trace with this key,
 * even if it has no state. */
bool cli_checkpoint_is_current(const char *path, const struct weft_checkpoint_key *key);
void cli_checkpoint_close(struct cli_checkpoint *checkpoint);

/* Leaves out what is before the state in the trace, which has given no event after `event`, and
 * replaces that by the next one. Returns the status of weft_decoder_next(). */
int cli_checkpoint_seek(const struct cli_checkpoint *checkpoint, struct weft_decoder *decoder,
	struct weft_event *event);

#endif
