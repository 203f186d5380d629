/* SPDX-License-Identifier: ISC
 *
 * Shared by the parts of `weft stats`: tables for people, JSON and CSV, comparisons.
 */
#ifndef WEFT_APPS_STATS_H
#define WEFT_APPS_STATS_H

#include "cli/cli.h"

#include <weft/stats.h>
#include <weft/xentrace.h>

/* A trace with the statistics of a range of it. */
struct stats_side {
	struct cli_trace trace;
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_story_index *index;
	struct weft_story story;
	struct weft_stats *stats;
};

enum stats_figure {
#define FIGURE(id, title, keep, key, type, value) STATS_##id,
#include "figures.def"
#undef FIGURE
	STATS_FIGURES
};

enum stats_type {
	STATS_TYPE_COUNT,
	STATS_TYPE_RARE,
	STATS_TYPE_LIFE,
	STATS_TYPE_TIME,
	STATS_TYPE_DELAY,
};

/* By figure, as in figures.def. */
extern const struct stats_figures {
	const char *key;
	enum stats_type type;
} stats_figures[STATS_FIGURES];

uint64_t stats_value(const struct weft_stats_row *row, enum stats_figure figure);

struct stats_output {
	struct weft_text text;
	uint32_t limit; /* of rows */
};

/* Append the whole output for a trace. */
void stats_write_table(struct stats_output *output, const struct stats_side *side);
void stats_write_json(struct stats_output *output, const struct stats_side *side);
void stats_write_csv(struct stats_output *output, const struct stats_side *side);

/* The same for a comparison; the names of both sides are for people. */
void stats_write_diff_table(struct stats_output *output, const struct weft_stats_diff *diff,
	const struct stats_side sides[2]);
void stats_write_diff_json(struct stats_output *output, const struct weft_stats_diff *diff);
void stats_write_diff_csv(struct stats_output *output, const struct weft_stats_diff *diff);

/* The width of a table: that of the terminal, or the value of COLUMNS; SIZE_MAX in a file. */
size_t stats_find_width(void);

/* ---- Tables for people ---- */

#define STATS_CELL_BYTES 80

/* A column: its cells are right-aligned. */
struct stats_column {
	const char *title;
	unsigned keep; /* columns with the lowest number are left out first if the width is too small */
	bool may_hide; /* left out if all of its cells are empty */
	unsigned what; /* for the table's `format` */
};

/* Rows of a table: `rows` is the columns'; names come last, as they have any length. */
struct stats_table {
	const struct stats_column *columns;
	unsigned column_count;
	const void *rows;
	uint32_t row_count;
	const char *name_title;
	void (*format)(const void *rows, uint32_t row, unsigned what, char cell[STATS_CELL_BYTES]);
	void (*add_name)(const void *rows, uint32_t row, struct weft_text *text);
};

#define STATS_COLUMNS_MAX 20

void stats_add_table(struct weft_text *text, const struct stats_table *table, size_t width);

/* Appends the trace's name, the range and how long nothing runs in it. */
void stats_add_head(struct weft_text *text, const struct stats_side *side);
/* Appends how many rows are not shown, if there are any. */
void stats_add_left_out(struct weft_text *text, uint32_t shown, uint32_t all, const char *where);

/* Appends the histograms of the trace's programs, as they were at the end of the record; the second
 * one as a member of an object. */
void stats_add_histograms(struct weft_text *text, const struct stats_side *side);
void stats_add_histograms_json(struct weft_text *text, const struct stats_side *side);

/* The title of the rows' names. */
const char *stats_unit(const struct weft_stats *stats);

/* Appends a row's name for people: "task 'request #'". */
void stats_add_name(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row);

/* ---- States of Xen's vCPUs, domains and pCPUs ---- */

struct stats_xen_request {
	enum weft_xentrace_whose whose;
	uint64_t start_ns, end_ns; /* from the trace's start; UINT64_MAX: up to the end */
	uint64_t interval_ns;      /* 0: none */
	bool is_json, is_csv;
};

/* False if the name is none of "vcpu", "domain" and "pcpu". */
bool stats_xen_parse(const char *name, enum weft_xentrace_whose *ret_whose);

/* Prints the statistics of a trace of Xen; returns an exit status. */
int stats_xen(const struct stats_xen_request *request, const char *path);

#endif
