/* SPDX-License-Identifier: ISC
 *
 * The side tables of a part of a trace. Each says itself which of its rows a part has, and where in
 * them times and names are.
 */
#ifndef WEFT_EXPORT_CUT_TABLES_H
#define WEFT_EXPORT_CUT_TABLES_H

#include <stdbool.h>

#include <weft/cut.h>

#include "export/cut_names.h"
#include "model/side_tables.h"

struct weft__cut_tables {
	struct weft__chunks *chunks;
	struct weft__cut_names *names;
	const struct weft_trace_description *trace;
	struct weft_cut_range range;
	bool is_whole; /* no event of the trace is left out */
};

/* Writes the tables of the trace's first buffer as chunks. 0 or an error. */
int weft__export_cut_tables_write(const struct weft__cut_tables *cut);

#endif
