/* SPDX-License-Identifier: ISC
 *
 * Operands xen:DOMAIN and xen:DOMAIN/BUFFER, which stand for the buffer of a guest of Xen.
 */
#ifndef WEFT_RUNS_GUEST_H
#define WEFT_RUNS_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/guest.h>

/* The domain that an operand names: the text after "xen:". NULL: it is something else, such as a
 * file of that name. */
const char *weft__runs_guest_domain(const char *operand);

/* The operand of a domain: "xen:web", or "xen:5" if its name could be misread there. */
#define WEFT__RUNS_GUEST_OPERAND_BYTES 72
void weft__runs_guest_operand(
	uint32_t domain, const char *name, char ret_operand[WEFT__RUNS_GUEST_OPERAND_BYTES]);

/* True if this is the domain that controls the others. */
bool weft__runs_guest_is_dom0(void);

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
