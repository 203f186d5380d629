/* SPDX-License-Identifier: ISC
 *
 * weft info of Xen's own trace: what each domain asked of Xen, how often and for how long. The
 * spans of its vCPUs are grouped by their names, without the numbers in them. Only the time counts
 * in which the vCPU runs: not that of Xen's scheduler, of interrupts and of other vCPUs.
 */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 40

/* Xen has some hundred names. A damaged trace may have any number: the rest is one group. */
#define GROUPS_MAX 4096

struct group {
	uint32_t buffer;
	char name[NAME_BYTES];
	uint64_t count, ns;
	uint64_t quickest_ns, p50_ns;
};

struct group_time {
	uint32_t group;
	uint64_t ns;
};

struct groups {
	const struct weft_model *model;
	struct group *list;
	size_t count, capacity;
	struct group_time *times; /* of all spans */
	size_t time_count, time_capacity;
	uint64_t *ran; /* by activation: the ns of those before it */
	/* By string: 1 + the group that a span of the name was last in; or 0. */
	uint32_t *last;
};

/* Finds the group of a name up to its number: "mmu_update ×3" is "mmu_update". */
static struct group *find_named(struct groups *g, uint32_t buffer, struct weft_slice name)
{
	static const char times[] = " ×";
	const char *number = memmem(name.bytes, name.size, times, sizeof(times) - 1);
	size_t size = number ? (size_t)(number - name.bytes) : name.size;
	size = size < NAME_BYTES ? size : NAME_BYTES - 1;
	for (size_t i = 0; i < g->count; i++)
		if (g->list[i].buffer == buffer && strncmp(g->list[i].name, name.bytes, size) == 0 &&
			!g->list[i].name[size])
			return &g->list[i];
	if (g->count > GROUPS_MAX)
		return &g->list[GROUPS_MAX];
	if (g->count == g->capacity) {
		size_t capacity = 2 * g->capacity + 64;
		struct group *list = realloc(g->list, capacity * sizeof(*list));
		if (!list)
			return NULL;
		g->list = list;
		g->capacity = capacity;
	}
	struct group *group = &g->list[g->count++];
	*group = (struct group){.buffer = buffer};
	if (g->count > GROUPS_MAX)
		memcpy(group->name, "others", 7);
	else
		memcpy(group->name, name.bytes, size);
	return group;
}

/* Sums up the activations, which are grouped by task. */
static bool sum_activations(struct groups *g)
{
	const struct weft_activations *activations = &g->model->activations;
	g->ran = malloc((activations->count + (size_t)1) * sizeof(*g->ran));
	if (!g->ran)
		return false;
	g->ran[0] = 0;
	for (uint32_t i = 0; i < activations->count; i++)
		g->ran[i + 1] = g->ran[i] + activations->end[i] - activations->start[i];
	return true;
}

