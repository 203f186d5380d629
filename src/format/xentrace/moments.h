/* SPDX-License-Identifier: ISC
 *
 * The notes of weft/xentrace.h about dom0's Linux, in the order of time: switches between threads,
 * forks and names. Each is called a moment here.
 */
#ifndef WEFT_FORMAT_XENTRACE_MOMENTS_H
#define WEFT_FORMAT_XENTRACE_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/xentrace.h>

struct weft__xentrace_moment {
	uint64_t cycles;
	uint64_t order; /* of its note */
	uint32_t kind;  /* of its note: WEFT_XENTRACE_NOTE_SWITCH, _FORK or _NAME */
	uint32_t vcpu;
	uint32_t pid;   /* that runs from now on, was made, or is called so */
	uint32_t other; /* that ran before, or made it; of a loss: the switches that are missing */
	bool has_ended; /* `other` never runs again; of a name: its process has ended */
	char name[WEFT_XENTRACE_PROCESS_NAME_BYTES];
};

struct weft__xentrace_moments {
	struct weft__xentrace_moment *list; /* those from `next` on are to be taken */
	size_t count, capacity, next;
	uint64_t notes; /* so far */
};

/* Adds the notes about dom0's Linux, and ignores others. A name has no time of its own, so it waits
 * for that of the next switch or fork. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_moments_add(
	struct weft__xentrace_moments *moments, const struct weft_xentrace_note *notes, size_t count);

/* Gives each process its last name from the beginning on, since it may execute a program only after
 * it was made. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_moments_name(struct weft__xentrace_moments *moments);

/* The next one, if it is not later than that; NULL: none is. */
static inline const struct weft__xentrace_moment *weft__format_xentrace_moments_peek(
	const struct weft__xentrace_moments *moments, uint64_t cycles)
{
	bool is_due = moments->next < moments->count && moments->list[moments->next].cycles <= cycles;
	return is_due ? &moments->list[moments->next] : NULL;
}

void weft__format_xentrace_moments_finish(struct weft__xentrace_moments *moments);

#endif
