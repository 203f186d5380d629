/* SPDX-License-Identifier: ISC
 *
 * See retried.h. Targets are named by labels: "tcp 127.0.0.1:80" and "tcp [::1]:80" have the same
 * port, and a connection that was accepted, "tcp :80 ← 127.0.0.1:34018", is no attempt.
 */
#include "story/problems/retried.h"

#include <stdlib.h>

#include <weft/error.h>

#include "model/slice.h"
#include "story/index.h"

#define PORT_DIGITS_MAX 5
#define PORT_END        100000

struct weft__attempt {
	uint32_t buffer, kind;
	uint32_t target; /* a port, or else PORT_END plus the label's number */
	uint64_t start;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The port that the label ends with; PORT_END: it ends with none. */
static uint32_t port_of(struct weft_slice label)
{
	uint32_t port = 0, unit = 1;
	size_t at = label.size;
	for (; at > 0 && is_digit(label.bytes[at - 1]) && label.size - at < PORT_DIGITS_MAX; unit *= 10)
		port += (uint32_t)(label.bytes[--at] - '0') * unit;
	return at > 0 && at < label.size && label.bytes[at - 1] == ':' ? port : PORT_END;
}

/* False if the task is no attempt. */
static bool describe(const struct weft_model *model, uint32_t task, struct weft__attempt *ret)
{
	const struct weft_tasks *t = &model->tasks;
	if (t->label[task] == WEFT_NONE || (!weft__story_is_of_category(model, task, "io") &&
										   !weft__story_is_of_category(model, task, "thread")))
		return false;
	const struct weft_slice label = weft_model_string(model, t->label[task]);
	const uint32_t port = port_of(label);
	*ret = (struct weft__attempt){.buffer = t->buffer[task],
		.target = port < PORT_END ? port : PORT_END + t->label[task],
		.kind = t->kind[task],
		.start = t->start[task]};
	return !weft__slice_contains(label, " ← ");
}

static int by_target(const void *left, const void *right)
{
	const struct weft__attempt *l = left, *r = right;
	if (l->buffer != r->buffer)
		return l->buffer < r->buffer ? -1 : 1;
	if (l->target != r->target)
		return l->target < r->target ? -1 : 1;
	return (l->kind > r->kind) - (l->kind < r->kind);
}

static int by_target_and_start(const void *left, const void *right)
{
	const struct weft__attempt *l = left, *r = right;
	const int order = by_target(left, right);
	return order ? order : (l->start > r->start) - (l->start < r->start);
}

static bool has_failed(const struct weft_model *model, uint32_t task)
{
	return model->tasks.flags[task] & WEFT_TASK_FAILED;
}

static bool has_failed_attempt(const struct weft_model *model)
{
	struct weft__attempt it;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (has_failed(model, task) && describe(model, task, &it))
			return true;
	return false;
}

/* Keeps the last one of each target, which are in order. */
static void keep_last(struct weft__attempts *attempts)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < attempts->count; i++)
		if (i + 1 == attempts->count || by_target(&attempts->list[i], &attempts->list[i + 1]) != 0)
			attempts->list[kept++] = attempts->list[i];
	attempts->count = kept;
}

int weft__story_attempts_init(struct weft__attempts *attempts, const struct weft_model *model)
{
	*attempts = (struct weft__attempts){0};
	if (!has_failed_attempt(model))
		return 0;
	attempts->list = malloc((model->tasks.count + (size_t)1) * sizeof(*attempts->list));
	if (!attempts->list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (!has_failed(model, task) && describe(model, task, &attempts->list[attempts->count]))
			attempts->count++;
	qsort(attempts->list, attempts->count, sizeof(*attempts->list), by_target_and_start);
	keep_last(attempts);
	return 0;
}

void weft__story_attempts_finish(struct weft__attempts *attempts)
{
	free(attempts->list);
}

bool weft__story_tried_again(
	const struct weft__attempts *attempts, const struct weft_model *model, uint32_t task)
{
	struct weft__attempt failed;
	if (!attempts->count || !describe(model, task, &failed))
		return false;
	const struct weft__attempt *last =
		bsearch(&failed, attempts->list, attempts->count, sizeof(*attempts->list), by_target);
	return last && last->start >= model->tasks.end[task];
}
