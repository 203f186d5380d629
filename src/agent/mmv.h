/* SPDX-License-Identifier: ISC
 *
 * The agent's roll-ups as a file of Performance Co-Pilot (mmv(5), version 2): a metric for each
 * name, with an instance for each user, program and level of labels.
 */
#ifndef WEFT_AGENT_MMV_H
#define WEFT_AGENT_MMV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/text.h>

#include "metrics/value.h"

struct weft__agent_mmv {
	const char *folder;    /* NULL: none is wanted */
	size_t depth;          /* labels of an instance at most */
	struct weft_text last; /* the file as it is */
	int error;             /* the last one that was reported */
	size_t left_out;       /* of the last file */
};

/* Writes the file, or if nothing but values has changed, these. False, with errno. */
bool weft__agent_mmv_write(struct weft__agent_mmv *mmv, const struct weft__metrics_sample *samples,
	size_t count, int64_t now);

/* Removes the file. */
void weft__agent_mmv_finish(struct weft__agent_mmv *mmv);

#endif
