/* SPDX-License-Identifier: ISC
 *
 * The time of day at which a trace began.
 */
#ifndef WEFT_APPS_EXPORT_START_TIME_H
#define WEFT_APPS_EXPORT_START_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

#include "cli/cli.h"

/* Parses "2026-11-29T14:37:40.5Z", perhaps with an offset such as +01:00 instead of the Z, into ns
 * since 1970. False after a message. */
bool export_parse_start_time(const char *command, const char *text, uint64_t *ret_ns);

/* Finds what has to be added to the trace's times for ns since 1970: from its clock, or if that
 * does not say, so that it begins at `start_ns`; 0: not given. False after a message. */
bool export_find_offset(const struct cli_trace *trace, const struct weft_model *model,
	uint64_t start_ns, int64_t *ret_offset_ns);

#endif
