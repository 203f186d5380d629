/* SPDX-License-Identifier: ISC
 *
 * What the builder's parts share: the growing columns of a model, which are the history of a state.
 *
 *     identity.c   from ids to numbers
 *     facts.c      events whose ids and texts are numbers
 *     state.c      what each event means
 *     builder.c    what each event changed, in columns
 *     periods.c    activations and bands
 *     finish.c     the rules for the end of a trace
 *     freeze.c     from columns to a model
 *     snapshot.c   a copy of all that, to be finished while events go on
 */
#ifndef WEFT_MODEL_BUILDER_H
#define WEFT_MODEL_BUILDER_H

#include <weft/error.h>
#include <weft/model.h>

#include "model/load.h"
#include "model/state.h"

/* What the state does not need to know of a task. */
struct task_columns {
	size_t capacity;
	uint64_t *start; /* first mention */
	uint64_t *end; /* while not RESOLVED: its last sign of life, for the rule of unfinished tasks */
	uint32_t *last_edge; /* as actor */
	uint8_t *remarks;    /* TASK_… */
};

/* What is said after a try_read alone still comes before the first edge if the read that follows
 * drops it. */
enum {
	TASK_NOTED = WEFT_TASK_NOTED,
	TASK_HELD_EDGE = 1 << 7, /* the task holds an edge other than a try_read */
};

struct edge_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	uint32_t *from, *to;
	uint8_t *type; /* or EDGE_DROPPED */
};

#define EDGE_DROPPED WEFT_EDGE_TYPES

struct activation_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *start, *end;
	uint32_t *thread, *task;
};

struct note_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	int64_t *value;
	uint32_t *task, *text;
	uint8_t *type;
};

struct sample_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	int64_t *value;
	uint32_t *task, *counter;
};

struct counters {
	uint32_t count;
	size_t capacity;
	struct weft_counter *list;
};

struct bands {
	uint32_t count;
	size_t capacity;
	struct weft_band_period *list;
};

struct creation_columns {
	uint32_t count;
	size_t capacity;
	struct weft_creation *list;
	uint64_t *start; /* not before the trace, nor after the first mention */
};

/* Facts are made from the members of the first part alone, and taken in by those of the second: two
 * threads may do the two at once. */
struct weft_model_builder {
	struct weft__identities identities;
	struct weft__texts texts;

	char padding[128]; /* the two parts share no cache line */

	struct weft_model_summary summary; /* start and end: the state's, at the end */
	struct weft_diagnostics *diagnostics;
	struct weft__state state;
	struct task_columns tasks;
	struct edge_columns edges;
	struct activation_columns activations;
	struct note_columns notes;
	struct sample_columns samples;
	struct counters counters;
	struct bands bands;
	struct creation_columns creations;
};

/* The public model is the first member, so that one pointer serves both. */
struct weft__model {
	struct weft_model public;
	struct weft__strings strings;
	struct weft__ids tasks_by_id;
};

/* builder.c */

/* It is alive now: remembered in case that it never ends. */
void weft__builder_touch(struct weft_model_builder *b, uint32_t task);

/* periods.c: the listener's. */

int weft__builder_period(void *builder, uint32_t thread);
int weft__builder_gc(void *builder, uint32_t thread, uint64_t start, uint32_t reason);

/* group.c */

/* A stable counting sort of `count` rows by `key`, a number below `groups`. `*ret_first` has
 * groups + 1 entries: where each group begins; `*ret_position` has each row's new place. The caller
 * frees both. */
int weft__group_by(const uint32_t *key, uint32_t count, uint32_t groups, uint32_t **ret_first,
	uint32_t **ret_position);
/* Replaces *column by one whose rows are where `position` says. */
int weft__group_scatter(
	void *column, size_t element_bytes, uint32_t count, const uint32_t *position);

/* freeze.c: the builder's columns become the model's; what was made before an error is freed with
 * `model`. */
int weft__builder_freeze(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft__model *model);

#endif
