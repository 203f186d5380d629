/* SPDX-License-Identifier: ISC
 *
 * Figures of a cluster of tasks: how many, how they ended, how long they lived.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/export.h"
#include "base/sort.h"
#include "story/index.h"
#include "story/words.h"

static uint64_t life_ns(const struct weft_story *story, uint32_t task)
{
	uint64_t start = weft__story_start_of(story, task), end = story->model->tasks.end[task];
	return end > start ? end - start : 0;
}

WEFT__EXPORT int weft_story_group_tasks(const struct weft_story *story, const uint32_t *tasks,
	uint32_t count, struct weft_story_group *ret_group)
{
	struct weft_story_group group = {.tasks = count, .longest = WEFT_NONE};
	uint64_t *lives = malloc((2 * (size_t)count + 1) * sizeof(*lives));
	if (!lives)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		lives[i] = life_ns(story, tasks[i]);
		group.by_outcome[story->model->tasks.outcome[tasks[i]]]++;
		if (group.longest == WEFT_NONE || lives[i] > group.longest_ns) {
			group.longest = tasks[i];
			group.longest_ns = lives[i];
		}
	}
	weft__sort_u64(lives, lives + count, count);
	if (count)
		group.p50_ns = lives[(count - 1) / 2];
	free(lives);
	*ret_group = group;
	return 0;
}

static void write_lives(
	struct weft__sentence *s, const struct weft_story_group *group, const char *before)
{
	struct weft__words *w = weft__story_clause(s, 2);
	weft__story_words_add(w, "%s", before);
	if (group->tasks > 1) {
		weft__story_words_add(w, "p50 ");
		weft__story_words_add_length(w, group->p50_ns);
		weft__story_words_add(w, ", longest ");
	}
	weft__story_words_add_length(w, group->longest_ns);
}

static void write_outcomes(struct weft__sentence *s, const struct weft_story_group *group)
{
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		if (group->by_outcome[i] && i != WEFT_OUTCOME_FULFILLED && i != WEFT_OUTCOME_BECAME)
			weft__story_words_add(weft__story_clause(s, 3), ", %" PRIu32 " %s",
				group->by_outcome[i], weft_outcome_name((enum weft_outcome)i));
}

WEFT__EXPORT size_t weft_story_group_sentence(
	const struct weft_story_group *group, char *buffer, size_t size)
{
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	weft__story_words_add_count(weft__story_clause(&s, 4), group->tasks, "task");
	write_outcomes(&s, group);
	if (group->tasks)
		write_lives(&s, group, ", ");
	return weft__story_sentence_write(&s, buffer, size);
}

WEFT__EXPORT size_t weft_story_fold_sentence(const struct weft_story *story, uint32_t task,
	const struct weft_story_group *group, char *buffer, size_t size)
{
	const struct weft_model *model = story->model;
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	uint32_t parent = story->layout ? story->layout->parent[task] : model->tasks.parent[task];
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 4);
	weft__story_words_add(w, "%" PRIu32 " \xc3\x97 ", group->tasks);
	weft__story_words_add_kind(w, model, model->tasks.kind[task]);
	if (label.size) {
		weft__story_words_add(w, " '");
		weft__story_words_add_text(w, label, 40);
		weft__story_words_add(w, "'");
	}
	if (parent != WEFT_NONE) {
		w = weft__story_clause(&s, 1);
		weft__story_words_add(w, " below ");
		weft__story_words_add_task(w, model, parent, 28);
	}
	write_outcomes(&s, group);
	write_lives(&s, group, ": ");
	return weft__story_sentence_write(&s, buffer, size);
}
