/* SPDX-License-Identifier: ISC
 *
 * Shared by the parts of `weft dump`: events, tables of the model, problems and stories.
 */
#ifndef WEFT_APPS_DUMP_H
#define WEFT_APPS_DUMP_H

#include "cli/cli.h"
#include "cli/xen_filter.h"

#include <weft/lines.h>

enum dump_what {
	DUMP_EVENTS,
	DUMP_TASKS,
	DUMP_EDGES,
	DUMP_SPANS,
	DUMP_PROBLEMS,
	DUMP_STORY,
};

struct dump_options {
	enum dump_what what;
	bool json;
	bool tsv;
	bool no_simplify;
	bool by_time;      /* problems by time instead of by gravity */
	bool is_each;      /* each file is a trace of its own */
	bool follows;      /* also what is added to the file */
	int fail_on;       /* the least severity for which the exit status is CLI_NO */
	const char *story; /* the task for --story: ID, BUFFER/ID or its label */
	struct xen_filter filter;
	struct cli_time start;
	uint64_t duration_ns; /* UINT64_MAX: up to the end */
};

/* The requested range on the trace's clock; `end_ns` is exclusive, unless it is UINT64_MAX. */
struct dump_range {
	uint64_t start_ns, end_ns;
};

struct dump_range dump_find_range(const struct dump_options *options, uint64_t trace_start_ns);

/* Appends seconds with nine decimals, in a column of 15. */
void dump_add_seconds(struct weft_text *text, uint64_t ns);

/* Size of written blocks. */
#define DUMP_BLOCK_BYTES ((size_t)256 << 10)

/* Writes the rest of the text and frees it; says why nothing was printed. `status`: of the decoder;
 * `count`: events or records that were read. Returns an exit status. */
int dump_end(const struct cli_trace *trace, struct weft_text *text, int status, uint64_t count,
	uint64_t shown);

/* Prints tasks or edges; returns an exit status. */
int dump_model(const struct dump_options *options, const struct cli_trace *trace);

/* Prints records of Xen; returns an exit status. */
int dump_xentrace(const struct dump_options *options, const struct cli_trace *trace);

/* Prints the events or records of a file, and those that are added to it; returns an exit status.
 */
int dump_follow(const struct dump_options *options, const char *path);

/* Prints spans; returns an exit status. */
int dump_spans(const struct dump_options *options, const struct cli_trace *trace);

/* A fail_on that no problem reaches. */
#define DUMP_FAIL_NEVER 3

/* Prints problems, or the story of a task; returns an exit status. */
int dump_story(const struct dump_options *options, const struct cli_trace *trace);

/* Prints a line for each type of problem, for --help. */
void dump_list_problem_names(void);

#endif
