/* SPDX-License-Identifier: ISC
 *
 * By how much the wall clock is off, in traces: the kernel keeps a bound of that for the machine's
 * time service (adjtimex(2)), so that the clocks of hosts can be compared without messages.
 */
#ifndef WEFT_RUNS_WALL_CLOCK_H
#define WEFT_RUNS_WALL_CLOCK_H

#include <stdbool.h>

#include <weft/text.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "abi/table_abi.h"

/* True if the maximal error is one that a time service has computed: chronyd and ntpd do, with an
 * estimate that is not 0. systemd-timesyncd sets both to 0, and phc2sys the maximal one alone,
 * whatever they are. Without a service they are 16 s. */
bool weft__runs_wall_clock_is_bounded(long max_us, long estimate_us);

/* Notes the error at the start of a run, for all traces that this process saves. */
void weft__runs_wall_clock_begin(void);

/* True if the buffer is of this machine and boot, and its clock can be compared with the wall
 * clock.
 */
bool weft__runs_wall_clock_fits(const struct weft_abi_buffer *header);

/* Appends a table of the errors at the start and now, if they are known and the buffer fits. */
void weft__runs_wall_clock_pack(const struct weft_abi_buffer *header, struct weft_text *tables);

/* The error in a stream: a chunk with one row of the table. */
struct weft__runs_wall_clock_note {
	struct weft_abi_chunk chunk;
	struct weft_abi_table table;
	struct weft_abi_wall_clock_row row;
};

/* Notes the error as it is now in the row `number` of a file's table. False if it is not known. */
bool weft__runs_wall_clock_note(uint64_t number, struct weft__runs_wall_clock_note *ret_note);

#endif
