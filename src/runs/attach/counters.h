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

/* A counter has an integer, or a real value. */
struct weft__runs_counter {
	char name[WEFT_ABI_NAME_MAX_BYTES + 1]; /* may hold any bytes but NUL */
	int64_t integer;
	double real;
	bool is_real;
};

struct weft__runs_counters {
	struct weft__runs_counter *list; /* in the order in which they were first changed */
	size_t count;
};

/* Reads the counters in a copy of the memory, which may be damaged: such rows are left out. 0 or an
 * errno; ENOENT: it has none. The caller calls finish if it is 0. */
int weft__runs_counters_parse(
	const struct weft_abi_counters *memory, struct weft__runs_counters *ret_counters);

/* The same for a process. Each value is one that the counter had meanwhile; values of different
 * counters may be some microseconds apart. ENOENT: the process has no such memory of its own. */
int weft__runs_counters_read(pid_t pid, struct weft__runs_counters *ret_counters);
void weft__runs_counters_finish(struct weft__runs_counters *counters);

#endif
