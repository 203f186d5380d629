/* SPDX-License-Identifier: ISC
 *
 * Link-cut trees (Sleator and Tarjan, 1983), without re-rooting. Each path of the forest is a splay
 * tree ordered by depth: `left` is nearer the root. The top node of a splay tree points to the
 * forest parent of its path's highest node, which does not point back.
 *
 * Programs that loop by calling themselves make chains of creation as deep as the loop is long,
 * and each of their binds is moved: walking up to the root each time would be quadratic.
 */
#include "layout/forest.h"

#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "base/array.h"

struct node {
	uint32_t up; /* the parent in the splay tree; at its top, the path's parent */
	uint32_t left, right;
};

struct weft__forest {
	uint32_t count, capacity;
	bool *has_children; /* or had children before */
	struct node nodes[];
};

struct weft__forest *weft__layout_forest_create(const uint32_t *parents, uint32_t count)
{
	struct weft__forest *forest = malloc(sizeof(*forest) + count * sizeof(struct node));
	if (!forest)
		return NULL;
	forest->count = forest->capacity = count;
	forest->has_children = calloc(count + (size_t)1, sizeof(*forest->has_children));
	if (!forest->has_children) {
		free(forest);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++) {
		forest->nodes[i] = (struct node){parents[i], WEFT_NONE, WEFT_NONE};
		if (parents[i] != WEFT_NONE)
			forest->has_children[parents[i]] = true;
	}
	return forest;
}

bool weft__layout_forest_add(struct weft__forest **forest, const uint32_t *parents, uint32_t count)
{
	struct weft__forest *f = *forest;
	uint32_t from = f->count;
	if (count > f->capacity) {
		size_t capacity = weft__array_next_capacity(f->capacity, count);
		f = realloc(f, sizeof(*f) + capacity * sizeof(struct node));
		if (!f)
			return false;
		*forest = f;
		bool *has_children = realloc(f->has_children, capacity + 1);
		if (!has_children)
			return false;
		f->has_children = has_children;
		f->capacity = (uint32_t)capacity;
	}
	memset(f->has_children + from, 0, count - from);
	for (uint32_t i = from; i < count; i++)
		f->nodes[i] = (struct node){parents[i], WEFT_NONE, WEFT_NONE};
	for (uint32_t i = from; i < count; i++)
		if (parents[i] != WEFT_NONE)
			f->has_children[parents[i]] = true;
	f->count = count;
	return true;
}

void weft__layout_forest_destroy(struct weft__forest *forest)
{
	if (forest)
		free(forest->has_children);
	free(forest);
}

static bool is_top(const struct node *nodes, uint32_t x)
{
	uint32_t up = nodes[x].up;
	return up == WEFT_NONE || (nodes[up].left != x && nodes[up].right != x);
}

/* Rotates x above its parent in the splay tree. */
static void rotate(struct node *nodes, uint32_t x)
{
	uint32_t parent = nodes[x].up, grand = nodes[parent].up, middle;
	if (!is_top(nodes, parent)) {
		if (nodes[grand].left == parent)
			nodes[grand].left = x;
		else
			nodes[grand].right = x;
	}
	if (nodes[parent].left == x) {
		middle = nodes[x].right;
		nodes[parent].left = middle;
		nodes[x].right = parent;
	} else {
		middle = nodes[x].left;
		nodes[parent].right = middle;
		nodes[x].left = parent;
	}
	if (middle != WEFT_NONE)
		nodes[middle].up = parent;
	nodes[parent].up = x;
	nodes[x].up = grand;
}

static void splay(struct node *nodes, uint32_t x)
{
	while (!is_top(nodes, x)) {
		uint32_t parent = nodes[x].up;
		if (!is_top(nodes, parent)) {
			uint32_t grand = nodes[parent].up;
			bool straight = (nodes[grand].left == parent) == (nodes[parent].left == x);
			rotate(nodes, straight ? parent : x);
		}
		rotate(nodes, x);
	}
}

/* Makes the path from the root to x one splay tree, with x at its top. */
static void expose(struct node *nodes, uint32_t x)
{
	uint32_t below = WEFT_NONE;
	for (uint32_t at = x; at != WEFT_NONE; at = nodes[at].up) {
		splay(nodes, at);
		nodes[at].right = below;
		below = at;
	}
	splay(nodes, x);
}

static void cut(struct node *nodes, uint32_t x)
{
	expose(nodes, x);
	if (nodes[x].left == WEFT_NONE)
		return;
	nodes[nodes[x].left].up = WEFT_NONE;
	nodes[x].left = WEFT_NONE;
}

static uint32_t find_root(struct node *nodes, uint32_t x)
{
	expose(nodes, x);
	while (nodes[x].left != WEFT_NONE)
		x = nodes[x].left;
	splay(nodes, x); /* keeps the amortized bound after walking down */
	return x;
}

bool weft__layout_forest_move(
	struct weft__forest *forest, uint32_t node, uint32_t current, uint32_t parent)
{
	struct node *nodes = forest->nodes;
	/* Most moved tasks have no children: each is still a path of its own. */
	bool is_leaf = !forest->has_children[node];
	if (is_leaf && parent != node && is_top(nodes, node) && nodes[node].left == WEFT_NONE &&
		nodes[node].right == WEFT_NONE) {
		nodes[node].up = parent;
		forest->has_children[parent] = true;
		return true;
	}
	cut(nodes, node);
	bool possible = find_root(nodes, parent) != node;
	expose(nodes, node);
	nodes[node].up = possible ? parent : current;
	if (possible)
		forest->has_children[parent] = true;
	return possible;
}
