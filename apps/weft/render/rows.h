/* SPDX-License-Identifier: ISC
 *
 * Options that select a picture's rows: folds, groups, filters.
 */
#ifndef WEFT_RENDER_ROWS_H
#define WEFT_RENDER_ROWS_H

#include <weft/layout.h>
#include <weft/text.h>

#define RENDER_PATTERNS_MAX 32

struct render_patterns {
	const char *list[RENDER_PATTERNS_MAX]; /* borrowed */
	unsigned count;
};

struct render_rows {
	bool no_simplify, no_fold;
	bool is_grouping_chosen; /* by group_by; otherwise it depends on the trace */
	enum weft_group_by group_by;
	struct render_patterns hide, only;
};

/* The options for getopt_long. The letters are not short options. */
#define RENDER_ROWS_OPTIONS                                                             \
	{"group-by", required_argument, NULL, 'g'}, {"hide", required_argument, NULL, 'x'}, \
		{"no-fold", no_argument, NULL, 'u'}, {"no-simplify", no_argument, NULL, 'n'},   \
	{                                                                                   \
		"only", required_argument, NULL, 'y'                                            \
	}

/* Parses one of these options, with its `optarg`. False after a message, and for all other options.
 */
bool render_rows_parse(const char *command, int option, struct render_rows *rows);

/* Appends the options as words of the viewer's `view` command, each after a space. 0 or
 * WEFT_ERROR_MEMORY. */
int render_rows_describe(const struct render_rows *rows, struct weft_text *text);

/* Appends the options as a filter, which ends with a NUL. 0 or WEFT_ERROR_MEMORY. */
int render_rows_filter(const struct render_rows *rows, struct weft_text *text);

int render_rows_lay_out(const struct render_rows *rows, const struct weft_model *model,
	const struct weft_progress *progress, struct weft_layout **ret_layout);

#endif
