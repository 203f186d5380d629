/* SPDX-License-Identifier: ISC
 *
 * Off-CPU time of activations.
 *
 * The thread looks whenever an activation begins or ends. The clock of the time that a thread had a
 * processor costs a system call, so a look asks it only if the last answer is at least LIMIT_NS
 * old: other looks cost a reading of the processor's counter, and all system calls together at most
 * one in LIMIT_NS / 2.
 *
 *     looks     ┬──────┬─┬──┬──┬───────────────────────┬
 *     answers   ●                                      ●
 *                └─── at most LIMIT_NS ───┘└ activation ┘
 *
 * A loss between two answers may have come before the activation, but no more of it than
 * the time that passed there. So without a look in between the loss is exact, and with one
 * LIMIT_NS are subtracted: an event never claims more than the activation lost.
 *
 * A signal handler may interrupt any line here. Then a loss may be counted twice, which readers
 * limit to the length of the activation.
 */
#include "record/cpu.h"

#include "record/clock.h"
#include "record/put.h"

#ifndef WEFT_FREESTANDING

#define LIMIT_NS 100000u
/* Smaller losses are not recorded: interrupts take a few microseconds. */
#define LEAST_NS 10000u

struct watch {
	uint64_t generation;            /* of the buffer in which it looked last */
	uint64_t task;                  /* the current one since the last look */
	uint64_t look, answer;          /* ticks of the last ones */
	uint64_t off_ns;                /* the last answer */
	uint32_t thread;                /* its number in the buffer */
	uint32_t limit_ns, limit_ticks; /* the same time; 0: the buffer's clock has no known rate */
};

/* Halves the time between the header's clock readings until it is at most LIMIT_NS. A division
 * would need a library function on 32-bit processors. */
static void find_limit(const struct weft_abi_buffer *header, struct watch *w)
{
	const struct weft_abi_clock_reading *a = &header->start, *b = &header->second;
	uint64_t ticks = b->ticks - a->ticks, ns = b->monotonic_ns - a->monotonic_ns;
	bool is_known = b->ticks > a->ticks && b->monotonic_ns > a->monotonic_ns;
	for (; ns > LIMIT_NS; ns >>= 1)
		ticks >>= 1;
	is_known = is_known && ticks && ticks <= UINT32_MAX;
	w->limit_ticks = is_known ? (uint32_t)ticks : 0;
	w->limit_ns = is_known ? (uint32_t)ns : 0;
}

static struct watch *current_watch(const struct weft__self *self)
{
	/* For the reason of weft__self_here's. */
	static _Thread_local struct watch here __attribute__((tls_model("initial-exec")));
	uint64_t generation = weft__record_entered_generation(self);
	uint32_t thread = weft__load(&self->slot->thread);
	if (WEFT__UNLIKELY(here.generation != generation || here.thread != thread)) {
		const struct weft_abi_buffer *header = weft__record_header_of(self->slot);
		here = (struct watch){.generation = generation, .thread = thread, .task = WEFT_TASK_NONE};
		if (!weft__record_is_quiet(header))
			find_limit(header, &here);
	}
	return &here;
}

/* Asks for the loss since the last answer. 0 if it is small, or may not be the current task's. */
static WEFT__OUT_OF_LINE uint64_t ask(
	struct watch *w, const struct weft_abi_slot *slot, uint64_t now)
{
	uint64_t off_ns, before = w->off_ns;
	if (!weft__platform_off_cpu(&off_ns))
		return 0;
	uint32_t unsure = w->look == w->answer ? 0 : w->limit_ns;
	/* Another copy of the recorder, or a call that does not look, may have switched. */
	bool is_known = w->answer && w->task != WEFT_TASK_NONE && w->task == weft__load(&slot->task);
	w->off_ns = off_ns;
	w->answer = now;
	bool is_loss = is_known && off_ns > before && off_ns - before >= (uint64_t)unsure + LEAST_NS;
	return is_loss ? off_ns - before - unsure : 0;
}

bool weft__record_cpu_look_at(const struct weft_abi_slot *slot, uint32_t stamp, uint64_t next)
{
	struct watch *w = current_watch(weft__record_self());
	uint64_t now = (uint64_t)weft__load(&slot->base_high) << 32 | stamp;
	if (WEFT__UNLIKELY(now - w->answer >= w->limit_ticks) && w->limit_ticks)
		return false;
	w->look = now;
	w->task = next;
	return true;
}

void weft__record_cpu_look(uint64_t next)
{
	const struct weft__self *self = weft__record_entered();
	struct watch *w = self ? current_watch(self) : NULL;
	if (!w || !w->limit_ticks)
		return;
	uint64_t now = weft__record_ticks(weft__record_platform());
	uint64_t loss_ns = now - w->answer >= w->limit_ticks ? ask(w, self->slot, now) : 0;
	w->look = now;
	w->task = next;
	if (loss_ns)
		weft_off_cpu(loss_ns);
}

#endif
