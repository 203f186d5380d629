/* SPDX-License-Identifier: ISC
 *
 * See messages.h. Keys that adapters make of numbers of a host, such as process ids, are left out.
 */
#include "input/messages.h"

#include <stdlib.h>
#include <string.h>

#include <weft/ends.h>
#include <weft/error.h>

#include "base/array.h"
#include "model/slice.h"

/* The adapters' keys of lower classes are about things within one host. */
#define CLASS_REMOTE 12

/* Programs on both hosts may count their messages from 1, and have nothing to do with each other.
 */
#define LEAST_KEY (UINT64_C(1) << 32)

static bool is_of_one_host(weft_message_key key)
{
	const uint64_t number = key & ~WEFT_KEY_ONCE, class = number >> 56;
	return number < LEAST_KEY || (class > 0 && class < CLASS_REMOTE) ||
		   key >> 48 == WEFT_KEY_CHANNEL >> 48;
}

static int append(struct weft__input_sides *sides, struct weft__input_side side)
{
	const struct weft__column column = {&sides->list, sizeof(*sides->list)};
	int error = weft__columns_reserve(&column, 1, &sides->capacity, sides->count + 1);
	if (!error)
		sides->list[sides->count++] = side;
	return error;
}

/* FNV-1a: the ids are random, so that a simple hash keeps them apart. */
static uint64_t hash(uint64_t sum, struct weft_slice text)
{
	for (size_t i = 0; i < text.size; i++)
		sum = (sum ^ (uint8_t)text.bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static const struct weft_slice *text_field(const struct weft_event *event, const char *name)
{
	for (uint32_t i = 0; i < event->field_count; i++)
		if (event->fields[i].type == WEFT_FIELD_TEXT && weft__slice_is(event->fields[i].name, name))
			return &event->fields[i].value.text;
	return NULL;
}

/* A span is known in its own host before another one gets it as a parent. */
static int add_context(
	struct weft__input_sides *sides, const struct weft_event *event, uint32_t host)
{
	const struct weft_slice *trace = text_field(event, "trace_id"),
							*span = text_field(event, "span_id"),
							*parent = text_field(event, "parent_span_id");
	if (event->is_rundown || !trace || !span ||
		!(weft__slice_is(event->text, "trace context") ||
			weft__slice_is(event->text, "span context")))
		return 0;
	uint64_t sum = hash(UINT64_C(0xcbf29ce484222325), *trace);
	struct weft__input_side side = {
		.key = hash(sum, *span), .time_ns = event->time_ns, .host = host, .is_context = true};
	int error = append(sides, side);
	if (error || !parent)
		return error;
	side.key = hash(sum, *parent);
	side.is_effect = true;
	return append(sides, side);
}

int weft__input_sides_add(
	struct weft__input_sides *sides, const struct weft_event *event, uint32_t host)
{
	if (event->type == WEFT_EVENT_MARK)
		return add_context(sides, event, host);
	if ((event->type != WEFT_EVENT_SEND && event->type != WEFT_EVENT_RECEIVE) ||
		event->task == WEFT_TASK_NONE || event->is_rundown || is_of_one_host(event->key))
		return 0;
	return append(sides, (struct weft__input_side){
							 .key = event->key,
							 .time_ns = event->time_ns,
							 .host = host,
							 .is_effect = event->type == WEFT_EVENT_RECEIVE,
						 });
}

static int by_key(const void *left, const void *right)
{
	const struct weft__input_side *l = left, *r = right;
	if (l->is_context != r->is_context)
		return l->is_context ? 1 : -1;
	if (l->key != r->key)
		return l->key < r->key ? -1 : 1;
	if (l->is_effect != r->is_effect)
		return l->is_effect ? 1 : -1;
	if (l->host != r->host)
		return l->host < r->host ? -1 : 1;
	return l->time_ns < r->time_ns ? -1 : l->time_ns > r->time_ns;
}

static bool are_alike(const struct weft__input_side *a, const struct weft__input_side *b)
{
	return a->key == b->key && a->is_context == b->is_context;
}

/* The sides of one key, in order: causes, then effects. A key that several messages have does not
 * say which of them belong together. A span has one host, and may have many children in another. */
static bool match(
	const struct weft__input_side *list, size_t count, struct weft__input_pair *ret_pair)
{
	size_t effect = 0;
	while (effect < count && !list[effect].is_effect)
		effect++;
	if (effect == 0 || effect == count || list[0].host != list[effect - 1].host ||
		list[effect].host != list[count - 1].host || list[0].host == list[effect].host ||
		(!list->is_context && count != 2))
		return false;
	*ret_pair = (struct weft__input_pair){
		list[0].time_ns, list[effect].time_ns, list[0].host, list[effect].host, list->is_context};
	return true;
}

int weft__input_sides_match(
	struct weft__input_sides *sides, struct weft__input_pair **ret_list, size_t *ret_count)
{
	const struct weft__input_side *list = sides->list;
	struct weft__input_pair *pairs = malloc((sides->count / 2 + 1) * sizeof(*pairs));
	size_t count = 0;
	if (!pairs)
		return WEFT_ERROR_MEMORY;
	if (sides->count)
		qsort(sides->list, sides->count, sizeof(*sides->list), by_key);
	for (size_t first = 0, end; first < sides->count; first = end) {
		end = first + 1;
		while (end < sides->count && are_alike(&list[first], &list[end]))
			end++;
		count += match(&list[first], end - first, &pairs[count]);
	}
	*ret_list = pairs;
	*ret_count = count;
	return 0;
}
