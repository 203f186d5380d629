/* SPDX-License-Identifier: ISC
 *
 * A plugin that is linked to libuv, for a program that is not.
 */
#include <uv.h>

__attribute__((visibility("default"))) int run(void);

static void on_timer(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

int run(void)
{
	uv_loop_t loop;
	uv_timer_t timer;
	if (uv_loop_init(&loop) != 0)
		return -1;
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, on_timer, 5, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}
