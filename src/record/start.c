/* SPDX-License-Identifier: ISC
 *
 * Starting and stopping.
 */
#include <string.h>

#include <weft/error.h>

#include "record/atomics.h"
#include "record/category.h"
#include "record/clock.h"
#include "record/copy.h"
#include "record/counters.h"
#include "record/metrics.h"
#include "record/packet.h"
#include "record/recorder.h"
#include "record/reserve.h"

static struct weft__regions regions;
struct weft__recorder weft__recorder = {.region = &weft__region_none,
	.regions = &regions,
	.counters = &weft__counters,
	.metrics = &weft__metrics};
struct weft__live_page weft__live;

/* An interrupt in the middle of a reading distorts the clock's rate. So it is repeated, unless it
 * took about as long as the fastest one so far. */
#define READING_TRIES 3

static uint64_t fastest_reading; /* in ticks; 0: none yet */

struct weft_abi_clock_reading weft__record_read_clocks(const struct weft_platform *platform)
{
	struct weft_abi_clock_reading best = {0, 0, 0};
	uint64_t least = UINT64_MAX, usual = weft__load(&fastest_reading);
	if (!platform->read_clocks)
		return best;
	for (int i = 0; i < READING_TRIES && least > 2 * usual; i++) {
		struct weft_abi_clock_reading now;
		uint64_t before = weft__record_ticks(platform);
		platform->read_clocks(platform->context, &now.monotonic_ns, &now.unix_ns);
		uint64_t after = weft__record_ticks(platform);
		now.ticks = before + (after - before) / 2;
		if (after - before < least) {
			least = after - before;
			best = now;
		}
	}
	if (usual == 0 || least < usual)
		weft__store(&fastest_reading, least);
	return best;
}

static uint64_t next_generation(void)
{
	return 4 * ((uint64_t)weft__recorder.starts + 1);
}

static void go_live(const struct weft__region *region)
{
	weft__store_release(&weft__recorder.region, region);
	/* A reader that sees the magic must see the header; a thread that sees the generation must see
	 * the buffer. */
	weft__fence_release();
	memcpy(region->header->magic, WEFT_ABI_MAGIC, sizeof(region->header->magic));
	uint64_t generation = next_generation();
	weft__recorder.starts++;
	if (weft__record_has_own_clock(weft__record_platform()))
		generation |= WEFT__SLOWLY; /* the fast path uses only the processor's clock */
	weft__store_release(&weft__live.generation, generation);
	weft__record_categories_point();
	weft__copies_notify();
}

static void describe_clock(struct weft_abi_buffer *header, const struct weft_platform *platform)
{
	header->clock = weft__record_has_own_clock(platform) ? WEFT_ABI_CLOCK_CALLER : WEFT__CPU_CLOCK;
	header->clock_hz = platform->ticks_hz;
	header->start = weft__record_read_clocks(platform);
}

/* Tasks may be created while recording starts, so some ids are left out. Without any tasks so far,
 * the first one has the id 1. */
#define TASKS_AT_START 1024

/* Ids continue after those of the tasks that were created before. */
static void number_tasks(struct weft_abi_buffer *header)
{
	uint64_t before = weft__load(&weft__recorder.unrecorded);
	if (before)
		header->next_task = before + TASKS_AT_START;
}

static int start(void *buffer, size_t size, const struct weft_platform *platform, bool is_zero)
{
	if (weft__record_generation())
		return WEFT_ERROR_STATE;
	if (!platform)
		platform = weft__platform_default();
	if (!platform ||
		(weft__record_has_own_clock(platform) && !platform->ticks_hz && !platform->read_clocks))
		return WEFT_ERROR_ARGUMENT;
	int error = weft__record_buffer_check(buffer, size);
	if (error)
		return error;
	const struct weft__region *region = weft__record_region_add(buffer, size);
	weft__record_buffer_prepare(region, is_zero);
	number_tasks(region->header);
	weft__store(&weft__recorder.platform, platform);
	weft__store(&weft__recorder.search_from, 0);
	weft__store(&fastest_reading, 0); /* another clock may have other ticks */
	weft__record_categories_prepare(region, weft__load(&weft__recorder.parent));
	describe_clock(region->header, platform);
	error = weft__platform_prepare(region, platform);
	if (error)
		return error;
	weft__record_counters_begin(region, next_generation());
	go_live(region);
	weft__record_counters_begun();
	return 0;
}

