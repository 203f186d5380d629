/* SPDX-License-Identifier: ISC
 *
 * Coroutines that wait for promises, with a scheduler of ten lines.
 */
#include "loop.h"

#include <ucontext.h>

struct coroutine {
	uint64_t task;
	const char *name;
	ucontext_t context;
	char stack[64 * 1024];
};

struct promise {
	uint64_t task;
	bool is_done;
	struct coroutine *waiter;
};

static ucontext_t scheduler;
static struct coroutine *running;

/* recipe: */
static void resume(void *argument)
{
	running = argument;
	weft_enter(running->task);
	swapcontext(&scheduler, &running->context);
	weft_leave();
}

static void await(struct promise *promise)
{
	if (!promise->is_done) {
		promise->waiter = running;
		weft_try_read(promise->task);
		swapcontext(&running->context, &scheduler);
	}
	weft_read(promise->task);
}
/* end of recipe */

static void fulfil(void *argument)
{
	struct promise *promise = argument;
	promise->is_done = true;
	weft_resolve(promise->task);
	if (promise->waiter)
		after(0, resume, promise->waiter);
}

static void sleep_in_coroutine(double ms)
{
	struct promise promise = {.task = weft_create(WEFT_KIND_PROMISE)};
	weft_label_as(promise.task, "sleep");
	after(ms, fulfil, &promise);
	await(&promise);
}

static void cook(void)
{
	work(1);
	sleep_in_coroutine(3);
	work(1);
	puts(running->name);
	weft_resolve(running->task);
}

static void start(struct coroutine *coroutine, const char *name)
{
	coroutine->name = name;
	coroutine->task = weft_create(WEFT_KIND_TASK);
	weft_label_as(coroutine->task, name);
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = sizeof(coroutine->stack);
	coroutine->context.uc_link = &scheduler;
	makecontext(&coroutine->context, cook, 0);
	after(0, resume, coroutine);
}

int main(void)
{
	static struct coroutine soup, bread;
	start(&soup, "soup");
	start(&bread, "bread");
	run_loop();
}
