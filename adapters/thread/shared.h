/* SPDX-License-Identifier: ISC
 *
 * Semaphores, conditions and barriers that processes share. Who wakes sends a message, which those
 * who wait receive, also in the same process: which of them is woken is not known.
 */
#ifndef WEFT_ADAPTERS_THREAD_SHARED_H
#define WEFT_ADAPTERS_THREAD_SHARED_H

#include "thread/objects.h"

/* A wait begins: what was sent before did not end it. While recording, as the next two. */
void weft__thread_shared_wait(struct weft__thread_object *object);
/* The wait was ended by another thread. */
void weft__thread_shared_woken(const struct weft__thread_object *object);
/* The current task wakes those who wait. */
void weft__thread_shared_wake(const void *address, const struct weft__thread_origin *origin);

#endif
