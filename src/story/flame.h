/* SPDX-License-Identifier: ISC
 *
 * The spans of a task, added up by name: spans of one name in spans of one name are a node.
 */
#ifndef WEFT_STORY_FLAME_H
#define WEFT_STORY_FLAME_H

#include <weft/model.h>

#define WEFT__FLAME_NODES 64

struct weft__flame_node {
	uint32_t name;   /* string */
	uint32_t parent; /* node, or WEFT_NONE */
	uint64_t count;  /* spans */
	uint64_t ns;     /* their time in all */
	uint64_t start;  /* of the first */
	bool is_at_most; /* the trace has no end of some of them */
};

struct weft__flame {
	uint32_t count;
	uint64_t left_out; /* spans for which there was no node */
	struct weft__flame_node nodes[WEFT__FLAME_NODES];
	/* The nodes from the longest to the shortest, each followed by those in it. */
	uint32_t order[WEFT__FLAME_NODES];
};

void weft__story_flame_make(
	const struct weft_model *model, uint32_t task, struct weft__flame *ret_flame);

#endif
