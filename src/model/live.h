/* SPDX-License-Identifier: ISC
 *
 * The parts which the snapshots of one builder share. The builder's columns are in the order of
 * events; a model groups rows by task. So the first snapshot makes pools of grouped rows, and each
 * further one adds the rows that came since. The builder marks the tasks that an event may change.
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
	uint64_t start; /* of the task, not before the trace */
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
	uint32_t taken[WEFT__POOLS]; /* rows of the builder that the pools have; edges for the acts */
	uint32_t bands_sorted, opened;
	uint64_t *marks;       /* a bit for each task that changed since the latest snapshot */
	uint32_t tasks, edges; /* in the latest snapshot */
	size_t mark_capacity;
	struct weft__list changed, dropped;               /* since the latest snapshot */
	struct weft__list changed_before, dropped_before; /* in the latest one, since that before it */
	struct weft__list open;
	struct weft__going *going;
	uint32_t going_count;
	size_t going_capacity;
	struct weft_band_period *going_bands;
	uint32_t going_band_count;
	size_t going_band_capacity;
	struct weft__rundown_creation *creations; /* by task */
	uint32_t creation_count;
	size_t creation_capacity;
	uint32_t packs;   /* sum of the pools' at the latest snapshot */
	uint64_t number;  /* of the latest snapshot; 0: there is none */
	uint64_t now;     /* the present of the next one */
	uint64_t last_ns; /* the last event of the latest one */
	struct weft__spare *spare;
};

/* ---- live.c ---- */

int weft__live_create(struct weft__live **ret_live);
void weft__live_destroy(struct weft__live *live);

/* Marks the tasks that a fact may change. The state has not taken it yet. */
void weft__live_mark(
	struct weft__live *live, struct weft__state *state, const struct weft__fact *fact);

/* Updates all members except `tasks`, `edges`, `number` and the lists "before"; `now` is the
 * present of the next snapshot. 0, WEFT_ERROR_MEMORY or _LIMIT; after an error it must be
 * destroyed.
 */
int weft__live_update(struct weft_model_builder *builder, uint64_t now);

/* Call it when the next snapshot has been made: starts the lists of changes after it. */
void weft__live_commit(struct weft_model_builder *builder);

/* Makes room for `more` items. */
int weft__list_reserve(struct weft__list *list, size_t more);

/* Merges sorted bands into sorted ones, which have room for them. */
void weft__bands_merge(struct weft_band_period *bands, uint32_t count,
	const struct weft_band_period *more, uint32_t more_count);

/* ---- snapshot.c ---- */

void weft__snapshot_destroy(struct weft__model *model);

/* ---- spare.c: keeps a destroyed snapshot, whose memory the next but one uses again ---- */

int weft__spare_create(struct weft__spare **ret_spare);
struct weft__spare *weft__spare_hold(struct weft__spare *spare);
void weft__spare_release(struct weft__spare *spare);

/* Offers a snapshot, on any thread. Returns a snapshot to be freed instead, or NULL. */
struct weft__model *weft__spare_put(struct weft__spare *spare, struct weft__model *model);
struct weft__model *weft__spare_take(struct weft__spare *spare);
/* No more snapshots are made. Returns one to be freed, or NULL. */
struct weft__model *weft__spare_close(struct weft__spare *spare);

#endif
