/* SPDX-License-Identifier: ISC
 *
 * Tasks that run inside another: the thread remembers which task to continue with.
 *
 * The stack is the thread's own memory and belongs to one buffer: with another buffer, in a forked
 * child, and for the next thread in a slot it is empty. A leave without its enter finds it empty,
 * too, and makes the thread idle, so no task stays current by mistake.
 *
 * A signal handler may interrupt any line here. If it leaves as often as it enters, it changes
 * neither the depth nor the current task, and so no entry but the next one, which it sets to the
 * value that is about to be stored there.
 */
#include "record/packet.h"
#include "record/reserve.h"

/* Thread-local storage is scarce for libraries that are loaded later: the struct has 256 bytes. */
#define LEVELS 30

struct nest {
	uint64_t generation; /* of the buffer to which `tasks` belongs */
	uint32_t thread;     /* its number in that buffer */
	uint32_t depth;      /* may be more than there are levels */
	uint64_t tasks[LEVELS];
};

#ifdef WEFT_FREESTANDING
/* Without thread-local storage the stacks are those of the first slots; other threads have none. */
#define STACKS 16

static struct nest *nest_of(const struct weft_abi_slot *slot)
{
	static struct nest nests[STACKS];
	uint32_t index = weft__record_slot_index(weft__record_region_of(slot), slot);
	return index < STACKS ? &nests[index] : NULL;
}
#else
static struct nest *nest_of(const struct weft_abi_slot *slot)
{
	/* For the reason of weft__self_here's. */
	static _Thread_local struct nest here __attribute__((tls_model("initial-exec")));
	(void)slot;
	return &here;
}
#endif

/* The thread's stack in this buffer. NULL: it has none. */
static struct nest *current_nest(const struct weft__self *self)
{
	struct nest *nest = nest_of(self->slot);
	uint64_t generation = weft__record_entered_generation(self);
	uint32_t thread = weft__load(&self->slot->thread);
	if (WEFT__UNLIKELY(nest && (nest->generation != generation || nest->thread != thread))) {
		nest->depth = 0;
		weft__signal_fence();
		nest->generation = generation;
		nest->thread = thread;
	}
	return nest;
}

static void push(const struct weft__self *self)
{
	struct nest *nest = current_nest(self);
	if (!nest)
		return;
	if (nest->depth < LEVELS)
		nest->tasks[nest->depth] = weft__load(&self->slot->task);
	weft__signal_fence();
	nest->depth++;
}

/* The task that ran before the last enter. Beyond the last level that is unknown, so the thread
 * returns to the last one that it remembers. */
static uint64_t pop(const struct weft__self *self)
{
	struct nest *nest = current_nest(self);
	if (!nest || nest->depth == 0)
		return WEFT_TASK_NONE;
	uint32_t level = nest->depth - 1;
	if (WEFT__UNLIKELY(level >= LEVELS)) {
		weft__record_count_loss(self->slot, WEFT_ABI_LOSS_TOO_DEEP);
		level = LEVELS - 1;
	}
	uint64_t task = nest->tasks[level];
	weft__signal_fence();
	nest->depth--;
	return task;
}

WEFT__EXPORT void weft_enter(uint64_t task)
{
	const struct weft__self *self = weft__record_entered();
	if (!self)
		return;
	push(self);
	weft_switch(task);
}

WEFT__EXPORT void weft_leave(void)
{
	const struct weft__self *self = weft__record_entered();
	if (self)
		weft_switch(pop(self));
}
