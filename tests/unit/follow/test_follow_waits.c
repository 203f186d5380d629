/* SPDX-License-Identifier: ISC
 *
 * For how long and for what followers and streams wait. The clock stands still while they work;
 * each sleep moves it on by what was asked for.
 */
#include "record_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/stream.h>

#include "abi/buffer_abi.h"
#include "follow/clock.h"
#include "follow/live.h"
#include "format/weft/follow/mark.h"

#define SIZE      ((size_t)1 << 20)
#define SECOND_NS ((uint64_t)1000000000)
#define MS_NS     ((uint64_t)1000000)

enum {
	SLEEPS_MAX = 32,
};

static uint64_t now_ns;
static uint64_t step_ns;            /* how much each reading moves the clock on */
static uint64_t sleeps[SLEEPS_MAX]; /* ns each */
static int sleep_count, futex_count, slack_count;
static uint32_t futex_word;
static int futex_error = ETIMEDOUT; /* how a sleep ends; 0: it is woken */
static int slack_interruptions;
static void (*on_sleep)(void); /* what happens during a sleep */

static void add_sleep(uint64_t ns)
{
	assert_true(sleep_count < SLEEPS_MAX);
	sleeps[sleep_count++] = ns;
	now_ns += ns;
	if (on_sleep)
		on_sleep();
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	now_ns += step_ns;
	*ret_now = (struct timespec){(time_t)(now_ns / SECOND_NS), (long)(now_ns % SECOND_NS)};
	return 0;
}

int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *time, struct timespec *ret_left);
int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, 0);
	assert_int_equal(ns_of(time), WEFT__MARK_SLACK_NS);
	slack_count++;
	return slack_interruptions-- > 0 ? EINTR : 0;
}

int __wrap_ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	(void)mask;
	assert_int_equal(count, 1);
	assert_int_equal(fds->events, POLLIN);
	add_sleep(ns_of(timeout));
	return 0;
}

long __real_syscall(long number, ...);
/* Reads more arguments than most calls have, as the system does. */
long __wrap_syscall(long number, ...);
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long values[6];
	va_list arguments;
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number != SYS_futex || values[1] != FUTEX_WAIT)
		return __real_syscall(
			number, values[0], values[1], values[2], values[3], values[4], values[5]);
	futex_count++;
	futex_word = (uint32_t)values[2];
	add_sleep(ns_of((const struct timespec *)values[3]));
	errno = futex_error;
	return futex_error ? -1 : 0;
}

/* ---- A ring in a file ---- */

static struct weft_abi_buffer *ring;
static int ring_fd;

static int begin(void **state)
{
	char path[] = "/tmp/weft-test-waits-XXXXXX";
	(void)state;
	now_ns = 100 * SECOND_NS;
	sleep_count = futex_count = slack_count = slack_interruptions = 0;
	futex_error = ETIMEDOUT;
	on_sleep = NULL;
	ring_fd = mkstemp(path);
	unlink(path);
	if (ring_fd < 0 || posix_fallocate(ring_fd, 0, SIZE) != 0)
		return -1;
	ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	if (ring == MAP_FAILED)
		return -1;
	step_ns = 1000; /* the recorder measures the rate of the processor's counter */
	int error = weft_start(ring, SIZE, NULL);
	step_ns = 0;
	return error;
}

static int end(void **state)
{
	(void)state;
	weft_stop();
	munmap(ring, SIZE);
	return close(ring_fd);
}

/* A descriptor of the ring that does not allow writing. */
static int open_read_only(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ring_fd);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static uint32_t claims(void)
{
	return (uint32_t)ring->hand;
}

/* The sleeps since the last call were of these ms. */
static void expect_sleeps(int count, const uint64_t *ms)
{
	assert_int_equal(sleep_count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(sleeps[i], ms[i] * MS_NS);
	sleep_count = 0;
}

#define EXPECT_SLEEPS(...)                                                     \
	expect_sleeps((int)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), \
		(const uint64_t[]){__VA_ARGS__})

/* ---- Followers ---- */

/* There are so many tags, and then this status. */
static void expect_tags(struct weft_follow *follow, int count, int expected)
{
	struct weft_event event;
	int status;
	while ((status = weft_follow_next(follow, &event)) == WEFT_OK)
		count -= event.type == WEFT_EVENT_TAG;
	assert_int_equal(count, 0);
	assert_int_equal(status, expected);
}

