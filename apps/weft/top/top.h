/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft top`: the counters of running programs as a tree (forest.c), which rows of it
 * are shown (rows.c, search.c), values in few columns (words.c), and two outputs: text that is
 * printed once (plain.c), and a terminal (live.c, screen.c, keys.c, curses.h).
 */
#ifndef WEFT_APPS_TOP_H
#define WEFT_APPS_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/text.h>

#include "metrics/programs.h"
#include "metrics/value.h"
#include "runs/attach/counters.h"
#include "runs/attach/page.h"
#include "runs/guests/usage.h"

#define TOP_NONE UINT32_MAX

/* ---- forest.c: the tree ---- */

/* How many samples are kept. */
#define TOP_SAMPLES 60

/* The last samples of a counter, at the sample's number modulo TOP_SAMPLES; NaN where there is
 * none. */
struct top_history {
	float value[TOP_SAMPLES], rate[TOP_SAMPLES];
};

enum top_kind {
	TOP_PROGRAM,
	TOP_NAME, /* a part of a counter's name, between slashes */
	TOP_LABEL
};

/* The node after the subtree of a node is its next sibling, or that of a node above. */
struct top_node {
	const char *id; /* the text as the program has it */
	size_t id_size;
	const char *text; /* the same for people: harmless to a terminal */
	size_t text_offset;
	uint32_t program;
	uint32_t parent;   /* TOP_NONE for a program */
	uint32_t end;      /* the first node behind the subtree */
	uint32_t previous; /* the same node in the forest before, or TOP_NONE */
	unsigned depth;
	enum top_kind kind;
	bool is_open;                             /* what is below it is shown */
	bool was_opened;                          /* by a search that has not ended */
	const struct weft__runs_counter *counter; /* or NULL */
	double value, rate;                       /* in the base unit; NaN: unknown */
	struct top_history *history;              /* of a counter */
};

struct top_program {
	struct weft__runs_linked linked;
	struct weft__runs_counters counters;
	struct weft__runs_counters children; /* of its metrics, if they are shown */
	unsigned ended;                      /* the number of samples since its end */
	bool is_domain;                      /* of Xen: its pid is the domain's number */
};

struct top_forest {
	struct top_program *programs; /* by name and process */
	uint32_t program_count;
	struct top_node *nodes; /* each before those below it, siblings by name */
	uint32_t count, counter_count;
	uint32_t running;            /* programs that have not ended */
	struct weft_text ids, texts; /* of the nodes */
	bool has_children;           /* set by the user: children of metrics are read, too */
	struct weft_host *xen;       /* set by the user: whose domains are shown, too; or NULL */
	/* Programs of a trace, in place of those that run: the forest takes their counters. */
	struct metrics_programs *given;
	uint64_t sample; /* its number, from 0 on */
	double time_s;   /* of the sample, on the monotonic clock */
};

/* Makes the forest of the programs as they are now, with the history of the one before. Programs
 * that have ended are kept for TOP_SAMPLES samples. Without memory false, and the forest is empty.
 */
bool top_forest_update(
	struct top_forest *forest, const struct weft__runs_linked_list *linked, double time_s);
void top_forest_finish(struct top_forest *forest);

bool top_forest_has_below(const struct top_forest *forest, uint32_t node);

/* ---- programs.c: which programs there are ---- */

struct top_programs {
	struct weft__runs_linked_list linked;
	struct weft_host *xen; /* as in the forest */
	bool are_named;        /* by the user; no others are looked for */
	double searched_s;     /* when they were looked for, and how long that took */
	double search_took_s;
};

/* Looks for new programs, unless that takes too large a part of the time. */
void top_programs_find(struct top_programs *programs, double now_s);
void top_programs_finish(struct top_programs *programs);

double top_now_s(void);

/* Takes programs that were read before. */
void top_programs_take(struct top_forest *forest, struct metrics_programs *given);

/* Reads the counters of those that run. */
void top_programs_read(struct top_forest *forest, const struct weft__runs_linked_list *linked);

/* Takes the domains of Xen. */
void top_programs_take_domains(struct top_forest *forest, struct weft__runs_usage_list *usage);

/* Moves those that have ended from the forest before, whose nodes may still read them. */
void top_programs_keep_ended(struct top_forest *forest, struct top_forest *before);

int top_program_compare(const void *left, const void *right);

/* ---- paths.c ---- */

/* Where a counter is in the tree: parts, each a digit for its kind, its text and a NUL. */
struct top_path {
	uint32_t program;
	const char *bytes;
	size_t offset, size; /* of the bytes */
	const struct weft__runs_counter *counter;
};

struct top_paths {
	struct top_path *list; /* by program, then by their bytes */
	size_t count, part_count;
	struct weft_text bytes;
};

/* False without memory. Call finish in any case. */
bool top_paths_init(struct top_paths *paths, const struct top_forest *forest);
void top_paths_finish(struct top_paths *paths);

/* ---- rows.c: which rows are shown ---- */

enum top_sort {
	TOP_BY_NAME,
	TOP_BY_VALUE,
	TOP_BY_RATE
};

struct top_rows {
	uint32_t *list; /* nodes */
	uint32_t count;
	enum top_sort sort;
	bool is_reversed;
};

/* Lists the nodes that are not below a folded one. False without memory: the list is as before. */
bool top_rows_update(struct top_rows *rows, const struct top_forest *forest);
void top_rows_finish(struct top_rows *rows);

/* The row of a node, or of the nearest one above it that is shown. */
uint32_t top_rows_find(const struct top_rows *rows, const struct top_forest *forest, uint32_t node);

/* ---- words.c: values in few columns ---- */

#define TOP_CELL_BYTES 24

/* "1.23 MB/s": at most ten columns. "" if it is unknown. */
void top_format(double value, const char *unit, bool per_second, char ret_cell[TOP_CELL_BYTES]);

/* Those of a node: the value, of a histogram the number of values, of a program "ended"; and the
 * rate. */
void top_format_value(
	const struct top_forest *forest, const struct top_node *node, char ret_cell[TOP_CELL_BYTES]);
void top_format_rate(const struct top_node *node, char ret_cell[TOP_CELL_BYTES]);

/* Appends a picture of the last samples in `columns` characters, the newest at the right: rates of
 * what only grows, else values. */
void top_add_picture(struct weft_text *text, const struct top_forest *forest,
	const struct top_node *node, unsigned columns, bool has_utf8);

/* Appends a sentence about a node: its exact value, type, unit and help. */
void top_add_details(
	struct weft_text *text, const struct top_forest *forest, const struct top_node *node);

/* ---- plain.c ---- */

/* Prints the whole tree as text. */
void top_print(const struct top_forest *forest, bool has_rates);

/* ---- live.c ---- */

/* Shows the tree on the terminal until the user or a signal ends it; returns an exit status. */
int top_live(struct top_programs *programs, double interval_s, bool has_children);

#endif
