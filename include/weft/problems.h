/* SPDX-License-Identifier: ISC
 *
 * Problems in a trace: things that are wrong or look wrong, each with its time and a sentence.
 *
 * A list is made once from a finished model, in O(n log n), and is read-only then: any number of
 * threads may read it. It borrows the model. Similar findings are one problem with a count. Merely
 * unusual things are listed only where they stand out. If there are too many problems, the mildest
 * are left out.
 */
#ifndef WEFT_PROBLEMS_H
#define WEFT_PROBLEMS_H

#include <stdint.h>

#include <weft/story.h>

#ifdef __cplusplus
extern "C" {
#endif

/* problems.def explains each type. */
enum weft_problem_type {
#define PROBLEM(identifier, ...) WEFT_PROBLEM_##identifier,
#include <weft/problems.def>
#undef PROBLEM
	WEFT_PROBLEM_TYPES
};

enum weft_problem_severity {
	WEFT_SEVERITY_HINT,    /* worth a look */
	WEFT_SEVERITY_WARNING, /* probably not intended */
	WEFT_SEVERITY_ERROR, /* certainly wrong, by the trace's own events; or what an alert is about */
};

/* "lost wake-up", and "a signal came just before a task began to wait for it"; "unknown" for other
 * numbers. */
const char *weft_problem_name(enum weft_problem_type type);
const char *weft_problem_meaning(enum weft_problem_type type);

struct weft_problem_period {
	uint64_t start, end; /* ns */
};

/* A note at a task and a time that explain a problem: "begins to wait, 11 us late". */
struct weft_problem_note {
	uint64_t time;  /* ns */
	uint32_t task;  /* on whose row it is; a task if there are words */
	char words[52]; /* UTF-8; empty: there is none */
};

struct weft_problem {
	enum weft_problem_type type;
	enum weft_problem_severity severity;
	uint32_t count;       /* of similar findings; this is the first, or the worst */
	uint64_t start, end;  /* ns */
	uint64_t show_start;  /* what to show: its beginning if it lasts long, … */
	uint64_t show_end;    /* … with the context that explains it; else all of it */
	uint32_t task;        /* or WEFT_NONE */
	uint32_t thread;      /* or WEFT_NONE */
	uint32_t counter;     /* or WEFT_NONE */
	uint32_t edge;        /* the cause: the lost signal, the last wait of a cycle; or WEFT_NONE */
	const char *sentence; /* as in story.h */
	/* The problem that led to this one, by evidence of the trace: its number in the list, and it
	 * has no reason itself. WEFT_NONE: none is known. */
	uint32_t reason;
	/* If similar findings were joined: each one's period, by start, in weft_problems.periods.
	 * Count 0 if there is only this one, or if the periods are not kept. */
	uint32_t first_period, period_count;
	struct weft_problem_note cause, effect;
};

#define WEFT_PROBLEMS_MAX 200

struct weft_problems {
	uint32_t count;
	uint32_t left_out;               /* mild ones, beyond WEFT_PROBLEMS_MAX */
	const struct weft_problem *list; /* by start */
	const struct weft_problem_period *periods;
	/* Indices of `list`, the gravest first, as in the viewer; after each one, those to which it
	 * led. It is at least as grave as they are. */
	const uint32_t *by_gravity;
};

/* `story` needs its index; 0 or WEFT_ERROR_MEMORY. */
int weft_problems_create(const struct weft_story *story, struct weft_problems **ret_problems);
void weft_problems_destroy(struct weft_problems *problems);

/* Makes the list in steps, most of which take some milliseconds: WEFT_AGAIN if there is more to
 * do, WEFT_OK and the list, or WEFT_ERROR_MEMORY. After either of these the maker can only be
 * destroyed. It borrows `story`. */
struct weft_problems_maker;
int weft_problems_maker_create(
	const struct weft_story *story, struct weft_problems_maker **ret_maker);
int weft_problems_maker_step(
	struct weft_problems_maker *maker, struct weft_problems **ret_problems);
void weft_problems_maker_destroy(struct weft_problems_maker *maker);

/* Writes "3 problems: 1 failed, 2 idle gaps." or "No problems found.", like the sentences of
 * story.h. */
size_t weft_problems_sentence(const struct weft_problems *problems, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
