/* SPDX-License-Identifier: ISC
 *
 * All that the recorder needs of Solo5: its two clocks. The ring is in .bss, so its memory is that
 * of the unikernel, in which a reader on the host finds it:
 *
 *     weft view mem:PID      of the tender, solo5-hvt or solo5-spt, while it runs
 *     weft view core:FILE    of a core of the tender, or of what QEMU's dump-guest-memory wrote
 *
 * Solo5 runs a unikernel on one processor without threads, so nothing has to be identified.
 */
#include "weft_solo5.h"

#include <stddef.h>
#include <stdint.h>

#include <weft/weft.h>

/* As Solo5 declares them. */
typedef uint64_t solo5_time_t;
solo5_time_t solo5_clock_monotonic(void);
solo5_time_t solo5_clock_wall(void);

static uint64_t ticks(void *context)
{
	(void)context;
	return solo5_clock_monotonic();
}

static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	*ret_monotonic_ns = solo5_clock_monotonic();
	*ret_unix_ns = solo5_clock_wall();
}

int weft_solo5_start(void)
{
	static _Alignas(4096) char ring[1 << 20];
	static const struct weft_platform platform = {
		.ticks = ticks,
		.ticks_hz = 1000000000,
		.read_clocks = read_clocks,
	};
	return weft_start(ring, sizeof(ring), &platform);
}
