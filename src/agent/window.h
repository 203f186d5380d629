/* SPDX-License-Identifier: ISC
 *
 * Answers about a window of time, from the history: by how much a counter grew, what a gauge was,
 * how a histogram's values were distributed. A window begins at the last known value before it:
 * each answer says how exactly that time is known.
 */
#ifndef WEFT_AGENT_WINDOW_H
#define WEFT_AGENT_WINDOW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/attach/counters.h"

struct weft__agent_question {
	const char *metric;
	const char *by; /* "program", "user", a label's name; "": all in one */
	int64_t from;   /* in seconds since 1970 */
};

/* A cell of a histogram: how many values were at most `bound`, and larger than the bound before. */
struct weft__agent_cell {
	double bound;
	int64_t count;
};

struct weft__agent_group {
	char *name;
	char *unit;
	int exponent; /* values are in `unit` times 10^exponent */
	enum {        /* as in the statement */
		WEFT__AGENT_GROUP_COUNTER,
		WEFT__AGENT_GROUP_GAUGE,
		WEFT__AGENT_GROUP_HISTOGRAM,
	} kind;
	int64_t amount;                 /* of a counter: its growth; of a histogram: of the sum */
	bool is_known;                  /* a gauge has values in the window */
	double value, low, high;        /* of a gauge: at the end, least, largest */
	struct weft__agent_cell *cells; /* in the order of their bounds */
	size_t cell_count;
	int64_t count;                       /* of a histogram's values */
	struct weft__runs_exemplar exemplar; /* the largest in the window */
	int64_t exemplar_pid;                /* of which process */
};

struct weft__agent_window {
	int64_t from, to;      /* `to` is the last look: nothing is known if it is not behind `from` */
	int64_t exact_to_s;    /* changes of so many seconds before `from` may be counted, too */
	int64_t watched_since; /* later than `from` if no agent was looking before */
	struct weft__agent_group *groups;
	size_t count;
};

/* A result of SQLite. The caller calls finish in any case. */
int weft__agent_window_ask(
	sqlite3 *database, const struct weft__agent_question *question, struct weft__agent_window *ret);
void weft__agent_window_finish(struct weft__agent_window *window);

/* The bound of the cell in which the value of that rank lies; `part` of all are at most it. */
double weft__agent_window_quantile(const struct weft__agent_group *group, double part);

/* The first moment of the day on which `now` is, in the local time zone. Where the clock is set at
 * midnight, days may begin at another hour, or twice: then the last time. */
int64_t weft__agent_window_midnight(int64_t now);

/* The last time, until now, at which the clock showed that hour and minute in the local time zone.
 */
int64_t weft__agent_window_clock(int64_t now, int hour, int minute);

#endif
