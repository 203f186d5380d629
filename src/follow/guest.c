/* SPDX-License-Identifier: ISC
 *
 * The buffer of a guest of Xen: it has no process here, its clock is Xen's, and its header is
 * completed by what only this side knows, or can be trusted with.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <weft/error.h>
#include <weft/guest.h>
#include <weft/parse.h>

#include "abi/buffer_abi.h"
#include "follow/clock.h"
#include "follow/live.h"
#include "format/weft/buffer.h"
#include "source/seed.h"
#include "xen/guest.h"

int weft__follow_live_open_guest(struct weft__live_ring *live, struct weft_guest *guest)
{
	const void *bytes;
	*live = (struct weft__live_ring){.process = {.fd = -1}, .guest = guest};
	weft__source_seed_hashes_once();
	if (weft_guest_bytes(guest, &bytes, &live->size))
		return WEFT_ERROR_FORMAT;
	live->bytes = (void *)(uintptr_t)bytes;
	if (live->size < sizeof(struct weft_abi_buffer) ||
		!weft__format_buffer_probe(live->bytes, live->size))
		return WEFT_ERROR_FORMAT;
	const struct weft_abi_buffer *header = bytes;
	live->clock = __atomic_load_n(&header->clock, __ATOMIC_RELAXED);
	return 0;
}

/* Zeros if it cannot be read. */
static void read_boot_id(uint8_t ret_id[16])
{
	char text[40] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	size_t size = file ? fread(text, 1, sizeof(text), file) : 0;
	if (file)
		fclose(file);
	(void)weft_parse_uuid(text, size, ret_id);
}

static void copy_comparisons(const struct weft_guest *guest, struct weft__guest_facts *facts)
{
	const struct weft_abi_comparison *list;
	facts->comparison_count = weft__xen_guest_comparisons(guest, &list);
	memcpy(facts->comparisons, list, facts->comparison_count * sizeof(*list));
}

bool weft__follow_live_guest_facts(
	const struct weft__live_ring *live, struct weft__guest_facts *ret_facts)
{
	struct weft__guest_facts facts = {.pid = 0};
	struct utsname system;
	if (!live->guest)
		return false;
	const struct weft_guest_name *name = weft_guest_describe(live->guest);
	read_boot_id(facts.boot_id);
	if (uname(&system) == 0)
		snprintf(facts.host, sizeof(facts.host), "%.63s", system.nodename);
	if (name->domain_name[0])
		snprintf(facts.process, sizeof(facts.process), "%s", name->domain_name);
	else
		snprintf(facts.process, sizeof(facts.process), "domain %u", (unsigned)name->domain);
	facts.pid = name->domain;
	facts.domain = name->domain;
	facts.has_counter = weft__xen_guest_has_counter(live->guest);
	weft__xen_guest_compare(live->guest, false);
	copy_comparisons(live->guest, &facts);
	*ret_facts = facts;
	return true;
}

bool weft__follow_live_compare(
	const struct weft__live_ring *live, bool at_once, struct weft__guest_facts *facts)
{
	const struct weft_abi_comparison *list;
	if (!live->guest)
		return false;
	weft__xen_guest_compare(live->guest, at_once);
	uint32_t count = weft__xen_guest_comparisons(live->guest, &list);
	/* Another guest's reader may have made one, too. */
	if (count == facts->comparison_count &&
		(!count || list[count - 1].xen_ns == facts->comparisons[count - 1].xen_ns))
		return false;
	copy_comparisons(live->guest, facts);
	return true;
}

/* ---- For both ---- */

bool weft__follow_live_has_ended(struct weft__live_ring *live)
{
	return live->guest ? weft_guest_look(live->guest) != WEFT_GUEST_OPEN
					   : weft__follow_process_has_ended(&live->process);
}

enum weft_abi_ending weft__follow_live_ending(struct weft__live_ring *live)
{
	switch (live->guest ? weft_guest_look(live->guest) : WEFT_GUEST_CLOSED) {
	case WEFT_GUEST_CRASHED:
		return WEFT_ABI_ENDING_CRASHED;
	case WEFT_GUEST_SHUT:
	case WEFT_GUEST_GONE:
		return WEFT_ABI_ENDING_DESTROYED;
	case WEFT_GUEST_OPEN:
	case WEFT_GUEST_CLOSED:
		break;
	}
	return WEFT_ABI_ENDING_GONE;
}

/* A guest's counter may have another value than ours. */
bool weft__follow_live_read_clock(const struct weft__live_ring *live, uint64_t *ret_ticks)
{
	if (!live->guest)
		return weft__follow_clock_read(live->clock, ret_ticks);
	return live->clock == WEFT_ABI_CLOCK_XEN && weft__xen_guest_now(live->guest, ret_ticks);
}

struct weft_abi_clock_reading weft__follow_live_take_clock(
	const struct weft__live_ring *live, uint64_t latest)
{
	struct weft_abi_clock_reading now = {.ticks = latest};
	if (!live->guest)
		return weft__follow_clock_take(live->clock, latest);
	if (weft__follow_live_read_clock(live, &now.ticks))
		now.monotonic_ns = now.ticks;
	return now;
}
