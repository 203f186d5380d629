/* SPDX-License-Identifier: ISC
 *
 * The input is the buffer of a program that goes on and violates the protocol: between two looks
 * its packets change positions.
 */
#include <string.h>

#include "format/weft/follow/follower.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads events and checks that they are in time order, after the last one. Each look finds fewer
 * than `size` of them. */
static int read_ready(struct weft__follower *follower, uint64_t *last_ns, size_t size)
{
	struct weft_event event;
	size_t events = 0;
	int status;
	while ((status = weft__format_follower_next(follower, &event)) == WEFT_OK) {
		check_event(&event, *last_ns, size);
		require(event.thread < weft__format_follower_describe(follower)->thread_count);
		*last_ns = event.time_ns;
		require(++events <= 4 * size); /* a packet's content may be read twice while it changes */
	}
	return status;
}

/* Moves everything behind the names down by the smallest packet size. */
static void change(uint8_t *buffer, size_t size)
{
	const size_t first = 12288, step = 4096;
	if (size > first + step)
		memmove(buffer + first, buffer + first + step, size - first - step);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *buffer = malloc(size + 1); /* a copy that is aligned and can be changed */
	struct weft__follower *follower;
	uint64_t last_ns = 0;
	require(buffer != NULL);
	memcpy(buffer, bytes, size);
	if (weft__format_follower_create(buffer, size, &follower) == 0) {
		for (int look = 0; look < 3; look++) {
			weft__format_follower_look(follower, weft__format_follower_latest(follower));
			require(read_ready(follower, &last_ns, size) == WEFT_AGAIN);
			change(buffer, size);
		}
		weft__format_follower_finish(follower);
		require(read_ready(follower, &last_ns, size) == WEFT_END);
		weft__format_follower_destroy(follower);
	}
	free(buffer);
	return 0;
}
