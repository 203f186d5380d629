/* SPDX-License-Identifier: ISC
 *
 * Declarations that the builder's files share: the growing columns of a model, which hold the
 * history of a state.
 *
 *     identity.c   from ids to numbers
 *     facts.c      events whose ids and texts are numbers
 *     state.c      the meaning of each event
 *     builder.c    the changes that events make, as columns
 *     summary.c    the same without the columns of what tasks did
 *     periods.c    activations and bands
 *     span_columns.c  spans
 *     off_cpu.c    the time of activations without a processor
 *     stacks.c     where in the code tasks began to wait
 *     code_samples.c  what threads ran
 *     histograms.c    of metrics
 *     ends.c       when each program ended
 *     dark.c       when events of a program may be missing
 *     range.c      a part of a trace without the rest
 *     finish.c     the rules for the end of a trace
 *     freeze.c     from columns to a model
 *     live.c       what snapshots share, kept up to date
 *     pool.c       grouped rows that grow
 *     snapshot.c   a model of so far, made while events go on
 */
#ifndef WEFT_MODEL_BUILDER_H
#define WEFT_MODEL_BUILDER_H

#include <weft/error.h>
#include <weft/model.h>

#include "base/ns.h"
#include "base/shared.h"
#include "model/context_count.h"
#include "model/load.h"
#include "model/stacks.h"
#include "model/state.h"
#include "model/tracks.h"

/* Columns about tasks that the state does not need. */
struct task_columns {
	size_t capacity;
	uint64_t *start;     /* first mention */
	uint64_t *end;       /* while not RESOLVED: its last sign of life; finish.c adds an end */
	uint32_t *last_edge; /* as actor */
	uint8_t *remarks;    /* TASK_… */
};

/* TASK_NOTED: a note came before the first edge. A try_read does not count as an edge here, because
 * the read that follows may drop it. */
enum {
	TASK_NOTED = WEFT_TASK_NOTED,
	TASK_HELD_EDGE = 1 << 7, /* the task holds an edge other than a try_read */
};

struct edge_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	uint32_t *from, *to;
	uint8_t *type;               /* or WEFT_EDGE_DROPPED */
	struct weft__shared *shared; /* time, from and to: snapshots may read them */
	uint64_t *sent;              /* when each edge of type receive was sent, in their order */
	uint32_t sent_count;
	size_t sent_capacity;
};

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
	uint8_t *is_set; /* the sample set its counter; only while the model is built */
};

/* The totals: what the program said of its counters' values. */
struct total_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	int64_t
		*offset; /* from what the trace's changes alone give; its counter's type, as `is_real` */
	uint32_t *counter;
	uint32_t *samples; /* of the counter, so far */
	uint8_t *is_real;
};

struct span_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *start, *end;
	uint32_t *task, *name;
	uint8_t *depth;
};

struct off_cpu_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *start, *end, *ns;
	uint32_t *task, *thread;
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

struct presences {
	uint32_t count;
	struct weft_presence *list;
};

struct creation_columns {
	uint32_t count;
	size_t capacity;
	struct weft_creation *list;
	uint64_t *start; /* clamped to the time from the trace's start to the first mention */
};

/* Time of a trace that was not read. */
struct weft__unread {
	uint64_t start, end;
};

/* weft__model_fact uses only the members of the first part and weft__model_take only those of the
 * second, so two threads may run them at the same time. */
struct weft_model_builder {
	struct weft__identities identities;
	struct weft__texts texts;
	struct weft__tracks tracks;
	struct weft__context_count contexts; /* of a summary */

	char padding[128]; /* the two parts share no cache line */

	struct weft_model_summary summary; /* start and end: set at the end */
	struct weft_diagnostics *diagnostics;
	struct weft__state state;
	struct task_columns tasks;
	struct edge_columns edges;
	struct activation_columns activations;
	struct note_columns notes;
	struct sample_columns samples;
	struct total_columns totals;
	struct span_columns spans;
	struct off_cpu_columns off_cpu;
	struct weft__stack_columns stacks;
	struct counters counters;
	struct bands bands;
	struct presences presences;
	struct creation_columns creations;
	struct weft_dark *dark; /* once the builder has finished */
	uint32_t dark_count;
	struct weft__unread before, after; /* the range that is read; empty: all is read there */
	uint64_t known_ns;                 /* the state that a range begins with has what was before */
	bool is_part;            /* a trace of its own, which may end before the program does */
	struct weft__live *live; /* NULL before the first snapshot */
	bool is_summary;         /* summary.c; both parts only read it */
};

