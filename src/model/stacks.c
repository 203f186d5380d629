/* SPDX-License-Identifier: ISC
 *
 * See stacks.h.
 */
#include "model/stacks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"

#define COLUMNS 3

static void list_columns(struct weft__stack_columns *s, struct weft__column columns[COLUMNS])
{
	columns[0] = (struct weft__column){&s->time, sizeof(*s->time)};
	columns[1] = (struct weft__column){&s->task, sizeof(*s->task)};
	columns[2] = (struct weft__column){&s->text, sizeof(*s->text)};
}

struct weft__shared *weft__model_stacks_hold(struct weft__stack_columns *s)
{
	struct weft__column columns[COLUMNS];
	list_columns(s, columns);
	return weft__shared_hold(&s->shared, columns, COLUMNS);
}

static int end_sharing(struct weft__stack_columns *s)
{
	struct weft__column columns[COLUMNS];
	list_columns(s, columns);
	return weft__shared_own(&s->shared, columns, COLUMNS, s->capacity);
}

int weft__model_stacks_own(struct weft__stack_columns *s)
{
	struct weft__column columns[COLUMNS];
	int error = end_sharing(s);
	list_columns(s, columns);
	if (!error && s->capacity)
		weft__columns_trim(columns, COLUMNS, &s->capacity, s->count);
	return error;
}

void weft__model_stacks_finish(struct weft__stack_columns *s)
{
	if (s->shared) {
		weft__shared_release(s->shared);
	} else {
		free(s->time);
		free(s->task);
		free(s->text);
	}
	*s = (struct weft__stack_columns){0};
}

struct weft_stacks weft__model_stacks_show(const struct weft__stack_columns *s)
{
	return (struct weft_stacks){s->count, s->time, s->task, s->text};
}

static int reserve_row(struct weft__stack_columns *s)
{
	struct weft__column columns[COLUMNS];
	int error = end_sharing(s);
	list_columns(s, columns);
	return error ? error
				 : weft__columns_reserve(columns, COLUMNS, &s->capacity, s->count + (size_t)1);
}

int weft__model_stacks_add(
	struct weft__stack_columns *s, uint64_t time, uint32_t task, uint32_t text)
{
	int error = s->count < s->capacity ? 0 : reserve_row(s);
	if (error)
		return error;
	s->time[s->count] = time;
	s->task[s->count] = task;
	s->text[s->count++] = text;
	return 0;
}

/* The last of several at that time counts: the waits before it are over. */
WEFT__EXPORT struct weft_slice weft_model_stack_at(
	const struct weft_model *model, uint32_t task, uint64_t time_ns)
{
	const struct weft_stacks *s = &model->stacks;
	uint32_t row = s->count ? (uint32_t)weft__lower_bound_u64(s->time, s->count, time_ns) : 0;
	struct weft_slice found = {"", 0};
	for (; row < s->count && s->time[row] == time_ns; row++)
		if (s->task[row] == task)
			found = weft_model_string(model, s->text[row]);
	return found;
}
