/* SPDX-License-Identifier: ISC */
#include "otlp/plan.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "otlp/kinds.h"

/* ---- What is shown ---- */

static bool is_worth_showing(const struct weft__otlp_plan *plan, uint32_t task)
{
	const struct weft_tasks *tasks = &plan->model->tasks;
	const uint16_t kind = tasks->kind[task];
	if (!plan->first_folded)
		return true;
	return plan->is_inferred[task] || weft__otlp_plan_context(plan, task) ||
		   weft__otlp_kind_is_shown(kind, tasks->label[task] != WEFT_NONE);
}

/* ---- Messages ---- */

/* Sorts the receive edges by receiver: counts, then positions, which are moved while filling. */
static int index_receives(struct weft__otlp_plan *plan)
{
	const struct weft_edges *edges = &plan->model->edges;
	const uint32_t tasks = plan->model->tasks.count;
	plan->first_receive = calloc(tasks + (size_t)2, sizeof(uint32_t));
	if (!plan->first_receive)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->type[i] == WEFT_EDGE_RECEIVE)
			plan->first_receive[edges->to[i] + 2]++;
	for (uint32_t t = 1; t <= tasks; t++)
		plan->first_receive[t + 1] += plan->first_receive[t];
	plan->receives = calloc(plan->first_receive[tasks + 1] + (size_t)1, sizeof(uint32_t));
	if (!plan->receives)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->type[i] == WEFT_EDGE_RECEIVE)
			plan->receives[plan->first_receive[edges->to[i] + 1]++] = i;
	return 0;
}

/* The task of another process that sent all messages to a task which came from other processes, if
 * it began earlier; else WEFT_NONE: a task with several clients is below none of them. */
static uint32_t sender(const struct weft__otlp_plan *plan, uint32_t task)
{
	const struct weft_model *model = plan->model;
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t found = WEFT_NONE;
	for (uint32_t i = plan->first_receive[task]; i < plan->first_receive[task + 1]; i++) {
		const uint32_t from = model->edges.from[plan->receives[i]];
		if (from == WEFT_NONE || from == found || tasks->buffer[from] == tasks->buffer[task])
			continue;
		if (found != WEFT_NONE || tasks->start[from] >= tasks->start[task])
			return WEFT_NONE;
		found = from;
	}
	return found;
}

static void find_parents(struct weft__otlp_plan *plan)
{
	const struct weft_tasks *tasks = &plan->model->tasks;
	for (uint32_t t = 0; t < tasks->count; t++) {
		const uint16_t kind = tasks->kind[t];
		const bool has_parent = weft__otlp_kind_is_thing(kind) || weft__otlp_plan_context(plan, t);
		const uint32_t from = has_parent ? WEFT_NONE : sender(plan, t);
		plan->is_inferred[t] = from != WEFT_NONE;
		plan->above[t] = from != WEFT_NONE ? from : tasks->parent[t];
	}
}

/* ---- Ancestors ---- */

enum state {
	UNSEEN,
	ON_PATH,
	DONE
};

/* Parents by message may close a circle: one of these is then below its creator again. */
static void break_circle(struct weft__otlp_plan *plan, uint32_t task)
{
	uint32_t at = task;
	do {
		if (plan->is_inferred[at]) {
			plan->is_inferred[at] = false;
			plan->above[at] = plan->model->tasks.parent[at];
			return;
		}
		at = plan->above[at];
	} while (at != task);
	plan->above[task] = WEFT_NONE;
}

static void settle_span(struct weft__otlp_plan *plan, uint32_t task)
{
	const uint32_t above = plan->above[task];
	const uint32_t span = above == WEFT_NONE ? WEFT_NONE : plan->shown[above];
	if (is_worth_showing(plan, task)) {
		plan->shown[task] = task;
		return;
	}
	plan->shown[task] = span;
	plan->folded++;
	if (span != WEFT_NONE) {
		plan->next_folded[task] = plan->first_folded[span];
		plan->first_folded[span] = task;
	}
}

/* A task that nobody has created, or that such a task waits for, works for no request. What it
 * creates and does not wait for is a request. */
static bool is_request(const struct weft__otlp_plan *plan, uint32_t task, uint32_t parent)
{
	return plan->first_folded && (plan->role[parent] & WEFT__OTLP_SERVES) &&
		   !(plan->role[task] & WEFT__OTLP_AWAITED) && !plan->is_inferred[task];
}

