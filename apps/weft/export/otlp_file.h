/* SPDX-License-Identifier: ISC
 *
 * weft export --to otlp-json and --to otlp.
 */
#ifndef WEFT_APPS_EXPORT_OTLP_FILE_H
#define WEFT_APPS_EXPORT_OTLP_FILE_H

#include <weft/otlp.h>

#include "cli/cli.h"
#include "push/push.h"

struct otlp_arguments {
	struct weft_otlp_options options;
	uint64_t start_ns; /* ns since 1970; 0: as the trace says */
	bool has_signal[WEFT_OTLP_SIGNALS];
	struct push_options push;
};

/* Writes the trace to the receiver, or to the file at `path`, "-" for standard output. The exit
 * status. */
int otlp_export(
	const struct cli_trace *trace, const struct otlp_arguments *arguments, const char *path);

/* Says how many spans were left out because they still run. */
void otlp_report_pending(const char *name, const struct weft_otlp_summary *summary);

/* Sends what is in the spool. The exit status. */
int otlp_send_spool(const struct otlp_arguments *arguments);

#endif
