/* SPDX-License-Identifier: ISC
 *
 * The rest that a read leaves in a pipe or connection.
 *
 * A receive stands for what is read until nothing is left. So the next one, of what a read has
 * left, is none: another process may have written meanwhile, but did not end a wait. And when all
 * is read, what was written since the receive is read, too: without a word about that, it would be
 * taken for what ends the next wait. So would what a program reads that does not wait before.
 */
#ifndef WEFT_ADAPTERS_IO_REST_H
#define WEFT_ADAPTERS_IO_REST_H

#include "io/descriptors.h"

/* A receive is about to be recorded. False if it is one of what an earlier read has left. */
bool weft__io_rest_begin(struct weft__io_object *object);

/* The same for a descriptor that is read in a way that does not say how much it leaves. */
void weft__io_rest_forget(int fd);

/* A read after the receive, or of a descriptor that never waits, got that many of `size` bytes, 0:
 * unknown; or has failed, and errno says why. */
void weft__io_rest_read(int fd, struct weft__io_object *object, int64_t got, size_t size);

static inline void weft__io_rest_note(int fd, int64_t got, size_t size)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object && (object->taken != 0 || object->left || object->flags & WEFT__IO_NONBLOCKING))
		weft__io_rest_read(fd, object, got, size);
}

#endif
