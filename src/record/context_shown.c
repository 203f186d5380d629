/* SPDX-License-Identifier: ISC
 *
 * A thread's context, as OpenTelemetry's proposal OTEP 4947 describes it: a thread-local pointer of
 * a fixed name leads to a record. Its readers, such as eBPF profilers, look while the thread is
 * stopped or interrupted. So the order of stores matters to the compiler only.
 *
 * The record changes in place: `valid` is 0 meanwhile. If another library has set the pointer, it
 * is that library's.
 */
#include "record/context_shown.h"

#include "record/context_hot.h"
#include "record/recorder.h"

uint32_t weft__record_contexts_shown;

#ifdef WEFT_FREESTANDING
void weft__record_context_show(const struct weft_context *context)
{
	(void)context; /* no thread-local storage */
}

void weft__record_context_show_task(uint64_t task)
{
	(void)task;
}
#else

struct shown {
	uint64_t trace[2], span; /* the first byte is the highest one */
	uint8_t valid, flags;
	uint16_t attributes_size; /* none follow */
};

WEFT__EXPORT _Thread_local void *otel_thread_ctx_v1 __attribute__((tls_model("initial-exec")));

static uint64_t big_endian(uint64_t number)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return number;
#else
	return __builtin_bswap64(number);
#endif
}

void weft__record_context_show(const struct weft_context *context)
{
	static _Thread_local struct shown own __attribute__((tls_model("initial-exec")));
	if (otel_thread_ctx_v1 != &own) {
		if (otel_thread_ctx_v1)
			return;
		otel_thread_ctx_v1 = &own;
	}
	weft__store(&own.valid, 0);
	weft__signal_fence();
	own.trace[0] = big_endian(context->trace_high);
	own.trace[1] = big_endian(context->trace_low);
	own.span = big_endian(context->span);
	own.flags = context->flags;
	weft__signal_fence();
	weft__store(&own.valid, context->span != 0);
}

void weft__record_context_show_task(uint64_t task)
{
	const struct weft__self *self = weft__record_looked();
	struct weft_context context = {0};
	if (task == WEFT_TASK_NONE)
		context = weft__context_here;
	else if (self)
		(void)weft__record_context_find(task, weft__record_entered_generation(self), &context);
	weft__record_context_show(&context);
}
#endif
