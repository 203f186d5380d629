/* SPDX-License-Identifier: ISC
 *
 * See graph.h. Boxes are placed from the top to the bottom, never by recursion: their depth is the
 * trace's.
 */
#include "profile/graph.h"

#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>

#include "base/ns.h"
#include "base/number.h"

#define GAP         1.0  /* beyond the last box of a row there is none */
#define LEAST_WIDTH 0.25 /* of a box that is drawn */
#define ROWS_MAX    512u /* that are drawn below the zoomed one */
#define DIGITS      3

/* ---- Colours ---- */

struct weft_slice weft__profile_graph_name(const struct weft__profile_graph *graph, uint32_t node)
{
	return node ? graph->profile->names[graph->tree.nodes[node].name]
				: (struct weft_slice){"all", 3};
}

struct weft_slice weft__profile_graph_file(const struct weft__profile_graph *graph, uint32_t node)
{
	static const char sign[] = "+0x";
	const struct weft_slice name = weft__profile_graph_name(graph, node);
	const uint32_t file = graph->profile->frames[graph->tree.nodes[node].frame].file;
	if (file)
		return graph->profile->names[file];
	for (size_t i = 1; i + sizeof(sign) <= name.size; i++)
		if (memcmp(name.bytes + i, sign, sizeof(sign) - 1) == 0)
			return (struct weft_slice){name.bytes, i};
	return (struct weft_slice){"", 0};
}

