/* SPDX-License-Identifier: ISC
 *
 * The wait that missed a signal, and its report.
 */
#ifndef WEFT_STORY_PROBLEMS_MISSED_H
#define WEFT_STORY_PROBLEMS_MISSED_H

#include "story/problems/findings.h"

struct weft__missed {
	uint32_t count, edge, waiter; /* `edge` WEFT_NONE: the signal is no event (unheard.h) */
	uint64_t time;                /* of the signal */
	uint32_t sender;              /* task, or WEFT_NONE */
	uint32_t ignored;  /* signals while it waits, the first of which is `edge`; 0: one before it */
	uint32_t harmless; /* signals that came before a wait, too, which then ended as usual */
	uint64_t since, until; /* the longest wait; `until` UINT64_MAX: not in this trace */
};

/* The length of a wait; of one that does not end, to the trace's end. */
uint64_t weft__story_missed_ns(const struct weft_model *model, uint64_t since, uint64_t until);

/* Adds the problem that `task` was signalled in vain. */
void weft__story_report_missed(
	struct weft__findings *findings, uint32_t task, const struct weft__missed *missed);

#endif
