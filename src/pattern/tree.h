/* SPDX-License-Identifier: ISC
 *
 * An expression as a tree.
 */
#ifndef WEFT_PATTERN_TREE_H
#define WEFT_PATTERN_TREE_H

#include "pattern/pattern.h"

enum weft__pattern_node_type {
	WEFT__PATTERN_NODE_EMPTY,
	WEFT__PATTERN_NODE_RANGES,   /* `first`, `count`: a character of these ranges */
	WEFT__PATTERN_NODE_START,    /* the start of the text */
	WEFT__PATTERN_NODE_END,      /* the end of the text */
	WEFT__PATTERN_NODE_SEQUENCE, /* `left`, then `right` */
	WEFT__PATTERN_NODE_EITHER,   /* `left` or `right` */
	WEFT__PATTERN_NODE_REPEAT,   /* `left`, at least `first` and at most `count` times */
};

#define WEFT__PATTERN_ENDLESS UINT32_MAX

struct weft__pattern_node {
	enum weft__pattern_node_type type;
	uint32_t left, right;
	uint32_t first, count;
};

/* Characters from `first` to `last`. */
struct weft__pattern_range {
	uint32_t first, last;
};

struct weft__pattern_tree {
	struct weft__pattern_node *nodes;
	struct weft__pattern_range *ranges;
	uint32_t node_count, range_count, root;
	size_t node_capacity, range_capacity;
};

/* 0, WEFT_ERROR_ARGUMENT and an error, or WEFT_ERROR_MEMORY. */
int weft__pattern_parse(struct weft_slice text, const struct weft__pattern_options *options,
	struct weft__pattern_error *ret_error, struct weft__pattern_tree *ret_tree);
void weft__pattern_tree_finish(struct weft__pattern_tree *tree);

#endif
