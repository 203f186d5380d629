/* SPDX-License-Identifier: ISC
 *
 * Another process, which copies the buffer while the program records, and may hold it for that.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/buffer.h>

#include "check.h"
#include "delay.h"
#include "record/clock.h"
#include "record/recorder.h"

static void hold(struct weft_abi_buffer *header, uint64_t ticks)
{
	uint64_t now = weft__record_ticks(weft__platform_default());
	__atomic_store_n(&header->snapshots.hold_ticks, 100000, __ATOMIC_RELAXED);
	__atomic_store_n(&header->snapshots.listen_until, now + 10000000, __ATOMIC_RELAXED);
	__atomic_store_n(&header->hold_until, now + ticks, __ATOMIC_RELAXED);
}

/* Events that were done before the copy are in it or counted as lost, and no others. */
static void copy_once(const struct round *round, unsigned char *copy)
{
	struct tale *tale = round->tale;
	unsigned index = __atomic_load_n(&tale->buffer, __ATOMIC_ACQUIRE);
	struct weft_abi_buffer *header = (void *)(round->buffers + index * BUFFER_BYTES);
	memset(copy, 0, BUFFER_BYTES);
	bool holds = round->happenings & HOLDS && stress_next() % 2;
	if (holds)
		hold(header, 10000000);
	uint64_t least = sum_done(tale);
	weft_buffer_copy(copy, header, BUFFER_BYTES);
	if (holds) {
		/* Time for others to find no packet. */
		usleep(stress_next() % 300);
		__atomic_store_n(&header->hold_until, 0, __ATOMIC_RELAXED);
		__atomic_fetch_add(&header->snapshots.served, 1, __ATOMIC_RELAXED);
	}
	uint64_t left = __atomic_load_n(&tale->left, __ATOMIC_ACQUIRE);
	check_copy(round, copy, least > left ? least - left : 0, sum_begun(tale));
	__atomic_fetch_add(&tale->copies, 1, __ATOMIC_RELAXED);
}

void copy_often(const struct round *round)
{
	unsigned char *copy = aligned_alloc(64, BUFFER_BYTES);
	stress_seed(round->seed + 1);
	while (copy && !__atomic_load_n(&round->tale->is_over, __ATOMIC_ACQUIRE)) {
		copy_once(round, copy);
		usleep(stress_next() % 2000);
	}
	free(copy);
}
