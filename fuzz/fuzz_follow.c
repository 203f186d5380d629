/* SPDX-License-Identifier: ISC
 *
 * Any bytes as the buffer of a program that goes on, and does not keep to the protocol: between two
 * looks its packets change places.
 */
#include <string.h>

#include "format/weft_follower.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Events in time order, no earlier than the last. Each look finds less than `size` of them. */
static int read_ready(struct weft__follower *follower, uint64_t *last_ns, size_t size)
{
	struct weft_event event;
	size_t events = 0;
	int status;
	while ((status = weft__follower_next(follower, &event)) == WEFT_OK) {
		check_event(&event, *last_ns, size);
		require(event.thread < weft__follower_describe(follower)->thread_count);
		*last_ns = event.time_ns;
		require(++events <= 4 * size); /* a content may be read twice while it changes */
	}
	return status;
}

/* What lies behind the names moves down by a packet's least size. */
static void change(uint8_t *buffer, size_t size)
{
	const size_t first = 12288, step = 4096;
	if (size > first + step)
		memmove(buffer + first, buffer + first + step, size - first - step);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *buffer = malloc(size + 1); /* of its own, aligned, and changing */
	struct weft__follower *follower;
	uint64_t last_ns = 0;
	require(buffer != NULL);
	memcpy(buffer, bytes, size);
	if (weft__follower_create(buffer, size, &follower) == 0) {
		for (int look = 0; look < 3; look++) {
			weft__follower_look(follower, weft__follower_latest(follower));
			require(read_ready(follower, &last_ns, size) == WEFT_AGAIN);
			change(buffer, size);
		}
		weft__follower_finish(follower);
		require(read_ready(follower, &last_ns, size) == WEFT_END);
		weft__follower_destroy(follower);
	}
	free(buffer);
	return 0;
}
