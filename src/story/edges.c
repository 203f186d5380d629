/* SPDX-License-Identifier: ISC
 *
 * Describes an edge in one sentence: the two tasks, and when it happens relative to the other
 * task's life.
 */
#include "base/export.h"
#include "story/any.h"
#include "story/holders.h"
#include "story/verbs.h"
#include "story/words.h"

#define NAME_LETTERS 36

/* How an edge to a task that ended is described, by the task's outcome. */
struct end_words {
	const char *verb, *passive, *past;
};

static const struct end_words *words_of_end(enum weft_outcome outcome)
{
	static const struct end_words words[WEFT_OUTCOMES] = {
		[WEFT_OUTCOME_FULFILLED] = {"resolves", "is resolved by", "ended"},
		[WEFT_OUTCOME_FAILED] = {"fails", "is failed by", "failed"},
		[WEFT_OUTCOME_CANCELLED] = {"cancels", "is cancelled by", "been cancelled"},
		[WEFT_OUTCOME_CLOSED] = {"closes", "is closed by", "been closed"},
		[WEFT_OUTCOME_TIMED_OUT] = {"times out", "is timed out by", "timed out"},
	};
	return &words[words[outcome].verb ? outcome : WEFT_OUTCOME_FULFILLED];
}

/* The outcome that the edge gave its target; a later resolve has no effect. */
static enum weft_outcome given_outcome(const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	bool is_end = model->tasks.end[to] == model->edges.time[edge];
	return is_end ? (enum weft_outcome)model->tasks.outcome[to] : WEFT_OUTCOME_FULFILLED;
}

/* True if the edge leads to a lock, pool or queue. Semaphores of other formats are read and
 * signalled. */
static bool is_of_lock(const struct weft_model *model, uint32_t edge)
{
	unsigned kind = model->tasks.kind[model->edges.to[edge]];
	return kind != WEFT_KIND_SEMAPHORE && weft__model_is_resource(kind);
}

/* True if the wait_any to which the edge belongs has no other edge. */
static bool is_alone(const struct weft_model *model, uint32_t edge)
{
	return model->edges.from[edge] != WEFT_NONE && weft__story_any_of(model, edge).count == 1;
}

const char *weft__story_verb(const struct weft_model *model, uint32_t edge)
{
	switch ((enum weft_edge_type)model->edges.type[edge]) {
	case WEFT_EDGE_CREATE:
		return "creates";
	case WEFT_EDGE_READ:
		return is_of_lock(model, edge) ? "takes" : "reads";
	case WEFT_EDGE_TRY_READ:
		return "waits for";
	case WEFT_EDGE_RESOLVE:
		return words_of_end(given_outcome(model, edge))->verb;
	case WEFT_EDGE_SIGNAL:
		return is_of_lock(model, edge) ? "releases" : "signals";
	case WEFT_EDGE_BECOME:
		return "becomes";
	case WEFT_EDGE_WAIT_ANY:
		return is_alone(model, edge) ? "waits for" : "waits, among others, for";
	case WEFT_EDGE_RECEIVE:
		return "sends to";
	case WEFT_EDGE_TYPES:
		break; /* not a type */
	}
	return "meets";
}

const char *weft__story_verb_passive(const struct weft_model *model, uint32_t edge)
{
	switch ((enum weft_edge_type)model->edges.type[edge]) {
	case WEFT_EDGE_CREATE:
		return "is created by";
	case WEFT_EDGE_READ:
		return is_of_lock(model, edge) ? "is taken by" : "is read by";
	case WEFT_EDGE_TRY_READ:
		return "is waited for by";
	case WEFT_EDGE_RESOLVE:
		return words_of_end(given_outcome(model, edge))->passive;
	case WEFT_EDGE_SIGNAL:
		return is_of_lock(model, edge) ? "is released by" : "is signalled by";
	case WEFT_EDGE_BECOME:
		return "goes on from";
	case WEFT_EDGE_WAIT_ANY:
		return is_alone(model, edge) ? "is waited for by" : "is waited for, with others, by";
	case WEFT_EDGE_RECEIVE:
		return "receives from";
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
	weft__story_words_add(
		w, ", which had %s ", words_of_end((enum weft_outcome)model->tasks.outcome[to])->past);
	weft__story_words_add_length(w, time - end);
	weft__story_words_add(w, " before");
}

static void write_until_end(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	uint64_t time = model->edges.time[edge], end = model->tasks.end[to];
	if (!has_end(model, to)) {
		weft__story_words_add(w, ", which does not end");
	} else if (end >= time) {
		weft__story_words_add(w, ", which ends ");
		weft__story_words_add_length(w, end - time);
		weft__story_words_add(w, " later");
	}
}

/* Appends how a wait for any of several sources ended: ", and gets reply 3.09 ms later". */
static void write_got(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *e = &model->edges;
	if (e->from[edge] == WEFT_NONE)
		return;
	uint32_t read = weft__story_any_read(model, weft__story_any_of(model, edge));
	if (read == WEFT_NONE) {
		write_until_end(w, model, edge);
		return;
	}
	weft__story_words_add(w, ", and gets ");
	if (e->to[read] == e->to[edge])
		weft__story_words_add(w, "it");
	else
		weft__story_words_add_task(w, model, e->to[read], NAME_LETTERS);
	weft__story_words_add(w, " ");
	weft__story_words_add_length(w, e->time[read] - e->time[edge]);
	weft__story_words_add(w, " later");
}

static void write_message(struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	struct weft_slice message = weft_model_string(model, model->tasks.message[to]);
	if (given_outcome(model, edge) != WEFT_OUTCOME_FAILED || !message.size)
		return;
	weft__story_words_add(w, ": ");
	weft__story_words_add_text(w, message, NAME_LETTERS);
}

void weft__story_words_add_circumstance(
	struct weft__words *w, const struct weft_model *model, uint32_t edge)
{
	switch (model->edges.type[edge]) {
	case WEFT_EDGE_READ:
		write_since_end(w, model, edge);
		break;
	case WEFT_EDGE_TRY_READ:
		write_until_end(w, model, edge);
		break;
	case WEFT_EDGE_WAIT_ANY:
		write_got(w, model, edge);
		break;
	case WEFT_EDGE_RESOLVE:
		write_message(w, model, edge);
		break;
	case WEFT_EDGE_RECEIVE:
		if (model->edges.from[edge] != WEFT_NONE)
			weft__story_words_add_host(w, model, model->edges.to[edge], model->edges.from[edge]);
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
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 3);
	if (from == WEFT_NONE)
		weft__story_words_add(w, "An unknown task");
	else
		weft__story_words_add_subject(w, model, from, NAME_LETTERS);
	weft__story_words_add(w, " %s ", weft__story_verb(model, edge));
	w = weft__story_clause(&s, 3);
	weft__story_words_add_subject(w, model, to, NAME_LETTERS);
	w = weft__story_clause(&s, 1);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, model->edges.time[edge]);
	weft__story_words_add_circumstance(weft__story_clause(&s, 2), model, edge);
	return weft__story_sentence_write(&s, buffer, size);
}
