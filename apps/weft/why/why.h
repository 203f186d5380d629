/* SPDX-License-Identifier: ISC
 *
 * weft why: its options, and where it gets a model and writes its answer.
 */
#ifndef WEFT_APPS_WHY_H
#define WEFT_APPS_WHY_H

#include "cli/cli.h"
#include "cli/live.h"

struct why_options {
	bool json, has_time, all, watch, collapsed;
	struct cli_time time;
	char *const *tasks; /* as typed */
	int task_count;
	const char *output;          /* of a watch; NULL: it is printed */
	const struct cli_live *live; /* the running program, if the answer is about now; or NULL */
};

/* Prints the answer. Returns an exit status: CLI_NO if nothing waits. */
int why_answer(const struct why_options *options, const char *name, const struct weft_model *model);

#endif
