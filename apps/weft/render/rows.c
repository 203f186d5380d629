/* SPDX-License-Identifier: ISC
 *
 * See rows.h. A pattern is a word of a filter (weft/filter.h).
 */
#include "rows.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/filter.h>

#include "cli/cli.h"

static bool parse_group(const char *command, const char *name, struct render_rows *rows)
{
	static const char *const names[] = {"auto", "none", "thread", "process", "host", NULL};
	if (weft_group_by_parse(name, &rows->group_by)) {
		rows->is_grouping_chosen = rows->group_by != WEFT_GROUP_BY_AUTO;
		return true;
	}
	cli_unknown_value(command, "--group-by:", name, names);
	return false;
}

/* False after a message that lists the kinds. */
static bool check_kind(const char *command, const char *option, const char *name)
{
	static const char *const names[] = {
#define KIND(number, id, name) name,
#include <weft/kinds.def>
#undef KIND
		"preexisting", NULL};
	char what[32];
	snprintf(what, sizeof(what), "%s: kind", option);
	return cli_choose(command, what, name, names) >= 0;
}

static bool parse_pattern(
	const char *command, const char *option, const char *pattern, struct render_patterns *patterns)
{
	bool complete = false;
	if (patterns->count == RENDER_PATTERNS_MAX)
		cli_usage_error(command, "%s: given more than %d times", option, RENDER_PATTERNS_MAX);
	else if (!*pattern)
		cli_usage_error(command, "%s: the pattern is empty", option);
	else
		complete = strncmp(pattern, "kind:", 5) != 0 || check_kind(command, option, pattern + 5);
	if (complete)
		patterns->list[patterns->count++] = pattern;
	return complete;
}

bool render_rows_parse(const char *command, int option, struct render_rows *rows)
{
	switch (option) {
	case 'g':
		return parse_group(command, optarg, rows);
	case 'x':
		return parse_pattern(command, "--hide", optarg, &rows->hide);
	case 'u':
		return rows->no_fold = true;
	case 'n':
		return rows->no_simplify = true;
	case 'y':
		return parse_pattern(command, "--only", optarg, &rows->only);
	default:
		return false;
	}
}

int render_rows_filter(const struct render_rows *rows, struct weft_text *text)
{
	int error = 0;
	for (unsigned i = 0; i < rows->hide.count && !error; i++)
		error = weft_filter_add_word(text, rows->hide.list[i], true);
	for (unsigned i = 0; i < rows->only.count && !error; i++)
		error = weft_filter_add_word(text, rows->only.list[i], false);
	weft_text_add(text, "", 1);
	return text->error;
}

static int find_hidden(
	const struct render_rows *rows, const struct weft_model *model, uint8_t **ret_hidden)
{
	struct weft_text filter = {0};
	int error = render_rows_filter(rows, &filter);
	if (!error)
		error = weft_filter_tasks(model, filter.bytes, ret_hidden);
	weft_text_finish(&filter);
	return error;
}

/* Appends text as in links: bytes that would end a word are %XX. */
static void add_escaped(struct weft_text *text, const char *bytes)
{
	static const char hex[] = "0123456789ABCDEF";
	for (; *bytes; bytes++) {
		unsigned char byte = (unsigned char)*bytes;
		bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
						(byte >= 'a' && byte <= 'z') || strchr("-._:/@,", byte);
		char escaped[] = {'%', hex[byte >> 4], hex[byte & 15]};
		weft_text_add(text, is_plain ? bytes : escaped, is_plain ? 1 : 3);
	}
}

int render_rows_describe(const struct render_rows *rows, struct weft_text *text)
{
	struct weft_text filter = {0};
	int error = render_rows_filter(rows, &filter);
	if (rows->no_fold)
		weft_text_add_string(text, " fold=off");
	if (rows->no_simplify)
		weft_text_add_string(text, " simplify=off");
	if (rows->is_grouping_chosen) {
		weft_text_add_string(text, " group=");
		weft_text_add_string(text, weft_group_by_name(rows->group_by));
	}
	if (!error && filter.bytes[0]) {
		weft_text_add_string(text, " filter=");
		add_escaped(text, filter.bytes);
	}
	weft_text_finish(&filter);
	return error ? error : text->error;
}

int render_rows_lay_out(const struct render_rows *rows, const struct weft_model *model,
	const struct weft_progress *progress, struct weft_layout **ret_layout)
{
	uint8_t *hidden = NULL;
	if (rows->hide.count || rows->only.count) {
		int error = find_hidden(rows, model, &hidden);
		if (error)
			return error;
	}
	struct weft_layout_options options = {
		.no_simplify = rows->no_simplify,
		.fold = !rows->no_fold,
		.group_by = rows->is_grouping_chosen ? rows->group_by : WEFT_GROUP_BY_AUTO,
		.hidden = hidden,
		.progress = progress,
	};
	int error = weft_layout_create(model, &options, ret_layout);
	free(hidden);
	return error;
}
