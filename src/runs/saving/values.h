/* SPDX-License-Identifier: ISC
 *
 * The values of a program's metrics and counters in its trace: side tables behind the packets
 * (abi/table_abi.h). Metrics have their values at the end of the trace. Counters have events in the
 * trace, and values here only if the program ended without recording the last ones.
 */
#ifndef WEFT_RUNS_VALUES_H
#define WEFT_RUNS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <weft/text.h>

#include "runs/directory/rings.h"

/* Files that outlive the process; -1: there is none. */
struct weft__runs_values {
	int metrics;
	int counters;
	off_t counters_at; /* where they begin in the file */
};

#define WEFT__RUNS_NO_VALUES ((struct weft__runs_values){-1, -1, 0})

/* Opens the values of a ring's process: those beside the ring at `path`, else those of the process
 * if it records there now. */
struct weft__runs_values weft__runs_values_open(
	const char *path, const struct weft__runs_ring *ring);

/* Opens the values of a process that are not open yet: a program may make its first metric late. */
void weft__runs_values_find(struct weft__runs_values *values, pid_t pid);

/* The same of the process that records into a ring in the directory, if it still does. */
void weft__runs_values_follow(
	struct weft__runs_values *values, const char *directory, const struct weft__runs_ring *ring);

void weft__runs_values_close(struct weft__runs_values *values);

/* Makes the table of the metrics in a file; -1: none. False: there are none. The caller finishes
 * the text. */
bool weft__runs_values_pack(int metrics, struct weft_text *ret_table);

/* True if the tables were added to the ring. */
bool weft__runs_values_are_in(int ring);

/* Makes the tables of a ring into which no process records any more, one after the other. False:
 * there are none. The caller finishes the text. */
bool weft__runs_values_make(const char *path, const struct weft__runs_ring *ring,
	const struct weft__runs_values *values, struct weft_text *ret_tables);

/* Adds the tables to a ring into which no process records any more, if it does not have them. */
void weft__runs_values_add(
	const char *path, const struct weft__runs_ring *ring, const struct weft__runs_values *values);

/* Says in the header of a copied ring, of `size` bytes, that such a table follows. False if none
 * can follow. */
bool weft__runs_values_note(void *bytes, size_t size, const struct weft_text *table);

#endif
