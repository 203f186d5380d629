/* SPDX-License-Identifier: ISC
 *
 * See vain.h. A loop is busy if next to no time is between its calls, as hooks do not see what
 * the program calculates there. Each 100 ms of it are written as a note and two tags of the
 * thread's task.
 */
#define WEFT_CATEGORY always
#include "hooks/vain.h"

#include <weft/ends.h>

#include "hooks/stack.h"

#define SHORT_NS   20000     /* between two calls, or a wait that was over at once */
#define PART       2         /* 1 / PART of a busy loop is between its calls, at most */
#define CALLS      16        /* for each longer time between two, at least */
#define SOME       4         /* longer times that may follow each other */
#define WRITTEN_NS 100000000 /* a busy loop that is worth some events */
#define MANY       256       /* its calls: fewer do not tell how many longer times there are */

__thread struct weft__hooks_loop weft__hooks_loop;

static void begin_again(void)
{
	struct weft__hooks_loop *loop = &weft__hooks_loop;
	loop->began_ns = loop->spent_ns = loop->between_ns = 0;
	loop->calls = loop->pauses = 0;
	loop->is_mixed = false;
}

struct written {
	uint64_t task, stack;
};

/* All at one time, so that the calls which lead here belong to it. */
static void write_aside(void *of)
{
	const struct written *it = of;
	const struct weft__hooks_loop *loop = &weft__hooks_loop;
	struct weft__hooks_text name = {0};
	weft__hooks_append(&name, WEFT_NOTE_VAIN);
	weft__hooks_append(&name, loop->call);
	if (loop->is_mixed)
		weft__hooks_append(&name, WEFT_NOTE_VAIN_OTHERS);
	weft_moment_begin();
	weft__hooks_stack_record(it->stack);
	weft_note_n_as(it->task, name.bytes, name.size);
	weft_tag_value_as(it->task, WEFT_TAG_VAIN_CALLS, loop->calls);
	weft_tag_value_as(it->task, WEFT_TAG_VAIN_NS, (int64_t)loop->spent_ns);
	weft_moment_end();
}

static WEFT__OWN_FRAME void write_loop(void)
{
	const int saved = weft__hooks_begin();
	struct written it = {weft__hooks_thread_task(), 0};
	if (it.task == weft_current())
		it.stack = weft__hooks_stack_find();
	weft__hooks_aside(write_aside, &it);
	weft__hooks_end(saved);
}

/* Adds the time since the end of the last call, or since `began_ns` after a pause. */
static void spend(uint64_t began_ns, uint64_t now_ns)
{
	struct weft__hooks_loop *loop = &weft__hooks_loop;
	const uint64_t between_ns = began_ns - loop->ended_ns;
	const bool goes_on = between_ns <= SHORT_NS;
	loop->spent_ns += now_ns - (goes_on ? loop->ended_ns : began_ns);
	loop->between_ns += goes_on ? between_ns : 0;
	loop->pauses += !goes_on;
	loop->ended_ns = now_ns;
}

/* The begin of a read or write. One that has waited, or was not measured, is a pause, of no length
 * itself. */
static uint64_t measured_begin(uint64_t now_ns)
{
	struct weft__hooks_loop *loop = &weft__hooks_loop;
	const uint64_t began_ns = loop->began_ns;
	loop->began_ns = 0;
	return began_ns && now_ns - began_ns <= SHORT_NS ? began_ns : now_ns;
}

void weft__hooks_vain(const char *call, uint64_t began_ns)
{
	struct weft__hooks_loop *loop = &weft__hooks_loop;
	const uint64_t now_ns = weft__hooks_now_ns();
	if (unlikely(loop->epoch != weft__hooks_epoch()))
		begin_again();
	loop->epoch = weft__hooks_epoch();
	loop->is_mixed |= loop->calls && loop->call != call;
	loop->call = call;
	loop->calls++;
	spend(began_ns ? began_ns : measured_begin(now_ns), now_ns);
	if (loop->pauses > SOME + loop->calls / CALLS)
		begin_again();
	if (likely(loop->spent_ns < WRITTEN_NS || loop->calls < MANY))
		return;
	if (loop->between_ns <= loop->spent_ns / PART && loop->pauses <= 1 + loop->calls / CALLS)
		write_loop();
	begin_again();
}

void weft__hooks_vain_goes_on(uint64_t began_ns, uint64_t ended_ns)
{
	const struct weft__hooks_loop *loop = &weft__hooks_loop;
	if (loop->calls && began_ns - loop->ended_ns <= SHORT_NS && ended_ns - began_ns <= SHORT_NS)
		spend(began_ns, ended_ns);
}
