/* SPDX-License-Identifier: ISC
 *
 * Finds where the lines of unfinished tasks become dashed: from their last act on nothing is known
 * of them. A row can end with such a tail, and then nothing else follows in it.
 */
#include <stdlib.h>

#include "render/scene/scene.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t weft__render_last_act(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	uint64_t last = t->start[task];
	if (t->end_activation[task] > t->first_activation[task])
		last = model->activations.end[t->end_activation[task] - 1];
	if (t->end_edge[task] > t->first_edge[task])
		last = later(last, model->edges.time[model->edges.by_actor[t->end_edge[task] - 1]]);
	if (t->end_note[task] > t->first_note[task])
		last = later(last, model->notes.time[t->end_note[task] - 1]);
	return last;
}

bool weft__render_has_tail(const struct weft_model *model, uint32_t task)
{
	const unsigned ended = WEFT_TASK_RESOLVED | WEFT_TASK_FAILED | WEFT_TASK_STOPPED;
	return !model->summary.live && !(model->tasks.flags[task] & ended);
}

int weft__render_scene_make_tails(struct weft_scene *scene)
{
	uint32_t rows = scene->layout->row_count;
	if (scene->model->summary.live)
		return 0;
	scene->tails = malloc((rows + (size_t)1) * sizeof(*scene->tails));
	if (!scene->tails)
		return WEFT_ERROR_MEMORY;
	for (uint32_t row = 0; row < rows; row++) {
		uint32_t end = scene->row_first[row + 1];
		bool has_tail = scene->row_first[row] < end &&
						weft__render_has_tail(scene->model, scene->by_row[end - 1]);
		scene->tails[row] =
			has_tail ? weft__render_last_act(scene->model, scene->by_row[end - 1]) : UINT64_MAX;
	}
	return 0;
}