static struct weft_follow *open_follow(int tags)
{
	struct weft_follow *follow;
	assert_int_equal(weft_follow_open_descriptor(ring_fd, &follow), 0);
	expect_tags(follow, tags, WEFT_AGAIN);
	return follow;
}

static void a_follower_waits_longer_and_longer(void **state)
{
	(void)state;
	weft_tag("packet"); /* so that the count of claims is not 0 */
	struct weft_follow *follow = open_follow(1);
	assert_int_equal(weft_follow_wait(follow, 100 * MS_NS), WEFT_AGAIN);
	EXPECT_SLEEPS(1, 2, 4, 8, 16, 20, 20, 20, 9);
	assert_int_equal(ring->waiters, claims() + 1); /* the next packet wakes it */
	assert_int_equal(weft_follow_wait(follow, 3 * MS_NS), WEFT_AGAIN);
	EXPECT_SLEEPS(1, 2);
	assert_int_equal(weft_follow_wait(follow, 0), WEFT_AGAIN);
	assert_int_equal(sleep_count, 0);
	weft_follow_close(follow);
}

static void record_after_two_sleeps(void)
{
	if (sleep_count == 2)
		weft_tag("now");
}

static void a_follower_stops_waiting_for_an_event(void **state)
{
	(void)state;
	struct weft_follow *follow = open_follow(0);
	on_sleep = record_after_two_sleeps;
	assert_int_equal(weft_follow_wait(follow, UINT64_MAX), WEFT_OK);
	EXPECT_SLEEPS(1, 2);
	weft_follow_close(follow);
}

static void a_signal_ends_a_followers_wait(void **state)
{
	(void)state;
	struct weft_follow *follow = open_follow(0);
	futex_error = EINTR;
	assert_int_equal(weft_follow_wait(follow, UINT64_MAX), WEFT_AGAIN);
	EXPECT_SLEEPS(1);
	weft_follow_close(follow);
}

/* A thread that is inside an event when recording stops may still complete it. */
static void a_follower_holds_the_end_for_an_unfinished_event(void **state)
{
	(void)state;
	weft_tag("first"); /* in this thread's slot */
	struct weft_follow *follow = open_follow(1);
	unsigned char *bytes = (unsigned char *)ring;
	struct weft_abi_slot *other =
		(void *)(bytes + ring->slots_offset + ring->slots_used++ * sizeof(struct weft_abi_slot));
	now_ns += 1; /* after the last look */
	weft_tag("last");
	weft_stop();
	other->sequence = 1;
	expect_tags(follow, 0, WEFT_AGAIN);
	now_ns += SECOND_NS;
	expect_tags(follow, 0, WEFT_AGAIN);
	assert_true(weft_follow_mark(follow) < UINT64_MAX);
	now_ns += 1;
	assert_int_equal(weft_follow_wait(follow, 0), WEFT_OK);
	assert_int_equal(weft_follow_mark(follow), UINT64_MAX);
	expect_tags(follow, 1, WEFT_END);
	weft_follow_close(follow);
}

static void a_follower_ends_at_once_if_no_event_is_unfinished(void **state)
{
	(void)state;
	struct weft_follow *follow = open_follow(0);
	weft_stop();
	assert_int_equal(weft_follow_wait(follow, 0), WEFT_OK);
	assert_int_equal(weft_follow_mark(follow), UINT64_MAX);
	weft_follow_close(follow);
}

/* The clock is read before the slack, and the ring after it: see weft/follow/mark.c. */
static void a_look_waits_for_the_slack(void **state)
{
	(void)state;
	struct weft_follow *follow = open_follow(0);
	struct weft_event event;
	slack_count = 0;
	assert_int_equal(weft_follow_next(follow, &event), WEFT_AGAIN);
	assert_int_equal(slack_count, 1);
	slack_interruptions = 2;
	assert_int_equal(weft_follow_next(follow, &event), WEFT_AGAIN);
	assert_int_equal(slack_count, 4);
	weft_follow_close(follow);
}

/* ---- Wake-ups ---- */

static void the_earliest_waiter_is_woken(void **state)
{
	(void)state;
	struct weft__live_ring live;
	assert_int_equal(weft__follow_live_open_descriptor(&live, ring_fd), 0);
	for (int i = 0; i < 3; i++)
		weft_tag("packet");
	ring->waiters = 0;
	assert_true(weft__follow_live_wait(&live, 4, MS_NS));
	assert_int_equal(ring->waiters, claims() + 4);
	assert_int_equal(futex_word, claims() + 4);
	assert_true(weft__follow_live_wait(&live, 2, MS_NS));
	assert_int_equal(ring->waiters, claims() + 2);
	assert_true(weft__follow_live_wait(&live, 3, MS_NS)); /* another one is earlier */
	assert_int_equal(ring->waiters, claims() + 2);
	assert_int_equal(futex_word, claims() + 2);
	weft__follow_live_close(&live);
}

