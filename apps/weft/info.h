/* SPDX-License-Identifier: ISC
 *
 * Shared by the two forms of weft info.
 */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include <weft/model.h>

#include "cli.h"

struct info_report {
	const char *name;
	const struct weft_trace_description *trace;
	const struct cli_trace *opened;
	const struct weft_model *model;
	bool all_counters; /* for people; JSON has all */
};

void info_write_json(const struct info_report *report, struct weft_text *text);

static inline const char *info_level_name(unsigned level)
{
	const char *name = weft_level_name(level);
	return name ? name : "unknown";
}

#endif
