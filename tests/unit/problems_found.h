/* SPDX-License-Identifier: ISC
 *
 * The problems of a trace that a test puts together.
 */
#ifndef WEFT_TESTS_PROBLEMS_FOUND_H
#define WEFT_TESTS_PROBLEMS_FOUND_H

#include <weft/problems.h>

#include "loaded.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct found {
	struct loaded loaded;
	struct weft_problems *problems;
};

static inline struct found find_in(struct loaded loaded)
{
	struct found found = {.loaded = loaded};
	assert_int_equal(weft_problems_create(&found.loaded.story, &found.problems), 0);
	return found;
}

static inline struct found find(struct made *made)
{
	return find_in(make_end(made));
}

static inline void found_finish(struct found *found)
{
	weft_problems_destroy(found->problems);
	loaded_finish(&found->loaded);
}

/* The only problem of a type; fails if there is none, or another. */
static inline const struct weft_problem *only(
	const struct found *found, enum weft_problem_type type)
{
	const struct weft_problem *only = NULL;
	for (uint32_t i = 0; i < found->problems->count; i++) {
		if (found->problems->list[i].type != type)
			continue;
		assert_null(only);
		only = &found->problems->list[i];
	}
	assert_non_null(only);
	return only;
}

/* The words at the moments of a problem. */
static inline void expect_words(
	const struct weft_problem *problem, const char *cause, const char *effect)
{
	assert_string_equal(problem->cause.words, cause);
	assert_string_equal(problem->effect.words, effect);
}

static inline void expect_none(const struct found *found)
{
	if (found->problems->count)
		fail_msg("%s", found->problems->list[0].sentence);
}

/* Fails if a problem is found; takes what was found. */
static inline void expect_nothing(struct found found)
{
	expect_none(&found);
	found_finish(&found);
}

static inline uint32_t count_of(const struct found *found, enum weft_problem_type type)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < found->problems->count; i++)
		count += found->problems->list[i].type == type;
	return count;
}

/* A task that lives for a while and is fulfilled. */
static inline void make_request(struct made *made, uint64_t id, uint64_t length_ns)
{
	make_create(made, 0, id, WEFT_KIND_TASK);
	make_label(made, id, "request");
	make_switch(made, id);
	made->time += length_ns;
	make_edge(made, WEFT_EVENT_RESOLVE, id, id);
	make_switch(made, 0);
	made->time += 10 * US;
}

#endif
