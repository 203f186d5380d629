/* SPDX-License-Identifier: ISC
 *
 * Prints a trace that grows: for weft tail and weft dump --follow.
 */
#ifndef WEFT_APPS_TAIL_H
#define WEFT_APPS_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/growing.h>

struct tail_events {
	const char *name;
	bool json;
	bool only_new; /* leave out what is there already */
	/* Finds the times to be printed when the first event is known; `*ret_end_ns` is exclusive,
	 * unless it is UINT64_MAX. NULL: all. */
	void (*range)(
		const void *context, uint64_t first_ns, uint64_t *ret_start_ns, uint64_t *ret_end_ns);
	const void *context;
};

/* Prints the events as they come, until there are no more, the range ends, or Ctrl-C; then what was
 * lost or damaged, on standard error. Returns an exit status. */
int tail_events(struct weft_growing *growing, const struct tail_events *what);

#endif
