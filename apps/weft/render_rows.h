/* SPDX-License-Identifier: ISC
 *
 * Which rows a picture has, as options of the command line say: folds, groups, what is hidden.
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
	enum weft_group_by group_by;
	struct render_patterns hide, only;
};

/* What getopt_long is told of them. The letters are no short options. */
#define RENDER_ROWS_OPTIONS                                                             \
	{"group-by", required_argument, NULL, 'g'}, {"hide", required_argument, NULL, 'x'}, \
		{"no-fold", no_argument, NULL, 'u'}, {"no-simplify", no_argument, NULL, 'n'},   \
	{                                                                                   \
		"only", required_argument, NULL, 'y'                                            \
	}

/* One of these, with its `optarg`. False after a message, and for all other options. */
bool render_rows_parse(const char *command, int option, struct render_rows *rows);

/* What they are as words of the viewer's `view`, each behind a space. 0 or WEFT_ERROR_MEMORY. */
int render_rows_describe(const struct render_rows *rows, struct weft_text *text);

/* As a filter; it ends with a NUL. 0 or WEFT_ERROR_MEMORY. */
int render_rows_filter(const struct render_rows *rows, struct weft_text *text);

int render_rows_lay_out(const struct render_rows *rows, const struct weft_model *model,
	const struct weft_progress *progress, struct weft_layout **ret_layout);

#endif
