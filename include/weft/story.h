/* SPDX-License-Identifier: ISC
 *
 * A trace in words: what a task is, what it waits for, who woke it, what belongs to it.
 *
 * Everything is a function of a finished model, and of its layout if there is one: any number of
 * threads may ask at once. Text is valid UTF-8 without control characters or marks that turn the
 * writing direction, whatever the trace holds. Times in text are from the trace's start. Only what
 * is called create or tell allocates; nothing here does I/O.
 */
#ifndef WEFT_STORY_H
#define WEFT_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/layout.h>
#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sentence has at most so many characters, and so fits in so many bytes. */
#define WEFT_SENTENCE_LETTERS 120
#define WEFT_SENTENCE_BYTES   (4 * WEFT_SENTENCE_LETTERS + 1)

/* In place of a time: a task as a whole, rather than at a moment. */
#define WEFT_STORY_WHOLE UINT64_MAX

/* Who did something to a task: the model tells only what a task did. 4 bytes an edge, 8 a task; a
 * second or less for 10^8 events. Borrows the model. */
struct weft_story_index;

int weft_story_index_create(const struct weft_model *model, struct weft_story_index **ret_index);
void weft_story_index_destroy(struct weft_story_index *index);

/* The same in steps of some milliseconds: WEFT_AGAIN if there is more to do, WEFT_OK and the index,
 * or WEFT_ERROR_MEMORY. After either of these the maker can only be destroyed. */
struct weft_story_index_maker;
int weft_story_index_maker_create(
	const struct weft_model *model, struct weft_story_index_maker **ret_maker);
int weft_story_index_maker_step(
	struct weft_story_index_maker *maker, struct weft_story_index **ret_index);
void weft_story_index_maker_destroy(struct weft_story_index_maker *maker);

/* What is asked about. */
struct weft_story {
	const struct weft_model *model;
	const struct weft_layout *layout;     /* NULL: tasks start where they were created */
	const struct weft_story_index *index; /* NULL: sentences say nothing of who woke whom */
};

/* ---- Sentences ----
 *
 * Each writes one sentence in the present tense, with its full stop, as much as fits in `size`
 * bytes with a NUL, whole characters only; and returns its length in bytes without the NUL. With
 * WEFT_SENTENCE_BYTES nothing is cut. */

/* A task, at a moment or as a whole: "try 4472 'Wait for ARP response' waits for condition 4453
 * since 12.491 ms; nobody has signalled it since." */
size_t weft_story_sentence(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, char *buffer, size_t size);

/* "bind 31 reads wait 26, which had ended 3 us before." */
size_t weft_story_edge_sentence(
	const struct weft_story *story, uint32_t edge, char *buffer, size_t size);

/* A band of the model's: "Idle from 12.4 ms for 40.2 ms on thread main: epoll_wait." */
size_t weft_story_band_sentence(
	const struct weft_story *story, const struct weft_band_period *band, char *buffer, size_t size);

/* A counter at a time: "queue is 7 at 12.4 ms: +2 by read block 17 at 12.31 ms." */
size_t weft_story_counter_sentence(
	const struct weft_story *story, uint32_t counter, uint64_t at_ns, char *buffer, size_t size);

/* All that the whole trace has lost, by cause; an empty text if nothing is missing. */
size_t weft_story_losses_sentence(const struct weft_story *story, char *buffer, size_t size);

/* Several tasks that are drawn as one. */
struct weft_story_group {
	uint32_t tasks, failed, never_resolved, unfinished;
	uint64_t p50_ns, longest_ns; /* of their lives */
	uint32_t longest;            /* task, or WEFT_NONE if there is none */
};

/* 0 or WEFT_ERROR_MEMORY. */
int weft_story_group_tasks(const struct weft_story *story, const uint32_t *tasks, uint32_t count,
	struct weft_story_group *ret_group);

/* A density: "514 tasks, 3 failed, p50 9 us, longest 1.2 ms." */
size_t weft_story_group_sentence(const struct weft_story_group *group, char *buffer, size_t size);

/* A run of alike tasks: "514 × bind 'Gntshr.grant_access', below main: p50 9 us, longest 1.2
 * ms." `task` is one of them. */
size_t weft_story_fold_sentence(const struct weft_story *story, uint32_t task,
	const struct weft_story_group *group, char *buffer, size_t size);