/* The public model is the first member, so that one pointer serves both. */
struct weft__model {
	struct weft_model public;
	struct weft__strings strings;
	struct weft__ids tasks_by_id;
	struct weft__snapshot *snapshot; /* owns the columns of a live model, else NULL */
};

/* builder.c */

/* Callbacks of the listener. */
int weft__model_builder_mention(void *builder, uint32_t task);
void weft__model_builder_end(void *builder, uint32_t task, uint32_t becomes);
int weft__model_builder_alive(
	void *builder, uint32_t task, bool is_new, const struct weft__fact *fact);
void weft__model_builder_damage(void *builder, uint64_t offset, const char *message);
/* Counts an edge, and its tasks' signs of life. */
void weft__model_builder_count_edge(
	struct weft_model_builder *b, enum weft_edge_type type, uint32_t from, uint32_t to);

/* Records the present as the task's last sign of life, in case that it never ends. */
void weft__model_builder_touch(struct weft_model_builder *b, uint32_t task);

/* A reference to the edges' times and tasks; NULL without memory. */
struct weft__shared *weft__model_builder_hold_edges(struct edge_columns *edges);
/* Ends the sharing of edges. 0 or WEFT_ERROR_MEMORY. */
int weft__model_builder_own_edges(struct edge_columns *edges);

/* range.c */

struct weft__ends;

static inline bool weft__model_is_unread(const struct weft__unread *unread)
{
	return unread->start < unread->end;
}

/* True if a range is read alone. */
static inline bool weft__model_is_range(const struct weft_model_builder *b)
{
	return weft__model_is_unread(&b->before) || weft__model_is_unread(&b->after);
}

/* The time of the trace's first event, also if that was not read. */
uint64_t weft__model_trace_start(const struct weft_model_builder *b);
/* A thread goes on with what it does until the range ends. */
void weft__model_range_stop(const struct weft_model_builder *b, struct weft__ends *ends);
/* A thread that the range shows running nothing at all need not be idle: it may never run a task.
 */
void weft__model_range_leave_vague(struct weft_model_builder *b);
/* True if a record that ends at `end_ns`, or at an unknown time if that is 0, goes on behind it. */
bool weft__model_range_goes_on(const struct weft_model_builder *b, uint64_t end_ns);
/* True if the task began before the range: it may be one that its thread has left running, though
 * it had ended by then. */
bool weft__model_range_hides_begin(const struct weft_model_builder *b, uint32_t task);
void weft__model_range_describe(
	const struct weft_model_builder *b, struct weft_model_summary *summary);

/* summary.c: what a summary needs no more. */
void weft__model_builder_drop_activations(struct weft_model_builder *b);

/* periods.c: callbacks of the listener. */

/* An activation, or an idle or GC band; stops at an error and returns it. */
typedef int weft__model_run_taker(
	void *context, uint32_t thread, uint32_t task, uint64_t start, uint64_t end);

/* Divides the time in which `task` has the thread, from `start` until `now`, among it and the tasks
 * that it became meanwhile. */
int weft__model_builder_divide(const struct weft_model_builder *b, uint32_t task,
	const struct weft_band_period *period, weft__model_run_taker *take, void *context);
/* A copy with an element for each of `threads`, or NULL without memory. */
struct weft_presence *weft__model_presences_copy(
	const struct presences *presences, uint32_t threads);
void weft__model_presence_widen(struct weft_presence *presence, uint64_t start, uint64_t end);
int weft__model_builder_period(void *builder, uint32_t thread);
int weft__model_builder_gc(void *builder, uint32_t thread, uint64_t start, uint32_t reason);

/* span_columns.c */

int weft__model_builder_span(
	void *builder, uint32_t task, uint32_t thread, const struct weft__state_span *span);
