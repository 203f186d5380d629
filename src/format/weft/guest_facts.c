/* SPDX-License-Identifier: ISC */
#include "format/weft/guest_facts.h"

#include <string.h>

/* The length of a text that is padded with NULs. */
static size_t length_of(const char *text, size_t size)
{
	const char *end = memchr(text, 0, size);
	return end ? (size_t)(end - text) : size;
}

/* The domain's name, or DOMAIN/PROGRAM if the program has a name of its own. */
static void name_process(const struct weft__guest_facts *facts, struct weft_abi_buffer *header)
{
	char name[sizeof(header->program)] = {0};
	size_t used = length_of(facts->process, sizeof(facts->process));
	size_t length = length_of(header->program, sizeof(header->program));
	bool has_own = length && !(length == used && !memcmp(header->program, facts->process, used));
	memcpy(name, facts->process, used);
	if (has_own && used + 1 < sizeof(name)) {
		name[used++] = '/';
		memcpy(name + used, header->program,
			length < sizeof(name) - used ? length : sizeof(name) - used);
	}
	memcpy(header->program, name, sizeof(name));
}

/* The first difference between Xen's system time and the host's CLOCK_MONOTONIC. */
static uint64_t offset_of(const struct weft__guest_facts *facts)
{
	return facts->comparisons[0].monotonic_ns - facts->comparisons[0].xen_ns;
}

/* Readers compute the clock of readings that the guest made. Wrong ones move only its own trace.
 * False if that is impossible. */
static bool store_counter(const struct weft__guest_facts *facts, struct weft_abi_buffer *header)
{
	bool is_known = header->clock == WEFT_ABI_CLOCK_MONOTONIC && header->start.ticks &&
					header->start.monotonic_ns;
	header->time_offset_ns = 0;
	header->offset_error_ns = 0;
	if (!facts->has_counter || !facts->comparison_count || !is_known)
		return false;
	memcpy(header->boot_id, facts->boot_id, sizeof(header->boot_id));
	header->comparison_count = facts->comparison_count;
	memcpy(header->comparisons, facts->comparisons, sizeof(header->comparisons));
	return true;
}

/* Times of Xen's clock become times of the host's. Those of other clocks must not seem to be
 * comparable with the host's. */
static void store_clock(const struct weft__guest_facts *facts, struct weft_abi_buffer *header)
{
	bool is_xen = header->time_base == WEFT_ABI_TIME_XEN && facts->comparison_count;
	bool claims_host = !memcmp(header->boot_id, facts->boot_id, sizeof(header->boot_id));
	header->comparison_count = 0;
	memset(header->comparisons, 0, sizeof(header->comparisons));
	if (header->time_base == WEFT_ABI_TIME_COUNTER && store_counter(facts, header))
		return;
	/* The counter may have another value than the host's, and the guest could shift the traces of
	 * others by its readings. */
	if (!is_xen && (header->clock == WEFT_ABI_CLOCK_TSC || header->clock == WEFT_ABI_CLOCK_CNTVCT))
		header->clock = WEFT_ABI_CLOCK_CALLER;
	if (is_xen && header->clock == WEFT_ABI_CLOCK_XEN) {
		header->start.monotonic_ns = header->start.ticks;
		header->second.monotonic_ns = header->second.ticks;
		header->end.monotonic_ns = header->end.ticks;
		header->time_offset_ns = 0;
	}
	if (is_xen) {
		memcpy(header->boot_id, facts->boot_id, sizeof(header->boot_id));
		header->time_base = WEFT_ABI_TIME_MONOTONIC;
		header->time_offset_ns = (int64_t)((uint64_t)header->time_offset_ns + offset_of(facts));
		header->comparison_count = facts->comparison_count;
		memcpy(header->comparisons, facts->comparisons, sizeof(header->comparisons));
	} else if (claims_host || header->time_base == WEFT_ABI_TIME_XEN) {
		memset(header->boot_id, 0, sizeof(header->boot_id));
	}
}

void weft__format_guest_facts_store(
	const struct weft__guest_facts *facts, struct weft_abi_buffer *header)
{
	name_process(facts, header);
	store_clock(facts, header);
	memcpy(header->host, facts->host, sizeof(header->host));
	header->guest = facts->domain + 1;
	if (!header->pid)
		header->pid = facts->pid;
}
