/* SPDX-License-Identifier: ISC
 *
 * Times of vCPUs and pCPUs that are drawn at each zoom: see spells.c.
 */
#ifndef WEFT_RENDER_SCENE_SPELLS_H
#define WEFT_RENDER_SCENE_SPELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__spells {
	/* By task: its spells are [first[t], first[t + 1]), in the order of time; they do not overlap.
	 * NULL: the trace is not of Xen. */
	uint32_t *first;
	uint64_t *start, *end;
	uint64_t *before; /* the length of all spells before one; one element more */
	/* By task: from home_start[i] on it was on the pCPU (a thread) home[i]. */
	uint32_t *first_home;
	uint64_t *home_start;
	uint32_t *home;
	uint32_t count, home_count;
	size_t capacity, home_capacity;
};

void weft__render_spells_finish(struct weft__spells *spells);

bool weft__render_is_of_xen(const struct weft_model *model, uint32_t task);
/* True for the task of Xen's scheduler on a pCPU: edges that lead to it are kicks. */
bool weft__render_is_xen_scheduler(const struct weft_model *model, uint32_t task);
/* True for the track of a pCPU, whose spans say which vCPU it had. */
bool weft__render_is_pcpu(const struct weft_model *model, uint32_t task);
bool weft__render_is_span_named(
	const struct weft_model *model, const struct weft_span *span, const char *name);

#endif
