/* SPDX-License-Identifier: ISC
 *
 * The new parts of a snapshot of a growing trace, compared with the snapshot before it: layout and
 * scene take only that.
 */
#ifndef WEFT_MODEL_GROWTH_H
#define WEFT_MODEL_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__growth {
	uint32_t tasks, edges; /* in the former snapshot; those from here on are new */
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
	uint64_t last_ns; /* the last event of the former snapshot: no new one is before it */
};

/* The new parts of a snapshot since the one before it; all parts of the first one. */
const struct weft__growth *weft__model_own_growth(const struct weft_model *snapshot);

/* NULL unless both are snapshots of one builder and `model` is the next one after `former`. The
 * result is the model's. */
const struct weft__growth *weft__model_growth(
	const struct weft_model *model, const struct weft_model *former);

#endif
