/* SPDX-License-Identifier: ISC
 *
 * Regular expressions: tests whether a text contains a match.
 *
 *     parse.c    an expression → a tree
 *     program.c  a tree → steps: an automaton that may be at several steps at once
 *     pattern.c  the steps over a text, by an automaton of one state, made on the way
 *
 * The time is at most proportional to the length of the text times that of the expression, and
 * mostly to that of the text alone.
 */
#ifndef WEFT_PATTERN_H
#define WEFT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>

struct weft__pattern_error {
	const char *message; /* static text */
	size_t offset;       /* bytes from the expression's start */
};

struct weft__pattern_options {
	bool ignore_case; /* letters a to z match in either case */
	bool literal;     /* the text is not an expression */
};

struct weft__pattern;

/* 0, WEFT_ERROR_ARGUMENT and an error, or WEFT_ERROR_MEMORY. */
int weft__pattern_create(struct weft_slice text, const struct weft__pattern_options *options,
	struct weft__pattern_error *ret_error, struct weft__pattern **ret_pattern);
void weft__pattern_destroy(struct weft__pattern *pattern);

/* Not thread-safe: it adds states to the automaton. */
bool weft__pattern_matches(struct weft__pattern *pattern, struct weft_slice text);

/* How far a text was matched; {0} at its beginning. No other text may be matched in between. */
struct weft__pattern_run {
	size_t at;
	uint32_t state;
	bool has_begun;
};

/* The same in parts: takes from *work one for each byte, and as much as for some hundred for each
 * new set of steps, and returns before it would be less than 0. True when *ret_matches is known. */
bool weft__pattern_go_on(struct weft__pattern *pattern, struct weft_slice text,
	struct weft__pattern_run *run, uint64_t *work, bool *ret_matches);

#endif
