/* SPDX-License-Identifier: ISC
 *
 * Reads the children in copies of a process's memory (abi/metric_abi.h), which may be damaged. The
 * process goes on while it is copied, so there are two copies, one after the other: a child that
 * both have, with one sequence, was there all the time in between.
 */
#include "runs/attach/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runs/attach/metrics_reading.h"

#define DEPTH_MAX 8 /* children above a child; more are damage */
#define TEXT_MAX  ((size_t)256 << 20)

struct children {
	const struct weft_abi_child *first, *second;
	uint32_t count;
	const struct weft__metric_rows *rows;
};

/* The key of a child's label, with the value behind its NUL. NULL: it is not there, or damaged. */
static const char *key_of(const struct children *c, uint32_t index)
{
	const struct weft_abi_child *it = &c->first[index];
	const size_t key = strnlen(it->text, WEFT_ABI_CHILD_TEXT);
	const bool is_there = it->sequence & 1 && it->sequence == c->second[index].sequence;
	if (!is_there || !key || key + 1 >= it->text_size || it->text_size > WEFT_ABI_CHILD_TEXT ||
		it->text[it->text_size - 1] || it->row >= c->rows->count ||
		!c->rows->texts[it->row].part[0] ||
		c->rows->rows[it->row].kind == WEFT_ABI_METRIC_HISTOGRAM)
		return NULL;
	return it->text;
}

/* The child above a child; `count` if there is none, or if it has ended. */
static uint32_t above(const struct children *c, uint32_t index)
{
	const struct weft_abi_child *it = &c->first[index];
	const uint32_t up = it->below - 1;
	return it->below && up < c->count && c->first[up].sequence == it->below_sequence &&
				   c->first[up].row == it->row && key_of(c, up)
			   ? up
			   : c->count;
}

/* The children from a child up. 0: it is left out. */
static uint32_t depth_of(const struct children *c, uint32_t index)
{
	uint32_t depth = 0;
	if (!key_of(c, index))
		return 0;
	for (; index < c->count && depth <= DEPTH_MAX; index = above(c, index))
		depth++;
	return depth <= DEPTH_MAX ? depth : 0;
}

static void put_child(const struct children *c, uint32_t index, struct weft__metrics_room *room,
	struct weft__runs_counter *counter)
{
	const struct weft_abi_child *it = &c->first[index];
	const uint32_t depth = depth_of(c, index);
	weft__runs_row_describe(c->rows, it->row, room, counter);
	counter->label_count += depth;
	room->labels += depth;
	struct weft__runs_label *label = room->labels;
	for (uint32_t at = index; at < c->count; at = above(c, at)) {
		const char *key = key_of(c, at);
		*--label = (struct weft__runs_label){weft__runs_copy_text(&room->texts, key),
			weft__runs_copy_text(&room->texts, key + strlen(key) + 1)};
	}
	counter->is_child = true;
	counter->exemplar.is_there = false; /* its level's */
	counter->is_billable = false;
	counter->created_unix_ns = it->created_unix_ns;
	counter->integer = (int64_t)(it->cell - it->base);
	counter->real = (double)counter->integer;
}

/* A hostile process with a million children could make us use gigabytes: those that would make the
 * texts longer than TEXT_MAX are left out. */
static int list_children(struct children *c, struct weft__runs_counters *ret_counters)
{
	size_t count = 0, labels = 0, text = 1;
	for (uint32_t i = 0; i < c->count; i++) {
		const uint32_t depth = depth_of(c, i);
		if (!depth)
			continue;
		if (text > TEXT_MAX) {
			c->count = i;
			break;
		}
		count++;
		labels += depth + weft__model_metric_rows_depth(c->rows, c->first[i].row);
		text += depth * (size_t)WEFT_ABI_CHILD_TEXT +
				weft__runs_row_text_bytes(c->rows, c->first[i].row);
	}
	struct weft__metrics_room room = {
		calloc(labels + 1, sizeof(*room.labels)), NULL, calloc(1, text)};
	struct weft__runs_counters counters = {.list = calloc(count + 1, sizeof(*counters.list)),
		.count = count,
		.owned = {room.labels, room.texts}};
	if (!counters.list || !room.labels || !room.texts) {
		weft__runs_counters_finish(&counters);
		return ENOMEM;
	}
	struct weft__runs_counter *counter = counters.list;
	for (uint32_t i = 0; i < c->count; i++)
		if (depth_of(c, i))
			put_child(c, i, &room, counter++);
	*ret_counters = counters;
	return 0;
}

int weft__runs_children_parse(const void *metrics, const void *first, const void *second,
	size_t bytes, struct weft__runs_counters *ret_counters)
{
	const struct weft_abi_children *header = first;
	struct weft__metric_rows *rows;
	if (bytes < sizeof(*header) ||
		memcmp(header->magic, WEFT_ABI_CHILDREN_MAGIC, sizeof(header->magic)) != 0 ||
		header->version != WEFT_ABI_METRICS_VERSION)
		return ENOENT;
	int error = weft__runs_rows_check(metrics, &rows);
	if (error)
		return error;
	const size_t room = (bytes - sizeof(*header)) / sizeof(struct weft_abi_child);
	struct children children = {(const void *)(header + 1),
		(const void *)((const struct weft_abi_children *)second + 1),
		header->used < room ? header->used : (uint32_t)room, rows};
	error = list_children(&children, ret_counters);
	free(rows);
	return error;
}
