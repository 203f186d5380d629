/* SPDX-License-Identifier: ISC
 *
 * A timer that says when it is due, so that the trace shows how late it fires.
 */
#include "loop.h"

struct timer {
	uint64_t task, owner;
	void (*handler)(void);
};

/* recipe: */
static void fire(void *argument)
{
	struct timer *timer = argument;
	weft_resolve(timer->task);
	weft_enter(timer->owner);
	weft_read(timer->task);
	timer->handler();
	weft_leave();
}

static void set_timer(struct timer *timer, double ms)
{
	timer->task = weft_create(WEFT_KIND_TIMER);
	weft_label_as(timer->task, "timer");
	weft_tag_value_as(timer->task, "deadline", (int64_t)(ms * 1e6)); /* ns from now on */
	weft_try_read_as(timer->owner, timer->task);
	after(ms, fire, timer);
}
/* end of recipe */

static void redraw(void)
{
	work(4);
	puts("redraw");
	weft_resolve(weft_current());
}

static void blink(void)
{
	work(0.5);
	puts("blink");
	weft_resolve(weft_current());
}

static void start(struct timer *timer, const char *owner, double ms)
{
	timer->owner = weft_create(WEFT_KIND_TASK);
	weft_label_as(timer->owner, owner);
	set_timer(timer, ms);
}

int main(void)
{
	struct timer screen = {.handler = redraw}, cursor = {.handler = blink};
	start(&screen, "screen", 2);
	start(&cursor, "cursor", 3);
	run_loop();
}
