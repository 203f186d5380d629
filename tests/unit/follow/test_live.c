/* SPDX-License-Identifier: ISC
 *
 * A ring in a file, read and controlled through its path while it is recorded into: by a follower,
 * a stream and a control, up to the end of recording or of the process.
 */
#include "record_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/stream.h>

#include "abi/buffer_abi.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

static char path[] = "/tmp/weft-test-live-XXXXXX";

static void *map_ring(void)
{
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	close(fd);
	return bytes;
}

static void *begin(void)
{
	void *ring = map_ring();
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	return ring;
}

static void end(void *ring)
{
	weft_stop();
	munmap(ring, SIZE);
	unlink(path);
}

static void record(int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++)
		weft_tag_value("number", i);
}

/* The next events are the numbers from, …, to - 1. Returns the status after them. */
static int expect_numbers(struct weft_follow *follow, int64_t from, int64_t to)
{
	struct weft_event event;
	int status;
	while ((status = weft_follow_next(follow, &event)) == WEFT_OK)
		if (event.type == WEFT_EVENT_TAG)
			assert_int_equal(event.value, from++);
	assert_int_equal(from, to);
	return status;
}

static void a_follower_sees_events_and_the_end(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_follow *follow;
	struct weft_event event;
	assert_int_equal(weft_follow_open(path, &follow), 0);
	assert_int_equal(weft_follow_next(follow, &event), WEFT_AGAIN);
	assert_int_equal(weft_follow_wait(follow, 0), WEFT_AGAIN); /* nothing came */
	record(0, 10);
	assert_int_equal(weft_follow_wait(follow, 0), WEFT_OK);
	assert_int_equal(expect_numbers(follow, 0, 10), WEFT_AGAIN);
	assert_true(weft_follow_mark(follow) < UINT64_MAX);
	record(10, 20);
	weft_stop();
	assert_int_equal(weft_follow_wait(follow, UINT64_MAX), WEFT_OK);
	assert_int_equal(expect_numbers(follow, 10, 20), WEFT_END);
	assert_int_equal(weft_follow_mark(follow), UINT64_MAX);
	assert_int_equal(weft_follow_diagnostics(follow)->count, 0);
	assert_string_equal(weft_follow_describe(follow)->format, "weft");
	weft_follow_close(follow);
	end(ring);
}

static void what_is_no_ring_is_refused(void **state)
{
	(void)state;
	struct weft_follow *follow;
	struct weft_stream *stream;
	struct weft_control *control;
	static const struct {
		const char *path;
		int error;
	} cases[] = {{"/no/such/file", WEFT_ERROR_SYSTEM}, {"/dev/null", WEFT_ERROR_FORMAT},
		{"/proc/self/cmdline", WEFT_ERROR_EMPTY}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(weft_follow_open(cases[i].path, &follow), cases[i].error);
		assert_int_equal(weft_stream_open(cases[i].path, SIZE, &stream), cases[i].error);
		assert_int_equal(weft_control_open(cases[i].path, &control), cases[i].error);
	}
	weft_follow_close(NULL);
	weft_stream_close(NULL);
	weft_control_close(NULL);
}

/* ---- Streams ---- */

struct taken {
	unsigned char *bytes;
	size_t size;
};

static int take(struct weft_stream *stream, struct taken *taken)
{
	const void *bytes;
	size_t size;
	int status;
	while ((status = weft_stream_next(stream, &bytes, &size)) == WEFT_OK) {
		taken->bytes = realloc(taken->bytes, taken->size + size);
		assert_non_null(taken->bytes);
		memcpy(taken->bytes + taken->size, bytes, size);
		taken->size += size;
	}
	return status;
}

/* The stream has the numbers 0, …, to - 1. */
static void expect_stream(struct taken *taken, int64_t to)
{
	struct trace t;
	int64_t next = 0;
	trace_open(&t, taken->bytes, taken->size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK)
		if (t.event.type == WEFT_EVENT_TAG)
			assert_int_equal(t.event.value, next++);
	assert_int_equal(next, to);
	assert_int_equal(weft_decoder_diagnostics(t.decoder)->count, 0);
	weft_decoder_destroy(t.decoder);
	free(taken->bytes);
	*taken = (struct taken){0};
}

static struct weft_stream *open_stream(void)
{
	struct weft_stream *stream;
	assert_int_equal(weft_stream_open(path, 8192, &stream), 0);
	return stream;
}

