/* SPDX-License-Identifier: ISC
 *
 * A span comes after those in it, so the spans are added from the last to the first: the node of
 * the span around the present one is then known by its depth.
 */
#include "story/flame.h"

enum {
	DEPTHS = UINT8_MAX + 1,
};

/* The node of a name in `parent`; WEFT_NONE if there is no room for another one. */
static uint32_t find_node(struct weft__flame *f, uint32_t parent, const struct weft_span *span)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->nodes[i].name == span->name && f->nodes[i].parent == parent)
			return i;
	if (f->count == WEFT__FLAME_NODES)
		return WEFT_NONE;
	f->nodes[f->count] =
		(struct weft__flame_node){.name = span->name, .parent = parent, .start = span->start};
	return f->count++;
}

static void add_frame(struct weft__flame *f, uint32_t node, const struct weft_span *span)
{
	if (node == WEFT_NONE) {
		f->left_out++;
		return;
	}
	f->nodes[node].count++;
	f->nodes[node].ns += span->end - span->start;
	f->nodes[node].start = span->start; /* the earliest comes last */
	f->nodes[node].is_at_most |= span->is_at_most;
}

/* The longest node in `parent` that is not in the order yet, or WEFT_NONE. */
static uint32_t longest_left(const struct weft__flame *f, const bool *is_listed, uint32_t parent)
{
	uint32_t longest = WEFT_NONE;
	for (uint32_t i = 0; i < f->count; i++)
		if (!is_listed[i] && f->nodes[i].parent == parent &&
			(longest == WEFT_NONE || f->nodes[i].ns > f->nodes[longest].ns))
			longest = i;
	return longest;
}

/* From a node to the longest in it; if none is left there, back to the node around it. */
static void put_in_order(struct weft__flame *f)
{
	bool is_listed[WEFT__FLAME_NODES] = {false};
	uint32_t listed = 0, at = WEFT_NONE;
	while (listed < f->count) {
		uint32_t next = longest_left(f, is_listed, at);
		if (next == WEFT_NONE) {
			at = f->nodes[at].parent;
			continue;
		}
		is_listed[next] = true;
		f->order[listed++] = at = next;
	}
}

void weft__story_flame_make(
	const struct weft_model *model, uint32_t task, struct weft__flame *ret_flame)
{
	struct weft__flame *f = ret_flame;
	uint32_t at_depth[DEPTHS];
	f->count = 0;
	f->left_out = 0;
	for (unsigned i = 0; i < DEPTHS; i++)
		at_depth[i] = WEFT_NONE;
	for (uint32_t i = weft_model_span_count(model, task); i-- > 0;) {
		struct weft_span span = weft_model_span(model, task, i);
		uint32_t parent = span.depth ? at_depth[span.depth - 1] : WEFT_NONE;
		bool is_lost = span.depth && parent == WEFT_NONE;
		at_depth[span.depth] = is_lost ? WEFT_NONE : find_node(f, parent, &span);
		add_frame(f, at_depth[span.depth], &span);
	}
	put_in_order(f);
}
