/* SPDX-License-Identifier: ISC
 *
 * Lists of grant references, as a guest writes them. All of it may be hostile.
 */
#ifndef WEFT_XEN_REFERENCES_H
#define WEFT_XEN_REFERENCES_H

#include <stddef.h>
#include <stdint.h>

/* The most pages of one buffer: 256 MiB. */
#define WEFT__XEN_PAGES_MAX 65536

struct weft__xen_references {
	uint32_t *list;
	uint32_t count, capacity;
};

/* Makes an empty list with room for `capacity` references, at most WEFT__XEN_PAGES_MAX. NULL, or
 * the problem as a text. */
const char *weft__xen_references_init(struct weft__xen_references *references, uint64_t capacity);
void weft__xen_references_finish(struct weft__xen_references *references);

/* Adds the references of a value like "8,9,10". NULL, or the problem as a text. */
const char *weft__xen_references_add(
	struct weft__xen_references *references, const char *value, size_t size);

/* Adds one reference. NULL, or the problem as a text. */
const char *weft__xen_references_add_one(struct weft__xen_references *references, uint32_t one);

/* NULL if the list is full and no reference is in it twice, else the problem as a text. */
const char *weft__xen_references_check(const struct weft__xen_references *references);

#endif
