/* SPDX-License-Identifier: ISC
 *
 * The words of a buffer's header that a watcher writes.
 *
 * Listening and holding are times on the buffer's clock at which they expire, not flags, because a
 * watcher may be killed before it can clear them.
 */
#include <weft/watch.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "follow/clock.h"
#include "follow/control.h"
#include "format/weft/follow/follower.h"
#include "format/weft/follow/mark.h"
#include "format/weft/ran_live.h"

struct weft_watch {
	struct weft_control *control;
	struct weft_abi_buffer *header; /* the control's header */
	uint64_t hz;                    /* rate of the ticks */
	uint32_t clock;
	bool is_listening, is_holding;
};

#define LOAD(field)         __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* The latest stamp, for a clock that only the program can read. */
static uint64_t latest_ticks(const struct weft_watch *watch)
{
	struct weft__follower *follower;
	uint64_t latest = 0;
	if (weft__format_follower_create(
			(const void *)watch->header, watch->control->size, &follower) == 0) {
		latest = weft__format_follower_latest(follower);
		weft__format_follower_destroy(follower);
	}
	return latest;
}

static uint64_t now_ticks(const struct weft_watch *watch)
{
	uint64_t now;
	return weft__follow_clock_read(watch->clock, &now) ? now : latest_ticks(watch);
}

/* Converts times of up to a minute. */
static uint64_t to_ticks(const struct weft_watch *watch, uint64_t ns)
{
	return watch->hz / 1000 * (ns / 1000) / 1000;
}

WEFT__EXPORT void weft_watch_listen(struct weft_watch *watch, uint64_t lease_ns)
{
	struct weft_abi_snapshots *snapshots = &watch->header->snapshots;
	STORE(snapshots->hold_ticks, to_ticks(watch, WEFT_WATCH_HOLD_MAX_NS));
	watch->is_listening = lease_ns;
	STORE(snapshots->listen_until, lease_ns ? now_ticks(watch) + to_ticks(watch, lease_ns) : 0);
}

WEFT__EXPORT uint32_t weft_watch_requests(
	const struct weft_watch *watch, struct weft_slice *ret_reason)
{
	const struct weft_abi_snapshots *snapshots = &watch->header->snapshots;
	uint64_t requests = __atomic_load_n(&snapshots->requests, __ATOMIC_ACQUIRE);
	uint32_t count = (uint32_t)(requests >> 32) - (uint32_t)LOAD(snapshots->served);
	struct weft_slice reason =
		weft__format_buffer_name(&watch->control->buffer, (uint16_t)requests);
	*ret_reason = reason.bytes ? reason : (struct weft_slice){"", 0};
	return count;
}

WEFT__EXPORT uint32_t weft_watch_answer(struct weft_watch *watch)
{
	struct weft_abi_snapshots *snapshots = &watch->header->snapshots;
	uint32_t requests = (uint32_t)(LOAD(snapshots->requests) >> 32);
	uint32_t answered = requests - (uint32_t)LOAD(snapshots->served);
	STORE(watch->header->hold_until, 0);
	STORE(snapshots->served, requests);
	return answered;
}

WEFT__EXPORT void weft_watch_hold(struct weft_watch *watch, uint64_t ns)
{
	if (ns > WEFT_WATCH_HOLD_MAX_NS)
		ns = WEFT_WATCH_HOLD_MAX_NS;
	watch->is_holding = ns;
	STORE(watch->header->hold_until, ns ? now_ticks(watch) + to_ticks(watch, ns) : 0);
}

/* Programs store their end themselves if they can. A hostile one may change it at any time. */
static void store_end(
	const struct weft_watch *watch, struct weft_abi_buffer *header, enum weft_ending ending)
{
	if (LOAD(header->ending))
		return;
	struct weft_abi_clock_reading now = weft__follow_clock_take(watch->clock, now_ticks(watch));
	STORE(header->end.ticks, now.ticks);
	STORE(header->end.monotonic_ns, now.monotonic_ns);
	STORE(header->end.unix_ns, now.unix_ns);
	__atomic_store_n(&header->ending, (uint32_t)ending, __ATOMIC_RELEASE);
}

WEFT__EXPORT bool weft_watch_note_end(struct weft_watch *watch, uint32_t wait_status)
{
	if (!weft__follow_process_has_ended(&watch->control->process))
		return false;
	store_end(watch, watch->header, WEFT_ENDING_GONE);
	if (wait_status)
		STORE(watch->header->wait_status, wait_status);
	return true;
}

