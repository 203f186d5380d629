/* SPDX-License-Identifier: ISC
 *
 * What the builder's parts share: the growing columns of a model, and what is known only while
 * events come.
 *
 *     identity.c  from ids to numbers
 *     facts.c     events whose ids and texts are numbers
 *     builder.c   what each event means
 *     tasks.c     which task a number means now
 *     running.c   what runs on each thread: activations and bands
 *     finish.c    the rules for the end of a trace; from columns to a model
 *     snapshot.c  a copy of all that, to be finished while events go on
 */
#ifndef WEFT_MODEL_BUILDER_H
#define WEFT_MODEL_BUILDER_H

#include <weft/error.h>
#include <weft/model.h>

#include "base/index.h"
#include "base/strings.h"
#include "model/facts.h"
#include "model/span.h"

/* Which task an id is. Most programs number their tasks one after the other: those of buffer 0
 * whose ids lie close together are in a table by id, the others in an index of hashes. */
struct weft__ids {
	uint32_t *table; /* of ids from `first` on: task + 1, or 0 */
	uint64_t first;
	size_t room;
	struct weft__index index;
};

/* Who was ever named, in the order of first mention. */
struct weft__identities {
	uint32_t count;
	size_t capacity;
	uint64_t *id;
	uint32_t *buffer;
	struct weft__ids by_id;
};

struct task_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *start; /* first mention */
	uint64_t *end; /* while not RESOLVED: its last sign of life, for the rule of unfinished tasks */
	uint32_t *parent;
	uint32_t *becomes;
	uint32_t *forward; /* towards the last of the chain of becomes; itself if it became nothing */
	uint32_t *root;    /* towards the root of its tree of creation; itself if it is one */
	uint32_t *label;
	uint32_t *message;
	uint32_t *last_edge; /* as actor */
	uint16_t *kind;
	uint8_t *flags;
};

/* A flag of the builder's own: the task holds an edge other than a try_read. What is said after a
 * try_read alone still comes before the first edge if the read that follows removes it. */
#define TASK_HELD_EDGE (1 << 7)

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
	int64_t *last;
	uint32_t *by_name; /* counter of a string, or WEFT_NONE */
	size_t by_name_count;
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

/* Instead of a task: what may "run" on a thread. */
#define RUNNING_UNKNOWN (UINT32_MAX - 1) /* before the first word about it */
#define RUNNING_IDLE    UINT32_MAX

struct thread_state {
	uint32_t running; /* task as it was named then, or RUNNING_… */
	uint32_t reason;  /* of an idle period: string, or WEFT_NONE */
	uint64_t since;
	uint32_t interrupted; /* what an idle band put aside, or RUNNING_UNKNOWN */
	bool in_idle_band;
	bool in_gc_band;
	uint64_t gc_since;
	uint32_t gc_reason;
};

/* Facts are made from the members of the first part alone, and taken in by those of the second: two
 * threads may do the two at once. */
struct weft_model_builder {
	struct weft__identities identities;
	struct weft__strings strings;
	bool names_task[WEFT_EVENT_TYPES], names_other[WEFT_EVENT_TYPES];
	char *scratch; /* a mark as text */
	size_t scratch_capacity;

	char apart[128]; /* no line of memory is in both parts */

	struct weft_model_summary summary;
	uint64_t now; /* time of the latest event */
	struct weft__span span;
	struct task_columns tasks;
	struct edge_columns edges;
	struct activation_columns activations;
	struct note_columns notes;
	struct sample_columns samples;
	struct counters counters;
	struct bands bands;
	struct creation_columns creations;
	struct thread_state *threads;
	uint32_t thread_count;
};

/* The public model is the first member, so that one pointer serves both. */
struct weft__model {
	struct weft_model public;
	struct weft__strings strings;
	struct weft__ids tasks_by_id;
};

/* identity.c */

int weft__identities_init(struct weft__identities *identities);
void weft__identities_finish(struct weft__identities *identities);
/* Who is named by `id`, which is not WEFT_TASK_NONE; from now on, if need be. */
int weft__identify(
	struct weft__identities *identities, uint32_t buffer, uint64_t id, uint32_t *ret_task);
/* Those from `count` on were never named. 0 or WEFT_ERROR_MEMORY. */
int weft__identities_cut(struct weft__identities *identities, uint32_t count);
/* The task of an id, WEFT_NONE if there is none. */
uint32_t weft__ids_find(const struct weft__ids *ids, const uint64_t *id_of,
	const uint32_t *buffer_of, uint32_t buffer, uint64_t id);
int weft__ids_copy(const struct weft__ids *ids, struct weft__ids *ret_copy);
void weft__ids_finish(struct weft__ids *ids);

/* tasks.c */

/* A row for each task up to this one, which is named now. */
int weft__task_mention(struct weft_model_builder *b, uint32_t task);
/* The last task of the chain of becomes. */
uint32_t weft__task_forward(struct weft_model_builder *b, uint32_t task);
/* Makes `parent` (or WEFT_NONE) the creator of `child`, which is a root of the forest. False if
 * `child` is an ancestor of `parent`. */
bool weft__task_attach(struct weft_model_builder *b, uint32_t child, uint32_t parent);
/* It is alive now: remembered in case that it never ends. */
void weft__task_touch(struct weft_model_builder *b, uint32_t task);

/* group.c */

/* A stable counting sort of `count` rows by `key`, a number below `groups`. `*ret_first` has
 * groups + 1 entries: where each group begins; `*ret_position` has each row's new place. The caller
 * frees both. */
int weft__group_by(const uint32_t *key, uint32_t count, uint32_t groups, uint32_t **ret_first,
	uint32_t **ret_position);
/* Replaces *column by one whose rows are where `position` says. */
int weft__group_scatter(
	void *column, size_t element_bytes, uint32_t count, const uint32_t *position);

/* running.c */

/* From now on `running` (a forwarded task, or RUNNING_…) has the thread. */
int weft__thread_run(
	struct weft_model_builder *b, uint32_t thread, uint32_t running, uint32_t reason);
int weft__thread_band(struct weft_model_builder *b, const struct weft__fact *fact);
int weft__thread_gc(struct weft_model_builder *b, const struct weft__fact *fact);
/* Closes what is open on every thread. */
int weft__threads_close(struct weft_model_builder *b);

#endif
