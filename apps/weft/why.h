/* SPDX-License-Identifier: ISC
 *
 * weft why: its options, and where it gets a model and writes its answer.
 */
#ifndef WEFT_APPS_WHY_H
#define WEFT_APPS_WHY_H

#include "cli.h"
#include "runs/find.h"

struct why_options {
	bool json, has_time;
	struct cli_time time;
	const char *task; /* as typed, or NULL */
};

/* Makes a model of what a running program has recorded so far. CLI_DONE, or CLI_UNREADABLE after a
 * message. */
int why_live(const char *path, const struct weft__runs_found *found, struct weft_model **ret_model);

/* Prints the answer. Returns an exit status: CLI_NO if nothing waits. */
int why_answer(const struct why_options *options, const char *name, const struct weft_model *model);

#endif
