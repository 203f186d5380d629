/* SPDX-License-Identifier: ISC
 *
 * Names of groupings, columns and rows.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/export.h"
#include "layout/threads.h"
#include "stats/stats.h"

#define NAME_BYTES WEFT_STATS_NAME_BYTES

WEFT__EXPORT const char *weft_stats_by_name(enum weft_stats_by by)
{
	static const char *const names[WEFT_STATS_BYS] = {
		[WEFT_STATS_BY_LABEL] = "label",
		[WEFT_STATS_BY_KIND] = "kind",
		[WEFT_STATS_BY_PARENT] = "parent",
		[WEFT_STATS_BY_THREAD] = "thread",
		[WEFT_STATS_BY_PROCESS] = "process",
		[WEFT_STATS_BY_SPAN] = "span",
		[WEFT_STATS_BY_CATEGORY] = "category",
		[WEFT_STATS_BY_STACK] = "stack",
	};
	return by < WEFT_STATS_BYS ? names[by] : NULL;
}

WEFT__EXPORT const char *weft_stats_sort_name(enum weft_stats_sort sort)
{
	static const char *const names[WEFT_STATS_SORTS] = {
		[WEFT_STATS_SORT_TOTAL] = "total",
		[WEFT_STATS_SORT_COUNT] = "count",
		[WEFT_STATS_SORT_FAILED] = "failed",
		[WEFT_STATS_SORT_UNFINISHED] = "unfinished",
		[WEFT_STATS_SORT_P50] = "p50",
		[WEFT_STATS_SORT_P90] = "p90",
		[WEFT_STATS_SORT_P99] = "p99",
		[WEFT_STATS_SORT_MAX] = "max",
		[WEFT_STATS_SORT_RUNNING] = "running",
		[WEFT_STATS_SORT_WAITING] = "waiting",
		[WEFT_STATS_SORT_DELAY] = "delay",
	};
	return sort < WEFT_STATS_SORTS ? names[sort] : NULL;
}

/* Writes a label with '#' for each run of digits. */
static void format_label(const struct weft_model *model, uint64_t label, char *name)
{
	struct weft_slice text =
		weft_model_string(model, label < WEFT_NONE ? (uint32_t)label : WEFT_NONE);
	size_t size = 0;
	for (size_t at = 0; at < text.size && size + 1 < NAME_BYTES;)
		name[size++] = weft__layout_label_letter(text, &at);
	name[size] = '\0';
}

static void format_kind(const struct weft_model *model, unsigned kind, char *name)
{
	const char *known = weft_model_kind_name(model, kind);
	if (known)
		snprintf(name, NAME_BYTES, "%s", known);
	else
		snprintf(name, NAME_BYTES, "%u", kind);
}

static void format_category(const struct weft_model *model, uint32_t category, char *name)
{
	const char *known = weft_model_category_name(model, category);
	snprintf(name, NAME_BYTES, "%s", known ? known : "");
}

static void format_calls(const struct weft_model *model, uint32_t calls, char *name)
{
	struct weft_slice text = weft_model_string(model, calls);
	snprintf(name, NAME_BYTES, "%.*s", (int)text.size, text.bytes);
}

WEFT__EXPORT bool weft_stats_kind(
	const struct weft_stats *stats, const struct weft_stats_row *row, uint16_t *ret_kind)
{
	bool has_kind = stats->by == WEFT_STATS_BY_LABEL || stats->by == WEFT_STATS_BY_KIND ||
					stats->by == WEFT_STATS_BY_PARENT || stats->by == WEFT_STATS_BY_STACK;
	if (!has_kind || row->key == WEFT__STATS_NO_KEY ||
		(stats->by == WEFT_STATS_BY_STACK && (uint16_t)row->key == WEFT__STATS_NO_KIND))
		return false;
	*ret_kind = (uint16_t)row->key;
	return true;
}

WEFT__EXPORT const struct weft_stats_row *weft_stats_find_alike(
	const struct weft_stats *stats, uint32_t task)
{
	const struct weft_model *model = stats->story->model;
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	for (uint32_t i = 0; i < stats->row_count && stats->by == WEFT_STATS_BY_LABEL; i++) {
		uint64_t class = stats->rows[i].key >> 16;
		struct weft_slice other =
			weft_model_string(model, class < WEFT_NONE ? (uint32_t) class : WEFT_NONE);
		if ((uint16_t)stats->rows[i].key == model->tasks.kind[task] &&
			weft__layout_labels_are_alike(label, other))
			return &stats->rows[i];
	}
	return NULL;
}

WEFT__EXPORT size_t weft_stats_format_name(
	const struct weft_stats *stats, const struct weft_stats_row *row, char *buffer, size_t size)
{
	const struct weft_model *model = stats->story->model;
	char name[NAME_BYTES] = "";
	switch (row->key == WEFT__STATS_NO_KEY ? WEFT_STATS_BYS : stats->by) {
	case WEFT_STATS_BY_LABEL:
	case WEFT_STATS_BY_PARENT:
		format_label(model, row->key >> 16, name);
		break;
	case WEFT_STATS_BY_KIND:
		format_kind(model, (unsigned)row->key, name);
		break;
	case WEFT_STATS_BY_THREAD:
		weft__layout_name_thread(model, (uint32_t)row->key, name, sizeof(name));
		break;
	case WEFT_STATS_BY_PROCESS:
		weft_trace_format_process(
			model->buffers, model->buffer_count, (uint32_t)row->key, name, sizeof(name));
		break;
	case WEFT_STATS_BY_SPAN:
		format_label(model, row->key, name);
		break;
	case WEFT_STATS_BY_CATEGORY:
		format_category(model, (uint32_t)row->key, name);
		break;
	case WEFT_STATS_BY_STACK:
		format_calls(model, (uint32_t)(row->key >> 16), name);
		break;
	case WEFT_STATS_BYS:
		break;
	}
	return (size_t)snprintf(buffer, size, "%s", name);
}
