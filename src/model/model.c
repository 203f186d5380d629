/* SPDX-License-Identifier: ISC
 *
 * Look-ups in a finished model, its names as text, and its destructor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/search.h"
#include "model/builder.h"
#include "model/live.h"

static const struct weft__model *private(const struct weft_model *model)
{
	return (const struct weft__model *)model;
}

WEFT__EXPORT const char *weft_edge_name(enum weft_edge_type type)
{
	static const char *const names[WEFT_EDGE_TYPES] = {
		[WEFT_EDGE_CREATE] = "create",
		[WEFT_EDGE_READ] = "read",
		[WEFT_EDGE_TRY_READ] = "try_read",
		[WEFT_EDGE_RESOLVE] = "resolve",
		[WEFT_EDGE_SIGNAL] = "signal",
		[WEFT_EDGE_WAIT_ANY] = "wait_any",
		[WEFT_EDGE_BECOME] = "become",
		[WEFT_EDGE_RECEIVE] = "receive",
	};
	return type < WEFT_EDGE_TYPES ? names[type] : "unknown";
}

WEFT__EXPORT const char *weft_outcome_name(enum weft_outcome outcome)
{
	static const char *const names[WEFT_OUTCOMES] = {
#define OUTCOME(id, key, name, flags) [WEFT_OUTCOME_##id] = name,
#include <weft/outcomes.def>
#undef OUTCOME
	};
	return outcome < WEFT_OUTCOMES ? names[outcome] : "unknown";
}

WEFT__EXPORT const char *weft_outcome_key(enum weft_outcome outcome)
{
	static const char *const keys[WEFT_OUTCOMES] = {
#define OUTCOME(id, key, name, flags) [WEFT_OUTCOME_##id] = key,
#include <weft/outcomes.def>
#undef OUTCOME
	};
	return outcome < WEFT_OUTCOMES ? keys[outcome] : "unknown";
}

WEFT__EXPORT const char *weft_loss_name(enum weft_loss cause)
{
	static const char *const names[WEFT_LOSS_CAUSES] = {
#define LOSS(number, id, name) [WEFT_LOSS_##id] = name,
#include <weft/losses.def>
#undef LOSS
	};
	return cause < WEFT_LOSS_CAUSES ? names[cause] : "unknown";
}

static const char *const level_names[] = {
#define LEVEL(number, id, name) [number] = name,
#include <weft/levels.def>
#undef LEVEL
};

WEFT__EXPORT const char *weft_level_name(unsigned level)
{
	return level <= WEFT_LEVEL_LAST ? level_names[level] : NULL;
}

WEFT__EXPORT int weft_level_parse(const char *name)
{
	for (int level = 0; level <= WEFT_LEVEL_LAST; level++)
		if (strcmp(name, level_names[level]) == 0)
			return level;
	return -1;
}

WEFT__EXPORT uint32_t weft_model_string_count(const struct weft_model *model)
{
	return private(model)->strings.count;
}

WEFT__EXPORT struct weft_slice weft_model_string(const struct weft_model *model, uint32_t string)
{
	const struct weft__strings *strings = &private(model)->strings;
	if (string >= strings->count)
		return (struct weft_slice){"", 0};
	return (struct weft_slice){
		weft__strings_bytes(strings, string), weft__strings_size(strings, string)};
}

WEFT__EXPORT const char *weft_model_kind_name(const struct weft_model *model, unsigned kind)
{
	uint32_t named = weft__model_named_kind(kind);
	if (kind == WEFT_KIND_PREEXISTING)
		return "preexisting";
	return named < model->kind_count ? weft_model_string(model, model->kinds[named]).bytes
									 : weft_kind_name(kind);
}

WEFT__EXPORT uint32_t weft_model_category(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	if (tasks->category[task] || !(tasks->flags[task] & WEFT_TASK_CREATED))
		return tasks->category[task];
	bool is_known = weft_trace_buffer_at(model->buffers, model->buffer_count, tasks->buffer[task])
						->has_categories;
	return is_known ? WEFT_CATEGORY_PROGRAM : 0;
}

WEFT__EXPORT const char *weft_model_category_name(const struct weft_model *model, uint32_t category)
{
	if (category == WEFT_CATEGORY_PROGRAM)
		return "program";
	return category - 1 < model->category_count
			   ? weft_model_string(model, model->categories[category - 1]).bytes
			   : NULL;
}

WEFT__EXPORT struct weft_number weft_counter_number(
	const struct weft_model *model, const struct weft_counter *counter, uint32_t sample)
{
	return (struct weft_number){
		.real = weft_counter_value(model, counter, sample),
		.integer = model->samples.value[sample],
		.is_real = sample - counter->first >= counter->integers,
	};
}

WEFT__EXPORT size_t weft_model_format_name(
	const struct weft_model *model, uint32_t task, char *buffer, size_t size)
{
	uint32_t label = model->tasks.label[task];
	if (label != WEFT_NONE)
		return (size_t)snprintf(buffer, size, "%s", weft_model_string(model, label).bytes);
	return (size_t)snprintf(buffer, size, "%" PRIu64, model->tasks.id[task]);
}

/* A live model has no index of ids: keeping one up to date would cost more than this search. The
 * last task of an id is found, as in the index. */