/* The process that recorded ends without a stop: all that it recorded is there. */
static void a_process_that_ends_ends_its_readers(void **state)
{
	(void)state;
	void *ring = map_ring();
	int ready[2], asked[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(asked), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		bool good = weft_start(ring, SIZE, NULL) == 0 && write(ready[1], "", 1) == 1 &&
					read(asked[0], &byte, 1) == 1;
		record(0, 30);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct weft_follow *follow;
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	assert_int_equal(weft_follow_open(path, &follow), 0);
	assert_int_equal(expect_numbers(follow, 0, 0), WEFT_AGAIN);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	assert_int_equal(write(asked[1], "", 1), 1);
	int result;
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	assert_int_equal(expect_numbers(follow, 0, 30), WEFT_END);
	weft_follow_close(follow);
	int status; /* the stream waits a little for the process's wait status */
	while ((status = take(stream, &taken)) == WEFT_AGAIN)
		weft_stream_wait(stream, 1000000);
	assert_int_equal(status, WEFT_END);
	expect_stream(&taken, 30);
	weft_stream_close(stream);
	/* It is no longer alive, so all is there at once. */
	assert_int_equal(weft_follow_open(path, &follow), 0);
	assert_int_equal(expect_numbers(follow, 0, 30), WEFT_END);
	weft_follow_close(follow);
	munmap(ring, SIZE);
	unlink(path);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(asked[i]);
	}
}

static void a_stream_ends_when_it_is_stopped(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	weft_stream_take_open(stream, 0);
	record(0, 10);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	size_t size = taken.size;
	assert_true(size > 0);
	record(10, 25);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	assert_true(taken.size > size);
	record(25, 40);
	weft_stream_stop(stream);
	assert_int_equal(take(stream, &taken), WEFT_END);
	assert_int_equal(weft_stream_wait(stream, UINT64_MAX), 0); /* does not wait any more */
	record(40, 50);
	assert_int_equal(take(stream, &taken), WEFT_END);
	assert_int_equal(weft_stream_describe(stream)->events, 40);
	expect_stream(&taken, 40);
	weft_stream_close(stream);
	end(ring);
}

static void open_packets_are_taken_once_in_an_interval(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	weft_stream_take_open(stream, UINT64_MAX / 4);
	record(0, 10);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	size_t size = taken.size;
	record(10, 20);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	assert_int_equal(taken.size, size);
	weft_stream_stop(stream);
	assert_int_equal(take(stream, &taken), WEFT_END);
	expect_stream(&taken, 20);
	weft_stream_close(stream);
	end(ring);
}

/* A clock that only the program can read, and that stands still. */
static uint64_t still_ticks(void *context)
{
	(void)context;
	return 5000;
}

