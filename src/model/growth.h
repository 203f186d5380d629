/* SPDX-License-Identifier: ISC
 *
 * The difference between a snapshot of a growing trace and the snapshot before it, so that layout
 * and scene can be updated at the cost of what is new.
 */
#ifndef WEFT_MODEL_GROWTH_H
#define WEFT_MODEL_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__growth {
	uint32_t tasks, edges; /* counts in the former snapshot; rows from there on are new */
	/* Former tasks, in ascending order, for which any column or row (activation, note, edge by
	 * the task) may differ. A task that only goes on is not listed: see `open`. */
	const uint32_t *changed;
	uint32_t changed_count;
	/* Tasks that have not ended, in ascending order: their end is the summary's. */
	const uint32_t *open;
	uint32_t open_count;
	/* Former edges that have become WEFT_EDGE_DROPPED. */
	const uint32_t *dropped;
	uint32_t dropped_count;
	bool moved;       /* rows of unchanged tasks may have moved, too */
	uint64_t last_ns; /* the former snapshot's last event; no new event is earlier */
};

/* The growth of a snapshot since the one before it; in the first one, everything is new. */
const struct weft__growth *weft__model_own_growth(const struct weft_model *snapshot);

/* The same, but NULL unless both are snapshots of one builder and `model` is the next one after
 * `former`. Both results belong to the snapshot. */
const struct weft__growth *weft__model_growth(
	const struct weft_model *model, const struct weft_model *former);

#endif
