/* SPDX-License-Identifier: ISC
 *
 * Lists the tasks that are alive in the range, each with the key of its row.
 */
#include <stdlib.h>

#include "layout/threads.h"
#include "stats/stats.h"
#include "story/index.h"

/* Makes the keys by which tasks are grouped in rows. */
struct keys {
	const struct weft__stats_making *making;
	struct weft__labels labels;
	uint32_t *threads;
};

static int keys_init(struct keys *keys, const struct weft__stats_making *making)
{
	const struct weft_model *model = making->model;
	*keys = (struct keys){.making = making};
	if (making->by == WEFT_STATS_BY_LABEL || making->by == WEFT_STATS_BY_PARENT)
		return weft__layout_labels_init(&keys->labels, model, weft_model_string_count(model));
	if (making->by != WEFT_STATS_BY_THREAD)
		return 0;
	keys->threads = malloc((model->tasks.count + (size_t)1) * sizeof(*keys->threads));
	if (!keys->threads)
		return WEFT_ERROR_MEMORY;
	weft__layout_find_threads(model, keys->threads);
	return 0;
}

static void keys_finish(struct keys *keys)
{
	if (keys->labels.class_of)
		weft__layout_labels_finish(&keys->labels);
	free(keys->threads);
}

/* Alike tasks have one key: the class of the label, and the kind. */
static int key_of_label(struct keys *keys, uint32_t task, uint64_t *ret_key)
{
	const struct weft_tasks *tasks = &keys->making->model->tasks;
	uint64_t class = WEFT_NONE;
	uint32_t label = tasks->label[task];
	bool is_named = weft_model_string(keys->making->model, label).size > 0;
	int error = is_named ? weft__layout_labels_add(&keys->labels, label) : 0;
	if (is_named && !error)
		class = keys->labels.class_of[label];
	*ret_key = class << 16 | tasks->kind[task];
	return error;
}

static int key_of_parent(struct keys *keys, uint32_t task, uint64_t *ret_key)
{
	const struct weft_story *story = keys->making->story;
	uint32_t parent =
		story->layout ? story->layout->parent[task] : story->model->tasks.parent[task];
	if (parent != WEFT_NONE)
		return key_of_label(keys, parent, ret_key);
	*ret_key = WEFT__STATS_NO_KEY;
	return 0;
}

static int key_of(struct keys *keys, uint32_t task, uint64_t *ret_key)
{
	const struct weft_tasks *tasks = &keys->making->model->tasks;
	switch (keys->making->by) {
	case WEFT_STATS_BY_LABEL:
		return key_of_label(keys, task, ret_key);
	case WEFT_STATS_BY_PARENT:
		return key_of_parent(keys, task, ret_key);
	case WEFT_STATS_BY_KIND:
		*ret_key = tasks->kind[task];
		break;
	case WEFT_STATS_BY_THREAD:
		*ret_key = keys->threads[task];
		break;
	case WEFT_STATS_BY_PROCESS:
		*ret_key = tasks->buffer[task];
		break;
	case WEFT_STATS_BY_CATEGORY:
		*ret_key = weft_model_category(keys->making->model, task);
		break;
	case WEFT_STATS_BY_SPAN:
	case WEFT_STATS_BY_STACK:
	case WEFT_STATS_BYS:
		break;
	}
	return 0;
}

static void set_outcome(const struct weft__stats_making *making, struct weft__stats_item *item)
{
	const struct weft_tasks *tasks = &making->model->tasks;
	uint32_t task = item->member.task, flags = tasks->flags[task];
	bool reaches_end = making->to == UINT64_MAX;
	item->is_ended = (flags & WEFT_TASK_RESOLVED) && (reaches_end || item->member.end < making->to);
	item->outcome = WEFT_OUTCOME_UNFINISHED;
	if (item->is_ended || (reaches_end && !(flags & WEFT_TASK_RESOLVED)))
		item->outcome = tasks->outcome[task];
}

/* True if the task began before the part of the trace that was read, and nothing says when. */
static bool is_begin_unread(const struct weft_model *model, uint32_t task)
{
	uint64_t ns;
	return model->summary.read_start > model->summary.start &&
		   !weft_model_creation(model, task, &ns);
}

static int add_task(struct weft__stats_making *making, struct keys *keys, uint32_t task)
{
	uint64_t start = weft__story_start_of(making->story, task),
			 end = making->model->tasks.end[task];
	struct weft__stats_item item = {.member = {start, end > start ? end : start, task}};
	/* Tasks outside the range get keys, too, so that a label has the same key in each range. */
	int error = key_of(keys, task, &item.key);
	if (error || start >= making->to || item.member.end < making->from ||
		weft__stats_is_hidden(making, task))
		return error;
	set_outcome(making, &item);
	if (is_begin_unread(making->model, task))
		item.is_ended = false; /* its whole life is unknown */
	making->items[making->item_count++] = item;
	return 0;
}

int weft__stats_list_tasks(struct weft__stats_making *making)
{
	uint32_t count = making->model->tasks.count;
	struct keys keys;
	making->items = malloc((count + (size_t)1) * sizeof(*making->items));
	int error = making->items ? keys_init(&keys, making) : WEFT_ERROR_MEMORY;
	if (error)
		return error;
	for (uint32_t task = 0; task < count && !error; task++)
		if (making->model->tasks.kind[task] != WEFT_KIND_TRACK) /* tracks only have spans */
			error = add_task(making, &keys, task);
	keys_finish(&keys);
	return error;
}