/* Feeds the stream's new bytes, and counts the events that can be given. */
static unsigned give(struct weft_stream *stream, struct weft_decoder *decoder)
{
	const void *bytes;
	size_t size;
	struct weft_event event;
	unsigned given = 0;
	while (weft_stream_next(stream, &bytes, &size) == WEFT_OK)
		assert_int_equal(weft_decoder_feed(decoder, bytes, size), 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		given += event.type == WEFT_EVENT_TAG;
	return given;
}

/* The clock is read after them, so no earlier event can follow. */
static void events_before_a_look_are_given_after_it(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_decoder *decoder;
	struct weft_stream *stream = open_stream();
	weft_stream_take_open(stream, 0);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	record(0, 10);
	assert_int_equal(give(stream, decoder), 10);
	record(10, 30);
	assert_int_equal(give(stream, decoder), 20);
	weft_decoder_destroy(decoder);
	weft_stream_close(stream);
	end(ring);
}

/* An event that has the latest stamp again, recorded after a look, is not too late. */
static void equal_stamps_of_an_own_clock_are_all_given(void **state)
{
	(void)state;
	static const struct weft_platform own = {.ticks = still_ticks, .ticks_hz = 1000000000};
	void *ring = map_ring();
	struct weft_decoder *decoder;
	assert_int_equal(weft_start(ring, SIZE, &own), 0);
	struct weft_stream *stream = open_stream();
	weft_stream_take_open(stream, 0);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	record(0, 10);
	unsigned given = give(stream, decoder);
	record(10, 20);
	given += give(stream, decoder);
	weft_stream_stop(stream);
	given += give(stream, decoder);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	given += give(stream, decoder);
	assert_int_equal(given, 20);
	assert_int_equal(weft_decoder_describe(decoder)->losses[WEFT_LOSS_STALLED], 0);
	weft_decoder_destroy(decoder);
	weft_stream_close(stream);
	end(ring);
}

/* A stream's file has no slots and no names at offsets: its chunks bring them. */
static void a_streams_header_is_not_that_of_a_ring(void **state)
{
	(void)state;
	struct weft_abi_buffer *ring = begin(), header;
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	record(0, 10);
	ring->losses[WEFT_LOSS_TOO_BIG] = 3;
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	memcpy(&header, taken.bytes, sizeof(header));
	assert_int_equal(header.stream, 1);
	assert_int_equal(header.packets_offset, sizeof(header));
	assert_int_equal(header.packet_bytes, ring->packet_bytes);
	assert_int_equal(header.packet_count, 0);
	assert_int_equal(header.names_offset | header.names_bytes | header.names_index, 0);
	assert_int_equal(header.slots_offset | header.slot_count, 0);
	assert_int_equal(header.tables_offset | header.tables_bytes | header.waiters, 0);
	assert_int_equal(weft_stream_describe(stream)->losses[WEFT_LOSS_TOO_BIG], 3);
	weft_stream_stop(stream);
	assert_int_equal(take(stream, &taken), WEFT_END);
	expect_stream(&taken, 10);
	weft_stream_close(stream);
	end(ring);
}

static void a_stream_that_is_cut_ends_with_a_header(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	weft_stream_take_open(stream, 0);
	record(0, 10);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	size_t size = taken.size;
	record(10, 20);
	weft_stream_cut(stream);
	assert_int_equal(take(stream, &taken), WEFT_END);
	assert_in_range(taken.size - size, sizeof(struct weft_abi_buffer), 8191);
	record(20, 30);
	assert_int_equal(take(stream, &taken), WEFT_END);
	assert_in_range(taken.size - size, sizeof(struct weft_abi_buffer), 8191);
	expect_stream(&taken, 10);
	weft_stream_close(stream);
	end(ring);
}

/* A second file has its own header and names. */
static void a_stream_begins_again(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken first = {0}, second = {0};
	weft_stream_take_open(stream, 0);
	record(0, 10);
	assert_int_equal(take(stream, &first), WEFT_AGAIN);
	weft_stream_begin(stream);
	weft_stop();
	weft_stream_stop(stream);
	assert_int_equal(take(stream, &second), WEFT_END);
	expect_stream(&first, 10);
	expect_stream(&second, 0);
	weft_stream_close(stream);
	end(ring);
}

/* Before the end of the stream its only header is at the beginning. */
static void an_abandoned_stream_may_have_one_header(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	struct trace t;
	weft_stream_take_open(stream, 0);
	record(0, 10);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	int fd = memfd_create("stream", MFD_ALLOW_SEALING);
	assert_int_equal(write(fd, taken.bytes, taken.size), taken.size);
	assert_int_equal(weft_stream_abandon(stream, fd, UINT64_MAX, 7), WEFT_ERROR_FORMAT);
	assert_int_equal(weft_stream_abandon(stream, fd, taken.size, 7), 0);
	assert_int_equal(pread(fd, taken.bytes, taken.size, 0), taken.size);
	trace_open(&t, taken.bytes, taken.size);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_STALLED), 7);
	weft_decoder_destroy(t.decoder);
	expect_stream(&taken, 10);
	assert_int_equal(weft_stream_abandon(stream, fd, sizeof(struct weft_abi_buffer), 10), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(
		weft_stream_abandon(stream, fd, sizeof(struct weft_abi_buffer), 10), WEFT_ERROR_SYSTEM);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(weft_stream_abandon(stream, fd, taken.size + 4096 + 1, 0), WEFT_ERROR_SYSTEM);
	close(fd);
	weft_stream_close(stream);
	end(ring);
}

/* The disk was full: the last header of the file tells how many events are missing. */
static void an_abandoned_stream_counts_what_is_missing(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_stream *stream = open_stream();
	struct taken taken = {0};
	struct trace t;
	weft_stream_take_open(stream, 0);
	record(0, 10);
	assert_int_equal(take(stream, &taken), WEFT_AGAIN);
	record(10, 20);
	weft_stream_stop(stream); /* so there is a header behind the packets, too */
	assert_int_equal(take(stream, &taken), WEFT_END);
	FILE *file = tmpfile();
	assert_non_null(file);
	int fd = fileno(file);
	assert_int_equal(write(fd, taken.bytes, taken.size), taken.size);
	assert_int_equal(write(fd, "half of the next piece", 22), 22);
	assert_int_equal(weft_stream_abandon(stream, fd, 4095, 7), WEFT_ERROR_FORMAT);
	assert_int_equal(weft_stream_abandon(stream, fd, taken.size, 7), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), taken.size);
	assert_int_equal(pread(fd, taken.bytes, taken.size, 0), taken.size);
	trace_open(&t, taken.bytes, taken.size);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_STALLED), 7);
	weft_decoder_destroy(t.decoder);
	expect_stream(&taken, 20);
	fclose(file);
	weft_stream_close(stream);
	end(ring);
}

