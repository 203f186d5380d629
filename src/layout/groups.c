/* SPDX-License-Identifier: ISC
 *
 * Assigns tasks to groups. A task belongs to the thread that it first ran on; a task that never
 * ran, to the thread that ran its creator at that time; if none did, to its creator's group. A task
 * without a creator belongs to its buffer's first thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/search.h"
#include "layout/layout.h"
#include "layout/threads.h"

#define NAME_BYTES     64
#define KEYS_MAX       (1u << 20) /* the maximum number of threads of a model */
#define NAMES_COMPARED 256
#define VISITED        (WEFT_NONE - 1)

static const char *const group_names[] = {
	[WEFT_GROUP_BY_NONE] = "none",
	[WEFT_GROUP_BY_THREAD] = "thread",
	[WEFT_GROUP_BY_PROCESS] = "process",
	[WEFT_GROUP_BY_HOST] = "host",
	[WEFT_GROUP_BY_AUTO] = "auto",
};

WEFT__EXPORT const char *weft_group_by_name(enum weft_group_by by)
{
	return group_names[by];
}

WEFT__EXPORT bool weft_group_by_parse(const char *name, enum weft_group_by *ret_by)
{
	for (unsigned i = 0; i < sizeof(group_names) / sizeof(group_names[0]); i++)
		if (strcmp(name, group_names[i]) == 0) {
			*ret_by = (enum weft_group_by)i;
			return true;
		}
	return false;
}

/* True for a process, or for a guest of which only Xen's trace tells. Xen's own buffer and domain 0
 * are in each trace of it. */
static bool is_process(const struct weft_model *model, uint32_t buffer)
{
	const struct weft_trace_buffer *b = &model->buffers[buffer];
	if (!b->is_hypervisor)
		return b->pid || b->guest;
	for (uint32_t i = 0; i < model->buffer_count && b->guest > 1; i++)
		if (model->buffers[i].guest == b->guest && !model->buffers[i].is_hypervisor)
			return false;
	return b->guest > 1;
}

enum weft_group_by weft__layout_settle_group_by(
	const struct weft_model *model, enum weft_group_by by)
{
	uint32_t processes = 0;
	if (by != WEFT_GROUP_BY_AUTO)
		return by;
	for (uint32_t i = 0; i < model->buffer_count && processes < 2; i++)
		processes += is_process(model, i);
	return processes < 2 ? WEFT_GROUP_BY_NONE : WEFT_GROUP_BY_PROCESS;
}

static uint32_t buffer_of(const struct weft_tasks *tasks, uint32_t task)
{
	return tasks->buffer ? tasks->buffer[task] : 0;
}

/* The thread that ran `task` at a time, or WEFT_NONE. */
static uint32_t thread_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const struct weft_activations *a = &model->activations;
	uint32_t first = model->tasks.first_activation[task];
	uint32_t low = first, high = model->tasks.end_activation[task];
	low = weft__search(a->start, low, high, weft__is_not_more_u64, time);
	return low > first && a->end[low - 1] >= time ? a->thread[low - 1] : WEFT_NONE;
}

static uint32_t own_thread(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t first = tasks->first_activation[task], parent = tasks->parent[task];
	if (first < tasks->end_activation[task])
		return model->activations.thread[first];
	return parent == WEFT_NONE ? WEFT_NONE : thread_at(model, parent, tasks->start[task]);
}

static uint32_t first_thread(const struct weft_model *model, uint32_t buffer)
{
	for (uint32_t thread = 0; thread < model->thread_count; thread++)
		if (model->threads[thread].buffer == buffer)
			return thread;
	return 0;
}

/* Copies the key of the nearest creator that has one to all tasks on the way. */
static void inherit_key(const struct weft_model *model, uint32_t *key, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t at = task, found;
	while (at != WEFT_NONE && key[at] == WEFT_NONE) {
		key[at] = VISITED; /* stops at a cycle of creations */
		at = tasks->parent[at];
	}
	found = at == WEFT_NONE || key[at] == VISITED ? first_thread(model, buffer_of(tasks, task))
												  : key[at];
	for (at = task; at != WEFT_NONE && key[at] == VISITED; at = tasks->parent[at])
		key[at] = found;
}

void weft__layout_find_threads(const struct weft_model *model, uint32_t *key)
{
	for (uint32_t task = 0; task < model->tasks.count; task++)
		key[task] = own_thread(model, task);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (key[task] == WEFT_NONE)
			inherit_key(model, key, task);
}

