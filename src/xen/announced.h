/* SPDX-License-Identifier: ISC
 *
 * A buffer as its guest announces it in XenStore (docs/xen.md): a folder of keys below
 * data/weft, or data/mprof for the old way. All of it may be hostile.
 */
#ifndef WEFT_XEN_ANNOUNCED_H
#define WEFT_XEN_ANNOUNCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xen/access.h"
#include "xen/references.h"

#define WEFT__XEN_ID_BYTES   33 /* of a buffer, with the NUL */
#define WEFT__XEN_NAME_BYTES 64

/* The buffers of one domain that are looked at; more are left out. */
#define WEFT__XEN_BUFFERS_MAX 64

struct weft__xen_announced {
	uint32_t domain;
	char id[WEFT__XEN_ID_BYTES]; /* "mprof": the old way */
	char name[WEFT__XEN_NAME_BYTES];
	bool is_mirage;     /* mirage CTF instead of a buffer */
	bool is_closed;     /* the guest has withdrawn it */
	bool has_directory; /* `references` are those of the directory's pages */
	bool has_life;      /* `life` is the page that says if its process lives */
	uint32_t life;
	uint32_t pages;
	struct weft__xen_references references;
	uint64_t mark; /* of the keys' values: others mean another buffer */
};

enum weft__xen_reading {
	WEFT__XEN_READ,
	WEFT__XEN_ABSENT,  /* there is no such buffer, or it is not complete yet */
	WEFT__XEN_INVALID, /* with a reason */
};

/* Reads what a domain says of a buffer; call finish if it returns WEFT__XEN_READ. `reason` has room
 * for a sentence. */
enum weft__xen_reading weft__xen_announced_read(const struct weft__xen_access *access,
	uint32_t domain, const char *id, struct weft__xen_announced *ret_announced,
	const char **reason);
void weft__xen_announced_finish(struct weft__xen_announced *announced);

/* A number of what the guest announces under that id now; 0: nothing that is open. */
uint64_t weft__xen_announced_mark(
	const struct weft__xen_access *access, uint32_t domain, const char *id);

/* The ids of the buffers that a domain announces, in their order in XenStore; valid or not. Returns
 * their number, at most WEFT__XEN_BUFFERS_MAX. */
size_t weft__xen_announced_list(const struct weft__xen_access *access, uint32_t domain,
	char ret_ids[WEFT__XEN_BUFFERS_MAX][WEFT__XEN_ID_BYTES]);

#endif
