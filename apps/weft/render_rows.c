/* SPDX-License-Identifier: ISC
 *
 * See render_rows.h. A pattern is a part of a label, or "kind:NAME" for a whole kind.
 */
#include "render_rows.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "cli.h"

bool render_rows_parse_group(const char *command, const char *name, enum weft_group_by *ret_by)
{
	static const char *const names[] = {
		[WEFT_GROUP_BY_NONE] = "none",
		[WEFT_GROUP_BY_THREAD] = "thread",
		[WEFT_GROUP_BY_PROCESS] = "process",
	};
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			*ret_by = (enum weft_group_by)i;
			return true;
		}
	cli_usage_error(command,
		"--group-by: \"%s\" is nothing to group by; there are none, thread, process", name);
	return false;
}

static bool is_kind(const char *name)
{
	for (unsigned kind = 0; kind < WEFT_KIND_PREEXISTING; kind++)
		if (weft_kind_name(kind) && strcmp(weft_kind_name(kind), name) == 0)
			return true;
	return strcmp(name, "preexisting") == 0;
}

bool render_rows_parse_pattern(
	const char *command, const char *option, const char *pattern, struct render_patterns *patterns)
{
	bool complete = false;
	if (patterns->count == RENDER_PATTERNS_MAX)
		cli_usage_error(
			command, "%s: that is given more than %d times", option, RENDER_PATTERNS_MAX);
	else if (!*pattern)
		cli_usage_error(command, "%s: the pattern is empty", option);
	else if (strncmp(pattern, "kind:", 5) == 0 && !is_kind(pattern + 5))
		cli_usage_error(command, "%s: there is no kind \"%s\"", option, pattern + 5);
	else
		complete = true;
	if (complete)
		patterns->list[patterns->count++] = pattern;
	return complete;
}

static bool contains(struct weft_slice text, const char *part)
{
	size_t size = strlen(part);
	for (size_t at = 0; at + size <= text.size; at++)
		if (memcmp(text.bytes + at, part, size) == 0)
			return true;
	return false;
}

static bool matches(const struct weft_model *model, uint32_t task, const char *pattern)
{
	unsigned kind = model->tasks.kind[task];
	const char *name = kind == WEFT_KIND_PREEXISTING ? "preexisting" : weft_kind_name(kind);
	if (strncmp(pattern, "kind:", 5) == 0)
		return name && strcmp(name, pattern + 5) == 0;
	return contains(weft_model_string(model, model->tasks.label[task]), pattern);
}

static bool matches_any(
	const struct weft_model *model, uint32_t task, const struct render_patterns *patterns)
{
	for (unsigned i = 0; i < patterns->count; i++)
		if (matches(model, task, patterns->list[i]))
			return true;
	return false;
}

static uint8_t *find_hidden(const struct render_rows *rows, const struct weft_model *model)
{
	uint8_t *hidden = calloc(model->tasks.count + (size_t)1, 1);
	for (uint32_t task = 0; hidden && task < model->tasks.count; task++)
		hidden[task] = matches_any(model, task, &rows->hide) ||
					   (rows->only.count && !matches_any(model, task, &rows->only));
	return hidden;
}

int render_rows_lay_out(const struct render_rows *rows, const struct weft_model *model,
	const struct weft_progress *progress, struct weft_layout **ret_layout)
{
	uint8_t *hidden = NULL;
	if (rows->hide.count || rows->only.count) {
		hidden = find_hidden(rows, model);
		if (!hidden)
			return WEFT_ERROR_MEMORY;
	}
	struct weft_layout_options options = {
		.no_simplify = rows->no_simplify,
		.fold = !rows->no_fold,
		.group_by = rows->group_by,
		.hidden = hidden,
		.progress = progress,
	};
	int error = weft_layout_create(model, &options, ret_layout);
	free(hidden);
	return error;
}
