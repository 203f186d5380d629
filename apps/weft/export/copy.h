/* SPDX-License-Identifier: ISC
 *
 * Copies the events of a trace to a writer of another format.
 */
#ifndef WEFT_APPS_EXPORT_COPY_H
#define WEFT_APPS_EXPORT_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/trace.h>

#include "cli/cli.h"

/* Both return 0 or an error. */
struct export_writer {
	int (*add)(void *context, const struct weft_event *event,
		const struct weft_trace_description *description);
	int (*finish)(void *context, const struct weft_trace_description *description);
	void *context;
};

/* The result: an error while reading, or while writing. */
struct export_outcome {
	int read_error, write_error;
	uint64_t events;
	bool interrupted;
	int reason; /* errno of an error while writing */
};

/* Copies all events, or those before Ctrl-C; `event` is the first one, if `status` is WEFT_OK. */
struct export_outcome export_copy(const struct cli_trace *trace, int status,
	struct weft_event *event, const struct export_writer *writer);

/* Prints why the output at that path was not made. The exit status. */
int export_fail(
	const struct cli_trace *trace, const char *path, const struct export_outcome *outcome);

/* Says that the output lacks the events after Ctrl-C, and ends the program then. */
void export_end_if_interrupted(const char *path, const struct export_outcome *outcome);

#endif
