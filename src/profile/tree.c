/* SPDX-License-Identifier: ISC
 *
 * A node is a function, whatever its line. The nodes are found by hash, so that the tree costs what
 * the samples have calls; then the children of each are put in order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ns.h"
#include "profile/profile.h"

struct making {
	const struct weft_profile *profile;
	struct weft__profile_tree tree;
	size_t capacity;
	struct weft__index index;
};

static uint64_t hash_of(const struct weft__hash_key *key, uint32_t parent, uint32_t name)
{
	return weft__hash_u64(key, (uint64_t)parent << 32 | name);
}

static uint64_t hash_node(const struct weft__hash_key *key, const void *owner, uint32_t node)
{
	const struct weft__profile_node *n = &((const struct making *)owner)->tree.nodes[node];
	return hash_of(key, n->parent, n->name);
}

static int add_node(struct making *m, struct weft__profile_node node)
{
	const struct weft__column column = {&m->tree.nodes, sizeof(*m->tree.nodes)};
	int error = weft__columns_reserve(&column, 1, &m->capacity, m->tree.count + (size_t)1);
	if (error)
		return error;
	m->tree.nodes[m->tree.count++] = node;
	return 0;
}

static bool is_of_other_file(const struct weft_profile *profile, uint32_t frame, uint32_t other)
{
	const uint32_t file = profile->frames[frame].file, other_file = profile->frames[other].file;
	return file && other_file && file != other_file;
}

/* The node of a frame's function in `parent`. */
static int find_node(struct making *m, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	const uint32_t name = m->profile->frames[frame].function;
	uint32_t slot = weft__index_start(&m->index, hash_of(&m->index.key, parent, name)), number;
	for (; (number = m->index.slots[slot]) != WEFT__INDEX_EMPTY;
		 slot = weft__index_next(&m->index, slot)) {
		struct weft__profile_node *node = &m->tree.nodes[number];
		if (node->name != name || node->parent != parent)
			continue;
		node->has_frames = node->has_frames || node->frame != frame;
		node->has_files = node->has_files || is_of_other_file(m->profile, node->frame, frame);
		*ret_node = number;
		return 0;
	}
	*ret_node = m->tree.count;
	int error = add_node(m, (struct weft__profile_node){.name = name,
								.parent = parent,
								.frame = frame,
								.depth = m->tree.nodes[parent].depth + 1});
	return error ? error : weft__index_add(&m->index, *ret_node, hash_node, m);
}

static void add_up(struct weft__profile_node *node, const struct weft__profile_sample *sample)
{
	node->weight = weft__ns_add(node->weight, sample->weight);
	node->count = weft__ns_add(node->count, sample->count);
	node->before = weft__ns_add(node->before, sample->before);
}

static int add_sample(struct making *m, const struct weft__profile_sample *sample)
{
	uint32_t node = 0;
	int error = 0;
	add_up(&m->tree.nodes[0], sample);
	for (uint32_t i = sample->frame_count; i-- > 0 && !error;) {
		error = find_node(m, node, m->profile->list[sample->first + i], &node);
		if (!error)
			add_up(&m->tree.nodes[node], sample);
	}
	m->tree.nodes[node].self = weft__ns_add(m->tree.nodes[node].self, sample->weight);
	m->tree.nodes[node].self_before = weft__ns_add(m->tree.nodes[node].self_before, sample->before);
	return error;
}

/* ---- Order ---- */

/* qsort() takes no context. */
struct sorted_node {
	uint64_t weight;
	uint32_t parent, node;
};

static int compare(const void *left, const void *right)
{
	const struct sorted_node *l = left, *r = right;
	if (l->parent != r->parent)
		return l->parent < r->parent ? -1 : 1;
	if (l->weight != r->weight)
		return l->weight > r->weight ? -1 : 1;
	return l->node < r->node ? -1 : l->node > r->node;
}

static int put_in_order(struct weft__profile_tree *tree)
{
	struct sorted_node *sorted = malloc(tree->count * sizeof(*sorted));
	tree->order = malloc(tree->count * sizeof(*tree->order));
	if (!sorted || !tree->order) {
		free(sorted);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 1; i < tree->count; i++)
		sorted[i - 1] = (struct sorted_node){tree->nodes[i].weight, tree->nodes[i].parent, i};
	qsort(sorted, tree->count - 1, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < tree->count - 1; i++) {
		struct weft__profile_node *parent = &tree->nodes[sorted[i].parent];
		tree->order[i] = sorted[i].node;
		if (!parent->child_count++)
			parent->first_child = i;
	}
	free(sorted);
	return 0;
}

int weft__profile_tree_make(const struct weft_profile *profile, struct weft__profile_tree *ret_tree)
{
	struct making m = {.profile = profile};
	int error = weft__index_init(&m.index);
	if (!error)
		error = add_node(&m, (struct weft__profile_node){.name = 0});
	for (uint32_t i = 0; i < profile->sample_count && !error; i++)
		error = add_sample(&m, &profile->samples[i]);
	weft__index_finish(&m.index);
	if (!error)
		error = put_in_order(&m.tree);
	if (error)
		weft__profile_tree_finish(&m.tree);
	else
		*ret_tree = m.tree;
	return error;
}

void weft__profile_tree_finish(struct weft__profile_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
	*tree = (struct weft__profile_tree){0};
}
