/* SPDX-License-Identifier: ISC
 *
 * The rows that are shown: nodes in the order of their values among their siblings, without those
 * below a folded one. A stack has the nodes that are still to be listed, so that the depth of a
 * tree that a program chose takes no depth of calls.
 */
#include "top.h"

#include <math.h>
#include <stdlib.h>

/* A node among its siblings. */
struct ranked {
	double key; /* the largest first */
	uint32_t node;
};

static int by_key(const void *left, const void *right)
{
	const struct ranked *l = left, *r = right;
	int order = (l->key < r->key) - (l->key > r->key);
	return order ? order : (l->node > r->node) - (l->node < r->node);
}

static double key_of(const struct top_node *node, enum top_sort sort)
{
	double key = sort == TOP_BY_VALUE ? node->value : sort == TOP_BY_RATE ? node->rate : 0;
	return isnan(key) ? -INFINITY : key;
}

/* Nodes without a counter have the largest key of those below them. */
static void find_keys(const struct top_forest *forest, enum top_sort sort, double *keys)
{
	for (uint32_t i = 0; i < forest->count; i++)
		keys[i] = key_of(&forest->nodes[i], sort);
	for (uint32_t i = forest->count; i--;) {
		uint32_t parent = forest->nodes[i].parent;
		if (parent != TOP_NONE && !forest->nodes[parent].counter && keys[parent] < keys[i])
			keys[parent] = keys[i];
	}
}

struct row_listing {
	const struct top_forest *forest;
	struct top_rows *rows;
	double *keys;
	struct ranked *siblings;
	uint32_t *stack, *list;
	uint32_t stacked, count;
};

/* Puts siblings on the stack, the last one first. */
static void stack_siblings(struct row_listing *listing, uint32_t first, uint32_t end)
{
	uint32_t count = 0;
	for (uint32_t i = first; i < end; i = listing->forest->nodes[i].end)
		listing->siblings[count++] = (struct ranked){listing->keys[i], i};
	qsort(listing->siblings, count, sizeof(*listing->siblings), by_key);
	for (uint32_t i = 0; i < count; i++)
		listing->stack[listing->stacked++] =
			listing->siblings[listing->rows->is_reversed ? i : count - 1 - i].node;
}

static void list_nodes(struct row_listing *listing)
{
	const struct top_forest *forest = listing->forest;
	find_keys(forest, listing->rows->sort, listing->keys);
	stack_siblings(listing, 0, forest->count);
	while (listing->stacked) {
		uint32_t node = listing->stack[--listing->stacked];
		listing->list[listing->count++] = node;
		if (forest->nodes[node].is_open)
			stack_siblings(listing, node + 1, forest->nodes[node].end);
	}
}

bool top_rows_update(struct top_rows *rows, const struct top_forest *forest)
{
	const size_t count = forest->count + (size_t)1;
	struct row_listing listing = {
		.forest = forest,
		.rows = rows,
		.keys = calloc(count, sizeof(*listing.keys)),
		.siblings = calloc(count, sizeof(*listing.siblings)),
		.stack = calloc(count, sizeof(*listing.stack)),
		.list = calloc(count, sizeof(*listing.list)),
	};
	bool good = listing.keys && listing.siblings && listing.stack && listing.list;
	if (good) {
		list_nodes(&listing);
		free(rows->list);
		rows->list = listing.list;
		rows->count = listing.count;
	} else {
		free(listing.list);
	}
	free(listing.keys);
	free(listing.siblings);
	free(listing.stack);
	return good;
}

void top_rows_finish(struct top_rows *rows)
{
	free(rows->list);
	*rows = (struct top_rows){0};
}

uint32_t top_rows_find(const struct top_rows *rows, const struct top_forest *forest, uint32_t node)
{
	for (; node != TOP_NONE; node = forest->nodes[node].parent)
		for (uint32_t row = 0; row < rows->count; row++)
			if (rows->list[row] == node)
				return row;
	return 0;
}
