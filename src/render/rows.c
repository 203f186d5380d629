/* SPDX-License-Identifier: ISC
 *
 * See rows.h. Tasks with lines of their own do not overlap within a row, so each question is a
 * binary search.
 */
#include "render/rows.h"

#include "render/scene/scene.h"

static uint32_t first_member(const struct weft_scene *scene, uint32_t row)
{
	const struct weft__piles *piles = &scene->piles;
	if (piles->count == 0 || piles->row_first[row] == piles->row_first[row + 1])
		return WEFT_NONE;
	uint32_t fold = piles->list[piles->by_row[piles->row_first[row]]].fold;
	if (fold == WEFT_NONE)
		return WEFT_NONE;
	return scene->layout->fold_members[scene->layout->folds[fold].first];
}

uint32_t weft__render_row_task_at(const struct weft_scene *scene, uint32_t row, uint64_t time)
{
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	if (first == last)
		return first_member(scene, row);
	uint32_t index = weft__render_scene_first_alive(scene, first, last, time);
	return scene->by_row[index < last ? index : last - 1];
}

uint32_t weft__render_row_neighbour(const struct weft_scene *scene, uint32_t task, int step)
{
	uint32_t row = scene->layout->row[task];
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	uint32_t index = weft__render_scene_first_from(scene, first, last, scene->layout->start[task]);
	while (index < last && scene->by_row[index] != task)
		index++;
	if (step < 0)
		return index > first ? scene->by_row[index - 1] : WEFT_NONE;
	return index + 1 < last ? scene->by_row[index + 1] : WEFT_NONE;
}

uint32_t weft__render_row_tasks(const struct weft_scene *scene, uint32_t row, uint64_t from,
	uint64_t to, uint32_t *ret_tasks, uint32_t room)
{
	uint32_t last = scene->row_first[row + 1], count = 0;
	uint32_t index = weft__render_scene_first_alive(scene, scene->row_first[row], last, from);
	if (index > scene->row_first[row])
		index--;
	for (; index < last && count < room && weft__render_scene_start(scene, index) <= to; index++)
		ret_tasks[count++] = scene->by_row[index];
	return count;
}