static uint32_t shown_above(const struct weft__otlp_plan *plan, uint32_t task)
{
	const uint32_t above = plan->above[task];
	return above == WEFT_NONE ? WEFT_NONE : plan->shown[above];
}

static void settle_root(struct weft__otlp_plan *plan, uint32_t task)
{
	const uint32_t parent = shown_above(plan, task);
	if (plan->shown[task] != task)
		return;
	if (!weft__otlp_plan_context(plan, task) && parent != WEFT_NONE &&
		is_request(plan, task, parent))
		plan->role[task] |= WEFT__OTLP_REQUEST;
	const bool is_below = weft__otlp_plan_parent(plan, task) != WEFT_NONE;
	plan->root[task] = is_below ? plan->root[parent] : task;
	if (plan->first_folded && !weft__otlp_plan_context(plan, task) &&
		(parent == WEFT_NONE || (is_below && plan->role[parent] & WEFT__OTLP_SERVES)))
		plan->role[task] |= WEFT__OTLP_SERVES;
}

/* Calls `settle` for each task, after the one above it. Without recursion: `path` has room for all
 * tasks. */
static void settle_all(struct weft__otlp_plan *plan, uint32_t *path, uint8_t *states,
	void (*settle)(struct weft__otlp_plan *plan, uint32_t task))
{
	for (uint32_t t = 0; t < plan->model->tasks.count; t++) {
		uint32_t length = 0, at = t;
		while (at != WEFT_NONE && states[at] != DONE) {
			if (states[at] == ON_PATH) {
				break_circle(plan, at);
				while (length > 0)
					states[path[--length]] = UNSEEN;
				at = t;
				continue;
			}
			states[at] = ON_PATH;
			path[length++] = at;
			at = plan->above[at];
		}
		while (length > 0) {
			settle(plan, path[--length]);
			states[path[length]] = DONE;
		}
	}
}

/* ---- Requests ---- */

static bool is_wait(uint8_t type)
{
	return type == WEFT_EDGE_READ || type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY;
}

/* A span is awaited if a task in the one above it, or in one below that, reads one in it, or if a
 * task in it ends a promise in the one above. */
static void find_awaited(struct weft__otlp_plan *plan)
{
	const struct weft_edges *edges = &plan->model->edges;
	for (uint32_t i = 0; plan->first_folded && i < edges->count; i++) {
		const uint32_t from = edges->from[i], to = edges->to[i];
		const uint32_t actor = from == WEFT_NONE ? WEFT_NONE : plan->shown[from];
		const uint32_t other = plan->shown[to];
		if (actor == WEFT_NONE || other == WEFT_NONE || actor == other)
			continue;
		const uint32_t above = shown_above(plan, other);
		if (is_wait(edges->type[i]) && (above == actor || above == shown_above(plan, actor)))
			plan->role[other] |= WEFT__OTLP_AWAITED;
		if (edges->type[i] == WEFT_EDGE_RESOLVE && to != other &&
			!weft__otlp_kind_is_thing(plan->model->tasks.kind[to]) &&
			shown_above(plan, actor) == other)
			plan->role[actor] |= WEFT__OTLP_AWAITED;
	}
}

static int find_spans(struct weft__otlp_plan *plan)
{
	const size_t count = plan->model->tasks.count + (size_t)1;
	uint32_t *path = calloc(count, sizeof(*path));
	uint8_t *states = calloc(count, sizeof(*states));
	const int error = path && states ? 0 : WEFT_ERROR_MEMORY;
	if (!error) {
		settle_all(plan, path, states, settle_span);
		find_awaited(plan);
		memset(states, UNSEEN, count);
		settle_all(plan, path, states, settle_root);
	}
	free(path);
	free(states);
	return error;
}

/* ---- The plan ---- */

static uint32_t buffer_of(const struct weft_model *model, uint32_t task)
{
	const uint32_t buffer = model->tasks.buffer[task];
	return buffer < model->buffer_count ? buffer : model->buffer_count;
}