/* ---- Control ---- */

static void levels_are_set_by_name(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_control *control;
	struct weft_buffer_summary summary;
	unsigned matched = 99;
	record(0, 1);
	assert_int_equal(weft_control_open(path, &control), 0);
	assert_true(weft_control_is_live(control));
	assert_int_equal(weft_control_summarize(control, &summary), 0);
	assert_int_equal(summary.pid, getpid());
	const struct weft_trace_description *about = weft_control_describe(control);
	assert_int_equal(about->category_count, 2);
	assert_string_equal(about->categories[0].name, "program");
	assert_string_equal(about->categories[1].name, "cpu");
	assert_int_equal(about->change_count, 0);
	assert_int_equal(weft_control_matches(control, "program"), 1);
	assert_int_equal(weft_control_matches(control, "*gram"), 1);
	assert_int_equal(weft_control_matches(control, "other"), 0);
	assert_int_equal(weft_control_set_level(control, "other", WEFT_LEVEL_OFF, &matched), 0);
	assert_int_equal(matched, 0);
	assert_int_equal(weft_control_set_level(
						 control, "program", (enum weft_level)(WEFT_LEVEL_LAST + 1), &matched),
		WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_control_set_level(control, "prog*", WEFT_LEVEL_OFF, &matched), 0);
	assert_int_equal(matched, 1);
	about = weft_control_describe(control);
	assert_int_equal(about->categories[0].level, WEFT_LEVEL_OFF);
	assert_int_equal(about->change_count, 1);
	assert_int_equal(about->changes[0].level, WEFT_LEVEL_OFF);
	assert_true(about->changes[0].time_ns > 0);
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_MAX, &matched), 0);
	assert_int_equal(matched, 2);
	assert_int_equal(weft_control_describe(control)->change_count, 2); /* one for all */
	assert_int_equal(weft_control_describe(control)->categories[0].level, WEFT_LEVEL_MAX);
	weft_stop();
	assert_false(weft_control_is_live(control));
	assert_int_equal(
		weft_control_set_level(control, "*", WEFT_LEVEL_OFF, &matched), WEFT_ERROR_STATE);
	weft_control_close(control);
	end(ring);
}

static void a_read_only_descriptor_sets_nothing(void **state)
{
	(void)state;
	void *ring = begin();
	struct weft_control *control;
	record(0, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(weft_control_open_descriptor(fd, &control), 0);
	close(fd);
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_OFF, NULL), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EACCES);
	assert_int_equal(weft_control_describe(control)->change_count, 0);
	weft_control_close(control);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(weft_control_open_descriptor(fd, &control), 0);
	close(fd);
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_OFF, NULL), 0);
	weft_control_close(control);
	assert_int_equal(weft_control_open_descriptor(-1, &control), WEFT_ERROR_SYSTEM);
	end(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_follower_sees_events_and_the_end),
		cmocka_unit_test(a_process_that_ends_ends_its_readers),
		cmocka_unit_test(what_is_no_ring_is_refused),
		cmocka_unit_test(a_stream_ends_when_it_is_stopped),
		cmocka_unit_test(open_packets_are_taken_once_in_an_interval),
		cmocka_unit_test(events_before_a_look_are_given_after_it),
		cmocka_unit_test(equal_stamps_of_an_own_clock_are_all_given),
		cmocka_unit_test(a_streams_header_is_not_that_of_a_ring),
		cmocka_unit_test(a_stream_that_is_cut_ends_with_a_header),
		cmocka_unit_test(a_stream_begins_again),
		cmocka_unit_test(an_abandoned_stream_may_have_one_header),
		cmocka_unit_test(an_abandoned_stream_counts_what_is_missing),
		cmocka_unit_test(levels_are_set_by_name),
		cmocka_unit_test(a_read_only_descriptor_sets_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
