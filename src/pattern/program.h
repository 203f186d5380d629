/* SPDX-License-Identifier: ISC
 *
 * An expression as steps: Thompson's automaton.
 */
#ifndef WEFT_PATTERN_PROGRAM_H
#define WEFT_PATTERN_PROGRAM_H

#include "pattern/tree.h"

enum weft__pattern_step_type {
	WEFT__PATTERN_TAKE,     /* a character of the ranges, then `next` */
	WEFT__PATTERN_SPLIT,    /* `next`, or `other` */
	WEFT__PATTERN_AT_START, /* `next`, at the start of the text only */
	WEFT__PATTERN_AT_END,   /* `next`, at its end only */
	WEFT__PATTERN_MATCH,
};

struct weft__pattern_step {
	enum weft__pattern_step_type type;
	uint32_t next, other;
	uint32_t first, count; /* indices of the tree's ranges */
};

/* A text that keeps leading to new sets of steps takes time for each of them at each character:
 * about a microsecond for 512. */
#define WEFT__PATTERN_STEPS_MAX 512

struct weft__pattern_program {
	struct weft__pattern_step *steps;
	uint32_t count, start;
	size_t capacity;
};

/* 0, WEFT_ERROR_LIMIT if it takes too many steps, or WEFT_ERROR_MEMORY. */
int weft__pattern_compile(
	const struct weft__pattern_tree *tree, struct weft__pattern_program *ret_program);

#endif