static int sort_tasks(struct weft__otlp_plan *plan)
{
	const struct weft_model *model = plan->model;
	uint32_t *at = calloc(model->buffer_count + (size_t)2, sizeof(*at));
	plan->order = calloc(model->tasks.count + (size_t)1, sizeof(*plan->order));
	if (!at || !plan->order) {
		free(at);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t t = 0; t < model->tasks.count; t++)
		at[buffer_of(model, t) + 1]++;
	for (uint32_t i = 0; i < model->buffer_count; i++)
		at[i + 1] += at[i];
	for (uint32_t t = 0; t < model->tasks.count; t++)
		plan->order[at[buffer_of(model, t)]++] = t;
	free(at);
	return 0;
}

static int make_seeds(struct weft__otlp_plan *plan)
{
	const struct weft_model *model = plan->model;
	plan->seeds = calloc(model->buffer_count + (size_t)1, sizeof(*plan->seeds));
	for (uint32_t i = 0; plan->seeds && i <= model->buffer_count; i++)
		plan->seeds[i] =
			weft__otlp_seed(weft_trace_buffer_at(model->buffers, model->buffer_count, i), i);
	return plan->seeds ? 0 : WEFT_ERROR_MEMORY;
}

static uint32_t *make_column(uint32_t count)
{
	uint32_t *column = malloc((count + (size_t)1) * sizeof(*column));
	if (column)
		memset(column, 0xff, (count + (size_t)1) * sizeof(*column)); /* WEFT_NONE */
	return column;
}

static int make_columns(struct weft__otlp_plan *plan, bool folds)
{
	const uint32_t count = plan->model->tasks.count;
	plan->above = make_column(count);
	plan->shown = make_column(count);
	plan->root = make_column(count);
	plan->is_inferred = calloc(count + (size_t)1, sizeof(bool));
	plan->role = calloc(count + (size_t)1, sizeof(*plan->role));
	bool good = plan->above && plan->shown && plan->root && plan->is_inferred && plan->role;
	if (folds) {
		plan->first_folded = make_column(count);
		plan->next_folded = make_column(count);
		good = good && plan->first_folded && plan->next_folded;
	}
	return good ? 0 : WEFT_ERROR_MEMORY;
}

int weft__otlp_plan_init(struct weft__otlp_plan *plan, const struct weft_model *model, bool folds)
{
	*plan = (struct weft__otlp_plan){.model = model};
	int error = make_columns(plan, folds);
	if (!error)
		error = weft__otlp_contexts_init(&plan->contexts, model);
	if (!error)
		error = make_seeds(plan);
	if (!error)
		error = sort_tasks(plan);
	if (!error)
		error = index_receives(plan);
	if (error)
		return error;
	find_parents(plan);
	return find_spans(plan);
}

void weft__otlp_plan_finish(struct weft__otlp_plan *plan)
{
	weft__otlp_contexts_finish(&plan->contexts);
	free(plan->seeds);
	free(plan->above);
	free(plan->shown);
	free(plan->root);
	free(plan->is_inferred);
	free(plan->role);
	free(plan->first_folded);
	free(plan->next_folded);
	free(plan->first_receive);
	free(plan->receives);
	free(plan->order);
}

uint64_t weft__otlp_plan_seed(const struct weft__otlp_plan *plan, uint32_t task)
{
	return plan->seeds[buffer_of(plan->model, task)];
}

const struct weft__otlp_context *weft__otlp_plan_context(
	const struct weft__otlp_plan *plan, uint32_t task)
{
	return weft__otlp_context_of(&plan->contexts, task);
}

uint64_t weft__otlp_plan_span(const struct weft__otlp_plan *plan, uint32_t task)
{
	const struct weft__otlp_context *context = weft__otlp_plan_context(plan, task);
	if (context)
		return context->span;
	return weft__otlp_task_id(plan->model, task, weft__otlp_plan_seed(plan, task));
}

struct weft__otlp_trace_id weft__otlp_plan_trace(const struct weft__otlp_plan *plan, uint32_t task)
{
	const uint32_t root = plan->root[task];
	const struct weft__otlp_context *context = weft__otlp_plan_context(plan, root);
	if (context)
		return context->trace;
	return weft__otlp_trace_of(weft__otlp_plan_span(plan, root), weft__otlp_plan_seed(plan, root));
}

uint32_t weft__otlp_plan_parent(const struct weft__otlp_plan *plan, uint32_t task)
{
	const bool is_root =
		plan->role[task] & WEFT__OTLP_REQUEST || weft__otlp_plan_context(plan, task);
	return is_root ? WEFT_NONE : shown_above(plan, task);
}
