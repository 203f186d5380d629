/* SPDX-License-Identifier: ISC
 *
 * The range of a trace that is read without the rest.
 */
#ifndef WEFT_APPS_CLI_RANGE_H
#define WEFT_APPS_CLI_RANGE_H

#include "cli.h"

/* Takes CLI_PAST, CLI_START or CLI_DURATION and its argument. False after a message. */
bool cli_range_take(const char *command, int option);

/* NULL: all of a trace is read. */
const struct weft_range *cli_range(void);

/* Says on standard error which range of the trace was read, if it is not the whole, and
 * whether it began with the state in a file beside the trace. */
void cli_range_report(
	const struct cli_trace *trace, const struct weft_model *model, bool has_state);

#endif
