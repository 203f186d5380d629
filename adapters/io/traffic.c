/* SPDX-License-Identifier: ISC
 *
 * See traffic.h. Handles are found at the first request of each sort.
 */
#include "io/traffic.h"

struct weft__io_traffic weft__io_traffic[2][WEFT__IO_RING + 1][WEFT__IO_LOOPS + 1];

WEFT_METRIC_DEFINE(bytes, .name = "weft_io_bytes", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.help = "Bytes that the program has read and written");
WEFT_METRIC_DEFINE(requests, .name = "weft_io_requests", .type = WEFT_METRIC_COUNTER,
	.help = "Reads, writes and messages that succeeded");

static const char *const types[WEFT__IO_RING + 1] = {
	[WEFT__IO_UNKNOWN] = "other",
	[WEFT__IO_FILE] = "file",
	[WEFT__IO_TERMINAL] = "terminal",
	[WEFT__IO_PIPE] = "pipe",
	[WEFT__IO_TCP] = "tcp",
	[WEFT__IO_UDP] = "udp",
	[WEFT__IO_UNIX] = "unix",
	[WEFT__IO_SOCKET] = "socket",
	[WEFT__IO_EVENT] = "eventfd",
	[WEFT__IO_TIMER] = "timerfd",
	[WEFT__IO_SIGNAL] = "signalfd",
	[WEFT__IO_INOTIFY] = "inotify",
	[WEFT__IO_EPOLL] = "epoll",
	[WEFT__IO_RING] = "io_uring",
};

WEFT__OWN_FRAME void weft__io_find_traffic(unsigned direction, unsigned type, unsigned loop)
{
	const char number[2] = {(char)('0' + loop), '\0'};
	const char *labels[] = {"direction", direction == WEFT__IO_TRAFFIC_IN ? "in" : "out", "kind",
		types[type], "loop", number};
	struct weft__io_traffic *it = &weft__io_traffic[direction][type][loop];
	const unsigned pairs = loop ? 3 : 2;
	__atomic_store_n(&it->bytes, weft__hooks_metric(&bytes, labels, pairs), __ATOMIC_RELAXED);
	/* The later one: a thread that sees it sees both. */
	__atomic_store_n(&it->requests, weft__hooks_metric(&requests, labels, pairs), __ATOMIC_RELEASE);
}
