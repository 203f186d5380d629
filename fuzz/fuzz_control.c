/* SPDX-License-Identifier: ISC
 *
 * The input is the ring of a running program; all functions of src/follow read it: control, watch,
 * follow and stream. The header's pid is either ours, so that the program is alive, or 0, so that
 * it has ended.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/source.h>
#include <weft/stream.h>
#include <weft/watch.h>

#include "abi/buffer_abi.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Looks that may find something new; a follower returns at most what the ring has. */
#define LOOKS 3

static void touch_description(const struct weft_trace_description *trace)
{
	for (uint32_t i = 0; i < trace->category_count; i++) {
		require(memchr(trace->categories[i].name, 0, sizeof(trace->categories[i].name)) != NULL);
		require(trace->categories[i].number < WEFT_ABI_LEVELS);
	}
	require(trace->change_count <= WEFT_ABI_CHANGES);
}

static void steer(const char *path)
{
	struct weft_buffer_summary summary;
	struct weft_control *control;
	unsigned matched = 0;
	if (weft_control_open(path, &control))
		return;
	touch_description(weft_control_describe(control));
	if (weft_control_summarize(control, &summary) == 0)
		require(memchr(summary.program, 0, sizeof(summary.program)) != NULL);
	require(weft_control_matches(control, "*") <= WEFT_ABI_LEVELS);
	weft_control_set_level(control, "*", WEFT_LEVEL_DEBUG, &matched);
	weft_control_set_level(control, "a*", WEFT_LEVEL_OFF, &matched);
	require(matched <= WEFT_ABI_LEVELS);
	weft_control_close(control);
}

static void watch(const char *path, size_t size)
{
	struct weft_watch *watch;
	struct weft_slice text;
	void *copy;
	size_t copy_size;
	if (weft_watch_open(path, &watch))
		return;
	weft_watch_listen(watch, 2000000000);
	weft_watch_requests(watch, &text);
	touch(text);
	for (uint32_t i = 0; weft_watch_rule(watch, i, &text); i++)
		touch(text);
	weft_watch_hold(watch, WEFT_WATCH_HOLD_MAX_NS);
	if (weft_watch_copy(watch, &copy, &copy_size) == 0) {
		require(copy_size == size);
		check_format(&weft__format_weft, copy, copy_size);
		weft_watch_free(copy, copy_size);
	}
	weft_watch_answer(watch);
	weft_watch_ask_rundown(watch);
	weft_watch_close(watch);
}

static void follow(const char *path, size_t size)
{
	struct weft_follow *follow;
	struct weft_event event;
	uint64_t last_ns = 0;
	if (weft_follow_open(path, &follow))
		return;
	for (int look = 0; look < LOOKS; look++) {
		while (weft_follow_next(follow, &event) == WEFT_OK) {
			check_event(&event, last_ns, size);
			last_ns = event.time_ns;
		}
		require(weft_follow_wait(follow, 0) >= 0);
	}
	weft_follow_close(follow);
}

/* Streams to the end. The output is bounded by the ring: names, packets, and their chunks. */
static void stream(const char *path, size_t size)
{
	struct weft_stream *stream;
	const void *bytes;
	size_t more, given = 0;
	if (weft_stream_open(path, 65536, &stream))
		return;
	for (int look = 0; look < LOOKS; look++)
		while (weft_stream_next(stream, &bytes, &more) == WEFT_OK)
			given += more;
	weft_stream_stop(stream);
	while (weft_stream_next(stream, &bytes, &more) == WEFT_OK)
		given += more;
	require(given <= 4 * size + 65536);
	weft_stream_close(stream);
}

static bool write_ring(int fd, const uint8_t *bytes, size_t size)
{
	const size_t at = offsetof(struct weft_abi_buffer, pid);
	uint32_t pid = size > at && bytes[at] & 1 ? 0 : (uint32_t)getpid();
	if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return false;
	return size < at + sizeof(pid) || pwrite(fd, &pid, sizeof(pid), (off_t)at) == sizeof(pid);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	require(weft_source_survive_truncation() == 0);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	require(fd >= 0 && write_ring(fd, bytes, size));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	follow(path, size);
	stream(path, size);
	watch(path, size);
	steer(path);
	follow(path, size);
	close(fd);
	return 0;
}
