/* SPDX-License-Identifier: ISC
 *
 * Edges by type, and the targets of their arrows: the number in each pixel column comes from a
 * count for every few edges, and the number that points to each row from points.c, without
 * examining other edges.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "render/scene/scene.h"

void weft__render_edges_before(
	const struct weft_scene *scene, uint32_t edge, uint32_t ret_counts[WEFT__EDGE_COUNTS])
{
	const uint8_t *types = scene->model->edges.type;
	uint32_t chunk = edge / WEFT__EDGE_CHUNK;
	uint64_t counts = 0; /* 7 bits for each type in a register: no store-to-load stalls */
	_Static_assert(WEFT__EDGE_COUNTS <= 9 && WEFT__EDGE_CHUNK <= 128, "a type has 7 bits");
	for (uint32_t i = chunk * WEFT__EDGE_CHUNK; i < edge; i++)
		counts += UINT64_C(1) << 7 * types[i];
	for (unsigned type = 0; type < WEFT__EDGE_COUNTS; type++)
		ret_counts[type] = scene->edges.before[chunk][type] + (uint32_t)(counts >> 7 * type & 127);
}

uint32_t weft__render_edges_from(const struct weft_scene *scene, uint32_t edge, uint64_t time)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t chunks = edges->count / WEFT__EDGE_CHUNK + 1;
	uint32_t chunk =
		weft__render_gallop_u64(scene->edges.times, edge / WEFT__EDGE_CHUNK, chunks, time);
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
	return weft__render_gallop_u64_near(edges->time, first, last, time, guess);
}

uint32_t weft__render_edge_key(const uint32_t counts[WEFT__EDGE_COUNTS], unsigned type)
{
	return counts[type] + (type == WEFT_EDGE_TRY_READ ? counts[WEFT_EDGE_DROPPED] : 0);
}

/* Chunks and a type to count. */
struct counts {
	const struct weft_scene *scene;
	unsigned type;
};

static bool has_at_most(const void *context, uint32_t chunk, uint64_t key)
{
	const struct counts *counts = context;
	return weft__render_edge_key(counts->scene->edges.before[chunk], counts->type) <= key;
}

uint32_t weft__render_edge_of_key(const struct weft_scene *scene, unsigned type, uint32_t key)
{
	const uint8_t *types = scene->model->edges.type;
	uint8_t other = type == WEFT_EDGE_TRY_READ ? WEFT_EDGE_DROPPED : (uint8_t)type;
	struct counts counts = {scene, type};
	uint32_t chunks = scene->model->edges.count / WEFT__EDGE_CHUNK + 1;
	uint32_t chunk = weft__search(&counts, 1, chunks, has_at_most, key) - 1;
	key -= weft__render_edge_key(scene->edges.before[chunk], type);
	uint32_t edge = chunk * WEFT__EDGE_CHUNK;
	while ((types[edge] != type && types[edge] != other) || key-- > 0)
		edge++;
	return edge;
}

uint32_t weft__render_edges_next(
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

/* The block of an edge's point: see struct weft__edge_index. `model` is one in which the edge has
 * the type of the point. */
static uint16_t block_of(
	const struct weft_scene *scene, const struct weft_model *model, uint32_t edge)
{
	uint32_t target = weft__render_edge_target(model, edge);
	if (target == WEFT_NONE ||
		!weft__render_scene_draws_edge(scene, model->edges.from[edge], model->edges.to[edge]))
		return 0;
	return (uint16_t)(scene->block_of_row[scene->layout->row[target]] + 1);
}

/* The type of an edge's point. */
static unsigned point_type(unsigned type)
{
	return type == WEFT_EDGE_DROPPED ? WEFT_EDGE_TRY_READ : type;
}

struct blocks {
	uint16_t *of_type[WEFT_EDGE_TYPES];  /* of new edges */
	uint32_t first_key[WEFT_EDGE_TYPES]; /* of the first of these */
	uint32_t used[WEFT_EDGE_TYPES];
};

/* Starts with the counts of the former scene, in which some edges were not yet dropped. Returns the
 * first chunk that is not copied, and the counts before it. */
static uint32_t copy_counts(struct weft_scene *scene, uint32_t ret_counts[WEFT__EDGE_COUNTS])
{
	const struct weft__news *news = &scene->news;
	uint32_t dropped = 0, chunks = news->first_edge / WEFT__EDGE_CHUNK;
	memset(ret_counts, 0, sizeof(scene->edges.before[0]));
	if (!news->previous)
		return 0;
	for (uint32_t chunk = 0; chunk <= chunks; chunk++) {
		uint32_t *counts = chunk < chunks ? scene->edges.before[chunk] : ret_counts;
		memcpy(counts, news->previous->edges.before[chunk], sizeof(scene->edges.before[0]));
		while (dropped < news->dropped_count && news->dropped[dropped] < chunk * WEFT__EDGE_CHUNK)
			dropped++;
		counts[WEFT_EDGE_TRY_READ] -= dropped;
		counts[WEFT_EDGE_DROPPED] += dropped;
	}
	memcpy(scene->edges.times, news->previous->edges.times, chunks * sizeof(*scene->edges.times));
	return chunks;
}

/* Fills the counts before each chunk, and the blocks that arrows of new edges point to. */
static void index_edges(struct weft_scene *scene, struct blocks *blocks)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t chunks = edges->count / WEFT__EDGE_CHUNK + 2, counts[WEFT__EDGE_COUNTS];
	uint32_t chunk = copy_counts(scene, counts);
	for (uint32_t edge = chunk * WEFT__EDGE_CHUNK; edge < edges->count; edge++) {
		unsigned type = edges->type[edge], as = point_type(type);
		if (edge % WEFT__EDGE_CHUNK == 0) {
			scene->edges.times[chunk] = edges->time[edge];
			memcpy(scene->edges.before[chunk++], counts, sizeof(counts));
		}
		if (edge == scene->news.first_edge)
			for (unsigned i = 0; i < WEFT_EDGE_TYPES; i++)
				blocks->first_key[i] = weft__render_edge_key(counts, i);
		if (edge >= scene->news.first_edge && weft__render_is_arrow(as))
			blocks->of_type[as][blocks->used[as]++] = block_of(scene, scene->model, edge);
		counts[type]++;
	}
	while (chunk < chunks) {
		scene->edges.times[chunk] = UINT64_MAX;
		memcpy(scene->edges.before[chunk++], counts, sizeof(counts));
	}
}

