/* SPDX-License-Identifier: ISC
 *
 * The values of a running process's counters, whether or not it records (abi/counter_abi.h). The
 * process may be hostile, and may change them at any time.
 */
#ifndef WEFT_RUNS_COUNTERS_H
#define WEFT_RUNS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/counter_abi.h"
#include "abi/name_abi.h"

enum weft__runs_type {
	WEFT__RUNS_UNKNOWN, /* the program does not say whether it may go back */
#define METRIC_TYPE(number, id, name) WEFT__RUNS_##id = number,
#include "abi/metric_types.def"
#undef METRIC_TYPE
	WEFT__RUNS_TYPES
};

/* The texts may hold any bytes but NUL. */
struct weft__runs_label {
	const char *key, *value;
};

/* How often there was a value of each size. */
struct weft__runs_histogram {
	const uint64_t *cells;
	uint32_t cell_count;
	/* Cell i counts the values that are larger than those of the cells before it, and at most
	 * 2^(first_exponent + i/8); the last one counts all others. */
	int first_exponent;
	uint64_t count; /* the sum of the cells */
	uint64_t sum;   /* of the values */
};

/* A counter has an integer, a real value, or is a histogram. A real value, and the values of a
 * histogram, are in the program's own unit: `unit` times 10^scale. */
/* A value that is worth a look. */
struct weft__runs_exemplar {
	bool is_there;
	uint64_t value;        /* of a histogram in its own unit; of a counter a change */
	uint64_t task;         /* UINT64_MAX: none */
	uint64_t monotonic_ns; /* as in traces */
	uint64_t unix_ns;      /* 0: unknown */
};

struct weft__runs_counter {
	const char *name;
	const char *help, *unit; /* "": the program does not say */
	int scale;
	enum weft__runs_type type;
	bool is_billable; /* a counter that is to be added up over restarts */
	bool begins_at_0; /* of a counter: when the process's present record began */
	bool is_child;    /* it comes and goes; totals of levels have it */
	const struct weft__runs_label *labels; /* in the program's order: from the widest level on */
	size_t label_count;
	uint64_t created_unix_ns; /* 0: unknown */
	int64_t integer;
	double real; /* also if it is an integer */
	bool is_real;
	struct weft__runs_histogram histogram;
	struct weft__runs_exemplar exemplar;
};

struct weft__runs_counters {
	struct weft__runs_counter *list; /* in the order in which they were first changed */
	size_t count;
	void *owned[5]; /* what the list refers to: of counters, three of metrics, of counted calls */
};

/* Reads the counters in a copy of the memory, which may be damaged: such rows are left out. 0 or an
 * errno; ENOENT: it has none. The caller calls finish if it is 0. */
int weft__runs_counters_parse(
	const struct weft_abi_counters *memory, struct weft__runs_counters *ret_counters);

/* The same for a process, with its metrics (metrics.h) behind the counters. Each value is one that
 * the counter had meanwhile; values of different counters may be some microseconds apart. ENOENT:
 * the process has no such memory of its own. */
int weft__runs_counters_read(pid_t pid, struct weft__runs_counters *ret_counters);

/* Opens the memory for the counters of a process, behind the page or beside its ring, and says
 * where in it they begin. It may say that they are elsewhere. -1 with errno; ENOENT: there is none.
 */
int weft__runs_counters_open(pid_t pid, off_t *ret_offset);

/* The same, where they are: the file in which they begin at `*offset` is closed if it says that
 * they are in an agent's folder. -1: they are not there any more. */
int weft__runs_counters_open_at(int fd, off_t *offset);

/* Opens the counters of a process wherever they are, if they are its own. -1 with errno. */
int weft__runs_counters_open_own(pid_t pid, off_t *ret_offset);

/* The children of its metrics, in no order. ENOENT: it has none. As above. */
int weft__runs_children_read(pid_t pid, struct weft__runs_counters *ret_counters);

void weft__runs_counters_finish(struct weft__runs_counters *counters);

#endif
