/* SPDX-License-Identifier: ISC
 *
 * The cost of a callback of libuv, in a program that knows nothing of weft. Run it alone, and under
 * `weft record -a uv`: the difference is the adapter's. The fastest of many short rounds counts,
 * since other programs disturb most of them on a busy machine.
 */
#include <stdio.h>
#include <string.h>
#include <uv.h>

enum {
	TIMERS = 64,
	ROUNDS = 2000,
};

static uv_timer_t timers[TIMERS];
static uv_async_t async;
static int calls;

static void on_repeat(uv_timer_t *timer)
{
	(void)timer;
	calls++;
}

static void on_once(uv_timer_t *timer)
{
	calls++;
	uv_timer_start(timer, on_once, 1, 0);
}

static void on_async(uv_async_t *handle)
{
	calls++;
	uv_async_send(handle);
}

/* libuv's time is in ms, and it must pass for timers to fire. */
static void wait_for_ms(uv_loop_t *loop)
{
	uint64_t before = uv_now(loop);
	while (uv_now(loop) <= before + 1)
		uv_update_time(loop);
}

/* ns of a callback, with its share of a round of the loop. */
static double measure(uv_loop_t *loop, int per_round)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		wait_for_ms(loop);
		calls = 0;
		uint64_t begin = uv_hrtime();
		uv_run(loop, UV_RUN_NOWAIT);
		uint64_t ns = uv_hrtime() - begin;
		if (calls == per_round && ns < best)
			best = ns;
	}
	return (double)best / per_round;
}

static void start(uv_timer_cb callback, uint64_t repeat)
{
	for (int i = 0; i < TIMERS; i++)
		uv_timer_start(&timers[i], callback, 1, repeat);
}

int main(void)
{
	uv_loop_t *loop = uv_default_loop();
	for (int i = 0; i < TIMERS; i++)
		uv_timer_init(loop, &timers[i]);
	start(on_repeat, 1);
	printf("timer that repeats         %6.1f ns\n", measure(loop, TIMERS));
	for (int i = 0; i < TIMERS; i++)
		uv_timer_stop(&timers[i]);
	start(on_once, 0);
	printf("timer that is set again    %6.1f ns\n", measure(loop, TIMERS));
	for (int i = 0; i < TIMERS; i++)
		uv_timer_stop(&timers[i]);
	uv_async_init(loop, &async, on_async);
	uv_async_send(&async);
	printf("async, with a round        %6.1f ns\n", measure(loop, 1));
	return 0;
}
