/* SPDX-License-Identifier: ISC
 *
 * Calls that took long, as known afterwards: spans on a track of the thread.
 */
#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/call.h"

/* A reading of both clocks at the start of the process, from which the counter's rate is found. */
static uint64_t start_ticks, start_ns;

__attribute__((constructor(111))) static void begin(void)
{
	start_ticks = weft_now();
	start_ns = weft__hooks_now_ns();
}

/* Most calls take less than 10,000 ticks of any counter. */
uint64_t weft__hooks_ns_since(uint64_t began)
{
	uint64_t now = weft_now();
	if (likely(now - began < 10000) || now <= start_ticks)
		return 0;
	double rate = (double)(weft__hooks_now_ns() - start_ns) / (double)(now - start_ticks);
	return (uint64_t)((double)(now - began) * rate);
}

/* The track is the thread's: it tells which of several threads was blocked. */
struct blocked {
	struct weft__hooks_text *name;
	uint64_t began;
};

static void record(void *of)
{
	const struct blocked *it = of;
	struct weft__hooks_text track = {0}, *name = it->name;
	char thread[16] = "";
	if (!weft__hooks_system_begin())
		return;
	weft__kernel_thread_name(thread);
	weft__hooks_append(&track, thread);
	weft__hooks_append(&track, " blocked");
	track.bytes[track.size] = '\0';
	name->bytes[name->size < sizeof(name->bytes) ? name->size : sizeof(name->bytes) - 1] = '\0';
	const char *track_name = track.bytes, *span_name = name->bytes;
	weft_span(track_name, WEFT_CLOCK_RECORDER, span_name, it->began, weft_now());
	weft__hooks_system_end();
}

void weft__hooks_record_blocked(struct weft__hooks_text *name, uint64_t began)
{
	struct blocked blocked = {name, began};
	weft__hooks_aside(record, &blocked);
}
