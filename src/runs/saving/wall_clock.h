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

/* True if the maximal error is one that a time service has computed: chronyd and ntpd do, with an
 * estimate that is not 0. systemd-timesyncd sets both to 0, and phc2sys the maximal one alone,
 * whatever they are. Without a service they are 16 s. */
bool weft__runs_wall_clock_is_bounded(long max_us, long estimate_us);

/* Notes the error at the start of a run, for all traces that this process saves. */
void weft__runs_wall_clock_begin(void);

/* Appends a table of the errors at the start and now, if they are known, and if the buffer is of
 * this machine and boot. */
void weft__runs_wall_clock_pack(const struct weft_abi_buffer *header, struct weft_text *tables);

#endif
