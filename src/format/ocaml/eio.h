/* SPDX-License-Identifier: ISC
 *
 * The events that Eio writes into OCaml's rings: its fibers, promises, semaphores, streams, mutexes
 * and cancellation contexts are tasks.
 */
#ifndef WEFT_FORMAT_OCAML_EIO_H
#define WEFT_FORMAT_OCAML_EIO_H

#include "base/index.h"
#include "format/ocaml/ring.h"

/* A cancellation context that a fiber has entered. */
struct weft__eio_context {
	uint64_t id, fiber;
};

struct weft__eio {
	struct weft__index index; /* of the objects, by id */
	uint64_t *ids;
	uint16_t *kinds;
	size_t object_count, capacity;
	struct weft__eio_context *contexts; /* those that have not ended, in order */
	size_t context_count, context_capacity;
};

int weft__format_eio_init(struct weft__eio *eio);
void weft__format_eio_finish(struct weft__eio *eio);

/* The number of Eio's event of that name; 0: it is another one. */
unsigned weft__format_eio_find(struct weft_slice name);

/* Makes an event of one of Eio's by the domain's current fiber, which may change. WEFT_OK,
 * WEFT_AGAIN if it says nothing that a model has, or an error. `*ret_wrong`: what is damaged, or
 * NULL. */
int weft__format_eio_read(struct weft__eio *eio, unsigned number,
	const struct weft__ocaml_item *item, uint64_t *fiber, struct weft_event *event,
	const char **ret_wrong);

#endif