/* For how long the task ran before a time, and the activations of tasks before it. */
static uint64_t ran_before(const struct groups *g, uint32_t task, uint64_t time_ns)
{
	const struct weft_model *model = g->model;
	uint32_t low = model->tasks.first_activation[task], high = model->tasks.end_activation[task];
	uint32_t end = high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (model->activations.end[middle] > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	bool is_within = low < end && model->activations.start[low] < time_ns;
	return g->ran[low] + (is_within ? time_ns - model->activations.start[low] : 0);
}

/* The time for which Xen served a vCPU in a span, or for which that waited for a pCPU. */
static uint64_t time_in(const struct groups *g, uint32_t task, const struct weft_span *span)
{
	struct weft_slice name = weft_model_string(g->model, span->name);
	if (name.size == 8 && memcmp(name.bytes, "runnable", 8) == 0)
		return span->end - span->start;
	return ran_before(g, task, span->end) - ran_before(g, task, span->start);
}

static void add_span(struct groups *g, uint32_t task, const struct weft_span *span)
{
	uint32_t buffer = g->model->tasks.buffer[task];
	uint32_t known = g->last[span->name];
	struct group *group = known && g->list[known - 1].buffer == buffer ? &g->list[known - 1] : NULL;
	if (!group)
		group = find_named(g, buffer, weft_model_string(g->model, span->name));
	if (!group)
		return;
	g->last[span->name] = (uint32_t)(group - g->list) + 1;
	const uint64_t ns = time_in(g, task, span);
	group->count++;
	group->ns += ns;
	if (g->time_count == g->time_capacity) {
		size_t capacity = 2 * g->time_capacity + 1024;
		struct group_time *times = realloc(g->times, capacity * sizeof(*times));
		if (!times)
			return;
		g->times = times;
		g->time_capacity = capacity;
	}
	g->times[g->time_count++] = (struct group_time){(uint32_t)(group - g->list), ns};
}

static int compare_times(const void *a, const void *b)
{
	const struct group_time *first = a, *second = b;
	if (first->group != second->group)
		return first->group < second->group ? -1 : 1;
	return (first->ns > second->ns) - (first->ns < second->ns);
}

/* The quickest of a group, and the one that half of them do not exceed. */
static void find_typical(struct groups *g)
{
	if (g->time_count)
		qsort(g->times, g->time_count, sizeof(*g->times), compare_times);
	for (size_t i = 0, next; i < g->time_count; i = next) {
		struct group *group = &g->list[g->times[i].group];
		for (next = i + 1; next < g->time_count && g->times[next].group == g->times[i].group;
			 next++)
			;
		group->quickest_ns = g->times[i].ns;
		group->p50_ns = g->times[i + (next - i - 1) / 2].ns;
	}
	free(g->times);
}

static int compare(const void *a, const void *b)
{
	const struct group *first = a, *second = b;
	if (first->buffer != second->buffer)
		return first->buffer < second->buffer ? -1 : 1;
	if (first->count != second->count)
		return first->count > second->count ? -1 : 1;
	return strcmp(first->name, second->name);
}

/* The groups of each domain, the most frequent ones first. */
static struct groups make_groups(const struct weft_model *model)
{
	struct groups g = {.model = model};
	g.last = calloc(weft_model_string_count(model) + (size_t)1, sizeof(*g.last));
	bool good = g.last && sum_activations(&g);
	for (uint32_t task = 0; good && task < model->tasks.count; task++) {
		if (model->tasks.kind[task] == WEFT_KIND_TRACK)
			continue;
		for (uint32_t i = 0, all = weft_model_span_count(model, task); i < all; i++) {
			struct weft_span span = weft_model_span(model, task, i);
			add_span(&g, task, &span);
		}
	}
	free(g.last);
	free(g.ran);
	find_typical(&g);
	if (g.count)
		qsort(g.list, g.count, sizeof(*g.list), compare);
	return g;
}

void info_write_xen_json(const struct info_report *report, struct weft_text *text)
{
	struct groups g = make_groups(report->model);
	weft_text_add_string(text, ",\"calls\":[");
	for (size_t i = 0; i < g.count; i++) {
		const struct group *group = &g.list[i];
		const struct weft_trace_buffer *buffer = weft_trace_buffer_at(
			report->model->buffers, report->model->buffer_count, group->buffer);
		cli_add_number(text, i ? ",{\"domain\":" : "{\"domain\":", buffer->pid);
		cli_add_json(text, ",\"name\":", group->name);
		cli_add_number(text, ",\"count\":", group->count);
		cli_add_number(text, ",\"ns\":", group->ns);
		cli_add_number(text, ",\"quickest\":", group->quickest_ns);
		cli_add_number(text, ",\"p50\":", group->p50_ns);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
	cli_add_number(text, ",\"wakes\":{\"by_vcpus\":", report->trace->wakes[WEFT_WAKER_VCPU]);
	cli_add_number(text, ",\"by_interrupts\":", report->trace->wakes[WEFT_WAKER_INTERRUPT]);
	cli_add_number(text, ",\"by_nobody\":", report->trace->wakes[WEFT_WAKER_NOBODY]);
	weft_text_add_string(text, "}");
	free(g.list);
}

void info_write_xen(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model *model = report->model;
	struct groups g = make_groups(model);
	char process[64], line[160];
	if (g.count)
		weft_text_add_string(text,
			"\n       count     quickest          p50  sum at most  domain, and what Xen did for it\n");
	for (size_t i = 0; i < g.count; i++) {
		const struct group *group = &g.list[i];
		weft_trace_format_process(
			model->buffers, model->buffer_count, group->buffer, process, sizeof(process));
		snprintf(line, sizeof(line), "%12llu %9.4f ms %9.4f ms %8.3f ms  %s  ",
			(unsigned long long)group->count, (double)group->quickest_ns / 1e6,
			(double)group->p50_ns / 1e6, (double)group->ns / 1e6, process);
		weft_text_add_string(text, line);
		weft_text_add_shown(text, group->name, strlen(group->name));
		weft_text_add_string(text, "\n");
	}
	free(g.list);
}