static uint32_t key_of_buffer(
	const struct weft_model *model, enum weft_group_by by, uint32_t buffer)
{
	return by == WEFT_GROUP_BY_HOST
			   ? weft_trace_first_of_host(model->buffers, model->buffer_count, buffer)
			   : weft_trace_first_of_process(model->buffers, model->buffer_count, buffer);
}

static void find_keys(
	const struct weft_model *model, const struct weft_layout_options *options, uint32_t *key)
{
	const struct weft_layout *previous = options->previous;
	if (options->group_by == WEFT_GROUP_BY_THREAD)
		weft__layout_find_threads(model, key);
	else
		for (uint32_t task = 0; task < model->tasks.count; task++)
			key[task] = key_of_buffer(model, options->group_by, buffer_of(&model->tasks, task));
	for (uint32_t task = 0; previous && previous->group_of && task < previous->model->tasks.count;
		 task++)
		key[task] = previous->groups[previous->group_of[task]].key;
}

/* Replaces keys by numbers from 0 on, in the order of keys; returns their number. Writes each
 * group's `key`. */
static uint32_t number_groups(
	uint32_t *key, uint32_t count, uint32_t *number, uint32_t keys, uint32_t *key_of)
{
	uint32_t groups = 0;
	memset(number, 0, keys * sizeof(*number));
	for (uint32_t task = 0; task < count; task++)
		number[key[task]] = 1;
	for (uint32_t k = 0; k < keys; k++)
		if (number[k]) {
			key_of[groups] = k;
			number[k] = groups++;
		}
	for (uint32_t task = 0; task < count; task++)
		key[task] = number[key[task]];
	return groups;
}

/* There is little room beside a picture: "checkpointer 17", not "postgres: checkpointer 17". */
static void name_process(const struct weft_model *model, uint32_t buffer, char *name, size_t size)
{
	const char *program =
		weft_trace_buffer_at(model->buffers, model->buffer_count, buffer)->process;
	const size_t length = strlen(program);
	weft_trace_format_process(model->buffers, model->buffer_count, buffer, name, size);
	if (length && strncmp(name, program, length) == 0 && strncmp(name + length, ": ", 2) == 0)
		memmove(name, name + length + 2, strlen(name + length + 2) + 1);
}

static void name_host(const struct weft_model *model, uint32_t buffer, char *name, size_t size)
{
	const char *host = weft_trace_buffer_at(model->buffers, model->buffer_count, buffer)->host;
	snprintf(name, size, "%s", host[0] ? host : "unknown host");
}

/* True if the thread's name is unique, since libraries give all their threads one name. Not checked
 * for very many threads. */
static bool is_only_one(const struct weft_model *model, uint32_t thread)
{
	const struct weft_trace_thread *threads = model->threads;
	for (uint32_t i = 0; i < model->thread_count && model->thread_count <= NAMES_COMPARED; i++)
		if (i != thread && threads[i].buffer == threads[thread].buffer && threads[i].name &&
			strcmp(threads[i].name, threads[thread].name) == 0)
			return false;
	return true;
}

void weft__layout_name_thread(
	const struct weft_model *model, uint32_t thread, char *name, size_t size)
{
	size_t used = 0;
	if (thread < model->thread_count && model->buffer_count > 1) {
		name_process(model, model->threads[thread].buffer, name, size / 2);
		used = strlen(name);
		used += (size_t)snprintf(name + used, size - used, ": ");
	}
	if (thread < model->thread_count && model->threads[thread].name &&
		model->threads[thread].name[0]) {
		snprintf(name + used, size - used, "%s", model->threads[thread].name);
		used = strlen(name);
		if (!is_only_one(model, thread))
			snprintf(name + used, size - used, " %" PRIu64,
				model->threads[thread].tid ? model->threads[thread].tid : thread);
	} else if (thread < model->thread_count && model->threads[thread].tid)
		snprintf(name + used, size - used, "thread %" PRIu64, model->threads[thread].tid);
	else
		snprintf(name + used, size - used, "thread %" PRIu32, thread);
}

