/* SPDX-License-Identifier: ISC
 *
 * Describes an edge in one sentence: the two tasks, and when it happens relative to the other
 * task's life.
 */
#include "base/export.h"
#include "story/index.h"
#include "story/verbs.h"
#include "story/words.h"

#define NAME_LETTERS 36

static bool is_failure(const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	return (model->tasks.flags[to] & WEFT_TASK_FAILED) &&
		   model->tasks.end[to] == model->edges.time[edge];
}

const char *weft__verb(const struct weft_model *model, uint32_t edge)
{
	switch ((enum weft_edge_type)model->edges.type[edge]) {
	case WEFT_EDGE_CREATE:
		return "creates";
	case WEFT_EDGE_READ:
		return "reads";
	case WEFT_EDGE_TRY_READ:
		return "waits for";
	case WEFT_EDGE_RESOLVE:
		return is_failure(model, edge) ? "fails" : "resolves";
	case WEFT_EDGE_SIGNAL:
		return "signals";
	case WEFT_EDGE_BECOME:
		return "becomes";
	case WEFT_EDGE_TYPES:
		break; /* not a type */
	}
	return "meets";
}

const char *weft__verb_passive(const struct weft_model *model, uint32_t edge)
{
	switch ((enum weft_edge_type)model->edges.type[edge]) {
	case WEFT_EDGE_CREATE:
		return "is created by";
	case WEFT_EDGE_READ:
		return "is read by";
	case WEFT_EDGE_TRY_READ:
		return "is waited for by";
	case WEFT_EDGE_RESOLVE:
		return is_failure(model, edge) ? "is failed by" : "is resolved by";
	case WEFT_EDGE_SIGNAL:
		return "is signalled by";
	case WEFT_EDGE_BECOME:
		return "goes on from";
	case WEFT_EDGE_TYPES:
		break; /* not a type */
	}
	return "is met by";
}

static bool has_end(const struct weft_model *model, uint32_t task)
{
	return model->tasks.flags[task] & WEFT_TASK_RESOLVED;
}

static void write_since_end(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	uint64_t time = model->edges.time[edge], end = model->tasks.end[to];
	if (!has_end(model, to) || end > time)
		return;
	weft__words_add(w,
		model->tasks.flags[to] & WEFT_TASK_FAILED ? ", which had failed " : ", which had ended ");
	weft__words_add_length(w, time - end);
	weft__words_add(w, " before");
}

static void write_until_end(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	uint64_t time = model->edges.time[edge], end = model->tasks.end[to];
	if (!has_end(model, to)) {
		weft__words_add(w, ", which does not end");
	} else if (end >= time) {
		weft__words_add(w, ", which ends ");
		weft__words_add_length(w, end - time);
		weft__words_add(w, " later");
	}
}

static void write_message(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	struct weft_slice message = weft_model_string(model, model->tasks.message[to]);
	if (!is_failure(model, edge) || !message.size)
		return;
	weft__words_add(w, ": ");
	weft__words_add_text(w, message, NAME_LETTERS);
}

void weft__words_add_circumstance(
	struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	switch (model->edges.type[edge]) {
	case WEFT_EDGE_READ:
		write_since_end(w, model, edge);
		break;
	case WEFT_EDGE_TRY_READ:
		write_until_end(w, model, edge);
		break;
	case WEFT_EDGE_RESOLVE:
		write_message(w, model, edge);
		break;
	default:
		break;
	}
}

WEFT__EXPORT size_t weft_story_edge_sentence(
	const struct weft_story *story, uint32_t edge, char *buffer, size_t size)
{
	const struct weft_model *model = story->model;
	uint32_t from = model->edges.from[edge], to = model->edges.to[edge];
	struct weft__sentence s;
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 3);
	if (from == WEFT_NONE)
		weft__words_add(w, "An unknown task");
	else
		weft__words_add_subject(w, model, from, NAME_LETTERS);
	weft__words_add(w, " %s ", weft__verb(model, edge));
	w = weft__clause(&s, 3);
	weft__words_add_subject(w, model, to, NAME_LETTERS);
	w = weft__clause(&s, 1);
	weft__words_add(w, " at ");
	weft__words_add_time(w, model, model->edges.time[edge]);
	weft__words_add_circumstance(weft__clause(&s, 2), model, edge);
	return weft__sentence_write(&s, buffer, size);
}
