/* SPDX-License-Identifier: ISC
 *
 * `node --trace-event-categories node.async_hooks`: a resource is a slice from its creation to its
 * destruction, its callbacks are slices inside it. A promise whose trigger is another promise waits
 * for that: its callback runs once the other one is settled. When that was is not in the trace, so
 * the other one ends where the first callback shows that it has. A promise's own destruction only
 * says that nothing refers to it any more.
 */
#include "model/slice.h"
#include "format/chrome/reader.h"

#include <string.h>

#include "format/chrome/number.h"

static const char CALLBACK[] = "_CALLBACK";

bool weft__format_chrome_is_node(const struct weft__chrome_reader *r)
{
	const char phase = r->entry.phase;
	return (phase == 'b' || phase == 'e') && r->entry.id_type != WEFT__CHROME_ID_NONE &&
		   weft__slice_contains(r->entry.category, "node.async_hooks");
}

/* Workers have threads of their own, whose numbers begin anew. */
static uint64_t hash_of_id(const struct weft__chrome_reader *r, uint64_t id)
{
	struct weft__hash hash = weft__hash_begin(&r->async_index.key);
	weft__hash_word(&hash, UINT64_MAX - 1);
	weft__hash_word(&hash, r->thread);
	weft__hash_word(&hash, id);
	return weft__hash_end(&hash);
}

static struct weft__chrome_async *at(struct weft__chrome_reader *r, uint32_t async)
{
	return async == WEFT__CHROME_NONE ? NULL : &r->asyncs[async];
}

static bool read_data(const struct weft__chrome_reader *r, const char *key, uint64_t *ret_id)
{
	struct weft__json_value data, id;
	return weft__format_json_find(&r->entry.args, "data", &data) &&
		   weft__format_json_find(&data, key, &id) && weft__format_chrome_id(id.text, ret_id);
}

static void set_kind(
	struct weft__chrome_reader *r, struct weft__chrome_async *async, struct weft_event *event)
{
	const struct weft_slice name = r->entry.name;
	async->is_promise = weft__slice_is(name, "PROMISE");
	async->is_timer = weft__slice_is(name, "Timeout") || weft__slice_is(name, "Immediate");
	event->kind = async->is_promise ? WEFT_KIND_PROMISE
				  : async->is_timer ? WEFT_KIND_TIMER
									: WEFT_KIND_UNKNOWN;
	if (event->kind == WEFT_KIND_UNKNOWN)
		event->kind_name = name;
}

static void create(struct weft__chrome_reader *r, uint32_t created)
{
	struct weft__chrome_async *async = &r->asyncs[created];
	uint64_t trigger, executed;
	const uint64_t actor = weft__format_chrome_actor(r);
	async->task = weft__format_chrome_new_task(r);
	async->is_open = true;
	async->has_run = false;
	async->awaited = WEFT__CHROME_NONE;
	struct weft_event *event = weft__format_chrome_make(r, WEFT_EVENT_CREATE);
	event->task = actor;
	event->other = async->task;
	set_kind(r, async, event);
	if (!async->is_promise || !read_data(r, "triggerAsyncId", &trigger) ||
		!read_data(r, "executionAsyncId", &executed) || trigger == executed)
		return;
	const uint32_t awaited = weft__format_chrome_find_async(r, hash_of_id(r, trigger));
	if (awaited == WEFT__CHROME_NONE || !r->asyncs[awaited].is_promise)
		return;
	async->awaited = awaited;
	weft__format_chrome_make_edge(r, WEFT_EVENT_TRY_READ, async->task, r->asyncs[awaited].task);
}

static void end(
	struct weft__chrome_reader *r, struct weft__chrome_async *async, enum weft_event_type type)
{
	if (!async->is_open)
		return;
	async->is_open = false;
	weft__format_chrome_make_edge(r, type, WEFT_TASK_NONE, async->task);
}

static void run(struct weft__chrome_reader *r, uint32_t callback)
{
	struct weft__chrome_async *async = &r->asyncs[callback];
	struct weft__chrome_async *awaited = at(r, async->awaited);
	struct weft__chrome_thread *thread = weft__format_chrome_thread(r, r->thread);
	if (awaited && !async->has_run) {
		end(r, awaited, WEFT_EVENT_RESOLVE);
		weft__format_chrome_make_edge(r, WEFT_EVENT_READ, async->task, awaited->task);
	}
	weft__format_chrome_make(r, WEFT_EVENT_SWITCH)->task = async->task;
	if (thread->callback == callback)
		return; /* it has begun a second time without having ended */
	async->has_run = true;
	async->outer = thread->callback;
	thread->callback = callback;
}

/* The thread goes back to what it ran before. Callbacks inside this one end with it. */
static void leave(struct weft__chrome_reader *r, uint32_t callback)
{
	struct weft__chrome_thread *thread = weft__format_chrome_thread(r, r->thread);
	uint32_t inner = thread->callback;
	for (unsigned i = 0; i < WEFT__CHROME_SEARCHED_MAX && inner != callback; i++)
		inner = inner == WEFT__CHROME_NONE ? inner : r->asyncs[inner].outer;
	if (inner != callback) {
		weft__format_chrome_report(r, "an end of a slice that has not begun; it is left out");
		return;
	}
	thread->callback = r->asyncs[callback].outer;
	weft__format_chrome_make(r, WEFT_EVENT_SWITCH)->task = weft__format_chrome_running(r);
}

static void destroy(struct weft__chrome_reader *r, struct weft__chrome_async *async)
{
	if (async->has_run && !async->is_promise)
		end(r, async, WEFT_EVENT_RESOLVE);
	else
		end(r, async, async->is_timer ? WEFT_EVENT_CANCEL : WEFT_EVENT_CLOSE);
}

void weft__format_chrome_read_node(struct weft__chrome_reader *r)
{
	const struct weft_slice name = r->entry.name;
	const size_t suffix = sizeof(CALLBACK) - 1;
	const bool is_callback =
		name.size >= suffix && memcmp(name.bytes + name.size - suffix, CALLBACK, suffix) == 0;
	uint64_t id;
	if (!weft__format_chrome_id(r->entry.id, &id)) {
		weft__format_chrome_report(r, "an asynchronous event lacks its \"id\"; it is left out");
		return;
	}
	uint32_t found = weft__format_chrome_find_async(r, hash_of_id(r, id));
	const bool is_new = r->entry.phase == 'b' && !is_callback;
	if (found == WEFT__CHROME_NONE && r->entry.phase == 'b') {
		found = weft__format_chrome_add_async(r, hash_of_id(r, id));
		/* A callback of a resource from before the trace. */
		if (found != WEFT__CHROME_NONE && !is_new)
			r->asyncs[found].task = weft__format_chrome_new_task(r);
	}
	if (found == WEFT__CHROME_NONE)
		return;
	if (is_new)
		create(r, found);
	else if (r->entry.phase == 'b')
		run(r, found);
	else if (is_callback)
		leave(r, found);
	else
		destroy(r, &r->asyncs[found]);
}
