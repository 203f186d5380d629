/* SPDX-License-Identifier: ISC
 *
 * Spans of a program that runs, each written when it ends. Nothing is kept of what has been
 * written, so the memory is in proportion to the tasks that live at one time:
 *
 *     stream.c         events → what is known about each living task
 *     stream_ids.c     the ids of tasks, which others may need when the task has ended
 *     stream_fold.c    which tasks have spans, and which of these are requests, if not all do
 *     stream_write.c   what is known → spans
 */
#ifndef WEFT_OTLP_STREAM_H
#define WEFT_OTLP_STREAM_H

#include <weft/otlp.h>

#include "model/state.h"
#include "model/tracks.h"
#include "otlp/span.h"

/* The ids of a task, for its children and those with links to it. */
struct weft__otlp_who {
	uint32_t references;
	uint32_t buffer;
	bool is_sure;     /* it is one that no span was written of before */
	bool has_context; /* the ids are those that the program gave to it */
	bool has_ended;   /* the ids do not change any more */
	/* If tasks are folded: */
	bool is_folded;  /* of one that has ended: it has no span; `parent` is the one whose span it is
						in */
	bool is_awaited; /* the span above it waits for it */
	bool is_placed;  /* the next three do not change any more */
	bool serves, is_request; /* enum weft__otlp_role */
	uint8_t flags;
	uint32_t task;                /* its number while it lives; WEFT_NONE: it was forgotten */
	uint64_t above;               /* the span above it; 0: none */
	struct weft__otlp_who *below; /* for weft__otlp_who_place() */
	uint64_t span;
	uint64_t epoch; /* in which the trace was found */
	struct weft__otlp_trace_id trace;
	struct weft__otlp_who *parent; /* of a living one; NULL: a root */
};

struct weft__otlp_edge {
	struct weft__otlp_who *other;
	uint64_t time;
	uint8_t type; /* enum weft_edge_type */
};

/* A context that the program gave to a task or a span in it. */
struct weft__otlp_given {
	bool is_given;
	struct weft__otlp_context context;
	struct weft_text state;
};

/* The span of a depth that is open, or was last. */
struct weft__otlp_inner {
	uint64_t start;
	uint32_t number; /* of spans with that start so far */
	bool is_open;
	struct weft_text name;
	struct weft__otlp_given given;
};

#define WEFT__OTLP_INNER_MAX 256u

/* A task that lives. */
struct weft__otlp_live {
	struct weft__otlp_who *who;
	uint64_t start, end; /* the end: its last sign of life */
	uint64_t running_ns, off_cpu_ns;
	uint32_t thread; /* on which it ran first, or WEFT_NONE */
	bool is_written;
	bool is_of_rundown; /* `start` is from it */
	uint32_t category;  /* string, or WEFT_NONE */
	struct weft_text label, message;
	struct weft__otlp_given given;
	struct weft_text events; /* encoded */
	uint32_t event_count, events_dropped;
	struct weft__otlp_edge *edges;
	uint32_t edge_count, edges_dropped;
	size_t edge_room;
	uint32_t asked; /* the edge of its latest try_read; WEFT_NONE: it was dropped */
	struct weft__otlp_inner *inner;
	uint32_t depths;
};

/* A task that has ended and was forgotten: others may still name it. */
struct weft__otlp_recent {
	weft_task_id id;
	uint32_t buffer;
	struct weft__otlp_who *who;
};

struct weft_otlp_stream {
	struct weft__otlp_writer writer;
	struct weft__otlp_encoder event; /* encodes one event of a span */
	const struct weft_trace_description *trace;
	const struct weft_event *now; /* the event that is being taken */
	struct weft__state state;
	struct weft__identities identities;
	struct weft__tracks tracks;
	struct weft__texts texts;   /* names of tracks */
	struct weft__strings kinds; /* their names */
	struct weft__strings categories;
	struct weft__otlp_live *live; /* by task */
	size_t room;
	struct weft__otlp_recent *recent; /* those that were forgotten last, sorted */
	uint32_t recent_count;
	uint64_t epoch;             /* rises when a task's trace may have changed */
	uint64_t lost, overwritten; /* events, so far; and those before the first one */
	uint64_t lost_at;           /* the time up to which all losses came */
	uint64_t until_forgetting;
	uint32_t tasks_max;
	uint64_t doubted_until; /* tasks without a later sign of life may have ended; 0: none */
	bool has_forgotten;
	uint32_t ended; /* the task that the event ends, or WEFT_NONE */
	uint32_t moved; /* its spans that go on in what it becomes */
};

/* ---- stream_ids.c ---- */

struct weft__otlp_who *weft__otlp_who_create(uint64_t span, uint32_t buffer);
struct weft__otlp_who *weft__otlp_who_hold(struct weft__otlp_who *who);
void weft__otlp_who_release(struct weft__otlp_who *who);

/* Replaces the recent tasks by the written ones of those whose new number is WEFT_NONE. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__otlp_recent_replace(
	struct weft_otlp_stream *stream, const uint32_t *new_index, uint32_t count);
void weft__otlp_recent_finish(struct weft_otlp_stream *stream);
/* NULL: the task is none of them. */
struct weft__otlp_who *weft__otlp_recent_find(
	const struct weft_otlp_stream *stream, uint32_t buffer, weft_task_id id);

/* The seed of a buffer's ids. */
uint64_t weft__otlp_stream_seed(const struct weft_otlp_stream *stream, uint32_t buffer);

/* Finds the trace and the flags of a task, and of those between it and its root. */
void weft__otlp_who_settle(const struct weft_otlp_stream *stream, struct weft__otlp_who *who);

/* ---- stream_fold.c ---- */

/* The task whose span a task is in, as far as is known now: itself, unless tasks are folded. NULL:
 * none. */
struct weft__otlp_who *weft__otlp_who_shown(
	const struct weft_otlp_stream *stream, struct weft__otlp_who *who);

/* The number of that, for what is still to be written; WEFT_NONE: that is too late. */
uint32_t weft__otlp_stream_span_of(const struct weft_otlp_stream *stream, uint32_t task);

/* Notes a wait, or the end of a promise, by which a span is a part of the one above it. */
void weft__otlp_stream_fold_edge(
	struct weft_otlp_stream *stream, enum weft_edge_type type, uint32_t from, uint32_t to);

/* Decides for good which trace a task with a span is in, and those above it. */
void weft__otlp_who_place(const struct weft_otlp_stream *stream, struct weft__otlp_who *who);

/* True for a span and its parent, between which a link would add nothing. Both are placed. */
bool weft__otlp_who_is_kin(const struct weft__otlp_who *left, const struct weft__otlp_who *right);

/* A task that is folded has ended. 0 or an error. */
int weft__otlp_stream_fold(struct weft_otlp_stream *stream, uint32_t task);

/* ---- stream_write.c ---- */

/* Adds the failure of a folded task to the span that it is in. */
void weft__otlp_stream_note_failure(struct weft_otlp_stream *stream, uint32_t task, uint32_t span);

/* Adds the current event to those of the task's span. */
void weft__otlp_stream_note(
	struct weft_otlp_stream *stream, uint32_t task, enum weft_note_type type);

/* Writes the span of a task. `is_final`: the trace ends. 0, or an error of the sink. */
int weft__otlp_stream_write(struct weft_otlp_stream *stream, uint32_t task, bool is_final);

/* Writes a span of a task, from its depth. */
int weft__otlp_stream_write_inner(struct weft_otlp_stream *stream, uint32_t task,
	const struct weft_span *span, bool is_unfinished);

#endif
