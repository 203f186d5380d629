/* SPDX-License-Identifier: ISC
 *
 * Calls that may block: each is recorded as a wait, or its time is measured. See call.h.
 */
#include <errno.h>
#include <string.h>

#include "io/call.h"

#include "hooks/counts.h"
#include "io/loop.h"
#include "io/message.h"
#include "io/own.h"
#include "io/room.h"

/* ---- Names ---- */

/* "read" of "__read_chk", and "pread" of "pread64". */
static WEFT__OWN_FRAME void append_function(struct weft__hooks_text *text, const char *name)
{
	char plain[32] = "";
	strncpy(plain, name + strspn(name, "_"), sizeof(plain) - 1);
	static const char *const suffixes[] = {"_chk", "64"};
	for (int i = 0; i < 2; i++) {
		char *suffix = strstr(plain, suffixes[i]);
		if (suffix)
			*suffix = '\0';
	}
	weft__hooks_append(text, plain);
}

/* "fsync appendonly.aof" */
static void append_name(struct weft__hooks_text *text, const struct weft__io_call *call)
{
	struct weft__io_object *object = call->fd < 0 ? NULL : weft__io_known(call->fd);
	bool has_detail = call->detail && call->detail->size;
	if (call->name)
		append_function(text, call->name);
	if (call->name && (object || has_detail))
		weft__hooks_append(text, " ");
	if (has_detail)
		weft__hooks_append_bytes(text, call->detail->bytes, call->detail->size);
	if (object)
		weft__io_append_name(text, call->fd, object, NULL, 0);
}

/* ---- Before ---- */

struct unmade {
	const struct weft__io_call *call;
	uint64_t task;
};

static void make_call(void *of)
{
	struct unmade *it = of;
	struct weft__hooks_text name = {0};
	append_name(&name, it->call);
	it->task = weft__hooks_call_task(&name, weft_kind("call"));
}

/* The task that is made for the call. */
static uint64_t call_task(const struct weft__io_call *call)
{
	struct unmade unmade = {call, WEFT_TASK_NONE};
	weft__hooks_aside(make_call, &unmade);
	return unmade.task;
}

/* A composed label is that of a call about a file's path. */
static const char *name_of(const struct weft__io_call *call)
{
	return call->name ? call->name : "path";
}

static void begin_wait(struct weft__io_call *call, struct weft__io_object *object)
{
	int saved = weft__hooks_begin();
	call->is_wait = true;
	if (object && call->direction == WEFT__IO_IN && !weft__io_is_file(object))
		weft__io_find_sender_of_read(call->fd, object);
	/* A connection's own task, which a loop lets run, waits for the call. */
	uint64_t running = weft_current();
	bool is_own = object && running != WEFT_TASK_NONE && weft__io_known_task(object) == running;
	if (object && !is_own && !weft__io_is_file(object) && weft__io_may_wait_for(object)) {
		uint64_t task = weft__io_task(call->fd, object);
		if (call->direction == WEFT__IO_IN && call->is_empty)
			weft__io_mark_empty(object);
		weft__io_mark_ends(call->fd, object);
		weft__io_mark_direction(object, call->direction == WEFT__IO_OUT);
		weft__io_mark_own(call->fd, object, call->direction == WEFT__IO_OUT);
		if (object->type == WEFT__IO_SIGNAL)
			weft__hooks_look_at_children();
		weft__hooks_wait_begin(&call->wait, task, false, call->name);
	} else {
		weft__hooks_wait_begin(&call->wait, call_task(call), true, name_of(call));
	}
	weft__hooks_end(saved);
}

/* A forked child has a ring, and so a time, from its first event on: its first call may never
 * return. */
static uint64_t time_of(const struct weft__io_object *object)
{
	const uint64_t now = weft_now();
	if (likely(now) || weft__io_is_file(object))
		return now;
	const int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	weft__hooks_end(saved);
	return weft_now();
}

void weft__io_call_measure(
	struct weft__io_call *call, int fd, enum weft__io_direction direction, const char *name)
{
	*call = (struct weft__io_call){.name = name, .fd = fd, .direction = (uint8_t)direction};
	const struct weft__io_object *object = weft__io_object(fd);
	if (object && (!(object->flags & WEFT__IO_NONBLOCKING) || direction == WEFT__IO_SYNC))
		call->began = time_of(object);
}

void weft__io_call_begin(struct weft__io_call *call, int fd, enum weft__io_direction direction,
	size_t size, const char *name)
{
	weft__io_call_measure(call, fd, direction, name);
	struct weft__io_object *object = weft__io_known(fd);
	if (!call->began || !object)
		return;
	if (!(object->flags & direction))
		call->is_empty = weft__io_will_wait(object, call, size);
	if (object->flags & direction || call->is_empty)
		begin_wait(call, object);
}

void weft__io_call_begin_wait(
	struct weft__io_call *call, int fd, enum weft__io_direction direction, const char *name)
{
	weft__io_call_measure(call, fd, direction, name);
	struct weft__io_object *object = weft__io_known(fd);
	if (call->began && object)
		begin_wait(call, object);
}

