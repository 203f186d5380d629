/* SPDX-License-Identifier: ISC
 *
 * The path of each counter: program, parts of its name, labels. Sorted by their bytes, a path
 * stands right before those that it is a begin of.
 */
#include "top.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *left, const void *right)
{
	const struct top_path *l = left, *r = right;
	size_t size = l->size < r->size ? l->size : r->size;
	int order = (l->program > r->program) - (l->program < r->program);
	order = order ? order : memcmp(l->bytes, r->bytes, size);
	return order ? order : (l->size > r->size) - (l->size < r->size);
}

static void add_part(struct top_paths *paths, enum top_kind kind, const char *bytes, size_t size)
{
	struct weft_text *text = &paths->bytes;
	const char letter = (char)('0' + kind);
	weft_text_add(text, &letter, 1);
	weft_text_add(text, bytes, size);
	weft_text_add(text, "", 1);
	paths->part_count++;
}

/* A slash divides only where there is something on both of its sides. */
static void add_name(struct top_paths *paths, const char *name)
{
	const char *start = name;
	for (const char *at = name; *at; at++)
		if (*at == '/' && at > start && at[1]) {
			add_part(paths, TOP_NAME, start, (size_t)(at - start));
			start = at + 1;
		}
	add_part(paths, TOP_NAME, start, strlen(start));
}

static void add_label(struct top_paths *paths, const struct weft__runs_label *label)
{
	struct weft_text pair = {0};
	weft_text_add_string(&pair, label->key);
	weft_text_add_string(&pair, "=");
	weft_text_add_string(&pair, label->value);
	paths->bytes.error = paths->bytes.error ? paths->bytes.error : pair.error;
	add_part(paths, TOP_LABEL, pair.bytes, pair.size);
	weft_text_finish(&pair);
}

static void add_path(
	struct top_paths *paths, uint32_t program, const struct weft__runs_counter *counter)
{
	size_t offset = paths->bytes.size;
	add_name(paths, counter->name);
	for (size_t i = 0; i < counter->label_count; i++)
		add_label(paths, &counter->labels[i]);
	paths->list[paths->count++] =
		(struct top_path){program, NULL, offset, paths->bytes.size - offset, counter};
}

static void add_paths(
	struct top_paths *paths, uint32_t program, const struct weft__runs_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++)
		add_path(paths, program, &counters->list[i]);
}

static void find_bytes(struct top_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		paths->list[i].bytes = paths->bytes.bytes + paths->list[i].offset;
}

bool top_paths_init(struct top_paths *paths, const struct top_forest *forest)
{
	size_t count = 0;
	*paths = (struct top_paths){0};
	for (uint32_t i = 0; i < forest->program_count; i++)
		count += forest->programs[i].counters.count + forest->programs[i].children.count;
	paths->list = calloc(count + 1, sizeof(*paths->list));
	for (uint32_t i = 0; paths->list && i < forest->program_count; i++) {
		add_paths(paths, i, &forest->programs[i].counters);
		add_paths(paths, i, &forest->programs[i].children);
	}
	if (!paths->list || paths->bytes.error)
		return false;
	find_bytes(paths);
	qsort(paths->list, paths->count, sizeof(*paths->list), by_bytes);
	return true;
}

void top_paths_finish(struct top_paths *paths)
{
	free(paths->list);
	weft_text_finish(&paths->bytes);
}
