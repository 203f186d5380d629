/* SPDX-License-Identifier: ISC
 *
 * Pipes of which no other process has an end: a thread that waits to write there waits for a thread
 * of its own process.
 */
#ifndef WEFT_ADAPTERS_IO_OWN_H
#define WEFT_ADAPTERS_IO_OWN_H

#include "io/descriptors.h"

/* A thread is about to wait until it can write to `fd`: tags its task if that is such a pipe. Call
 * it while recording. */
void weft__io_mark_own(int fd, struct weft__io_object *object);

/* A message to `fd` may have descriptors: if it is a unix socket, no pipe counts any more. */
void weft__io_hand_on(int fd);

#endif