/* Counts wrap around, and 0 stands for no waiter. */
static void a_waiters_count_is_never_zero(void **state)
{
	(void)state;
	struct weft__live_ring live;
	weft_stop();
	assert_int_equal(weft__follow_live_open_descriptor(&live, ring_fd), 0);
	ring->hand = UINT32_MAX;
	ring->waiters = 0;
	assert_true(weft__follow_live_wait(&live, 1, MS_NS));
	assert_int_equal(ring->waiters, 1);
	ring->waiters = 3;
	assert_true(weft__follow_live_wait(&live, 0, MS_NS));
	assert_int_equal(ring->waiters, UINT32_MAX);
	weft__follow_live_close(&live);
}

static void a_wait_is_interrupted_by_signals_only(void **state)
{
	(void)state;
	static const int others[] = {0, ETIMEDOUT, EAGAIN};
	struct weft__live_ring live;
	assert_int_equal(weft__follow_live_open_descriptor(&live, ring_fd), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		futex_error = others[i];
		assert_true(weft__follow_live_wait(&live, 1, MS_NS));
	}
	futex_error = EINTR;
	assert_false(weft__follow_live_wait(&live, 1, MS_NS));
	sleep_count = 0;
	weft__follow_live_wait(&live, 1, 50 * MS_NS); /* a packet that does not fill up wakes nobody */
	EXPECT_SLEEPS(20);
	assert_int_equal(futex_count, 5);
	weft__follow_live_close(&live);
}

/* The header is mapped for writing only where it is needed and permitted. */
static void nothing_wakes_a_reader_that_may_not_write(void **state)
{
	(void)state;
	struct weft__live_ring live;
	int fd = open_read_only();
	assert_int_equal(weft__follow_live_open_descriptor(&live, fd), 0);
	close(fd);
	assert_null(live.page);
	ring->waiters = 0;
	assert_true(weft__follow_live_wait(&live, 1, 50 * MS_NS));
	assert_int_equal(ring->waiters, 0);
	assert_int_equal(futex_count, 0);
	EXPECT_SLEEPS(20);
	weft__follow_live_close(&live);
	assert_null(live.bytes);
	ring->stream = 1; /* no recorder reads a file with a stream */
	assert_int_equal(weft__follow_live_open_descriptor(&live, ring_fd), 0);
	assert_null(live.page);
	weft__follow_live_close(&live);
	ring->stream = 0;
	assert_int_equal(weft__follow_live_open_descriptor(&live, ring_fd), 0);
	assert_non_null(live.page);
	assert_int_equal(live.clock, ring->clock);
	weft__follow_live_close(&live);
	assert_null(live.page);
	weft__follow_live_close(&live);
}

static void clocks_are_read_in_nanoseconds(void **state)
{
	(void)state;
	uint64_t ticks = 5;
	now_ns = 7 * SECOND_NS + 123;
	assert_int_equal(weft__follow_live_now_ns(), 7 * SECOND_NS + 123);
	assert_true(weft__follow_clock_read(WEFT_ABI_CLOCK_MONOTONIC, &ticks));
	assert_int_equal(ticks, 7 * SECOND_NS + 123);
	/* Only the program can read its own clock. */
	assert_false(weft__follow_clock_read(WEFT_ABI_CLOCK_CALLER, &ticks));
	assert_false(weft__follow_clock_read(WEFT_ABI_CLOCK_UNIX, &ticks));
	assert_int_equal(ticks, 7 * SECOND_NS + 123);
	/* The processor's counter goes on. */
	uint64_t later;
	if (weft__follow_clock_read(WEFT_ABI_CLOCK_TSC, &ticks)) {
		assert_true(weft__follow_clock_read(WEFT_ABI_CLOCK_TSC, &later));
		assert_true(later > ticks && later - ticks < 10 * SECOND_NS);
	}
}

/* ---- Streams ---- */

/* Takes all that there is; returns the status after it. */
static int take(struct weft_stream *stream, size_t *ret_size)
{
	const void *bytes;
	size_t size;
	int status;
	*ret_size = 0;
	while ((status = weft_stream_next(stream, &bytes, &size)) == WEFT_OK)
		*ret_size += size;
	return status;
}

