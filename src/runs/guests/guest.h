/* SPDX-License-Identifier: ISC
 *
 * Operands xen:DOMAIN and xen:DOMAIN/BUFFER, which stand for the buffer of a guest of Xen.
 */
#ifndef WEFT_RUNS_GUEST_H
#define WEFT_RUNS_GUEST_H

#include <stdbool.h>

#include <weft/guest.h>

/* The domain that an operand names: the text after "xen:". NULL: it is something else, such as a
 * file of that name. */
const char *weft__runs_guest_domain(const char *operand);

struct weft__runs_guest {
	struct weft_host *host;
	struct weft_guest *guest;
};

/* Maps the buffer. False after a report, or with a reason. */
bool weft__runs_guest_open(const char *operand, struct weft__runs_guest *ret_guest);
bool weft__runs_guest_try(
	const char *operand, struct weft__runs_guest *ret_guest, char reason[WEFT_GUEST_REASON_BYTES]);
void weft__runs_guest_close(struct weft__runs_guest *guest);

/* Copies what the buffer holds now into a file in memory, as a trace. A descriptor, or -1 after a
 * report. */
int weft__runs_guest_copy(const char *operand);

#endif
