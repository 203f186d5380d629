/* SPDX-License-Identifier: ISC
 *
 * The values of a program's metrics in its trace: a side table behind the packets
 * (abi/table_abi.h), with the values that the metrics had when the trace ended.
 */
#ifndef WEFT_RUNS_VALUES_H
#define WEFT_RUNS_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/text.h>

#include "runs/directory/rings.h"

/* Opens the metrics of a ring's process: those beside the ring at `path`, else those of the process
 * if it records there now. -1: there are none. */
int weft__runs_values_open(const char *path, const struct weft__runs_ring *ring);

/* Makes the table of metrics in a file. False: there are none. The caller finishes the text. */
bool weft__runs_values_pack(int values, struct weft_text *ret_table);

/* Adds the metrics in a file to a ring that nobody records into any more; not twice. */
void weft__runs_values_add(const char *path, const struct weft__runs_ring *ring, int values);

/* Says in the header of a copied ring, of `size` bytes, that such a table follows. False if none
 * can follow. */
bool weft__runs_values_note(void *bytes, size_t size, const struct weft_text *table);

#endif
