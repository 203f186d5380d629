/* SPDX-License-Identifier: ISC
 *
 * What the parts of `weft dump` share: events as they are, what the model makes of them,
 * and what can be told of it.
 */
#ifndef WEFT_APPS_DUMP_H
#define WEFT_APPS_DUMP_H

#include "cli.h"

#include <weft/lines.h>

enum dump_what {
	DUMP_EVENTS,
	DUMP_TASKS,
	DUMP_EDGES,
	DUMP_PROBLEMS,
	DUMP_STORY,
};

struct dump_options {
	enum dump_what what;
	bool json;
	bool no_simplify;
	uint64_t task; /* of the story: its id */
	struct cli_time start;
	uint64_t duration_ns; /* UINT64_MAX: to the end */
};

/* The part of the trace that is wanted, on its clock; `end_ns` is not part of it, unless it is
 * UINT64_MAX. */
struct dump_range {
	uint64_t start_ns, end_ns;
};

struct dump_range dump_find_range(const struct dump_options *options, uint64_t trace_start_ns);

/* Enough to make writing cheap. */
#define DUMP_BLOCK_BYTES ((size_t)256 << 10)

/* Tasks or edges to standard output; answers an exit status. */
int dump_model(const struct dump_options *options, const struct cli_trace *trace);

/* Problems, or the story of a task, likewise. */
int dump_story(const struct dump_options *options, const struct cli_trace *trace);

/* A line a problem that weft finds, for --help. */
void dump_list_problem_names(void);

#endif