static struct weft_stream *open_stream(int fd)
{
	struct weft_stream *stream;
	assert_int_equal(weft_stream_open_descriptor(fd, 8192, &stream), 0);
	return stream;
}

static void an_open_packet_is_taken_once_a_second(void **state)
{
	(void)state;
	size_t size;
	struct weft_stream *stream = open_stream(ring_fd);
	weft_tag("one");
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	assert_true(size > 0);
	weft_tag("two");
	slack_count = 0;
	now_ns += SECOND_NS - 1;
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	assert_int_equal(size, 0);
	assert_int_equal(slack_count, 0); /* only open packets need the clock */
	now_ns += 1;
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	assert_true(size > 0);
	assert_int_equal(slack_count, 1);
	weft_tag("three");
	weft_stream_take_open(stream, 5 * SECOND_NS); /* from now on */
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	assert_true(size > 0);
	weft_tag("four");
	now_ns += 5 * SECOND_NS - 1;
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	assert_int_equal(size, 0);
	weft_stream_close(stream);
}

static void a_stream_ends_a_second_after_recording_has_stopped(void **state)
{
	(void)state;
	size_t size;
	struct weft_stream *stream = open_stream(ring_fd);
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	now_ns += 60 * SECOND_NS; /* the second begins when the stop is noticed */
	weft_tag("last");
	weft_stop();
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	now_ns += SECOND_NS;
	assert_int_equal(take(stream, &size), WEFT_AGAIN);
	now_ns += 1;
	assert_int_equal(take(stream, &size), WEFT_END);
	weft_stream_close(stream);
}

/* The program wakes it when a sixteenth of the ring was claimed. */
static void a_stream_that_is_woken_sleeps_for_long(void **state)
{
	(void)state;
	size_t size;
	struct weft_stream *stream = open_stream(ring_fd);
	take(stream, &size);
	assert_true(ring->packet_count >= 32);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
		EXPECT_SLEEPS(20);
	}
	assert_int_equal(futex_count, 2);
	assert_int_equal(ring->waiters, claims() + ring->packet_count / 16);
	assert_int_equal(weft_stream_wait(stream, 7 * MS_NS), 0);
	EXPECT_SLEEPS(7);
	weft_stream_stop(stream);
	assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
	assert_int_equal(sleep_count, 0);
	weft_stream_close(stream);
	stream = open_stream(ring_fd);
	weft_stream_cut(stream);
	assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
	assert_int_equal(sleep_count, 0);
	weft_stream_close(stream);
}

static void a_stream_that_nothing_wakes_looks_less_and_less_often(void **state)
{
	(void)state;
	size_t size;
	int fd = open_read_only();
	struct weft_stream *stream = open_stream(fd);
	close(fd);
	assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
	EXPECT_SLEEPS(1);
	weft_tag("one");
	take(stream, &size);
	for (int i = 0; i < 7; i++) {
		assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
		assert_int_equal(take(stream, &size), WEFT_AGAIN);
		assert_int_equal(size, 0);
	}
	EXPECT_SLEEPS(1, 2, 4, 8, 16, 20, 20);
	weft_tag("two");
	weft_stream_take_open(stream, 0);
	take(stream, &size); /* as often as at first, after a piece */
	assert_int_equal(weft_stream_wait(stream, SECOND_NS), 0);
	EXPECT_SLEEPS(1);
	assert_int_equal(futex_count, 0);
	weft_stream_close(stream);
}

#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(a_follower_waits_longer_and_longer),
		WITH_RING(a_follower_stops_waiting_for_an_event),
		WITH_RING(a_signal_ends_a_followers_wait),
		WITH_RING(a_follower_holds_the_end_for_an_unfinished_event),
		WITH_RING(a_follower_ends_at_once_if_no_event_is_unfinished),
		WITH_RING(a_look_waits_for_the_slack),
		WITH_RING(the_earliest_waiter_is_woken),
		WITH_RING(a_waiters_count_is_never_zero),
		WITH_RING(a_wait_is_interrupted_by_signals_only),
		WITH_RING(nothing_wakes_a_reader_that_may_not_write),
		WITH_RING(clocks_are_read_in_nanoseconds),
		WITH_RING(an_open_packet_is_taken_once_a_second),
		WITH_RING(a_stream_ends_a_second_after_recording_has_stopped),
		WITH_RING(a_stream_that_is_woken_sleeps_for_long),
		WITH_RING(a_stream_that_nothing_wakes_looks_less_and_less_often),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
