/* SPDX-License-Identifier: ISC
 *
 * A reply that may not take longer than some milliseconds.
 */
#include "loop.h"

struct call {
	uint64_t reply, caller;
};

static void use_reply(void *argument)
{
	struct call *call = argument;
	stop(call);
	weft_resolve(call->reply);
	weft_enter(call->caller);
	weft_read(call->reply);
	work(1);
	puts("replied");
	weft_resolve(call->caller);
	weft_leave();
}

/* recipe: */
static void give_up(void *argument)
{
	struct call *call = argument;
	stop(call);
	weft_time_out(call->reply);
	weft_enter(call->caller);
	weft_read(call->reply);
	weft_fail(call->caller, "no reply within 5 ms");
	weft_leave();
}
/* end of recipe */

static void call_server(struct call *call, const char *name, double reply_ms)
{
	call->caller = weft_create(WEFT_KIND_TASK);
	weft_label_as(call->caller, name);
	weft_enter(call->caller);
	work(0.5);
	call->reply = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(call->reply, "reply");
	weft_try_read(call->reply);
	weft_leave();
	after(reply_ms, use_reply, call);
	after(5, give_up, call);
}

int main(void)
{
	struct call quick, slow;
	call_server(&quick, "quick call", 3);
	call_server(&slow, "slow call", 1000);
	run_loop();
}