/* For each thread, the share of the trace's time in which it ran a task. */
static double *thread_shares(const struct weft_model *model)
{
	const struct weft_activations *a = &model->activations;
	const struct weft_tasks *t = &model->tasks;
	double *share = calloc(model->thread_count + (size_t)1, sizeof(*share));
	double length = (double)(model->summary.end - model->summary.start);
	for (uint32_t task = 0; share && task < t->count; task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++)
			if (a->thread[i] < model->thread_count && length > 0)
				share[a->thread[i]] += (double)(a->end[i] - a->start[i]) / length;
	return share;
}

static uint32_t threads_of(const struct weft_model *model, uint32_t buffer)
{
	uint32_t count = 0;
	for (uint32_t thread = 0; thread < model->thread_count; thread++)
		count += model->threads[thread].buffer == buffer;
	return count;
}

/* The share of a group without threads of its own: a domain, whose vCPUs run on the pCPUs of Xen.
 * It could have run as many at once as it has, while one of them existed. */
static double guest_share(const struct weft_model *model, enum weft_group_by by, uint32_t key)
{
	const struct weft_tasks *t = &model->tasks;
	const struct weft_activations *a = &model->activations;
	uint64_t start = UINT64_MAX, end = 0, ran = 0;
	uint32_t tasks = 0, threads = 0;
	for (uint32_t task = 0; task < t->count; task++) {
		uint32_t first = t->first_activation[task], last = t->end_activation[task];
		if (first == last || key_of_buffer(model, by, buffer_of(t, task)) != key)
			continue;
		if (!tasks++)
			threads = threads_of(model, model->threads[a->thread[first]].buffer);
		start = t->start[task] < start ? t->start[task] : start;
		end = t->end[task] > end ? t->end[task] : end;
		for (uint32_t i = first; i < last; i++)
			ran += a->end[i] - a->start[i];
	}
	double most = tasks < threads ? tasks : threads;
	return start < end ? (double)ran / (most * (double)(end - start)) : 0;
}

static double group_share(
	const struct weft_model *model, enum weft_group_by by, uint32_t key, const double *share)
{
	double sum = 0, threads = 0;
	for (uint32_t thread = 0; thread < model->thread_count; thread++) {
		uint32_t buffer = model->threads[thread].buffer;
		if (by == WEFT_GROUP_BY_THREAD ? thread != key : key_of_buffer(model, by, buffer) != key)
			continue;
		sum += share[thread];
		threads++;
	}
	sum = threads > 0 ? sum / threads : guest_share(model, by, key);
	return sum < 1 ? sum : 1;
}

static bool is_folded(const struct weft_layout_options *options, uint32_t key)
{
	for (uint32_t i = 0; i < options->folded_group_count; i++)
		if (options->folded_groups[i] == key)
			return true;
	return false;
}

static int describe_groups(const struct weft_model *model,
	const struct weft_layout_options *options, const uint32_t *key_of, struct weft__columns *c)
{
	double *share = thread_shares(model);
	c->groups = calloc(c->group_count, sizeof(*c->groups));
	c->group_names = calloc(c->group_count, NAME_BYTES);
	if (!share || !c->groups || !c->group_names) {
		free(share);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < c->group_count; i++) {
		char *name = c->group_names + (size_t)i * NAME_BYTES;
		uint32_t key = key_of[i];
		if (options->group_by == WEFT_GROUP_BY_THREAD)
			weft__layout_name_thread(model, key, name, NAME_BYTES);
		else if (options->group_by == WEFT_GROUP_BY_HOST)
			name_host(model, key, name, NAME_BYTES);
		else
			name_process(model, key, name, NAME_BYTES);
		c->groups[i] = (struct weft_group){
			.key = key,
			.folded = is_folded(options, key),
			.running = group_share(model, options->group_by, key, share),
			.name = name,
		};
	}
	free(share);
	return 0;
}

/* Fills `above`; marks tasks of folded groups as parts of a band. */
static int separate(uint32_t count, struct weft__columns *c)
{
	c->above = malloc((count + (size_t)1) * sizeof(*c->above));
	if (!c->above)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < count; task++) {
		uint32_t parent = c->parent[task], group = c->group_of[task];
		bool is_below = parent != WEFT_NONE && c->group_of[parent] == group;
		c->above[task] = is_below ? parent : WEFT_NONE;
		if (c->groups[group].folded && c->form[task] == WEFT_FORM_LINE)
			c->form[task] = WEFT_FORM_BAND;
	}
	return 0;
}

/* ---- The next snapshot of a growing trace ---- */

