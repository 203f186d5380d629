/* SPDX-License-Identifier: ISC
 *
 * The system-dependent part of following: clock, waiting, and the program's end. The rest is
 * format/weft/follow/follower.c.
 */
#include <weft/follow.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "follow/live.h"
#include "format/weft/follow/follower.h"

/* The interval between looks: short at the beginning of a wait, then longer and longer. */
static const uint64_t INTERVAL_MIN_NS = 1000000;
static const uint64_t INTERVAL_MAX_NS = 20000000;

/* How long to wait, after recording has stopped, for a thread that is inside an event. */
static const uint64_t STOPPED_HOLD_NS = 1000000000;

struct weft_follow {
	struct weft__follower *reader;
	struct weft__live_ring live;
	uint64_t stopped_ns; /* when this side noticed that recording had stopped */
};

/* Reads the buffer's clock. If the processor reads its counter early, out of order, the mark is
 * only earlier. */
static uint64_t read_clock(const struct weft_follow *follow)
{
	uint64_t ticks;
	return weft__follow_live_read_clock(&follow->live, &ticks)
			   ? ticks
			   : weft__format_follower_latest(follow->reader);
}

/* True if the program had stopped recording before the last look (`was_stopped`), and its threads
 * have finished the events that were under way. After STOPPED_HOLD_NS it is true in any case: a
 * thread may have ended inside an event. */
static bool is_over(struct weft_follow *follow, bool was_stopped)
{
	if (!was_stopped)
		return false;
	if (!follow->stopped_ns)
		follow->stopped_ns = weft__follow_live_now_ns();
	return weft__format_follower_is_settled(follow->reader) ||
		   weft__follow_live_now_ns() - follow->stopped_ns > STOPPED_HOLD_NS;
}

static int finish(struct weft_follow *follow)
{
	bool is_gone = weft__follow_live_has_ended(&follow->live);
	if (weft_follow_mark(follow) == UINT64_MAX)
		return 0;
	weft__format_follower_load_end(follow->reader,
		is_gone ? weft__follow_live_ending(&follow->live) : WEFT_ABI_ENDING_RUNNING,
		read_clock(follow));
	return weft__format_follower_finish(follow->reader);
}

static int look(struct weft_follow *follow)
{
	/* Checked before the look: everything that the program recorded before its end is visible
	 * afterwards. */
	if (weft__follow_live_has_ended(&follow->live))
		return finish(follow);
	bool is_stopped = weft__format_follower_is_stopped(follow->reader);
	uint64_t ticks = read_clock(follow);
	weft__follow_live_wait_slack();
	int error = weft__format_follower_look(follow->reader, ticks);
	if (error)
		return error;
	return is_over(follow, is_stopped) ? finish(follow) : 0;
}

WEFT__EXPORT int weft_follow_next(struct weft_follow *follow, struct weft_event *ret_event)
{
	int status = weft__format_follower_next(follow->reader, ret_event);
	if (status != WEFT_AGAIN)
		return status;
	int error = look(follow);
	return error ? error : weft__format_follower_next(follow->reader, ret_event);
}

WEFT__EXPORT int weft_follow_wait(struct weft_follow *follow, uint64_t timeout_ns)
{
	uint64_t start = weft__follow_live_now_ns(), interval = INTERVAL_MIN_NS;
	for (;;) {
		int error = look(follow);
		if (error)
			return error;
		if (weft__format_follower_is_ready(follow->reader) ||
			weft__format_follower_mark_ns(follow->reader) == UINT64_MAX)
			return WEFT_OK;
		uint64_t passed = weft__follow_live_now_ns() - start;
		if (passed >= timeout_ns)
			return WEFT_AGAIN;
		uint64_t left = timeout_ns - passed;
		if (!weft__follow_live_wait(&follow->live, 1, left < interval ? left : interval))
			return WEFT_AGAIN;
		interval = 2 * interval < INTERVAL_MAX_NS ? 2 * interval : INTERVAL_MAX_NS;
	}
}

WEFT__EXPORT uint64_t weft_follow_mark(const struct weft_follow *follow)
{
	return weft__format_follower_mark_ns(follow->reader);
}

WEFT__EXPORT const struct weft_trace_description *weft_follow_describe(
	const struct weft_follow *follow)
{
	return weft__format_follower_describe(follow->reader);
}

WEFT__EXPORT struct weft_diagnostics *weft_follow_diagnostics(struct weft_follow *follow)
{
	return weft__format_follower_diagnostics(follow->reader);
}

/* ---- Opening ---- */

/* Takes over `live`, which was opened with `error`. */
static int create(const struct weft__live_ring *live, int error, struct weft_follow **ret_follow)
{
	struct weft_follow *follow = calloc(1, sizeof(*follow));
	struct weft__live_ring own = *live;
	struct weft__guest_facts guest_facts;
	int reason = errno;
	if (!error && !follow)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		error = weft__format_follower_create_at(
			weft__follow_live_guest_facts(live, &guest_facts) ? &guest_facts : NULL, live->bytes,
			live->size, &follow->reader);
	if (error) {
		weft__follow_live_close(&own);
		free(follow);
	} else {
		follow->live = own;
		*ret_follow = follow;
	}
	errno = reason;
	return error;
}

WEFT__EXPORT int weft_follow_open(const char *path, struct weft_follow **ret_follow)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open(&live, path);
	return create(&live, error, ret_follow);
}

WEFT__EXPORT int weft_follow_open_descriptor(int fd, struct weft_follow **ret_follow)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open_descriptor(&live, fd);
	return create(&live, error, ret_follow);
}

WEFT__EXPORT int weft_follow_open_guest(struct weft_guest *guest, struct weft_follow **ret_follow)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open_guest(&live, guest);
	return create(&live, error, ret_follow);
}

WEFT__EXPORT void weft_follow_close(struct weft_follow *follow)
{
	if (!follow)
		return;
	weft__format_follower_destroy(follow->reader);
	weft__follow_live_close(&follow->live);
	free(follow);
}