/* Makes room for the blocks of the new edges of each type. */
static bool make_room(const struct weft_scene *scene, struct blocks *blocks)
{
	const struct weft_edges *edges = &scene->model->edges;
	uint32_t room[WEFT_EDGE_TYPES] = {0};
	bool complete = true;
	for (uint32_t edge = scene->news.first_edge; edge < edges->count; edge++)
		room[point_type(edges->type[edge])]++;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++) {
		blocks->of_type[type] =
			malloc(((weft__render_is_arrow(type) ? room[type] : 0) + (size_t)1) * sizeof(uint16_t));
		complete = complete && blocks->of_type[type];
	}
	return complete;
}

/* Each type's blocks are freed as soon as they were used. */
static int make_points(struct weft_scene *scene, struct blocks *blocks)
{
	int error = 0;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES && !error; type++) {
		struct weft__point_set *points = &scene->edges.points[type];
		if (!weft__render_is_arrow(type))
			continue;
		if (scene->news.previous)
			weft__render_point_set_share(&scene->news.previous->edges.points[type], points);
		error = weft__render_point_set_append(points, blocks->of_type[type],
			blocks->first_key[type], blocks->used[type], scene->census.blocks.levels);
		blocks->of_type[type] = NULL;
	}
	return error;
}

/* Adds the points of arrows that have been dropped since the former scene. */
static int make_gone(struct weft_scene *scene)
{
	const struct weft__news *news = &scene->news;
	uint32_t count = 0, counts[WEFT__EDGE_COUNTS];
	size_t room = news->dropped_count + (size_t)1;
	struct weft__pairs gone = {
		malloc(room * sizeof(*gone.keys)), malloc(room * sizeof(*gone.values))};
	if (!gone.keys || !gone.values) {
		free(gone.keys);
		free(gone.values);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < news->dropped_count; i++) {
		gone.values[count] = block_of(scene, news->previous->model, news->dropped[i]);
		weft__render_edges_before(news->previous, news->dropped[i], counts);
		gone.keys[count] = weft__render_edge_key(counts, WEFT_EDGE_TRY_READ);
		count += gone.values[count] != 0;
	}
	if (news->previous)
		weft__render_point_set_share(&news->previous->edges.gone, &scene->edges.gone);
	return weft__render_point_set_add(
		&scene->edges.gone, gone, count, 32, scene->census.blocks.levels);
}

int weft__render_scene_make_edges(struct weft_scene *scene)
{
	struct blocks blocks = {.used = {0}};
	size_t chunks = scene->model->edges.count / WEFT__EDGE_CHUNK + (size_t)2;
	scene->edges.before = malloc(chunks * sizeof(*scene->edges.before));
	scene->edges.times = malloc(chunks * sizeof(*scene->edges.times));
	bool complete = make_room(scene, &blocks) && scene->edges.before && scene->edges.times;
	int error = WEFT_ERROR_MEMORY;
	if (complete) {
		index_edges(scene, &blocks);
		error = make_points(scene, &blocks);
	}
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		free(blocks.of_type[type]);
	return error ? error : make_gone(scene);
}
