/* SPDX-License-Identifier: ISC
 *
 * The parts that the snapshots of one builder share. The builder's columns are in the order of
 * events; a model groups rows by task. So the first snapshot makes pools of grouped rows, and each
 * further one adds the new rows. The builder marks the tasks that an event may change.
 */
#ifndef WEFT_MODEL_LIVE_H
#define WEFT_MODEL_LIVE_H

#include "model/builder.h"
#include "model/growth.h"
#include "model/pool.h"

struct weft__list {
	uint32_t *items;
	uint32_t count;
	size_t capacity;
};

/* An activation that has not ended: it reaches the present. */
struct weft__going {
	uint64_t start, end;
	uint32_t task, thread;
};

/* A task that began before the trace, as a rundown says. */
struct weft__rundown_creation {
	uint64_t start; /* of the task, but not before the trace's start */
	struct weft_creation creation;
};

enum {
	WEFT__POOL_ACTIVATIONS,
	WEFT__POOL_NOTES,
	WEFT__POOL_ACTS,
	WEFT__TASK_POOLS,
	WEFT__POOL_SAMPLES = WEFT__TASK_POOLS, /* by counter */
	WEFT__POOL_SPANS,                      /* by task; without groups until the first span ends */
	WEFT__POOL_OFF_CPU,                    /* like those of spans */
	WEFT__POOLS,
};

struct weft__live {
	struct weft__pool pools[WEFT__POOLS];
	/* How many rows of the builder each pool has taken, from the first on; for acts, of edges. */
	uint32_t taken[WEFT__POOLS];
	uint32_t bands_sorted; /* how many of the builder's bands are sorted: the first ones */
	uint32_t opened;       /* how many tasks were examined for `open`: the first ones */
	uint64_t *marks;       /* a bit for each task that changed since the latest snapshot */
	uint32_t tasks, edges; /* in the latest snapshot */
	size_t mark_capacity;
	struct weft__list changed, dropped;               /* since the latest snapshot */
	struct weft__list changed_before, dropped_before; /* the same lists of the latest snapshot */
	struct weft__list open;                           /* tasks that have not ended */
	struct weft__going *going;
	uint32_t going_count;
	size_t going_capacity;
	struct weft_band_period *going_bands;
	uint32_t going_band_count;
	size_t going_band_capacity;
	struct weft__rundown_creation *creations; /* by task */
	uint32_t creation_count;
	size_t creation_capacity;
	uint32_t packs;   /* sum of the task pools' `packs` at the latest snapshot */
	uint64_t number;  /* of the latest snapshot; 0: there is none */
	uint64_t now;     /* the end of the next snapshot: activations that have not ended reach it */
	uint64_t last_ns; /* the last event of the latest snapshot */
	struct weft__spare *spare;
};

/* ---- live.c ---- */

int weft__model_live_create(struct weft__live **ret_live);
void weft__model_live_destroy(struct weft__live *live);

/* Marks the tasks that a fact may change. Call it before the state takes the fact. */
void weft__model_live_mark(
	struct weft__live *live, struct weft__state *state, const struct weft__fact *fact);

/* Updates the pools and lists for the next snapshot, which ends at `now`. The members that describe
 * the latest snapshot stay until weft__model_live_commit. 0, WEFT_ERROR_MEMORY or _LIMIT; after an
 * error the struct can only be destroyed. */
int weft__model_live_update(struct weft_model_builder *builder, uint64_t now);

/* Makes the next snapshot the latest one, once it is complete, and empties the lists of changes. */
void weft__model_live_commit(struct weft_model_builder *builder);

/* Makes room for `more` items. */
int weft__model_list_reserve(struct weft__list *list, size_t more);

/* Merges sorted bands into sorted ones, which have room for them. */
void weft__model_bands_merge(struct weft_band_period *bands, uint32_t count,
	const struct weft_band_period *more, uint32_t more_count);

/* ---- snapshot.c ---- */

void weft__model_snapshot_destroy(struct weft__model *model);

/* ---- spare.c: keeps a destroyed snapshot, whose memory a later snapshot uses again ---- */

int weft__model_spare_create(struct weft__spare **ret_spare);
struct weft__spare *weft__model_spare_hold(struct weft__spare *spare);
void weft__model_spare_release(struct weft__spare *spare);

/* Offers a snapshot, on any thread. Returns one that the caller must free instead, or NULL. */
struct weft__model *weft__model_spare_put(struct weft__spare *spare, struct weft__model *model);
/* Takes the spare snapshot; NULL if there is none. */
struct weft__model *weft__model_spare_take(struct weft__spare *spare);
/* Refuses further snapshots. Returns the spare one, which the caller must free, or NULL. */
struct weft__model *weft__model_spare_close(struct weft__spare *spare);

#endif
