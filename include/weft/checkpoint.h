/* SPDX-License-Identifier: ISC
 *
 * Checkpoints: what was alive at times of a trace, in a file of their own, so that a part of a
 * large trace costs what it costs alone and is known as well as in the whole.
 *
 *     weft_checkpoints_create → look … look → know_losses → add … add → finish → destroy
 *
 * The caller adds every event of the trace twice: a checkpoint has the tasks that are alive, and
 * those that have ended and are named later. Nothing here opens a file.
 */
#ifndef WEFT_CHECKPOINT_H
#define WEFT_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include <weft/cut.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The file of a trace. Checkpoints are valid as long as all of this is equal. */
struct weft_checkpoint_key {
	uint64_t bytes;       /* of its content */
	uint64_t modified_ns; /* when it was changed last */
	uint64_t content;     /* see weft_checkpoint_hash() */
};

/* A fingerprint of the beginning and the end of a trace's content. */
uint64_t weft_checkpoint_hash(const void *bytes, size_t size);

struct weft_checkpoints;

/* `spacing`: the least number of events between two checkpoints, at least 1. They are further apart
 * where that much is alive that they would be large beside the trace. */
int weft_checkpoints_create(const struct weft_checkpoint_key *key, uint64_t spacing,
	const struct weft_cut_sink *sink, struct weft_checkpoints **ret_checkpoints);
void weft_checkpoints_destroy(struct weft_checkpoints *checkpoints);

/* Looks at the next event, from the trace's first to its last. 0, or an error:
 * WEFT_ERROR_UNSUPPORTED if the trace has several buffers; WEFT_ERROR_DAMAGED if a task is created
 * twice, or by its own descendant, so that a rundown would lack what is true. */
int weft_checkpoints_look(struct weft_checkpoints *checkpoints, const struct weft_event *event);
/* Keeps the losses of the whole trace, after the last event was looked at. 0 or WEFT_ERROR_MEMORY.
 */
int weft_checkpoints_know_losses(
	struct weft_checkpoints *checkpoints, const struct weft_trace_description *description);
/* Takes all events once more. 0 or an error, as that of
 * weft_cut_add(). */
int weft_checkpoints_add(struct weft_checkpoints *checkpoints, const struct weft_event *event,
	const struct weft_trace_description *description);
int weft_checkpoints_finish(struct weft_checkpoints *checkpoints);

/* The number of checkpoints so far. */
size_t weft_checkpoints_count(const struct weft_checkpoints *checkpoints);

/* The state at a time at which there is no event. */
struct weft_checkpoint {
	uint64_t time_ns;
	/* A trace, whose events are for weft_cut_add_state(). */
	const void *bytes;
	size_t size;
	/* The losses of the whole trace, for the description that weft_cut_finish() gets. */
	uint64_t losses[WEFT_LOSS_CAUSES];
	const struct weft_loss_period *loss_periods;
	uint32_t loss_period_count;
};

/* Finds the latest checkpoint up to a time, in the bytes of a finished file, which may be hostile;
 * the result borrows them, and they begin at an address that malloc() could return. WEFT_OK;
 * WEFT_END if there is none that early; WEFT_ERROR_STATE if the file is about another trace, or
 * from another version of weft; WEFT_ERROR_FORMAT or WEFT_ERROR_DAMAGED. */
int weft_checkpoint_find(const void *bytes, size_t size, const struct weft_checkpoint_key *key,
	uint64_t time_ns, struct weft_checkpoint *ret_checkpoint);

#ifdef __cplusplus
}
#endif
#endif
