/* SPDX-License-Identifier: ISC
 *
 * The guests of Xen that `weft collect` follows: finds their buffers as they come, and lets go of
 * them when they end.
 */
#ifndef WEFT_RUNS_GUESTS_H
#define WEFT_RUNS_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/guest.h>

#include "runs/directory/rings.h"

/* The most memory of one domain that is mapped, beside its last buffer. */
#define WEFT__RUNS_GUEST_MAPPED_MAX ((size_t)256 << 20)

struct weft__runs_guests;

struct weft__runs_guests_options {
	const char *operand;    /* xen:DOMAIN, xen:DOMAIN/BUFFER or xen:all */
	bool once;              /* only this domain, or this buffer: not the next one with its name */
	bool waits;             /* the domain need not exist yet */
	struct weft_host *host; /* is taken over; NULL: connects to Xen */
};

/* Connects to Xen. NULL after a report, also if there is no such domain. */
struct weft__runs_guests *weft__runs_guests_create(const struct weft__runs_guests_options *options);
void weft__runs_guests_destroy(struct weft__runs_guests *guests);

/* Called for each new buffer, which is named as if it were a process's ring. False: it cannot be
 * streamed. */
typedef bool weft__runs_guests_add(
	void *context, const struct weft__runs_ring *ring, struct weft_guest *guest);

/* Finds new buffers, if something has changed. */
void weft__runs_guests_look(
	struct weft__runs_guests *guests, weft__runs_guests_add *add, void *context);

/* The buffers that are remembered: those of domains that exist, and those that are mapped. */
size_t weft__runs_guests_count(const struct weft__runs_guests *guests);

/* Unmaps a buffer whose stream has ended. */
void weft__runs_guests_release(struct weft__runs_guests *guests, struct weft_guest *guest);

/* False once no new buffer can come. */
bool weft__runs_guests_go_on(const struct weft__runs_guests *guests);

#endif
