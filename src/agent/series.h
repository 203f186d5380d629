/* SPDX-License-Identifier: ISC
 *
 * All series that the database has, in memory: a user's program, a metric, its labels, and for a
 * histogram one of its cells. The same labels in another order are the same series.
 */
#ifndef WEFT_AGENT_SERIES_H
#define WEFT_AGENT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/text.h>

#include "agent/database.h"
#include "base/strings.h"
#include "runs/attach/counters.h"

/* "unknown": the program does not say whether the value may go back. It is taken as a counter until
 * it does, and then as a gauge. Only integers are exact, so "real" values are only shown. */
enum weft__agent_type {
	WEFT__AGENT_TYPE_UNKNOWN,
	WEFT__AGENT_TYPE_COUNTER,
	WEFT__AGENT_TYPE_HISTOGRAM,
	WEFT__AGENT_TYPE_GAUGE,
	WEFT__AGENT_TYPE_REAL,
	WEFT__AGENT_TYPES
};

struct weft__agent_series {
	enum weft__agent_type type;
	bool is_known;   /* to the database */
	bool is_changed; /* its total is not in the database yet */
	bool is_retyped; /* nor its type and unit */
	bool is_live;    /* some region has a value of it now */
	int64_t total;   /* in the ledger */
	int64_t next;    /* the total that is being written */
	double now;      /* the sum over the regions that live, of a gauge or real value */
	int64_t base;    /* a time at which the value is known to have been 0; 0: none */
	bool has_sample; /* `sample` is in the history */
	struct weft__agent_value sample;      /* its last one */
	struct weft__agent_value next_sample; /* that which is being written */
	int64_t entered;                      /* its total in the chain of entries */
	double bound;                         /* the largest value that a cell counts; else NAN */
	uint32_t unit, help;                  /* in `texts` */
	int scale;
	bool is_billable; /* the program wants an exact total */
};

/* How many series a user has. */
struct weft__agent_user {
	uint64_t id;
	size_t series;
};

struct weft__agent_all_series {
	struct weft__strings keys; /* number → the pieces of its key, each but the last with a NUL */
	struct weft__strings texts;
	struct weft__agent_series *list; /* by number; in the database, numbers begin at 1 */
	size_t capacity;
	struct weft__agent_user *users; /* each that has one */
	size_t user_count;
	size_t limit; /* no more than these are made, and an eighth of them for one user */
};

/* The pieces of a series' key, valid until the next series is made. */
struct weft__agent_key {
	const char *user, *program, *metric, *labels, *part;
};
struct weft__agent_key weft__agent_series_key(
	const struct weft__agent_all_series *all, uint32_t number);

/* True if the ledger has the series. */
static inline bool weft__agent_series_is_billed(enum weft__agent_type type)
{
	return type <= WEFT__AGENT_TYPE_HISTOGRAM;
}

/* None, with the limit that there is. A result of SQLite. */
int weft__agent_series_init(struct weft__agent_all_series *all);

/* Reads all from the database. A result of SQLite. */
int weft__agent_series_load(struct weft__agent_all_series *all, sqlite3 *database);
void weft__agent_series_finish(struct weft__agent_all_series *all);

/* A cell of a histogram, or another value of a counter. */
struct weft__agent_part {
	char name[16]; /* "value", "sum", "le:EIGHTHS" or "le:inf" */
	double bound;  /* the largest value of a cell; else NAN */
};

/* The key of a program's counter, to which those of its parts are alike but for the end. Starts
 * as {0}; the caller calls weft_text_finish(&name.key). */
struct weft__agent_name {
	struct weft_text key;
	size_t size; /* of what all parts have */
	const struct weft__runs_counter *counter;
};
void weft__agent_series_name(struct weft__agent_name *name, uint64_t user, const char *program,
	const struct weft__runs_counter *counter);

/* Finds the series of a part of that counter, or makes one. WEFT__AGENT_NONE: it would be too many,
 * or there is no memory. */
#define WEFT__AGENT_NONE UINT32_MAX
uint32_t weft__agent_series_find(struct weft__agent_all_series *all, struct weft__agent_name *name,
	const struct weft__agent_part *part);

/* The type that a counter's series has at first. */
enum weft__agent_type weft__agent_series_type(const struct weft__runs_counter *counter);
const char *weft__agent_series_type_name(enum weft__agent_type type);

/* True if a counter's values are in the unit of the series. */
bool weft__agent_series_has_unit(const struct weft__agent_all_series *all,
	const struct weft__agent_series *series, const struct weft__runs_counter *counter);
void weft__agent_series_set_unit(struct weft__agent_all_series *all,
	struct weft__agent_series *series, const struct weft__runs_counter *counter);

/* Writes a series that the database does not know yet. A result of SQLite. */
int weft__agent_series_save(const struct weft__agent_all_series *all, uint32_t number,
	struct weft__agent_database *database);

#endif
