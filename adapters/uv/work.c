/* SPDX-License-Identifier: ISC
 *
 * Requests that libuv's threads do: uv_queue_work, names of hosts, random numbers.
 *
 * The work of uv_queue_work runs in its task on a thread of the pool. The pool is a task, too, for
 * which others wait while all of its threads are busy. What libuv itself does there, as for files,
 * is not seen to hold a thread.
 */
#include "uv/adapter.h"

/* ---- The pool ---- */

static uint64_t pool_task;
static uint32_t pool_epoch;

/* Two loops that come here at the same time may make two tasks, each of which is kept by some
 * requests: this happens once. */
static uint64_t pool(void)
{
	if (likely(__atomic_load_n(&pool_epoch, __ATOMIC_ACQUIRE) == weft__hooks_epoch()))
		return __atomic_load_n(&pool_task, __ATOMIC_RELAXED);
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_POOL);
	weft_label_as(task, "libuv's threads");
	__atomic_store_n(&pool_task, task, __ATOMIC_RELAXED);
	__atomic_store_n(&pool_epoch, weft__hooks_epoch(), __ATOMIC_RELEASE);
	return task;
}

/* ---- Work ---- */

/* On a thread of the pool. */
static void on_work(uv_work_t *request)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(request);
	uv_work_cb callback = (uv_work_cb)subject->second;
	bool is_recorded = HOOKS_RECORD && subject->epoch == weft__hooks_epoch();
	int saved = weft__hooks_begin();
	if (is_recorded) {
		weft_enter(subject->task);
		weft_acquire(pool());
	}
	weft__hooks_end(saved);
	callback(request);
	if (!is_recorded)
		return;
	saved = weft__hooks_begin();
	weft_moment_begin();
	weft_release(pool());
	weft_leave();
	weft_moment_end();
	weft__hooks_end(saved);
}

static void after_work(uv_work_t *request, int status)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->after_work_cb = (uv_after_work_cb)run.callback;
	if (run.callback)
		((uv_after_work_cb)run.callback)(request, status);
	weft__hooks_return(&run);
}

static bool ask_work(uv_work_t *request, uv_work_cb work, uv_after_work_cb after)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject =
		weft__hooks_ask(request, (weft__hooks_callback)after, weft_kind("work"));
	if (subject) {
		struct weft__hooks_text text = {0};
		subject->second = (weft__hooks_callback)work;
		weft__hooks_append(&text, "work");
		weft__hooks_append_callback(&text, subject->second);
		weft__hooks_subject_label(subject, &text);
		weft_try_read_as(subject->task, pool());
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_queue_work)
int UV_NAME(uv_queue_work)(
	uv_loop_t *loop, uv_work_t *request, uv_work_cb work, uv_after_work_cb after)
{
	if (!UV_RECORD || !work || !ask_work(request, work, after))
		return UV_NEXT(uv_queue_work)(loop, request, work, after);
	return weft__uv_asked(request, UV_NEXT(uv_queue_work)(loop, request, on_work, after_work));
}

/* ---- Names of hosts ---- */

static void on_addresses(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_getaddrinfo_cb)run.callback;
	((uv_getaddrinfo_cb)run.callback)(request, status, addresses);
	weft__hooks_return(&run);
}

static void on_name(uv_getnameinfo_t *request, int status, const char *host, const char *service)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->getnameinfo_cb = (uv_getnameinfo_cb)run.callback;
	((uv_getnameinfo_cb)run.callback)(request, status, host, service);
	weft__hooks_return(&run);
}

/* "getaddrinfo example.org:http" */
static bool ask_addresses(
	uv_getaddrinfo_t *request, weft__hooks_callback callback, const char *node, const char *service)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject = weft__hooks_ask(request, callback, weft_kind("lookup"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "getaddrinfo ");
		weft__hooks_append(&text, node ? node : "");
		weft__hooks_append(&text, service ? ":" : "");
		weft__hooks_append(&text, service ? service : "");
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_getaddrinfo)
int UV_NAME(uv_getaddrinfo)(uv_loop_t *loop, uv_getaddrinfo_t *request, uv_getaddrinfo_cb callback,
	const char *node, const char *service, const struct addrinfo *hints)
{
	if (!UV_RECORD || !callback ||
		!ask_addresses(request, (weft__hooks_callback)callback, node, service))
		return UV_NEXT(uv_getaddrinfo)(loop, request, callback, node, service, hints);
	return weft__uv_asked(
		request, UV_NEXT(uv_getaddrinfo)(loop, request, on_addresses, node, service, hints));
}

static bool ask_name(
	uv_getnameinfo_t *request, weft__hooks_callback callback, const struct sockaddr *address)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject = weft__hooks_ask(request, callback, weft_kind("lookup"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "getnameinfo ");
		weft__uv_append_destination(&text, address);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_getnameinfo)
int UV_NAME(uv_getnameinfo)(uv_loop_t *loop, uv_getnameinfo_t *request, uv_getnameinfo_cb callback,
	const struct sockaddr *address, int flags)
{
	if (!UV_RECORD || !callback || !ask_name(request, (weft__hooks_callback)callback, address))
		return UV_NEXT(uv_getnameinfo)(loop, request, callback, address, flags);
	return weft__uv_asked(request, UV_NEXT(uv_getnameinfo)(loop, request, on_name, address, flags));
}

/* ---- Random numbers ---- */

static void on_random(uv_random_t *request, int status, void *bytes, size_t size)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_random_cb)run.callback;
	((uv_random_cb)run.callback)(request, status, bytes, size);
	weft__hooks_return(&run);
}

static bool ask_random(uv_random_t *request, weft__hooks_callback callback)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject = weft__hooks_ask(request, callback, weft_kind("work"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "random");
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_random)
int UV_NAME(uv_random)(uv_loop_t *loop, uv_random_t *request, void *bytes, size_t size,
	unsigned flags, uv_random_cb callback)
{
	if (!UV_RECORD || !callback || !ask_random(request, (weft__hooks_callback)callback))
		return UV_NEXT(uv_random)(loop, request, bytes, size, flags, callback);
	return weft__uv_asked(
		request, UV_NEXT(uv_random)(loop, request, bytes, size, flags, on_random));
}
