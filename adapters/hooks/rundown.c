/* SPDX-License-Identifier: ISC
 *
 * Rundowns: a buffer that is full overwrites its oldest events, and with them the names of tasks
 * that are still alive. So all that adapters have are recorded anew from time to time: once in 64
 * times as many recordings as there are tasks, which costs 2 % at most; and when `weft ctl` asks
 * for it.
 */
#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/clock.h"

#define PARTS_MAX  8
#define RATIO      64
#define PERIOD_MIN 2048
/* Recordings of one thread that are counted together. */
#define BATCH 256

static unsigned (*parts[PARTS_MAX])(void);
static uint32_t part_count;

static uint64_t recordings, next_rundown = PERIOD_MIN;
static uint32_t is_running;
static uint32_t seen_request;

void weft__hooks_rundown_add(unsigned (*part)(void))
{
	if (part_count < PARTS_MAX)
		parts[part_count++] = part;
}

uint64_t weft__hooks_now_ns(void)
{
	return weft__kernel_clock_ns(CLOCK_MONOTONIC);
}

/* One thread does it; the others go on. */
static void run_down(uint64_t recorded)
{
	unsigned tasks = 0;
	if (__atomic_exchange_n(&is_running, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < part_count; i++)
		tasks += parts[i]();
	uint64_t period = (uint64_t)tasks * RATIO;
	if (period < PERIOD_MIN)
		period = PERIOD_MIN;
	__atomic_store_n(&next_rundown, recorded + period, __ATOMIC_RELAXED);
	__atomic_store_n(&is_running, 0, __ATOMIC_RELEASE);
}

void weft__hooks_count_recording(void)
{
	static __thread unsigned batch __attribute__((tls_model("initial-exec")));
	if (likely(++batch % BATCH != 0))
		return;
	uint64_t recorded = __atomic_add_fetch(&recordings, BATCH, __ATOMIC_RELAXED);
	if (recorded >= __atomic_load_n(&next_rundown, __ATOMIC_RELAXED) ||
		weft_rundown_wanted(&seen_request))
		run_down(recorded);
}

void weft__hooks_rundown_task(const struct weft__hooks_alive *it, uint64_t waits_for)
{
	weft__rundown_in(it->category, it->task, it->kind, it->label,
		weft__hooks_now_ns() - it->created_ns, waits_for);
}
