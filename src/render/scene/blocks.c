/* SPDX-License-Identifier: ISC
 *
 * Rows in blocks: a block is a single row, or several rows that have together no more than a frame
 * can examine one by one. The points of tasks and edges are counted by block.
 *
 * The blocks of a growing trace stay as they are, although their rows get more tasks, and new rows
 * get new blocks. When blocks of several rows have become too heavy, everything is made anew.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "render/scene/scene.h"

#define BLOCK_WEIGHT 1024  /* weight of several rows together; … */
#define MOST_WEIGHT  1280  /* … in larger traces, … */
#define WANTED       8192  /* … which should not get many more blocks than this … */
#define BLOCKS       30000 /* … and at most 2 * 30000 + 1, since block numbers have 16 bits */
/* Blocks of several rows may together have this much more than their limit; … */
#define EXCESS_MIN 65536
#define EXCESS     8 /* … in larger traces, an eighth of everything */

uint32_t weft__render_census_block(const struct weft__blocks *blocks, uint32_t row)
{
	return weft__search(blocks->first, 1, blocks->count, weft__is_not_more_u32, row) - 1;
}

/* The weights that are new: of each new row, and in each old block. */
struct weighing {
	struct weft_scene *scene;
	uint32_t old_rows;
	uint32_t *of_row; /* from old_rows on */
	uint32_t *of_block;
	uint64_t sum;
};

static void add_weight(struct weighing *w, uint32_t row, uint32_t weight)
{
	if (row >= w->old_rows)
		w->of_row[row - w->old_rows] += weight;
	else
		w->of_block[w->scene->block_of_row[row]] += weight;
	w->sum += weight;
}

/* The cost of examining a row: its tasks, their activations, and the arrows that point to it. */
static void weigh(struct weighing *w)
{
	const struct weft_model *model = w->scene->model;
	const struct weft__news *news = &w->scene->news;
	const uint32_t *row = w->scene->layout->row;
	for (uint32_t i = 0; i < weft__render_news_count(w->scene); i++) {
		uint32_t task = weft__render_news_task(w->scene, i);
		uint32_t weight = model->tasks.end_activation[task] - model->tasks.first_activation[task];
		if (!weft__render_scene_shows(w->scene, task))
			continue;
		if (task < news->first_task) {
			const struct weft_tasks *old = &news->previous->model->tasks;
			weight -= old->end_activation[task] - old->first_activation[task];
		}
		add_weight(w, row[task], weight + (task >= news->first_task));
	}
	for (uint32_t edge = news->first_edge; edge < model->edges.count; edge++) {
		uint32_t target = weft__render_edge_target(model, edge);
		if (target != WEFT_NONE && weft__render_scene_shows(w->scene, target))
			add_weight(w, row[target], 1);
	}
}

/* The weight limit of a block: two neighbours together exceed it, so there are at most 2 * BLOCKS +
 * 1. */
static uint64_t most_weight(uint64_t sum)
{
	uint64_t most = sum / WANTED;
	most = most < BLOCK_WEIGHT ? BLOCK_WEIGHT : most > MOST_WEIGHT ? MOST_WEIGHT : most;
	return most > sum / BLOCKS ? most : sum / BLOCKS + 1;
}

static uint64_t weigh_blocks(const struct weft__blocks *blocks)
{
	uint64_t sum = 0;
	for (uint32_t block = 0; block < blocks->count; block++)
		sum += blocks->weights[block];
	return sum;
}

/* Puts the new rows into the last block as far as it has room, and into new blocks. False if there
 * would be too many blocks. */
static bool take_rows_together(struct weighing *w, uint64_t most)
{
	struct weft__blocks *blocks = &w->scene->census.blocks;
	uint32_t rows = w->scene->layout->row_count;
	for (uint32_t row = w->old_rows; row < rows; row++) {
		uint32_t weight = w->of_row[row - w->old_rows], last = blocks->count - 1;
		if (row == 0 || (uint64_t)blocks->weights[last] + weight > most) {
			if (blocks->count > 2 * BLOCKS)
				return false;
			last = blocks->count++;
			blocks->first[last] = row;
			blocks->weights[last] = 0;
		}
		blocks->weights[last] += weight;
	}
	blocks->first[blocks->count] = rows;
	while (UINT32_C(1) << blocks->levels <= blocks->count)
		blocks->levels++;
	return true;
}

