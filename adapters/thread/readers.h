/* SPDX-License-Identifier: ISC
 *
 * Threads that read under a lock for readers and writers. glibc only counts them.
 */
#ifndef WEFT_ADAPTERS_THREAD_READERS_H
#define WEFT_ADAPTERS_THREAD_READERS_H

#include "thread/objects.h"

/* The calling thread has locked it for reading. Not while recording. */
void weft__thread_reads(const void *lock);

/* How often the calling thread is known to read. */
extern __thread uint32_t weft__thread_reading __attribute__((tls_model("initial-exec")));

/* It is about to unlock it. Not while recording. */
void weft__thread_reads_no_longer(const void *lock);

/* A thread waits for the lock: those that read acquire its task. While recording. */
void weft__thread_find_readers(const struct weft__thread_object *lock);

#endif
