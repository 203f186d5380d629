/* SPDX-License-Identifier: ISC
 *
 * Slices of threads: spans of a task that stands for the thread, which runs while any is open.
 *
 * The ends of X are kept in a heap until their time comes. Slices must nest: one that would outlast
 * the X around it ends with it.
 */
#include "format/chrome/reader.h"

#include <string.h>

#include "base/array.h"

struct weft_slice weft__format_chrome_name(struct weft__chrome_reader *r)
{
	struct weft__json_value detail;
	if (!weft__format_json_find(&r->entry.args, "detail", &detail) ||
		detail.type != WEFT__JSON_STRING || detail.text.size == 0)
		return r->entry.name;
	return weft__format_chrome_join(
		&r->texts, r->entry.name, " ", weft__format_chrome_text(&r->texts, &detail));
}

/* ---- Memory ---- */

uint32_t weft__format_chrome_open_slice(
	struct weft__chrome_reader *r, uint32_t outer, uint64_t end_ns)
{
	uint32_t slice = r->unused_slice;
	if (slice != WEFT__CHROME_NONE) {
		r->unused_slice = r->slices[slice].outer;
	} else {
		const struct weft__column column = {&r->slices, sizeof(*r->slices)};
		int error =
			weft__columns_reserve(&column, 1, &r->slice_capacity, r->slice_count + (size_t)1);
		if (error) {
			r->error = error;
			return WEFT__CHROME_NONE;
		}
		slice = r->slice_count++;
	}
	r->slices[slice] = (struct weft__chrome_slice){
		.end_ns = end_ns, .order = r->begun++, .outer = outer, .thread = r->thread};
	return slice;
}

void weft__format_chrome_free_slice(struct weft__chrome_reader *r, uint32_t slice)
{
	r->slices[slice].outer = r->unused_slice;
	r->unused_slice = slice;
}

/* ---- The heap ---- */

/* At equal times the one that began last is inside the others. */
static bool is_before(const struct weft__chrome_reader *r, uint32_t a, uint32_t b)
{
	const struct weft__chrome_slice *x = &r->slices[r->heap[a]], *y = &r->slices[r->heap[b]];
	return x->end_ns != y->end_ns ? x->end_ns < y->end_ns : x->order > y->order;
}

static void swap(struct weft__chrome_reader *r, uint32_t a, uint32_t b)
{
	const uint32_t slice = r->heap[a];
	r->heap[a] = r->heap[b];
	r->heap[b] = slice;
}