static bool has_folded_groups(
	const struct weft_layout *former, const struct weft_layout_options *options)
{
	for (uint32_t i = 0; i < former->group_count; i++)
		if (former->groups[i].folded || is_folded(options, former->groups[i].key))
			return true;
	return false;
}

/* The number of the former layout's group with that key; 0 if it had only one, which it does not
 * list; WEFT_NONE if that is another. */
static uint32_t find_former(const struct weft_layout *former, enum weft_group_by by, uint32_t key)
{
	if (!former->group_of)
		return key == key_of_buffer(former->model, by, buffer_of(&former->model->tasks, 0))
				   ? 0
				   : WEFT_NONE;
	for (uint32_t i = 0; i < former->group_count; i++)
		if (former->groups[i].key == key)
			return i;
	return WEFT_NONE;
}

/* Finds the group of each task from `first` on. WEFT_AGAIN if there is another one. */
static int find_new(const struct weft_model *model, const struct weft_layout_options *options,
	uint32_t first, uint32_t *group_of)
{
	uint32_t buffer = WEFT_NONE, group = WEFT_NONE;
	for (uint32_t task = first; task < model->tasks.count; task++) {
		if (buffer != buffer_of(&model->tasks, task)) {
			buffer = buffer_of(&model->tasks, task);
			group = find_former(options->previous, options->group_by,
				key_of_buffer(model, options->group_by, buffer));
		}
		if (group == WEFT_NONE)
			return WEFT_AGAIN;
		if (group_of)
			group_of[task] = group;
	}
	return 0;
}

/* Describes the former layout's groups again, because their shares of the time have changed. */
static int describe_again(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *c)
{
	const struct weft_layout *former = options->previous;
	uint32_t *key_of = malloc((former->group_count + (size_t)1) * sizeof(*key_of));
	if (!key_of)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < former->group_count; i++)
		key_of[i] = former->groups[i].key;
	c->group_count = former->group_count;
	int error = describe_groups(model, options, key_of, c);
	for (uint32_t i = 0; i < former->group_count && !error; i++) {
		c->groups[i].first_row = former->groups[i].first_row;
		c->groups[i].row_count = former->groups[i].row_count;
	}
	free(key_of);
	return error;
}

int weft__layout_keep_groups(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft__columns *c)
{
	const struct weft_layout *former = options->previous;
	uint32_t first = former->model->tasks.count, count = model->tasks.count;
	if (options->group_by == WEFT_GROUP_BY_NONE)
		return former->group_of ? WEFT_AGAIN : 0;
	if (options->group_by == WEFT_GROUP_BY_THREAD || first == 0 ||
		has_folded_groups(former, options))
		return WEFT_AGAIN;
	if (!former->group_of)
		return find_new(model, options, first, NULL);
	if (former->group_by != options->group_by)
		return WEFT_AGAIN;
	c->group_of = malloc((count + (size_t)1) * sizeof(*c->group_of));
	if (!c->group_of)
		return WEFT_ERROR_MEMORY;
	memcpy(c->group_of, former->group_of, first * sizeof(*c->group_of));
	int status = find_new(model, options, first, c->group_of);
	return status ? status : describe_again(model, options, c);
}

/* ---- Groups of a whole layout ---- */

static uint32_t count_keys(const uint32_t *key, uint32_t count)
{
	uint32_t keys = 0;
	for (uint32_t task = 0; task < count; task++)
		keys = key[task] >= keys ? key[task] + 1 : keys;
	return keys;
}

int weft__layout_group(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *c)
{
	uint32_t count = model->tasks.count;
	c->above = c->parent;
	if (options->group_by == WEFT_GROUP_BY_NONE || count == 0)
		return 0;
	uint32_t *key = malloc(count * sizeof(*key)), *number = NULL;
	if (!key)
		return WEFT_ERROR_MEMORY;
	find_keys(model, options, key);
	uint32_t keys = count_keys(key, count), groups = 0;
	int error = keys > KEYS_MAX ? WEFT_ERROR_LIMIT : 0;
	if (!error)
		number = malloc(2 * (size_t)keys * sizeof(*number));
	if (!error && !number)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		groups = number_groups(key, count, number, keys, number + keys);
	if (groups > 1) {
		c->group_count = groups;
		c->group_of = key;
		key = NULL;
		error = describe_groups(model, options, number + keys, c);
		if (!error)
			error = separate(count, c);
	}
	free(number);
	free(key);
	return error;
}