void weft__io_call_begin_other(struct weft__io_call *call, bool *is_slow, const char *name,
	const struct weft__hooks_text *detail)
{
	*call = (struct weft__io_call){.name = name, .fd = -1, .is_slow = is_slow, .detail = detail};
	if (is_slow && *is_slow)
		begin_wait(call, NULL);
	call->began = weft_now();
}

void weft__io_call_begin_labelled(
	struct weft__io_call *call, bool *is_slow, const struct weft__hooks_text *label)
{
	*call = (struct weft__io_call){.fd = -1, .is_slow = is_slow, .detail = label};
	if (*is_slow) {
		int saved = weft__hooks_begin();
		uint64_t task = weft__hooks_call_task(label, weft_kind("call"));
		call->is_wait = true;
		weft__hooks_wait_begin(&call->wait, task, true, name_of(call));
		weft__hooks_end(saved);
	}
	call->began = weft_now();
}

/* ---- After ---- */

/* Remembers for the next call whether this one took long. Not for reads and writes of files, where
 * one slow call does not predict the next. */
static void remember(const struct weft__io_call *call, bool is_long)
{
	struct weft__io_object *object = call->fd < 0 ? NULL : weft__io_known(call->fd);
	if (call->is_slow)
		*call->is_slow = is_long;
	if (object && (call->direction == WEFT__IO_SYNC || !weft__io_is_file(object)))
		object->flags =
			(uint8_t)(is_long ? object->flags | call->direction : object->flags & ~call->direction);
}

static WEFT__OWN_FRAME void record_span(const struct weft__io_call *call)
{
	struct weft__hooks_text name = {0};
	append_name(&name, call);
	weft__hooks_record_blocked(&name, call->began);
}

static void receive(const struct weft__io_call *call)
{
	struct weft__io_object *object = weft__io_known(call->fd);
	if (object && object->receives != WEFT__IO_NO_KEY)
		weft__io_record_receive(call->fd, object,
			call->is_wait ? call->wait.source : WEFT_TASK_CURRENT,
			call->is_wait ? object->read : WEFT__IO_NO_OFFSET);
}

static void record_end(const struct weft__io_call *call, bool is_success)
{
	int saved = weft__hooks_begin();
	if (is_success && call->direction == WEFT__IO_IN && call->fd >= 0)
		receive(call);
	if (!call->is_wait)
		record_span(call);
	else if (is_success)
		weft__hooks_wait_got(&call->wait);
	else
		weft__hooks_wait_ended(&call->wait);
	weft__hooks_end(saved);
}

/* Another process, which shares the object, may have made it non-blocking. */
static void update_mode(const struct weft__io_call *call)
{
	struct weft__io_object *object = call->fd < 0 ? NULL : weft__io_known(call->fd);
	if (object && weft__io_is_nonblocking(call->fd))
		object->flags |= WEFT__IO_NONBLOCKING;
}

void weft__io_call_finish(const struct weft__io_call *call, bool is_success)
{
	if (unlikely(!is_success && errno == EAGAIN && call->is_wait))
		update_mode(call);
	uint64_t ns = weft__hooks_ns_since(call->began);
	bool is_long = ns >= WEFT__HOOKS_LONG_NS;
	if (unlikely(is_long && !call->is_wait))
		weft__hooks_count_blocked(name_of(call), ns);
	if (call->is_wait || unlikely(is_long))
		record_end(call, is_success);
	if (is_long != call->is_wait)
		remember(call, is_long);
}

static WEFT__OWN_FRAME void record_span_with_path(struct weft__io_call *call, int fd)
{
	struct weft__hooks_text path = {0};
	int saved = weft__hooks_begin();
	weft__io_append_path(&path, fd);
	call->detail = &path;
	record_span(call);
	call->detail = NULL;
	weft__hooks_end(saved);
}

void weft__io_call_opened(struct weft__io_call *call, int fd)
{
	if (unlikely(fd < 0))
		weft__io_not_opened("open");
	if (!call->began)
		return;
	uint64_t ns = weft__hooks_ns_since(call->began);
	if (fd < 0 || call->is_wait || likely(ns < WEFT__HOOKS_LONG_NS)) {
		weft__io_call_finish(call, fd >= 0);
		return;
	}
	weft__hooks_count_blocked(name_of(call), ns);
	record_span_with_path(call, fd);
	remember(call, true);
}

struct failure {
	const char *name; /* of the function */
	int error;
};

static void note_failure(void *of)
{
	const struct failure *it = of;
	struct weft__hooks_text text = {0};
	const char *name = strerrorname_np(it->error);
	append_function(&text, it->name);
	weft__hooks_append(&text, ": ");
	weft__hooks_append(&text, name ? name : "error");
	weft_note_n(text.bytes, text.size);
}

void weft__io_call_failed(const struct weft__io_call *call)
{
	if (errno == EAGAIN || errno == EINTR || errno == EINPROGRESS || errno == EALREADY)
		return;
	const int saved = weft__hooks_begin();
	struct failure failure = {call->name, saved};
	note_failure(&failure);
	weft__hooks_end(saved);
}

void weft__io_not_opened(const char *name)
{
	if (!HOOKS_RECORD || (errno != EMFILE && errno != ENFILE))
		return;
	const int saved = weft__hooks_begin();
	struct failure failure = {name, saved};
	weft__hooks_aside(note_failure, &failure);
	weft__hooks_end(saved);
}
