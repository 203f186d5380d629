/* SPDX-License-Identifier: ISC
 *
 * Spans with given times, on tracks. The event has the times as the program gave them, and a
 * reading of their clock and of the recorder's beside each other: so a reader can place them
 * without any other event, and the recorder needs no arithmetic. The two clocks are read here and
 * not with the event's stamp, so a thread that is preempted in between does not shift the span.
 */
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/reserve.h"
#include "record/text.h"

/* Between two readings of its clock, the recorder read the other one this many ticks later at most:
 * some µs. Otherwise it was preempted and tries again. */
#define NEAR_TICKS 10000
#define TRIES      3

/* The time of another clock when the recorder's clock showed `ticks`. */
struct reading {
	uint64_t ticks, now;
};

/* The latest reading of a clock that only the program knows. The sequence is odd while it changes;
 * a reading belongs to the buffer that was recorded into. */
struct foreign {
	uint64_t sequence, generation;
	struct reading reading;
};

static struct foreign foreign[WEFT_CLOCKS_FOREIGN];

static bool read_system_clock(unsigned clock, struct reading *ret_reading)
{
	uint64_t before = 0, after = 0, now = 0;
	for (unsigned i = 0; i < TRIES; i++) {
		before = weft__record_ticks(weft__record_platform());
		if (!weft__platform_clock(clock, &now))
			return false;
		after = weft__record_ticks(weft__record_platform());
		if (after - before <= NEAR_TICKS)
			break;
	}
	*ret_reading = (struct reading){before + (after - before) / 2, now};
	return true;
}

static bool find_foreign(unsigned clock, uint64_t generation, struct reading *ret_reading)
{
	struct foreign *from = &foreign[clock - WEFT_CLOCK_FOREIGN];
	uint64_t sequence = weft__load_acquire(&from->sequence);
	struct reading reading = {
		weft__load_acquire(&from->reading.ticks), weft__load_acquire(&from->reading.now)};
	bool is_present = weft__load_acquire(&from->generation) == generation;
	if (sequence & 1 || weft__load(&from->sequence) != sequence || !is_present)
		return false;
	*ret_reading = reading;
	return true;
}

/* A clock that cannot be read shows the span's end now. */
static struct reading read_clock(const struct weft__self *self, const struct weft_given_span *span)
{
	struct reading reading;
	unsigned clock = span->clock;
	bool is_foreign =
		clock >= WEFT_CLOCK_FOREIGN && clock < WEFT_CLOCK_FOREIGN + WEFT_CLOCKS_FOREIGN;
	if (is_foreign ? find_foreign(clock, weft__record_entered_generation(self), &reading)
				   : read_system_clock(clock, &reading))
		return reading;
	return (struct reading){weft__record_ticks(weft__record_platform()), span->end};
}

/* A track is identified by its name, as a counter is: one that can't be named is refused. */
static uint16_t name_track(const struct weft__self *self, const struct weft_given_span *span)
{
	uint32_t size = weft__record_bounded(span->track_size);
	const char *track = span->track ? span->track : "";
	uint16_t id = span->track_cache ? weft__record_name_of(self, span->track_cache, track, size)
									: weft__record_name_intern_text(self->slot, track, size);
	if (!id && weft__record_measure_name(track, size) > WEFT_ABI_NAME_MAX_BYTES)
		weft__record_count_loss(self->slot, WEFT_ABI_LOSS_TOO_BIG);
	return id;
}

WEFT__EXPORT void weft__span(const struct weft_given_span *span)
{
	struct weft__self self;
	WEFT__DRAFT(draft, 7, 1);
	if (!weft__record_entered_now(&self))
		return;
	uint16_t track = name_track(&self, span);
	if (!track)
		return;
	uint32_t size = weft__record_bounded(span->name_size);
	uint16_t name = weft__record_name_of(&self, span->name_cache, span->name, size);
	uint64_t head = WEFT_ABI_TRACK(track, track, span->clock & 0xff);
	bool has_reading = span->clock != WEFT_CLOCK_RECORDER;
	weft__record_draft_begin(&draft, WEFT_ABI_SPAN, WEFT_TASK_CURRENT);
	weft__record_draft_word(&draft, head | (has_reading ? WEFT_ABI_TRACK_PAIR : 0));
	weft__record_draft_word(&draft, span->begin);
	weft__record_draft_word(&draft, span->end);
	if (has_reading) {
		struct reading reading = read_clock(&self, span);
		weft__record_draft_word(&draft, reading.ticks);
		weft__record_draft_word(&draft, reading.now);
	}
	weft__record_draft_name(&draft, name, span->name, size);
	weft__record_draft_put_in(self.slot, &draft);
}

WEFT__EXPORT uint64_t weft_now(void)
{
	return weft__record_generation() ? weft__record_ticks(weft__record_platform()) : 0;
}

/* If two threads do this at the same time, or a signal handler interrupts it, the later one is left
 * out. */
WEFT__EXPORT void weft_clock_sync(unsigned clock, uint64_t now_ns)
{
	uint64_t generation = weft__record_generation();
	if (!generation || clock - WEFT_CLOCK_FOREIGN >= WEFT_CLOCKS_FOREIGN)
		return;
	struct foreign *to = &foreign[clock - WEFT_CLOCK_FOREIGN];
	uint64_t sequence = weft__load(&to->sequence);
	if (sequence & 1 || !weft__compare_exchange(&to->sequence, sequence, sequence + 1))
		return;
	/* Release: a thread that loads one of these also sees the odd sequence. */
	weft__store_release(&to->reading.ticks, weft__record_ticks(weft__record_platform()));
	weft__store_release(&to->reading.now, now_ns);
	weft__store_release(&to->generation, generation);
	weft__store_release(&to->sequence, sequence + 2);
}
