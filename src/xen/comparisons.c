/* SPDX-License-Identifier: ISC
 *
 * Xen's time is read between two readings of the clocks here, which bounds the difference on both
 * sides. The bounds of many such readings are closer together than those of one.
 */
#include "xen/comparisons.h"

#include <time.h>

#define READINGS 64

/* Between the first two comparisons. */
static const uint64_t INTERVAL_NS = 1000000000;

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The processor's counter; 0: unknown. In a paravirtualised dom0 Xen's trace has the same one. */
static uint64_t read_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

bool weft__xen_comparison_make(
	const struct weft__xen_access *access, struct weft_abi_comparison *ret)
{
	int64_t least = INT64_MIN, most = INT64_MAX;
	uint64_t quickest = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		uint64_t before = monotonic_ns(), counter = read_counter(), xen_ns;
		if (!access->now(access->context, &xen_ns))
			return false;
		uint64_t middle = counter + (read_counter() - counter) / 2, after = monotonic_ns();
		int64_t low = (int64_t)(before - xen_ns), high = (int64_t)(after - xen_ns);
		least = low > least ? low : least;
		most = high < most ? high : most;
		if (after - before < quickest) {
			quickest = after - before;
			*ret = (struct weft_abi_comparison){.xen_ns = xen_ns, .counter = middle};
		}
	}
	ret->monotonic_ns = ret->xen_ns + (uint64_t)(least / 2 + most / 2);
	ret->error_ns = (uint32_t)(quickest / 2 < UINT32_MAX ? quickest / 2 : UINT32_MAX);
	return true;
}

/* Keeps the first, the third and so on. */
static void halve(struct weft__comparisons *c)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->count; i += 2)
		c->list[kept++] = c->list[i];
	c->count = kept;
	c->interval_ns *= 2;
}

void weft__xen_comparisons_add(
	struct weft__comparisons *c, const struct weft__xen_access *access, bool at_once)
{
	struct weft_abi_comparison made;
	uint64_t now = monotonic_ns();
	bool is_due = now >= c->due_ns;
	if ((!is_due && !at_once) || !weft__xen_comparison_make(access, &made))
		return;
	if (!c->count)
		c->interval_ns = INTERVAL_NS;
	if (c->has_extra)
		c->count--;
	else if (c->count == WEFT_ABI_COMPARISONS)
		halve(c);
	c->list[c->count++] = made;
	c->has_extra = !is_due;
	if (is_due)
		c->due_ns = now + c->interval_ns;
}