/* True if too many tasks are in blocks of several rows. */
static bool are_too_heavy(const struct weft__blocks *blocks, uint64_t most, uint64_t sum)
{
	uint64_t excess = 0;
	for (uint32_t block = 0; block < blocks->count; block++)
		if (blocks->first[block + 1] - blocks->first[block] > 1 && blocks->weights[block] > most)
			excess += blocks->weights[block] - most;
	return excess > (sum / EXCESS > EXCESS_MIN ? sum / EXCESS : EXCESS_MIN);
}

static void fill_block_of_row(struct weft_scene *scene)
{
	const struct weft__blocks *blocks = &scene->census.blocks;
	for (uint32_t block = 0; block < blocks->count; block++)
		for (uint32_t row = blocks->first[block]; row < blocks->first[block + 1]; row++)
			scene->block_of_row[row] = (uint16_t)block;
}

static uint32_t copy_blocks(struct weft__blocks *to, const struct weft__blocks *from)
{
	memcpy(to->first, from->first, (from->count + (size_t)1) * sizeof(*to->first));
	memcpy(to->weights, from->weights, from->count * sizeof(*to->weights));
	to->count = from->count;
	to->levels = from->levels;
	return from->first[from->count];
}

/* Extends the blocks by what is new. False if they have to be made anew. */
static int extend(struct weft_scene *scene, bool *ret_fits)
{
	struct weft__blocks *blocks = &scene->census.blocks;
	struct weighing w = {.scene = scene, .of_block = blocks->weights};
	blocks->count = blocks->levels = 0;
	if (scene->news.previous)
		w.old_rows = copy_blocks(blocks, &scene->news.previous->census.blocks);
	fill_block_of_row(scene);
	w.of_row = calloc(scene->layout->row_count - w.old_rows + (size_t)1, sizeof(*w.of_row));
	if (!w.of_row)
		return WEFT_ERROR_MEMORY;
	w.sum = weigh_blocks(blocks);
	weigh(&w);
	uint64_t most = most_weight(w.sum);
	*ret_fits = take_rows_together(&w, most) &&
				(!scene->news.previous || !are_too_heavy(blocks, most, w.sum));
	free(w.of_row);
	return 0;
}

static int allocate(struct weft_scene *scene)
{
	struct weft__blocks *blocks = &scene->census.blocks;
	size_t room = 2 * (size_t)BLOCKS + 3;
	blocks->first = malloc(room * sizeof(*blocks->first));
	blocks->weights = malloc(room * sizeof(*blocks->weights));
	scene->block_of_row =
		malloc((scene->layout->row_count + (size_t)1) * sizeof(*scene->block_of_row));
	return blocks->first && blocks->weights && scene->block_of_row ? 0 : WEFT_ERROR_MEMORY;
}

/* Gives back the memory of blocks that are not needed; no harm if that fails. */
static void trim(struct weft__blocks *blocks)
{
	size_t room = blocks->count + (size_t)1;
	uint32_t *first = realloc(blocks->first, room * sizeof(*first));
	uint32_t *weights = realloc(blocks->weights, room * sizeof(*weights));
	blocks->first = first ? first : blocks->first;
	blocks->weights = weights ? weights : blocks->weights;
}

int weft__render_scene_make_blocks(struct weft_scene *scene)
{
	bool fits = true;
	int error = allocate(scene);
	if (!error)
		error = extend(scene, &fits);
	if (!error && !fits) {
		weft__render_scene_forget_news(scene);
		error = extend(scene, &fits);
	}
	if (!error)
		fill_block_of_row(scene);
	if (!error)
		trim(&scene->census.blocks);
	return error;
}