static bool is_same(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

static bool is_leaf(struct weft_slice name)
{
	return name.size > 2 && name.bytes[0] == '[' && name.bytes[name.size - 1] == ']';
}

static uint8_t choose_color(struct weft__profile_graph *graph, uint32_t node)
{
	const struct weft_slice file = weft__profile_graph_file(graph, node);
	if (is_leaf(weft__profile_graph_name(graph, node)))
		return WEFT__GRAPH_LEAF;
	if (graph->tree.nodes[node].has_files)
		return WEFT__GRAPH_OTHER;
	if (!file.size)
		return WEFT__GRAPH_NAMELESS;
	for (unsigned i = 0; i < graph->file_count; i++)
		if (is_same(file, weft__profile_graph_file(graph, graph->files[i])))
			return (uint8_t)i;
	if (graph->file_count == WEFT__GRAPH_FILES)
		return WEFT__GRAPH_OTHER;
	graph->files[graph->file_count] = node;
	return (uint8_t)graph->file_count++;
}

/* In the order in which all boxes are drawn, so that a zoom does not change colours. `queue` has
 * room for all nodes. */
static void choose_colors(struct weft__profile_graph *graph, uint32_t *queue)
{
	uint32_t count = 1;
	queue[0] = 0;
	graph->colors[0] = WEFT__GRAPH_ROOT;
	for (uint32_t i = 0; i < count; i++) {
		const struct weft__profile_node *node = &graph->tree.nodes[queue[i]];
		for (uint32_t k = 0; k < node->child_count; k++) {
			const uint32_t child = graph->tree.order[node->first_child + k];
			graph->colors[child] = choose_color(graph, child);
			queue[count++] = child;
		}
	}
}

/* ---- Comparisons ---- */

static double before_of(const struct weft__profile_graph *graph, uint32_t node)
{
	return (double)graph->tree.nodes[node].before * graph->profile->scale;
}

/* Puts a node into a list, the heaviest first; of equal ones the first in the tree is before. */
static void insert(const struct weft__profile_graph *graph, uint32_t *nodes, uint32_t count,
	uint32_t most, uint32_t node)
{
	const struct weft__profile_node *all = graph->tree.nodes;
	uint32_t at = count < most ? count : most;
	while (at > 0 && all[nodes[at - 1]].before < all[node].before) {
		if (at < most)
			nodes[at] = nodes[at - 1];
		at--;
	}
	if (at < most)
		nodes[at] = node;
}

uint32_t weft__profile_graph_gone(
	const struct weft__profile_graph *graph, uint32_t *ret_nodes, uint32_t most)
{
	const struct weft__profile_node *all = graph->tree.nodes;
	uint32_t count = 0;
	for (uint32_t node = 1; node < graph->tree.count; node++)
		if (!all[node].weight && all[node].before && all[all[node].parent].weight)
			insert(graph, ret_nodes, count++, most, node);
	return count;
}

double weft__profile_graph_growth(const struct weft__profile_graph *graph, uint32_t node)
{
	const double now = (double)graph->tree.nodes[node].weight, before = before_of(graph, node);
	const double most = now > before ? now : before;
	return most > 0 ? (now - before) / most : 0;
}

/* ---- Boxes ---- */

int weft__profile_graph_create(
	const struct weft_profile *profile, struct weft__profile_graph **ret_graph)
{
	struct weft__profile_graph *graph = calloc(1, sizeof(*graph));
	if (!graph)
		return WEFT_ERROR_MEMORY;
	graph->profile = profile;
	int error = weft__profile_tree_make(profile, &graph->tree);
	if (error) {
		free(graph);
		return error;
	}
	uint32_t *queue = malloc(graph->tree.count * sizeof(*queue));
	graph->colors = malloc(graph->tree.count);
	graph->boxes = malloc(graph->tree.count * sizeof(*graph->boxes));
	if (queue && graph->colors && graph->boxes)
		choose_colors(graph, queue);
	else
		error = WEFT_ERROR_MEMORY;
	free(queue);
	if (error)
		weft__profile_graph_destroy(graph);
	else
		*ret_graph = graph;
	return error;
}

void weft__profile_graph_destroy(struct weft__profile_graph *graph)
{
	if (!graph)
		return;
	weft__profile_tree_finish(&graph->tree);
	free(graph->colors);
	free(graph->boxes);
	free(graph);
}

/* Places the zoomed node and its callers, each as wide as all. */
static void place_callers(struct weft__profile_graph *graph, double x, double width)
{
	const struct weft__profile_node *nodes = graph->tree.nodes;
	graph->box_count = nodes[graph->zoom].depth + 1;
	for (uint32_t node = graph->zoom, row = graph->box_count; row-- > 0; node = nodes[node].parent)
		graph->boxes[row] = (struct weft__profile_box){node, x, width};
}

/* Places what a box has called, as far as it is wide enough. */
static void place_callees(struct weft__profile_graph *graph, uint32_t box, double scale)
{
	const struct weft__profile_node *node = &graph->tree.nodes[graph->boxes[box].node];
	double x = graph->boxes[box].x;
	for (uint32_t i = 0; i < node->child_count; i++) {
		const uint32_t child = graph->tree.order[node->first_child + i];
		const double width = (double)graph->tree.nodes[child].weight * scale;
		if (width < LEAST_WIDTH)
			return; /* the others are lighter */
		graph->boxes[graph->box_count++] = (struct weft__profile_box){child, x, width};
		x += width;
		graph->rows = node->depth + 2; /* rows are placed one after the other */
	}
}

void weft__profile_graph_place(
	struct weft__profile_graph *graph, uint32_t zoom, double x, double width)
{
	const struct weft__profile_node *nodes = graph->tree.nodes;
	graph->zoom = zoom;
	graph->box_count = graph->rows = 0;
	if (!nodes[zoom].weight)
		return;
	place_callers(graph, x, width + GAP);
	graph->rows = graph->box_count;
	const double scale = (width + GAP) / (double)nodes[zoom].weight;
	const uint32_t last = nodes[zoom].depth + ROWS_MAX - 1;
	for (uint32_t i = nodes[zoom].depth; i < graph->box_count; i++)
		if (nodes[graph->boxes[i].node].depth < last)
			place_callees(graph, i, scale);
}

uint32_t weft__profile_graph_at(
	const struct weft__profile_graph *graph, double top, double x, double y)
{
	for (uint32_t i = 0; i < graph->box_count; i++) {
		const struct weft__profile_box *box = &graph->boxes[i];
		const double above = top + graph->tree.nodes[box->node].depth * WEFT__GRAPH_ROW;
		if (x >= box->x && x < box->x + box->width && y >= above && y < above + WEFT__GRAPH_ROW)
			return box->node;
	}
	return WEFT__GRAPH_NONE;
}

/* The child with a name; or NONE. */
static uint32_t find_child(
	const struct weft__profile_graph *graph, uint32_t node, struct weft_slice name)
{
	const struct weft__profile_node *parent = &graph->tree.nodes[node];
	for (uint32_t i = 0; i < parent->child_count; i++) {
		const uint32_t child = graph->tree.order[parent->first_child + i];
		if (is_same(weft__profile_graph_name(graph, child), name))
			return child;
	}
	return WEFT__GRAPH_NONE;
}

uint32_t weft__profile_graph_find(
	const struct weft__profile_graph *graph, const struct weft__profile_graph *other, uint32_t node)
{
	uint32_t found = 0, depth = 0;
	for (;;) {
		uint32_t next = node;
		while (other->tree.nodes[next].depth > depth + 1)
			next = other->tree.nodes[next].parent;
		if (other->tree.nodes[next].depth != depth + 1)
			return found;
		next = find_child(graph, found, weft__profile_graph_name(other, next));
		if (next == WEFT__GRAPH_NONE)
			return found;
		found = next;
		depth++;
	}
}

/* ---- Words ---- */

static void add_slice(struct weft_text *text, struct weft_slice slice)
{
	weft_text_add(text, slice.bytes, slice.size);
}

static void add_location(const struct weft__profile_graph *graph,
	const struct weft__profile_node *node, struct weft_text *text)
{
	const struct weft__profile_frame *frame = &graph->profile->frames[node->frame];
	if (node->has_files)
		weft_text_add_string(text, " (in several files)");
	if (!frame->file || node->has_files)
		return;
	weft_text_add_string(text, " (");
	add_slice(text, graph->profile->names[frame->file]);
	if (!node->has_frames) {
		weft_text_add_string(text, ":");
		weft_text_add_u64(text, frame->line);
	}
	weft_text_add_string(text, ")");
}

static void add_before(
	const struct weft__profile_graph *graph, uint32_t number, struct weft_text *text)
{
	char duration[32];
	weft_format_duration(weft__ns_between(before_of(graph, number), UINT64_MAX), DIGITS, duration);
	weft_text_add_string(text, ", ");
	weft_text_add_string(text, duration);
	weft_text_add_string(text, " before");
}

void weft__profile_graph_describe_gone(
	const struct weft__profile_graph *graph, uint32_t number, struct weft_text *text)
{
	add_slice(text, weft__profile_graph_name(graph, number));
	add_location(graph, &graph->tree.nodes[number], text);
	add_before(graph, number, text);
}

void weft__profile_graph_describe(
	const struct weft__profile_graph *graph, uint32_t number, struct weft_text *text)
{
	const struct weft__profile_node *node = &graph->tree.nodes[number];
	char duration[32], share[WEFT__NUMBER_BYTES];
	add_slice(text, weft__profile_graph_name(graph, number));
	if (number)
		add_location(graph, node, text);
	weft_format_duration(node->weight, DIGITS, duration);
	weft__number_general(
		100 * (double)node->weight / (double)graph->tree.nodes[0].weight, DIGITS, share);
	weft_text_add_string(text, ": ");
	weft_text_add_string(text, duration);
	weft_text_add_string(text, ", ");
	weft_text_add_string(text, share);
	weft_text_add_string(text, " %, ");
	weft_text_add_u64(text, node->count);
	weft_text_add_string(text, " ");
	const char *counted = graph->profile->options.counted;
	counted = counted ? counted : "samples";
	const size_t size = strlen(counted);
	weft_text_add(text, counted, size && node->count == 1 ? size - 1 : size); /* without the "s" */
	if (graph->profile->is_compared)
		add_before(graph, number, text);
}
