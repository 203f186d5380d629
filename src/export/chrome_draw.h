/* SPDX-License-Identifier: ISC
 *
 * The state of an export to Chrome's format: what has been drawn of each task and thread.
 *
 *     chrome.c        a line for each event
 *     chrome_draw.c   lines that only draw: activations, arrows
 *     chrome_lines.c  the bytes
 */
#ifndef WEFT_EXPORT_CHROME_DRAW_H
#define WEFT_EXPORT_CHROME_DRAW_H

#include <weft/lines.h>

#include "export/chrome_lines.h"
#include "model/state.h"

/* Which slice of its own a task has. */
enum weft__chrome_life {
	WEFT__CHROME_UNKNOWN, /* none so far */
	WEFT__CHROME_OPEN,
	WEFT__CHROME_ENDED,
};

/* A task, by its number in the state. */
struct weft__chrome_row {
	uint64_t woken;  /* the flow that its next activation ends; 0: none */
	uint64_t result; /* the flow that its first reader ends; 0: none */
	uint32_t name;   /* the string that its slice has, or WEFT_NONE */
	uint32_t spans;  /* slices inside its own that are open */
	uint16_t kind;   /* the same */
	bool is_named;   /* `name` and `kind` are valid */
	uint8_t life;    /* enum weft__chrome_life */
};

/* Slices that have begun on a thread. */
struct weft__chrome_drawn {
	uint32_t task; /* its activation; WEFT_NONE: none */
	bool bands[2]; /* by enum weft_band */
};

struct weft_export_chrome {
	struct weft__chrome_lines lines;
	struct weft_lines fields;
	struct weft__identities identities;
	struct weft__texts texts;
	struct weft__state state;
	const struct weft_event *event; /* the present one */
	struct weft__fact fact;
	struct weft__chrome_row *rows;
	size_t row_capacity;
	struct weft__chrome_drawn *drawn; /* by thread */
	uint32_t drawn_count;
	size_t drawn_capacity;
	uint64_t flows;      /* so far */
	uint64_t last_ns;    /* time of the last event */
	uint32_t counter;    /* that the present event changed, or WEFT_NONE */
	uint32_t ended_span; /* the name of the one that the present event ended, or WEFT_NONE */
	bool has_switched;   /* the present event is a switch, and its fields are written */
	bool is_closing;     /* the trace ends: so do all activations */
};

extern const struct weft__listener weft__export_chrome_listener;

struct weft_slice weft__export_chrome_string(const struct weft_export_chrome *c, uint32_t string);
/* The listener of the lines: appends a task's name. A slice keeps the name that it had when it was
 * handed out, because its end must have the same. */
void weft__export_chrome_task_name(void *context, uint32_t task, struct weft_text *text);
/* Ends the line with the fields of the event, which weft reads again: as an argument, or apart from
 * the arguments. Those of counters are numbers only, and speedscope names slices of threads after
 * theirs. */
void weft__export_chrome_end_with_fields(struct weft_export_chrome *c, bool is_outside);
/* Begins the line of a slice of a task's span, which nests in the task's own. */
void weft__export_chrome_span_slice(
	struct weft_export_chrome *c, char phase, struct weft_slice name, uint32_t task);
/* Ends the arrow of that number in the activation of the event's thread, if both are there. */
void weft__export_chrome_end_arrow(struct weft_export_chrome *c, const char *name, uint64_t *flow);
int weft__export_chrome_reserve_drawn(struct weft_export_chrome *c, uint32_t thread);

#endif