static int start_alone(
	void *buffer, size_t size, const struct weft_platform *platform, bool is_zero)
{
	/* Concurrent start: the loser gets WEFT_ERROR_STATE, as if it had called later. */
	if (!weft__compare_exchange(&weft__live.is_starting, 0, 1))
		return WEFT_ERROR_STATE;
	int error = start(buffer, size, platform, is_zero);
	weft__store_release(&weft__live.is_starting, 0);
	return error;
}

int weft__start(void *buffer, size_t size, const struct weft_platform *platform)
{
	return start_alone(buffer, size, platform, false);
}

int weft__start_zeroed(void *buffer, size_t size)
{
	return start_alone(buffer, size, NULL, true);
}

WEFT__EXPORT int weft_start(void *buffer, size_t size, const struct weft_platform *platform)
{
	weft__platform_default(); /* elects the leading copy, if that was not done yet */
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	if (weft__load(&weft__recorder.is_barred))
		return WEFT_ERROR_UNSUPPORTED;
	return (leader ? leader->start : weft__start)(buffer, size, platform);
}

/* True if the slot's thread is inside an event, so that the caller is its signal handler. */
static bool is_recording_one(const struct weft_abi_slot *slot)
{
	if (weft__load(&slot->is_in_moment))
		return weft__load(&slot->moment_events) & 1;
	return weft__load(&slot->sequence) & 1;
}

/* True if the thread has been in the buffer of this generation. */
static bool has_entered(const struct weft__self *self, uint64_t generation)
{
	return generation &&
		   weft__record_entered_generation(self) == (generation & ~(uint64_t)WEFT__SLOWLY);
}

bool weft__record_is_inside_event(void)
{
	const struct weft__self *self = weft__record_self();
	return has_entered(self, weft__load_acquire(&weft__live.generation)) &&
		   is_recording_one(self->slot);
}

void weft__record_end_record(struct weft_abi_buffer *header, enum weft_abi_ending ending)
{
	const struct weft_platform *platform = weft__record_platform();
	header->end = weft__record_read_clocks(platform);
	if (!header->end.ticks)
		header->end.ticks = weft__record_ticks(platform);
	weft__store_release(&header->ending, (uint32_t)ending);
}

static void stop(void)
{
	const struct weft__self *self = weft__record_self();
	uint64_t generation = weft__load_acquire(&weft__live.generation);
	struct weft_abi_buffer *header = weft__record_header();
	if (generation && !weft__record_is_inside_event())
		weft__record_counters_put_all();
	/* Once recording is off, another thread may start it with another buffer. */
	if (generation == 0 || !weft__compare_exchange(&weft__live.generation, generation, 0))
		return;
	/* Otherwise the packet stays open, like those of other threads: an event may still be written
	 * there. */
	if (has_entered(self, generation) && !is_recording_one(self->slot))
		weft__record_packet_close(self->slot);
	weft__store(&weft__recorder.unrecorded, weft__load(&header->next_task));
	weft__record_end_record(header, WEFT_ABI_ENDING_STOP);
	weft__store_release(&header->stopped, 1);
}

void weft__record_rest(void)
{
	const uint8_t *offered = weft__load(&weft__recorder.offered);
	weft__store(&weft__recorder.idle, offered);
	if (!offered)
		weft__store(&weft__recorder.resume, NULL);
}

void weft__stop(void)
{
	weft__record_rest();
	stop();
	weft__record_categories_point();
	weft__copies_notify();
}

void weft__stop_leader(void)
{
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	(leader ? leader->stop : weft__stop)();
}

static void (*at_stop)(void);

void weft__record_at_stop(void (*action)(void))
{
	weft__store(&at_stop, action);
}

WEFT__EXPORT void weft_stop(void)
{
	void (*action)(void) = weft__load(&at_stop);
	weft__stop_leader();
	if (action && weft__compare_exchange(&at_stop, action, NULL))
		action();
}

WEFT__EXPORT bool weft_is_recording(void)
{
	return weft__record_looked();
}

WEFT__EXPORT uint64_t weft_current(void)
{
	const struct weft__self *self = weft__record_looked();
	return self ? weft__load(&self->slot->task) : WEFT_TASK_NONE;
}