/* A span of a track. */
int weft__model_builder_given(
	void *builder, uint32_t track, uint64_t begin, uint64_t end, uint32_t name);
/* Names the tracks of threads that have none yet. 0 or WEFT_ERROR_MEMORY. */
int weft__model_builder_name_threads(
	struct weft_model_builder *b, const struct weft_trace_description *description);
/* Gives the lines of tracks their kind and name, in columns of `tasks` rows. The state's columns
 * get them only at the end, because they would change the meaning of later events. */
void weft__model_builder_name_tracks(
	const struct weft_model_builder *b, uint32_t tasks, uint16_t *kind, uint32_t *label);
/* Takes the lines of tracks out of the counts of tasks; `outcome` is that of each task. */
void weft__model_builder_count_tracks(
	const struct weft_model_builder *b, const uint8_t *outcome, struct weft_model_summary *summary);
/* Counts open spans as signs of life of their tasks. */
void weft__model_builder_touch_spans(struct weft_model_builder *b);
/* Ends the open spans with their tasks. */
int weft__model_builder_end_spans(struct weft_model_builder *b);
/* Groups spans by task. */
int weft__model_builder_freeze_spans(struct weft_model_builder *b, struct weft_model *m);
/* Shows the spans of a live model: those that have ended share the pool's memory; the model owns
 * all other columns. */
int weft__model_builder_show_spans(const struct weft_model_builder *b, struct weft_model *m);

/* off_cpu.c */

int weft__model_builder_off_cpu(
	void *builder, uint32_t task, uint32_t thread, uint64_t start, uint64_t ns);
/* Groups the rows by task. */
int weft__model_builder_freeze_off_cpu(struct weft_model_builder *b, struct weft_model *m);
/* Shows the rows of a live model: it shares the pool's memory, and owns the groups' positions. */
int weft__model_builder_show_off_cpu(const struct weft_model_builder *b, struct weft_model *m);

/* group.c */

/* Copies row i of `from` to row position[i] of `to`. An element has 1, 4 or 8 bytes. */
void weft__model_scatter(
	void *to, const void *from, size_t element_bytes, uint32_t count, const uint32_t *position);
/* Groups the `count` rows of columns by *key, a number below `groups`, in a stable order, and frees
 * the key. *ret_first has the index at which each group begins, and the end of the last one; it is
 * the caller's, also after an error, unless it is NULL. */
int weft__model_group_columns(uint32_t **key, uint32_t count, uint32_t groups,
	const struct weft__column *columns, unsigned column_count, uint32_t **ret_first);

/* True if edges of this type are acts of the task that they come from. */
static inline bool weft__model_is_act(unsigned type)
{
	return type != WEFT_EDGE_CREATE && type != WEFT_EDGE_BECOME && type != WEFT_EDGE_RECEIVE;
}

/* freeze.c */

/* Adds a sample to the numbers that a counter keeps of its samples. */
void weft__model_counter_summarize(
	struct weft_counter *counter, struct weft_number value, bool is_set);

/* Keeps what the program says of a counter; see struct weft__listener. */
int weft__model_builder_total(void *builder, uint32_t counter);
int weft__model_builder_sample(void *builder, uint32_t counter, uint32_t task);
/* Makes the values of the model's counters those that the program said, where that is known;
 * `value` and `is_set` have the rows of its samples. Call it last: it asks for the model's dark
 * time. 0 or WEFT_ERROR_MEMORY. */
int weft__model_totals_apply(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m, int64_t *value,
	const uint8_t *is_set);

/* The task that holds edge i, or WEFT_NONE. */
uint32_t weft__model_edge_actor(const struct edge_columns *edges, uint32_t i);

/* Copies the losses, clamped to the time of the model's summary. 0 or WEFT_ERROR_MEMORY. */
int weft__model_copy_losses(
	struct weft_model *model, const struct weft_trace_description *description);
int weft__model_compare_bands(const void *left, const void *right); /* by start, for qsort */

/* Moves the builder's columns into the model. After an error, weft_model_destroy frees
 * the part that was already made. */
int weft__model_builder_freeze(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft__model *model);

#endif
