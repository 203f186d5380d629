/* SPDX-License-Identifier: ISC
 *
 * Each program reads the processor's counter and CLOCK_MONOTONIC at its start and its end. Two
 * programs converted by their own readings may differ by a microsecond at one instant, so that an
 * effect could come before its cause. Converted by the same readings they cannot.
 */
#include "format/weft/identity.h"

#include "format/weft/buffer.h"

/* The kernel changes the rate of CLOCK_MONOTONIC by at most 0.05 % to follow the time of day. */
#define SLEW_PART 1000

bool weft__identify_trace(const void *bytes, size_t size, struct weft__identity *ret_identity)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {0};
	struct weft__buffer buffer;
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	if (!weft__buffer_probe(bytes, size) || weft__buffer_init_any(&buffer, &input))
		return false;
	*ret_identity = (struct weft__identity){
		.pid = buffer.pid,
		.series = buffer.about.series,
		.piece = weft__buffer_piece(&buffer),
		.is_monotonic = description.clock.epoch == WEFT_EPOCH_MONOTONIC,
		.has_counter = weft__buffer_has_counter(&buffer),
		.has_xen = weft__buffer_clock(&buffer) == WEFT_ABI_CLOCK_XEN,
		.readings = buffer.readings,
	};
	memcpy(ret_identity->boot_id, buffer.about.boot_id, sizeof(ret_identity->boot_id));
	memcpy(ret_identity->uuid, buffer.about.uuid, sizeof(ret_identity->uuid));
	weft__buffer_finish(&buffer);
	return true;
}

static bool agrees(const struct weft__ticks *clock, const struct weft__reading *reading)
{
	return weft__ticks_agree(clock, reading->ticks, reading->ns, SLEW_PART);
}

static struct weft__readings share_counter(const struct weft__identity *identities, size_t count)
{
	struct weft__readings all = {.first.ticks = UINT64_MAX};
	const struct weft__readings none = {.last.ticks = 0};
	struct weft__ticks clock;
	size_t counters = 0;
	for (size_t i = 0; i < count; i++) {
		const struct weft__readings *own = &identities[i].readings;
		if (!identities[i].has_counter)
			continue;
		counters++;
		if (own->first.ticks < all.first.ticks)
			all.first = own->first;
		if (own->last.ticks > all.last.ticks)
			all.last = own->last;
	}
	if (counters < 2 || all.last.ticks <= all.first.ticks || all.last.ns <= all.first.ns)
		return none;
	weft__ticks_init(&clock, all.first.ticks, all.first.ns, all.last.ticks - all.first.ticks,
		all.last.ns - all.first.ns);
	for (size_t i = 0; i < count; i++) {
		const struct weft__readings *own = &identities[i].readings;
		if (identities[i].has_counter &&
			!(agrees(&clock, &own->first) && agrees(&clock, &own->last)))
			return none;
	}
	return all;
}

/* Each copy of a guest's buffer has its own measurement of the difference between Xen's clock and
 * this machine's. With one of them for all, an effect in one guest never comes before its cause in
 * another. */
static struct weft__reading share_xen(const struct weft__identity *identities, size_t count)
{
	struct weft__reading first = {0, 0};
	const struct weft__reading none = {0, 0};
	struct weft__ticks clock;
	size_t guests = 0;
	for (size_t i = 0; i < count; i++) {
		if (!identities[i].has_xen)
			continue;
		if (guests++ == 0)
			first = identities[i].readings.first;
		weft__ticks_init(&clock, first.ticks, first.ns, 1, 1);
		if (!agrees(&clock, &identities[i].readings.first))
			return none;
	}
	return guests < 2 ? none : first;
}

struct weft__shared_readings weft__share_readings(
	const struct weft__identity *identities, size_t count)
{
	return (struct weft__shared_readings){
		share_counter(identities, count), share_xen(identities, count)};
}
