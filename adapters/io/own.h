/* SPDX-License-Identifier: ISC
 *
 * Pipes and pairs of sockets of which no other process has an end, and eventfds that no other one
 * has: a thread that waits there waits for a thread of its own process.
 */
#ifndef WEFT_ADAPTERS_IO_OWN_H
#define WEFT_ADAPTERS_IO_OWN_H

#include "io/descriptors.h"

/* A thread is about to wait until it can write to `fd`, or read from it: tags its task if that is
 * such a thing. Call it while recording. */
void weft__io_mark_own(int fd, struct weft__io_object *object, bool writes);

/* A message to `fd` may have descriptors: if it is a unix socket, nothing counts any more. */
void weft__io_hand_on(int fd);

#endif
