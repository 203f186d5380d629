/* SPDX-License-Identifier: ISC
 *
 * Regular expressions: is there a match somewhere in a text?
 *
 *     pattern_parse.c    an expression → a tree
 *     pattern_program.c  a tree → steps: an automaton that may be at several steps at once
 *     pattern.c          the steps over a text, by an automaton of one state, made on the way
 *
 * The time is in proportion to the text's length times the expression's, whatever both are, and
 * mostly to the text's alone.
 */
#ifndef WEFT_STORY_PATTERN_H
#define WEFT_STORY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/search.h>

struct weft__pattern_options {
	bool ignore_case; /* a to z stand for both */
	bool literal;     /* the text stands for itself */
};

struct weft__pattern;

/* 0, WEFT_ERROR_ARGUMENT and an error, or WEFT_ERROR_MEMORY. */
int weft__pattern_create(struct weft_slice text, const struct weft__pattern_options *options,
	struct weft_search_error *ret_error, struct weft__pattern **ret_pattern);
void weft__pattern_destroy(struct weft__pattern *pattern);

/* Not for two threads at once: it learns. */
bool weft__pattern_matches(struct weft__pattern *pattern, struct weft_slice text);

#endif