static uint32_t find_last(const struct weft_tasks *tasks, uint32_t buffer, weft_task_id id)
{
	for (uint32_t task = (uint32_t)tasks->count; task-- > 0;)
		if (tasks->id[task] == id && tasks->buffer[task] == buffer)
			return task;
	return WEFT_NONE;
}

WEFT__EXPORT uint64_t weft_model_alert_time(
	const struct weft_model *model, const struct weft_trace_alert *alert)
{
	const struct weft_model_summary *summary = &model->summary;
	uint64_t time = alert->time_ns < summary->end ? alert->time_ns : summary->end;
	return time > summary->start ? time : summary->start;
}

WEFT__EXPORT uint32_t weft_model_find_task(
	const struct weft_model *model, uint32_t buffer, weft_task_id id)
{
	if (private(model)->snapshot)
		return find_last(&model->tasks, buffer, id);
	return weft__model_ids_find(
		&private(model)->tasks_by_id, model->tasks.id, model->tasks.buffer, buffer, id);
}

static bool is_before(const void *creations, uint32_t row, uint64_t task)
{
	return ((const struct weft_creation *)creations)[row].task < task;
}

WEFT__EXPORT bool weft_model_creation(
	const struct weft_model *model, uint32_t task, uint64_t *ret_ns)
{
	if (model->tasks.flags[task] & WEFT_TASK_CREATED) {
		*ret_ns = model->tasks.start[task];
		return true;
	}
	uint32_t row = weft__search(model->creations, 0, model->creation_count, is_before, task);
	if (row == model->creation_count || model->creations[row].task != task)
		return false;
	*ret_ns = model->creations[row].time;
	return true;
}

WEFT__EXPORT size_t weft_counter_format(
	const struct weft_counter *counter, struct weft_number number, char *buffer, size_t size)
{
	char digits[64];
	weft_number_format(number, digits, sizeof(digits));
	const bool has_sign = counter->is_relative && digits[0] != '-';
	int length = snprintf(buffer, size, "%s%s", has_sign ? "+" : "", digits);
	return length > 0 ? (size_t)length : 0;
}

WEFT__EXPORT uint64_t weft_model_running_ns(const struct weft_model *model, uint32_t task)
{
	const struct weft_activations *a = &model->activations;
	uint64_t sum = 0;
	for (uint32_t i = model->tasks.first_activation[task]; i < model->tasks.end_activation[task];
		 i++)
		sum += a->end[i] - a->start[i];
	return sum;
}

WEFT__EXPORT uint32_t weft_model_resolve_become(const struct weft_model *model, uint32_t task)
{
	while (model->tasks.becomes[task] != WEFT_NONE)
		task = model->tasks.becomes[task];
	return task;
}

/* The model owns its columns, though the public struct shows them as const. */
static void free_all(const void *const *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)(uintptr_t)columns[i]);
}

WEFT__EXPORT void weft_model_destroy(struct weft_model *m)
{
	struct weft__model *model = (struct weft__model *)m;
	if (!model)
		return;
	if (model->snapshot) {
		weft__model_snapshot_destroy(model);
		return;
	}
	const void *columns[] = {
#define TASK_COLUMN(name, type, first) m->tasks.name,
#include <weft/task_columns.def>
#undef TASK_COLUMN
		m->tasks.id, m->tasks.start, m->tasks.end, m->tasks.buffer, m->tasks.first_edge,
		m->tasks.first_note, m->tasks.first_activation, m->edges.time, m->edges.from, m->edges.to,
		m->edges.type, m->edges.by_actor, m->edges.sent, m->activations.start, m->activations.end,
		m->activations.thread, m->notes.time, m->notes.text, m->notes.value, m->notes.type,
		m->samples.time, m->samples.value, m->samples.task, m->counters, m->bands, m->threads,
		m->presences, m->creations, m->loss_periods, m->dark, m->buffers, m->spans.start,
		m->spans.end, m->spans.name, m->spans.depth, m->spans.first, m->kinds, m->categories,
		m->off_cpu.start, m->off_cpu.end, m->off_cpu.ns, m->off_cpu.thread, m->off_cpu.first,
		m->attributes.value, m->attributes.name, m->attributes.type, m->stacks.time, m->stacks.task,
		m->stacks.text, m->code_samples, m->histograms, m->buckets};
	free_all(columns, sizeof(columns) / sizeof(*columns));
	weft__strings_finish(&model->strings);
	weft__model_ids_finish(&model->tasks_by_id);
	free(model);
}
