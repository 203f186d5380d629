/* SPDX-License-Identifier: ISC
 *
 * Timers. One that fires once is a task from its start until its callback returns; one that repeats
 * runs at each call, until it is stopped.
 */
#include "uv/adapter.h"

/* libuv counts whole ms: a timer is due at the end of the last one. */
static void set_deadline(uint64_t task, uint64_t ms)
{
	const uint64_t longest = INT64_MAX / 1000000 - 1;
	if (ms < longest)
		weft_tag_value_as(task, "deadline", (int64_t)(ms + 1) * 1000000);
}

static void append_ms(struct weft__hooks_text *text, uint64_t ms)
{
	if (ms == 0)
		weft__hooks_append(text, "0 ms");
	else
		weft__hooks_append_duration(text, ms < UINT64_MAX / 1000000 ? ms * 1000000 : UINT64_MAX);
}

/* "timer 20 ms", "timer 20 ms repeat" or, if its first time is another, "timer 0 ms repeat 20 ms".
 */
static void name_timer(struct weft__hooks_subject *subject, uint64_t ms, uint64_t repeat)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "timer ");
	append_ms(&text, ms);
	if (repeat) {
		weft__hooks_append(&text, repeat == ms ? " repeat" : " repeat ");
		if (repeat != ms)
			append_ms(&text, repeat);
	}
	weft__hooks_append_callback(&text, subject->callback);
	weft__hooks_subject_label(subject, &text);
}

static void on_timer(uv_timer_t *timer)
{
	struct weft__hooks_run run = UV_PLAIN(uv_timer_get_repeat)(timer) != 0
									 ? UV_BEGIN_HANDLE(timer, "timer")
									 : UV_BEGIN_LAST(timer, "timer");
	((uv_timer_cb)run.callback)(timer);
	weft__hooks_return(&run);
}

/* A timer that is often set again has one name each time, which takes longer to put together than
 * to record. `second` is the callback in the last name; NULL if that timer repeated. */
static bool has_same_name(const struct weft__hooks_subject *subject, uint64_t ms, uint64_t repeat)
{
	return !repeat && subject->second && subject->second == subject->callback &&
		   subject->number == ms;
}

/* A timer that waits is set to another time: its task goes on. */
static bool start(uv_timer_t *timer, uv_timer_cb callback, uint64_t ms, uint64_t repeat)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(timer);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	bool is_new = weft__hooks_start(subject, (weft__hooks_callback)callback, WEFT_KIND_TIMER);
	if (is_new && has_same_name(subject, ms, repeat))
		weft__hooks_subject_label_again(subject);
	else if (is_new || subject->number != (uint32_t)ms)
		name_timer(subject, ms, repeat);
	subject->second = repeat ? NULL : subject->callback;
	subject->number = (uint32_t)ms;
	if (!repeat)
		set_deadline(subject->task, ms);
	weft__hooks_end(saved);
	return true;
}

UV_HOOK(uv_timer_start)
int UV_NAME(uv_timer_start)(uv_timer_t *timer, uv_timer_cb callback, uint64_t ms, uint64_t repeat)
{
	if (!UV_RECORD || !callback || callback == on_timer ||
		UV_PLAIN(uv_is_closing)((uv_handle_t *)timer) || !start(timer, callback, ms, repeat))
		return UV_NEXT(uv_timer_start)(timer, callback, ms, repeat);
	return UV_NEXT(uv_timer_start)(timer, on_timer, ms, repeat);
}

UV_HOOK(uv_timer_stop)
int UV_NAME(uv_timer_stop)(uv_timer_t *timer)
{
	if (UV_RECORD)
		weft__hooks_cancel(timer);
	return UV_NEXT(uv_timer_stop)(timer);
}

/* The timer keeps its callback, which is on_timer if it was started while recording. */
static void start_again(uv_timer_t *timer)
{
	const struct weft__hooks_subject *subject = weft__hooks_subject_find(timer);
	uint64_t repeat = UV_PLAIN(uv_timer_get_repeat)(timer);
	if (repeat && subject && subject->callback)
		start(timer, (uv_timer_cb)subject->callback, repeat, repeat);
}

UV_HOOK(uv_timer_again)
int UV_NAME(uv_timer_again)(uv_timer_t *timer)
{
	if (UV_RECORD)
		start_again(timer);
	return UV_NEXT(uv_timer_again)(timer);
}