static void push(struct weft__chrome_reader *r, uint32_t slice)
{
	const struct weft__column column = {&r->heap, sizeof(*r->heap)};
	int error = weft__columns_reserve(&column, 1, &r->heap_capacity, r->heap_count + (size_t)1);
	if (error) {
		r->error = error;
		return;
	}
	uint32_t at = r->heap_count++;
	r->heap[at] = slice;
	for (; at > 0 && is_before(r, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(r, at, (at - 1) / 2);
}

static uint32_t pop(struct weft__chrome_reader *r)
{
	const uint32_t first = r->heap[0];
	r->heap[0] = r->heap[--r->heap_count];
	for (uint32_t at = 0, child; (child = 2 * at + 1) < r->heap_count; at = child) {
		child += child + 1 < r->heap_count && is_before(r, child + 1, child);
		if (!is_before(r, child, at))
			break;
		swap(r, at, child);
	}
	return first;
}

uint32_t weft__format_chrome_next_end(const struct weft__chrome_reader *r)
{
	return r->heap_count ? r->heap[0] : WEFT__CHROME_NONE;
}

/* ---- What a thread runs ---- */

static struct weft__chrome_thread *current(struct weft__chrome_reader *r)
{
	return weft__format_chrome_thread(r, r->thread);
}

/* "thread 4711", if the trace does not name it. */
static struct weft_slice name_of_thread(struct weft__chrome_reader *r)
{
	const struct weft_trace_thread *described = &r->threads.described[r->thread];
	char digits[20];
	size_t at = sizeof(digits);
	if (described->name[0])
		return (struct weft_slice){described->name, strlen(described->name)};
	uint64_t tid = described->tid;
	do
		digits[--at] = (char)('0' + tid % 10);
	while (tid /= 10);
	return weft__format_chrome_join(&r->texts, (struct weft_slice){"thread", 6}, " ",
		(struct weft_slice){digits + at, sizeof(digits) - at});
}

static void make_thread_task(struct weft__chrome_reader *r, struct weft__chrome_thread *thread)
{
	thread->task = weft__format_chrome_new_task(r);
	struct weft_event *event = weft__format_chrome_make(r, WEFT_EVENT_CREATE);
	event->other = thread->task;
	event->kind = WEFT_KIND_THREAD;
	weft__format_chrome_make_text(r, WEFT_EVENT_LABEL, thread->task, name_of_thread(r));
}

/* The task that stands for the entry's thread: it is made when it is first needed. */
static uint64_t task_of_thread(struct weft__chrome_reader *r)
{
	struct weft__chrome_thread *thread = current(r);
	if (!thread->task)
		make_thread_task(r, thread);
	return thread->task;
}

uint64_t weft__format_chrome_running(struct weft__chrome_reader *r)
{
	const struct weft__chrome_thread *thread = current(r);
	if (thread->callback != WEFT__CHROME_NONE)
		return r->asyncs[thread->callback].task;
	return thread->innermost != WEFT__CHROME_NONE ? thread->task : WEFT_TASK_NONE;
}

uint64_t weft__format_chrome_actor(struct weft__chrome_reader *r)
{
	const uint64_t task = weft__format_chrome_running(r);
	return task != WEFT_TASK_NONE ? task : task_of_thread(r);
}

/* ---- Beginning and ending ---- */

/* An end for a thread; whether its heap entry still refers to the slice decides who frees it. */
static void end_innermost(struct weft__chrome_reader *r, struct weft__chrome_thread *thread)
{
	const uint32_t slice = thread->innermost;
	thread->innermost = r->slices[slice].outer;
	weft__format_chrome_make(r, WEFT_EVENT_END)->task = thread->task;
	if (r->slices[slice].end_ns != UINT64_MAX)
		r->slices[slice].has_ended = true;
	else
		weft__format_chrome_free_slice(r, slice);
	if (weft__format_chrome_running(r) == WEFT_TASK_NONE)
		weft__format_chrome_make(r, WEFT_EVENT_SWITCH);
}

static void begin(struct weft__chrome_reader *r, uint64_t end_ns)
{
	struct weft__chrome_thread *thread = current(r);
	const uint32_t outer = thread->innermost;
	const uint64_t task = task_of_thread(r);
	const uint64_t limit = outer == WEFT__CHROME_NONE ? UINT64_MAX : r->slices[outer].limit_ns;
	if (end_ns != UINT64_MAX && end_ns > limit) {
		weft_diagnostics_add_ns(r->base.input.diagnostics, r->offset,
			"a slice outlasts the one around it; it ends with that", end_ns - limit);
		end_ns = limit;
	}
	const bool is_idle = weft__format_chrome_running(r) == WEFT_TASK_NONE;
	const uint32_t slice = weft__format_chrome_open_slice(r, outer, end_ns);
	if (slice == WEFT__CHROME_NONE)
		return;
	thread->innermost = slice;
	r->slices[slice].limit_ns = end_ns < limit ? end_ns : limit;
	r->slices[slice].last_b = slice;
	if (end_ns != UINT64_MAX) {
		r->slices[slice].last_b =
			outer == WEFT__CHROME_NONE ? WEFT__CHROME_NONE : r->slices[outer].last_b;
		push(r, slice);
	}
	if (is_idle)
		weft__format_chrome_make(r, WEFT_EVENT_SWITCH)->task = task;
	weft__format_chrome_make_text(r, WEFT_EVENT_BEGIN, task, weft__format_chrome_name(r));
	weft__format_chrome_read_bound_flow(r);
}

/* An E ends the B that began last; X inside it end with it. */
static void end(struct weft__chrome_reader *r)
{
	struct weft__chrome_thread *thread = current(r);
	const uint32_t innermost = thread->innermost;
	const uint32_t slice =
		innermost == WEFT__CHROME_NONE ? WEFT__CHROME_NONE : r->slices[innermost].last_b;
	if (thread->owed) {
		thread->owed--;
		return;
	}
	if (slice == WEFT__CHROME_NONE) {
		weft__format_chrome_report(r, "an end of a slice that has not begun; it is left out");
		return;
	}
	while (thread->innermost != slice) {
		weft__format_chrome_report(r, "a slice outlasts the one around it; it ends with that");
		end_innermost(r, thread);
	}
	end_innermost(r, thread);
}

void weft__format_chrome_end_next(struct weft__chrome_reader *r)
{
	const uint32_t slice = pop(r);
	const struct weft__chrome_slice ended = r->slices[slice];
	struct weft__chrome_thread *thread = weft__format_chrome_thread(r, ended.thread);
	r->thread = ended.thread;
	r->now_ns = ended.end_ns;
	if (!ended.has_ended) {
		while (thread->innermost != slice) {
			weft__format_chrome_report(r, "a slice outlasts the one around it; it ends with that");
			thread->owed++;
			end_innermost(r, thread);
		}
		end_innermost(r, thread);
	}
	weft__format_chrome_free_slice(r, slice);
}

static uint64_t end_of_entry(const struct weft__chrome_reader *r)
{
	const int64_t ns = r->entry.duration_ns;
	return r->now_ns + (uint64_t)(ns > 0 ? ns : 0);
}

void weft__format_chrome_read_slice(struct weft__chrome_reader *r)
{
	if (r->entry.phase == 'B')
		begin(r, UINT64_MAX);
	else if (r->entry.phase == 'E')
		end(r);
	else
		begin(r, end_of_entry(r));
	if (r->entry.phase == 'X' && (!r->entry.has_duration || r->entry.duration_ns < 0))
		weft__format_chrome_report(r, "a slice lacks its duration, \"dur\", or it is negative");
}
