/* SPDX-License-Identifier: ISC
 *
 * Off-CPU time: for how long a thread had no processor while its task ran.
 */
#ifndef WEFT_RECORD_CPU_H
#define WEFT_RECORD_CPU_H

#include "record/atomics.h"
#include "record/recorder.h"
#include "record/reserve.h"

#ifdef WEFT_FREESTANDING
/* There is no clock for it. */
static inline bool weft__record_cpu_is_watched(void)
{
	return false;
}

static inline void weft__record_cpu_look(uint64_t next)
{
	(void)next;
}

static inline bool weft__record_cpu_look_at(
	const struct weft_abi_slot *slot, uint32_t stamp, uint64_t next)
{
	(void)slot;
	(void)stamp;
	(void)next;
	return true;
}
#else
/* The category whose level says whether off-CPU time is measured. */
extern struct weft_category weft__category_cpu WEFT__HIDDEN;

static inline bool weft__record_cpu_is_watched(void)
{
	return weft__allows(&weft__category_cpu, WEFT_LEVEL_DEBUG);
}

/* Call it before the thread leaves its current task for `next`, or begins to be idle
 * (WEFT_TASK_NONE). Records an off_cpu event of the current task if the thread had no processor for
 * a part of the activation. */
void weft__record_cpu_look(uint64_t next);

/* The same at the stamp of an event that has room in the slot's packet and will follow. False if
 * this look has to ask for the thread's time: then it has done nothing, and cannot inside the
 * event's guard. */
bool weft__record_cpu_look_at(const struct weft_abi_slot *slot, uint32_t stamp, uint64_t next);
#endif

/* The same before a band. */
static inline void weft__record_cpu_look_at_band(unsigned kind, bool begin)
{
	if (WEFT__UNLIKELY(weft__record_cpu_is_watched()) && kind == WEFT_BAND_IDLE)
		weft__record_cpu_look(begin ? WEFT_TASK_NONE : weft_current());
}

#endif
