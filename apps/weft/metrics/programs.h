/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft metrics`, of which other commands use the first: the counters of running
 * programs, and a line for each, as text or JSON.
 */
#ifndef WEFT_APPS_METRICS_PROGRAMS_H
#define WEFT_APPS_METRICS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <weft/text.h>

#include "metrics/value.h"
#include "runs/attach/counters.h"
#include "runs/attach/page.h"

/* ---- programs.c: reading ---- */

struct metrics_program {
	struct weft__runs_linked linked;
	struct weft__runs_counters counters;
};

struct metrics_programs {
	struct metrics_program *list;
	size_t count;
	struct weft__metrics_sample *samples; /* in the order of programs and of their counters */
	size_t sample_count;
};

/* The processes of which the user gave the numbers. CLI_DONE, or another status after a message. */
int metrics_programs_name(const char *command, char *const *operands, int count,
	struct weft__runs_linked_list *ret_linked);

/* Called for a program whose counters cannot be read. */
typedef void metrics_unreadable(pid_t pid, int error);

/* Reads the counters of all these programs, or the children of their metrics; those that cannot be
 * read, as they have ended or have none, are left out. False without memory. The caller calls
 * finish in any case. */
bool metrics_programs_read(const struct weft__runs_linked_list *linked, bool children,
	metrics_unreadable *unreadable, struct metrics_programs *ret_programs);
void metrics_programs_finish(struct metrics_programs *programs);

/* ---- lines.c: a line for each counter ---- */

void metrics_add_text_head(struct weft_text *text);
void metrics_add_text(struct weft_text *text, const struct weft__metrics_sample *sample);
void metrics_add_json(struct weft_text *text, const struct weft__metrics_sample *sample);

#endif
