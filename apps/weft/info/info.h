/* SPDX-License-Identifier: ISC
 *
 * Shared by the two forms of weft info.
 */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include <sys/types.h>

#include <weft/model.h>

#include "cli/cli.h"

struct info_report {
	const char *name;
	const struct weft_trace_description *trace;
	const struct cli_trace *opened;
	const struct weft_model *model;
	bool all_counters; /* for people; JSON has all */
};

/* Messages, see docs/model.md; `joined`: both sides are in the trace. */
struct info_messages {
	uint64_t sent, received, joined;
	uint64_t raised, handled; /* of those sent, by Xen's own trace; of these, those joined */
};

static inline struct info_messages info_count_messages(const struct weft_model *model)
{
	const struct weft_model_summary *summary = &model->summary;
	return (struct info_messages){
		.sent = summary->by_event[WEFT_EVENT_SEND] - summary->withdrawn,
		.received = summary->by_event[WEFT_EVENT_RECEIVE],
		.joined = summary->joined,
		.raised = summary->raised,
		.handled = summary->handled,
	};
}

/* True if a process shows its service, or for which spans its threads work. */
bool info_shows_context(pid_t pid);

/* Prints these. CLI_UNREADABLE if there is no such process. */
int info_process(pid_t pid, bool json);

/* Appends what each domain of a trace of Xen asked of it. */
void info_write_xen(const struct info_report *report, struct weft_text *text);
void info_write_xen_json(const struct info_report *report, struct weft_text *text);

/* Appends a time counted from the first event. */
void info_add_time(struct weft_text *text, const struct info_report *report, uint64_t ns);

/* Appends why a snapshot was taken. */
void info_write_alerts(const struct info_report *report, struct weft_text *text);

/* Appends the side tables of the trace's buffers. */
void info_write_tables(const struct info_report *report, struct weft_text *text);
void info_write_tables_json(const struct info_report *report, struct weft_text *text);

/* Appends the values that metrics had at the end of the record. */
void info_write_metrics(const struct info_report *report, struct weft_text *text);
void info_write_metrics_json(const struct info_report *report, struct weft_text *text);

void info_write_json(const struct info_report *report, struct weft_text *text);

#endif
