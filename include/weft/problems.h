/* SPDX-License-Identifier: ISC
 *
 * What is wrong in a trace, or looks so: each problem with its place and a sentence.
 *
 * A list is made once from a finished model, in O(n log n), and is read-only then: any number of
 * threads may read it. It borrows the model. What is alike is one problem with a count; what is
 * merely unusual is listed only where it stands out, and the mildest go first when there are too
 * many.
 */
#ifndef WEFT_PROBLEMS_H
#define WEFT_PROBLEMS_H

#include <stdint.h>

#include <weft/story.h>

#ifdef __cplusplus
extern "C" {
#endif

/* problems.def says what each of them is. */
enum weft_problem_type {
#define PROBLEM(identifier, ...) WEFT_PROBLEM_##identifier,
#include <weft/problems.def>
#undef PROBLEM
	WEFT_PROBLEM_TYPES
};

enum weft_problem_severity {
	WEFT_SEVERITY_HINT,    /* worth a look */
	WEFT_SEVERITY_WARNING, /* probably not meant so */
	WEFT_SEVERITY_ERROR,   /* the trace says that it is wrong */
};

/* "lost wake-up", and "a signal came just before a task began to wait for it"; "unknown" for other
 * numbers. */
const char *weft_problem_name(enum weft_problem_type type);
const char *weft_problem_meaning(enum weft_problem_type type);

struct weft_problem_period {
	uint64_t start, end; /* ns */
};

struct weft_problem {
	enum weft_problem_type type;
	enum weft_problem_severity severity;
	uint32_t count;      /* of alike ones; this is the first of them, or the worst */
	uint64_t start, end; /* when it is, ns */
	uint64_t show_start; /* what to look at: where it begins, if it goes on and on, */
	uint64_t show_end;   /* with as much around as it takes to see why; otherwise all of it */
	uint32_t task;       /* or WEFT_NONE */
	uint32_t thread;     /* or WEFT_NONE */
	uint32_t counter;    /* or WEFT_NONE */
	uint32_t edge; /* that tells why: the lost signal, the last wait of a circle; or WEFT_NONE */
	const char *sentence; /* like those of story.h */
	/* Of alike ones that are told as one: each, by start, in weft_problems.periods; none if it is
	 * only this, or if they are not kept. */
	uint32_t first_period, period_count;
};

#define WEFT_PROBLEMS_MAX 200

struct weft_problems {
	uint32_t count;
	uint32_t left_out;               /* mild ones, for want of room */
	const struct weft_problem *list; /* by start */
	const struct weft_problem_period *periods;
};

/* `story` needs its index; 0 or WEFT_ERROR_MEMORY. */
int weft_problems_create(const struct weft_story *story, struct weft_problems **ret_problems);
void weft_problems_destroy(struct weft_problems *problems);

/* The same in steps, most of which take some milliseconds: WEFT_AGAIN if there is more to do,
 * WEFT_OK and the list, or WEFT_ERROR_MEMORY. After either of these the maker can only be
 * destroyed. It borrows `story`. */
struct weft_problems_maker;
int weft_problems_maker_create(
	const struct weft_story *story, struct weft_problems_maker **ret_maker);
int weft_problems_maker_step(
	struct weft_problems_maker *maker, struct weft_problems **ret_problems);
void weft_problems_maker_destroy(struct weft_problems_maker *maker);

/* "3 problems: 1 failed, 2 idle gaps."; "No problems found." Like the sentences of story.h. */
size_t weft_problems_sentence(const struct weft_problems *problems, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
