/* SPDX-License-Identifier: ISC
 *
 * Edges by type, and the targets of their arrows: the number in each pixel column comes from a
 * count for every few edges, and the number that points to each row from points.c, without
 * examining other edges.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "render/scene/scene.h"

static bool is_arrow(unsigned type)
{
	return type != WEFT_EDGE_CREATE && type != WEFT_EDGE_BECOME && type != WEFT_EDGE_DROPPED;
}

uint32_t weft__edge_target(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *edges = &model->edges;
	uint32_t from = edges->from[edge], to = edges->to[edge];
	if (!is_arrow(edges->type[edge]) || from == WEFT_NONE || to == WEFT_NONE || from == to)
		return WEFT_NONE;
	return edges->type[edge] == WEFT_EDGE_READ ? from : to;
}

void weft__edges_before(
	const struct weft_scene *scene, uint32_t edge, uint32_t ret_counts[WEFT_EDGE_TYPES])
{
	const uint8_t *types = scene->model->edges.type;
	uint32_t chunk = edge / WEFT__EDGE_CHUNK;
	uint64_t counts = 0; /* a byte for each type in a register, which avoids store-to-load stalls */
	_Static_assert(WEFT_EDGE_DROPPED < 8 && WEFT__EDGE_CHUNK < 256, "a type has a byte");
	for (uint32_t i = chunk * WEFT__EDGE_CHUNK; i < edge; i++)
		counts += UINT64_C(1) << 8 * types[i];
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		ret_counts[type] = scene->edges.before[chunk][type] + (uint32_t)(counts >> 8 * type & 255);
}

uint32_t weft__edges_from(const struct weft_scene *scene, uint32_t edge, uint64_t time)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t chunks = edges->count / WEFT__EDGE_CHUNK + 1;
	uint32_t chunk = weft__gallop_u64(scene->edges.times, edge / WEFT__EDGE_CHUNK, chunks, time);
	uint32_t last =
		chunk * WEFT__EDGE_CHUNK < edges->count ? chunk * WEFT__EDGE_CHUNK : edges->count;
	uint32_t first = chunk ? (chunk - 1) * WEFT__EDGE_CHUNK : 0;
	first = first > edge ? first : edge;
	if (first >= last)
		return first;
	uint64_t begin = scene->edges.times[chunk - 1], end = scene->edges.times[chunk];
	/* Interpolate first, since most edges are evenly distributed. */
	double share = time > begin ? (double)(time - begin) / (double)(end - begin) : 0;
	uint32_t guess = (chunk - 1) * WEFT__EDGE_CHUNK + (uint32_t)(share * WEFT__EDGE_CHUNK);
	return weft__gallop_u64_near(edges->time, first, last, time, guess);
}

uint32_t weft__edges_nth(const struct weft_scene *scene, unsigned type, uint32_t n)
{
	const uint8_t *types = scene->model->edges.type;
	uint32_t low = 0, high = scene->model->edges.count / WEFT__EDGE_CHUNK + 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (scene->edges.before[middle][type] <= n)
			low = middle;
		else
			high = middle;
	}
	n -= scene->edges.before[low][type];
	uint32_t edge = low * WEFT__EDGE_CHUNK;
	while (types[edge] != type || n-- > 0)
		edge++;
	return edge;
}

uint32_t weft__edges_next(
	const struct weft_scene *scene, unsigned type, uint32_t edge, uint32_t last)
{
	const uint8_t *types = scene->model->edges.type;
	while (edge < last) {
		uint32_t chunk = edge / WEFT__EDGE_CHUNK, end = (chunk + 1) * WEFT__EDGE_CHUNK;
		bool none = scene->edges.before[chunk + 1][type] == scene->edges.before[chunk][type];
		end = end < last ? end : last;
		const uint8_t *found = none ? NULL : memchr(types + edge, (int)type, end - edge);
		if (found)
			return (uint32_t)(found - types);
		edge = end;
	}
	return last;
}

/* The block that an edge's arrow points to; an extra block if it has none. */
static uint16_t block_of(const struct weft_scene *scene, uint32_t edge)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t target = weft__edge_target(scene->model, edge);
	if (target == WEFT_NONE || !weft__scene_draws_edge(scene, edges->from[edge], edges->to[edge]))
		return (uint16_t)scene->census.blocks.count;
	return scene->block_of_task[target];
}

struct blocks {
	uint16_t *of_type[WEFT_EDGE_TYPES];
	uint32_t room[WEFT_EDGE_TYPES], count[WEFT_EDGE_TYPES];
};

/* Fills the counts before each chunk, and the blocks that arrows point to. */
static void index_edges(struct weft_scene *scene, struct blocks *blocks)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t chunks = edges->count / WEFT__EDGE_CHUNK + 2, chunk = 0;
	for (uint32_t edge = 0; edge < edges->count; edge++) {
		unsigned type = edges->type[edge];
		if (edge % WEFT__EDGE_CHUNK == 0) {
			scene->edges.times[chunk] = edges->time[edge];
			memcpy(scene->edges.before[chunk++], blocks->count, sizeof(blocks->count));
		}
		if (is_arrow(type))
			blocks->of_type[type][blocks->count[type]] = block_of(scene, edge);
		if (type != WEFT_EDGE_DROPPED)
			blocks->count[type]++;
	}
	while (chunk < chunks) {
		scene->edges.times[chunk] = UINT64_MAX;
		memcpy(scene->edges.before[chunk++], blocks->count, sizeof(blocks->count));
	}
}

/* All types share one scratch, and each type's blocks are freed as soon as they were used. */
static int make_points(struct weft_scene *scene, struct blocks *blocks)
{
	unsigned largest = WEFT_EDGE_READ;
	int error = 0;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		if (is_arrow(type) && blocks->count[type] > blocks->count[largest])
			largest = type;
	uint16_t *scratch = malloc((blocks->count[largest] + (size_t)1) * sizeof(*scratch));
	if (!scratch)
		return WEFT_ERROR_MEMORY;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES && !error; type++)
		if (is_arrow(type)) {
			error = weft__points_init(&scene->edges.points[type], blocks->of_type[type], scratch,
				blocks->count[type], scene->census.blocks.levels);
			free(blocks->of_type[type]);
			blocks->of_type[type] = NULL;
		}
	free(scratch);
	return error;
}

int weft__scene_make_edges(struct weft_scene *scene)
{
	const struct weft_edges *edges = &scene->model->edges;
	struct blocks blocks = {.room = {0}};
	size_t chunks = edges->count / WEFT__EDGE_CHUNK + (size_t)2;
	scene->edges.before = malloc(chunks * sizeof(*scene->edges.before));
	scene->edges.times = malloc(chunks * sizeof(*scene->edges.times));
	bool complete = scene->edges.before && scene->edges.times;
	for (uint32_t edge = 0; edge < edges->count; edge++)
		if (edges->type[edge] != WEFT_EDGE_DROPPED)
			blocks.room[edges->type[edge]]++;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++) {
		size_t room = is_arrow(type) ? blocks.room[type] + (size_t)1 : 1;
		blocks.of_type[type] = malloc(room * sizeof(uint16_t));
		complete = complete && blocks.of_type[type];
	}
	int error = WEFT_ERROR_MEMORY;
	if (complete) {
		index_edges(scene, &blocks);
		error = make_points(scene, &blocks);
	}
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		free(blocks.of_type[type]);
	return error;
}