/* What a task is called in a sentence: its label, or kind and id; at most `letters` characters. */
size_t weft_story_name(
	const struct weft_model *model, uint32_t task, unsigned letters, char *buffer, size_t size);

/* ---- Waiting and waking ---- */

struct weft_story_wait {
	uint32_t task;   /* who waits: what the task had become by then */
	uint32_t source; /* for whom; WEFT_NONE: the trace does not tell */
	uint32_t others; /* how many more it waits for beside that one */
	uint64_t since;  /* ns */
	uint64_t until;  /* ns; UINT64_MAX: it still does at the end of the trace */
};

/* What `task` waits for at a time. False if it runs then, is not there, or waits for nobody in
 * particular: a promise that somebody will resolve. */
bool weft_story_wait_at(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wait *ret_wait);

/* Hop by hop: what `task` waits for, what that waits for, … down to the one that waits for nobody.
 * Writes at most `room` waits and returns how many. *ret_cycle: the last one waits for a task that
 * is already in the chain: they wait for each other. */
uint32_t weft_story_wait_chain(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wait *waits, uint32_t room, bool *ret_cycle);

struct weft_story_wake {
	uint32_t task;   /* who woke it; never WEFT_NONE */
	uint32_t edge;   /* the signal, or the resolve of what it waited for */
	uint32_t source; /* what was resolved; WEFT_NONE: a signal */
	uint64_t time;   /* of that, ns */
	uint64_t runs;   /* when it ran then, ns */
};

/* What woke `task` the last time at or before a time (WEFT_STORY_WHOLE: the last time at all).
 * Needs the index. False if the trace does not tell. */
bool weft_story_woken_by(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wake *ret_wake);

/* Who created it, or WEFT_NONE. */
uint32_t weft_story_creator(const struct weft_story *story, uint32_t task);

/* What belongs to `task`: all that it becomes and all that become it, what they wait for, and who
 * waits for them, transitively. In ascending order, `task` included; at most `limit`, the nearest
 * first, and then *ret_more is true. The caller frees *ret_tasks. Needs the index. */
int weft_story_related(const struct weft_story *story, uint32_t task, uint32_t limit,
	uint32_t **ret_tasks, uint32_t *ret_count, bool *ret_more);

/* ---- The whole story of a task ---- */

enum weft_story_line_type {
	WEFT_STORY_FACT,       /* at the head: kind, id, outcome … */
	WEFT_STORY_LABEL,      /* it is called this from now on */
	WEFT_STORY_NOTE,       /* note, tag, mark or change of a counter */
	WEFT_STORY_EDGE,       /* what it did to another, or another to it */
	WEFT_STORY_CHILD,      /* it creates a task, or several in a row */
	WEFT_STORY_ACTIVATION, /* it runs */
	WEFT_STORY_LEFT_OUT,   /* how many lines of a sort are not shown */
	WEFT_STORY_LINE_TYPES
};

struct weft_story_line {
	enum weft_story_line_type type;
	bool has_time;
	uint64_t time;     /* ns; of facts only where has_time */
	uint64_t duration; /* ns, or 0 */
	uint32_t task;     /* the other task, to jump to; or WEFT_NONE */
	uint32_t edge;     /* or WEFT_NONE */
	const char *title; /* "kind", "reads", "is signalled by" */
	const char *text;  /* "bind", "wait 26, which had ended 3 us before" */
};

struct weft_story_lines {
	uint32_t count;
	const struct weft_story_line *lines; /* facts, then the rest in the order of time */
};

/* Alike activations in a row are one line, as are alike children. At most so many lines of a sort
 * (labels and notes, edges, children, activations) are listed; what is beyond is counted in one
 * line. */
#define WEFT_STORY_LINES_MAX 200

/* Needs the index. */
int weft_story_tell(
	const struct weft_story *story, uint32_t task, struct weft_story_lines **ret_lines);
void weft_story_lines_destroy(struct weft_story_lines *lines);

/* ---- How long tasks of a kind live ---- */

struct weft_story_kind {
	uint16_t kind;
	uint32_t count; /* those that ended, became others aside */
	uint64_t p50_ns, p90_ns, p99_ns, longest_ns;
	uint32_t longest; /* task */
};

/* The most frequent first. The caller frees *ret_kinds. */
int weft_story_kinds(
	const struct weft_story *story, struct weft_story_kind **ret_kinds, uint32_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
