/* SPDX-License-Identifier: ISC
 *
 * The buffers of all guests of Xen, for a list of them.
 */
#ifndef WEFT_RUNS_LIST_H
#define WEFT_RUNS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/buffer.h>
#include <weft/guest.h>

struct weft__runs_listed_guest {
	char operand[128]; /* "xen:web/0" */
	char domain_name[64];
	uint32_t domain;
	const char *state;                    /* "running" and so on, see weft-ls(1) */
	size_t bytes;                         /* of the buffer; 0: unknown */
	struct weft_buffer_summary summary;   /* if `is_summarized` */
	char reason[WEFT_GUEST_REASON_BYTES]; /* why it cannot be read; "": it can */
	bool is_summarized;
};

typedef void weft__runs_guest_row(void *context, const struct weft__runs_listed_guest *row);

/* Calls `add` for each buffer that a domain but dom0 announces now. Each is mapped and unmapped;
 * once a domain's buffers had `mapped_max` bytes, its further ones are not read. */
void weft__runs_guests_list(
	struct weft_host *host, size_t mapped_max, weft__runs_guest_row *add, void *context);

#endif
