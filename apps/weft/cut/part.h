/* SPDX-License-Identifier: ISC
 *
 * The steps of a cut of a trace that has one buffer.
 */
#ifndef WEFT_APPS_CUT_PART_H
#define WEFT_APPS_CUT_PART_H

#include <weft/cut.h>

#include "cli/checkpoint.h"

/* A part that is being written. */
struct cut_part {
	const struct weft_cut_range *range;
	const struct cli_trace *trace;
	const struct cli_checkpoint *from; /* the state before the range; or NULL */
	struct weft_cut *cut;
};

/* Adds the state. 0 or an error. */
int cut_part_begin(const struct cut_part *part);
/* Adds the next event. WEFT_OK; WEFT_END if the part needs no more; or an error. */
int cut_part_add(const struct cut_part *part, const struct weft_event *event);
/* Writes what is left. 0 or an error. */
int cut_part_finish(const struct cut_part *part);

#endif
