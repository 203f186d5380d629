/* SPDX-License-Identifier: ISC
 *
 * Bytes and requests, by direction, kind of descriptor and loop.
 */
#ifndef WEFT_ADAPTERS_IO_TRAFFIC_H
#define WEFT_ADAPTERS_IO_TRAFFIC_H

#include "io/loop.h"

#include "hooks/counts.h"

enum {
	WEFT__IO_TRAFFIC_IN,
	WEFT__IO_TRAFFIC_OUT,
	/* Instances of epoll, by their numbers; further ones, and what no loop has reported, have none
	 */
	WEFT__IO_LOOPS = 8,
};

struct weft__io_traffic {
	weft_metric bytes, requests; /* 0: not known yet */
};

extern struct weft__io_traffic weft__io_traffic[2][WEFT__IO_RING + 1][WEFT__IO_LOOPS + 1]
	__attribute__((visibility("hidden")));

void weft__io_find_traffic(unsigned direction, unsigned type, unsigned loop);

/* The number of the thread's loop, if it has reported that the descriptor is ready; else 0. */
static inline unsigned weft__io_loop_of(int fd)
{
	const struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	const unsigned loop = weft__io_thread.epoll;
	const bool is_its = descriptor && weft__io_thread.round &&
						descriptor->used == weft__io_thread.round && loop <= WEFT__IO_LOOPS;
	return is_its ? loop : 0;
}

/* Counts so many requests, which moved that many bytes. */
static inline void weft__io_count(int fd, unsigned direction, uint64_t bytes, uint64_t requests)
{
	const struct weft__io_object *object = weft__io_known(fd);
	const unsigned type = object ? object->type : WEFT__IO_UNKNOWN, loop = weft__io_loop_of(fd);
	const struct weft__io_traffic *traffic = &weft__io_traffic[direction][type][loop];
	if (unlikely(!__atomic_load_n(&traffic->requests, __ATOMIC_ACQUIRE)))
		weft__io_find_traffic(direction, type, loop);
	weft_metric_add(traffic->bytes, bytes);
	weft_metric_add(traffic->requests, requests);
	weft__hooks_has_done(requests);
}

#endif