WEFT__EXPORT int weft_watch_copy(const struct weft_watch *watch, void **ret_bytes, size_t *ret_size)
{
	void *bytes = mmap(
		NULL, watch->control->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return WEFT_ERROR_MEMORY;
	int error = weft_buffer_copy(bytes, watch->header, watch->control->size);
	if (error) {
		munmap(bytes, watch->control->size);
		return error;
	}
	store_end(watch, bytes, WEFT_ENDING_RUNNING);
	*ret_bytes = bytes;
	*ret_size = watch->control->size;
	return 0;
}

WEFT__EXPORT void weft_watch_free(void *bytes, size_t size)
{
	munmap(bytes, size);
}

WEFT__EXPORT int weft_watch_add_alert(
	void **bytes, size_t *size, const struct weft_trace_alert *alert)
{
	void *more = mremap(*bytes, *size, *size + WEFT_BUFFER_ALERT_BYTES, MREMAP_MAYMOVE);
	if (more == MAP_FAILED)
		return WEFT_ERROR_MEMORY;
	*bytes = more;
	int error = weft_buffer_add_alert(more, *size, alert);
	if (error) /* only the memory behind the copy is given back */
		mremap(more, *size + WEFT_BUFFER_ALERT_BYTES, *size, 0);
	else
		*size += WEFT_BUFFER_ALERT_BYTES;
	return error;
}

WEFT__EXPORT uint32_t weft_watch_add_samples(
	const struct weft_watch *watch, const struct weft_buffer_sampling *sampling)
{
	return weft__format_ran_add(&watch->control->buffer, sampling);
}

WEFT__EXPORT void weft_watch_ask_rundown(struct weft_watch *watch)
{
	__atomic_fetch_add(&watch->header->rundown, 1, __ATOMIC_RELAXED);
}

/* Without a limit, a thread's next event looks for another packet, and finds `hold_until` there. */
static void take_limits(struct weft_watch *watch)
{
	struct weft__mark mark; /* has the bounds of the slots */
	if (weft__format_mark_init(&mark, &watch->control->buffer, watch->control->size))
		return;
	for (uint32_t i = 0; i < mark.slot_count; i++) {
		uint64_t offset =
			(uint64_t)(mark.first - watch->control->buffer.bytes) + (uint64_t)i * mark.slot_bytes;
		struct weft_abi_slot *slot = (void *)((uint8_t *)watch->header + offset);
		STORE(slot->limit, 0);
	}
	weft__format_mark_finish(&mark);
}

WEFT__EXPORT bool weft_watch_ask_stop(struct weft_watch *watch)
{
	STORE(watch->header->hold_until, WEFT_ABI_HOLD_STOP);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* a thread that finds no limit sees that */
	take_limits(watch);
	return !weft_control_is_live(watch->control);
}

WEFT__EXPORT bool weft_watch_rule(
	const struct weft_watch *watch, uint32_t number, struct weft_slice *ret_rule)
{
	const struct weft_abi_snapshots *snapshots = &watch->header->snapshots;
	if (number >= WEFT_ABI_RULES || number >= LOAD(snapshots->rule_count))
		return false;
	struct weft_slice rule =
		weft__format_buffer_name(&watch->control->buffer, LOAD(snapshots->rules[number]));
	if (rule.bytes)
		*ret_rule = rule;
	return rule.bytes;
}

/* ---- Opening ---- */

/* Opens a file by its path, or by a descriptor if `path` is NULL. */
static int open_watch(const char *path, int fd, struct weft_watch **ret_watch)
{
	struct weft_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return WEFT_ERROR_MEMORY;
	int error = path ? weft_control_open(path, &watch->control)
					 : weft_control_open_descriptor(fd, &watch->control);
	if (!error && watch->control->refused) {
		errno = watch->control->refused;
		error = WEFT_ERROR_SYSTEM;
	}
	if (error) {
		int reason = errno;
		weft_watch_close(watch);
		errno = reason;
		return error;
	}
	watch->header = watch->control->header;
	watch->hz = watch->control->description.clock.hz;
	watch->clock = weft__format_buffer_clock(&watch->control->buffer);
	*ret_watch = watch;
	return 0;
}

WEFT__EXPORT int weft_watch_open(const char *path, struct weft_watch **ret_watch)
{
	return open_watch(path, -1, ret_watch);
}

WEFT__EXPORT int weft_watch_open_descriptor(int fd, struct weft_watch **ret_watch)
{
	return open_watch(NULL, fd, ret_watch);
}

WEFT__EXPORT void weft_watch_close(struct weft_watch *watch)
{
	if (!watch)
		return;
	if (watch->is_listening)
		weft_watch_listen(watch, 0);
	if (watch->is_holding)
		weft_watch_hold(watch, 0);
	weft_control_close(watch->control);
	free(watch);
}
