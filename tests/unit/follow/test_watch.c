/* SPDX-License-Identifier: ISC
 *
 * Rings that are being made, copies while they are written, the hold, and a program's requests.
 */
#include "record_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/source.h>
#include <weft/stream.h>
#include <weft/watch.h>

#include "abi/buffer_abi.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

enum {
	WRITERS = 2,
	EACH = 400000,
	OPENED = 3000,
};

/* A clock that the test moves. */
static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

/* A ring, and a watch through another mapping, as another process has it. */
struct watched {
	struct weft_abi_buffer *header;
	struct weft_watch *watch;
	int fd;
};

static struct watched begin(const struct weft_platform *platform)
{
	char path[64];
	struct watched w;
	w.fd = memfd_create("ring", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w.fd);
	assert_int_equal(weft_watch_open(path, &w.watch), WEFT_ERROR_EMPTY);
	assert_int_equal(ftruncate(w.fd, SIZE), 0);
	assert_int_equal(weft_watch_open(path, &w.watch), WEFT_ERROR_FORMAT);
	w.header = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, w.fd, 0);
	now_ticks = 1000;
	assert_int_equal(weft_start(w.header, SIZE, platform), 0);
	assert_int_equal(weft_watch_open(path, &w.watch), 0);
	return w;
}

static void end(struct watched *w)
{
	weft_stop();
	weft_watch_close(w->watch);
	munmap(w->header, SIZE);
	close(w->fd);
}

/* ---- Beginning ---- */

/* One thread makes the ring of a round while the other opens it. A ring is never unmade while it is
 * read, so that is done between the rounds. */
struct making {
	struct weft_abi_buffer *header;
	uint64_t magic;
	uint32_t pid;
	int begun, made; /* rounds */
};

static void unmake(const struct making *making)
{
	__atomic_store_n((uint64_t *)(void *)making->header, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&making->header->pid, 0, __ATOMIC_SEQ_CST);
}

/* First the header, then the magic; each round a bit later than the one before. */
static void *make_rings(void *argument)
{
	struct making *making = argument;
	for (int round = 1; round <= OPENED; round++) {
		while (__atomic_load_n(&making->begun, __ATOMIC_ACQUIRE) < round)
			sched_yield();
		for (volatile int i = 0; i < round; i++)
			continue;
		__atomic_store_n(&making->header->pid, making->pid, __ATOMIC_SEQ_CST);
		__atomic_store_n((uint64_t *)(void *)making->header, making->magic, __ATOMIC_SEQ_CST);
		__atomic_store_n(&making->made, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void expect_alive(const char *path)
{
	struct weft_follow *follow;
	struct weft_stream *stream;
	struct weft_event event;
	const void *bytes;
	size_t size;
	int error = weft_follow_open(path, &follow);
	assert_true(error == 0 || error == WEFT_ERROR_FORMAT);
	if (error == 0) {
		assert_int_equal(weft_follow_next(follow, &event), WEFT_AGAIN);
		weft_follow_close(follow);
	}
	error = weft_stream_open(path, SIZE, &stream);
	assert_true(error == 0 || error == WEFT_ERROR_FORMAT);
	if (error == 0) {
		while (weft_stream_next(stream, &bytes, &size) == WEFT_OK)
			continue;
		assert_int_equal(weft_stream_next(stream, &bytes, &size), WEFT_AGAIN);
		weft_stream_close(stream);
	}
}

/* It was once taken for the ring of a program that had ended, which is read once and never again.
 */
static void a_ring_is_opened_while_it_is_made(void **state)
{
	struct watched w = begin(NULL);
	/* Static: if an assertion fails, the other thread goes on. */
	static struct making making;
	pthread_t thread;
	char path[64];
	(void)state;
	making = (struct making){.header = w.header, .pid = w.header->pid};
	memcpy(&making.magic, w.header->magic, sizeof(making.magic));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w.fd);
	assert_int_equal(pthread_create(&thread, NULL, make_rings, &making), 0);
	for (int round = 1; round <= OPENED; round++) {
		unmake(&making);
		__atomic_store_n(&making.begun, round, __ATOMIC_RELEASE);
		expect_alive(path);
		while (__atomic_load_n(&making.made, __ATOMIC_ACQUIRE) < round)
			sched_yield();
	}
	pthread_join(thread, NULL);
	end(&w);
}

/* ---- Copies ---- */

struct content {
	uint64_t present, overwritten, held;
	int64_t next[WRITERS]; /* one past the last number */
	bool has_gap;
};

/* Numbers of each writer, in order. */
static struct content read_content(const void *bytes, size_t size)
{
	struct trace trace;
	struct content c = {0};
	trace_open(&trace, bytes, size);
	while (trace_next(&trace)) {
		if (trace.event.is_rundown)
			continue;
		int64_t writer = trace.event.value >> 32, number = trace.event.value & UINT32_MAX;
		assert_in_range(writer, 0, WRITERS - 1);
		assert_true(number >= c.next[writer]);
		c.has_gap |= c.next[writer] && number > c.next[writer];
		c.next[writer] = number + 1;
		c.present++;
	}
	c.overwritten = trace_loss(&trace, WEFT_LOSS_OVERWRITTEN);
	c.held = trace_loss(&trace, WEFT_LOSS_HELD);
	trace_close(&trace);
	return c;
}

static struct content copy_content(struct watched *w)
{
	void *bytes;
	size_t size;
	assert_int_equal(weft_watch_copy(w->watch, &bytes, &size), 0);
	struct content c = read_content(bytes, size);
	weft_watch_free(bytes, size);
	return c;
}

static int writing;

static void *write_numbers(void *argument)
{
	int64_t writer = *(const int *)argument;
	for (int64_t i = 0; i < EACH; i++)
		weft_tag_value("number", writer << 32 | i);
	__atomic_fetch_sub(&writing, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void start_writers(pthread_t threads[WRITERS])
{
	static const int numbers[WRITERS] = {0, 1};
	writing = WRITERS;
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_numbers, (void *)&numbers[i]);
}

static void join_writers(pthread_t threads[WRITERS])
{
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
}

static void a_copy_is_whole_while_it_is_written(void **state)
{
	struct watched w = begin(NULL);
	pthread_t threads[WRITERS];
	(void)state;
	start_writers(threads);
	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE)) {
		struct content c = copy_content(&w);
		/* Events that are overwritten repeatedly during the copy are counted each time. */
		assert_true(c.present + c.overwritten >= (uint64_t)(c.next[0] + c.next[1]));
		assert_int_equal(c.held, 0);
	}
	join_writers(threads);
	struct content c = copy_content(&w);
	assert_int_equal(c.present + c.overwritten, WRITERS * EACH);
	assert_false(c.has_gap);
	end(&w);
}

static void held_packets_are_not_overwritten(void **state)
{
	struct watched w = begin(NULL);
	pthread_t threads[WRITERS];
	uint64_t copies = 0;
	(void)state;
	start_writers(threads);
	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE)) {
		weft_watch_hold(w.watch, WEFT_WATCH_HOLD_MAX_NS);
		copy_content(&w);
		weft_watch_hold(w.watch, 0);
		copies++;
	}
	join_writers(threads);
	struct content c = copy_content(&w);
	assert_true(copies > 0);
	assert_int_equal(c.present + c.overwritten + c.held, WRITERS * EACH);
	end(&w);
}

static void a_hold_ends_by_itself(void **state)
{
	struct watched w = begin(&by_hand);
	(void)state;
	enum {
		MANY = 10000
	};
	for (int i = 0; i < MANY; i++)
		weft_tag_value("number", i);
	weft_watch_hold(w.watch, 5000 * (uint64_t)1000); /* on a clock that only the program reads */
	struct content before = copy_content(&w);
	for (int i = MANY; i < 2 * MANY; i++)
		weft_tag_value("number", i);
	struct content held = copy_content(&w);
	assert_int_equal(held.overwritten, before.overwritten);
	assert_int_equal(held.present + held.overwritten + held.held, 2 * MANY);
	assert_true(held.held > 0);
	now_ticks += 5000 * (uint64_t)1000;
	for (int i = 2 * MANY; i < 3 * MANY; i++)
		weft_tag_value("number", i);
	struct content after = copy_content(&w);
	assert_int_equal(after.held, held.held);
	assert_int_equal(after.present + after.overwritten + after.held, 3 * MANY);
	end(&w);
}

static void a_hold_has_a_limit(void **state)
{
	struct watched w = begin(&by_hand);
	(void)state;
	now_ticks = 7000000;
	weft_tag("latest"); /* a watcher cannot read the program's clock itself */
	weft_watch_hold(w.watch, 5000000);
	assert_int_equal(w.header->hold_until, 7000000 + 5000000);
	weft_watch_hold(w.watch, WEFT_WATCH_HOLD_MAX_NS);
	assert_int_equal(w.header->hold_until, 7000000 + WEFT_WATCH_HOLD_MAX_NS);
	weft_watch_hold(w.watch, 10 * (uint64_t)WEFT_WATCH_HOLD_MAX_NS);
	assert_int_equal(w.header->hold_until, 7000000 + WEFT_WATCH_HOLD_MAX_NS);
	weft_watch_hold(w.watch, 0);
	assert_int_equal(w.header->hold_until, 0);
	end(&w);
}

static void a_damaged_ring_is_not_copied(void **state)
{
	struct watched w = begin(&by_hand);
	void *bytes = &w;
	size_t size = 7;
	(void)state;
	w.header->version++;
	assert_int_equal(weft_watch_copy(w.watch, &bytes, &size), WEFT_ERROR_UNSUPPORTED);
	assert_ptr_equal(bytes, &w);
	assert_int_equal(size, 7);
	w.header->version--;
	end(&w);
}

/* ---- Opening and closing ---- */

static void a_watch_needs_a_ring_that_it_may_write(void **state)
{
	struct watched w = begin(&by_hand);
	struct weft_watch *watch;
	char path[64];
	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w.fd);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(weft_watch_open_descriptor(fd, &watch), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EACCES);
	close(fd);
	assert_int_equal(weft_watch_open_descriptor(w.fd, &watch), 0);
	weft_watch_ask_rundown(watch);
	assert_int_equal(w.header->rundown, 1);
	weft_watch_close(watch);
	weft_watch_close(NULL);
	end(&w);
}

/* The event that finds the request comes after the record's end, and is not lost. */
static void a_program_stops_when_it_is_asked(void **state)
{
	(void)state;
	struct watched w = begin(NULL);
	weft_create(WEFT_KIND_TASK);
	struct weft_watch *watch = w.watch;
	w.watch = NULL;
	assert_false(weft_watch_ask_stop(watch));
	assert_true(weft_is_recording());
	weft_close(1);
	assert_false(weft_is_recording());
	assert_int_equal(w.header->ending, WEFT_ABI_ENDING_STOP);
	assert_int_equal(w.header->losses[WEFT_ABI_LOSS_HELD], 0);
	assert_int_equal(w.header->losses[WEFT_ABI_LOSS_FULL], 0);
	assert_true(weft_watch_ask_stop(watch));
	weft_watch_close(watch);
	end(&w);
}

/* A close ends the listening and the hold, except for those of another watcher. */
static void a_watch_that_is_closed_leaves_the_program_alone(void **state)
{
	struct watched w = begin(&by_hand);
	struct weft_watch *watch;
	(void)state;
	assert_int_equal(weft_watch_open_descriptor(w.fd, &watch), 0);
	weft_watch_listen(w.watch, 3000000000);
	weft_watch_hold(w.watch, 1000000);
	weft_watch_close(watch);
	assert_int_not_equal(w.header->snapshots.listen_until, 0);
	assert_int_not_equal(w.header->hold_until, 0);
	assert_int_equal(weft_watch_open_descriptor(w.fd, &watch), 0);
	weft_watch_listen(watch, 3000000000);
	weft_watch_hold(watch, 1000000);
	weft_watch_close(watch);
	assert_int_equal(w.header->snapshots.listen_until, 0);
	assert_int_equal(w.header->hold_until, 0);
	end(&w);
}

/* ---- Requests ---- */

static void a_request_is_seen_with_its_reason(void **state)
{
	struct watched w = begin(&by_hand);
	struct weft_slice reason;
	(void)state;
	assert_int_equal(weft_watch_requests(w.watch, &reason), 0);
	trace_text(reason, "");
	weft_snapshot_request("queue is long");
	char late[] = "queue is longer";
	weft_snapshot_request(late);
	assert_int_equal(weft_watch_requests(w.watch, &reason), 2);
	trace_text(reason, "queue is longer");
	assert_int_equal(w.header->hold_until, 0); /* nobody listened */
	weft_snapshot_request(late);               /* between the look and the answer */
	assert_int_equal(weft_watch_answer(w.watch), 3);
	assert_int_equal(weft_watch_requests(w.watch, &reason), 0);
	assert_int_equal(weft_watch_answer(w.watch), 0);
	weft_stop();
	struct trace trace;
	trace_open(&trace, w.header, SIZE);
	for (int i = 0; i < 3; i++) {
		trace_expect(&trace, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
		trace_text(trace.event.text, "snapshot");
		trace_text(trace.event.fields[0].name, "reason");
		trace_text(trace.event.fields[0].value.text, i ? "queue is longer" : "queue is long");
	}
	trace_close(&trace);
	end(&w);
}

static void a_listening_watcher_finds_the_past(void **state)
{
	struct watched w = begin(&by_hand);
	struct weft_slice reason;
	(void)state;
	weft_tag("begin");
	weft_watch_listen(w.watch, 3000000000);
	weft_snapshot_request("first");
	assert_int_equal(w.header->hold_until, 1000 + 1000000000);
	now_ticks = 500000000;
	weft_snapshot_request("impatient"); /* holds it no longer than the first */
	assert_int_equal(w.header->hold_until, 1000 + 1000000000);
	assert_int_equal(weft_watch_requests(w.watch, &reason), 2);
	weft_watch_answer(w.watch);
	assert_int_equal(w.header->hold_until, 0);
	now_ticks = 3100000000; /* nobody renewed it */
	weft_snapshot_request("nobody");
	assert_int_equal(w.header->hold_until, 0);
	weft_watch_answer(w.watch);
	weft_watch_listen(w.watch, 3000000000);
	weft_watch_listen(w.watch, 0);
	weft_snapshot_request("nobody");
	assert_int_equal(w.header->hold_until, 0);
	end(&w);
}

/* ---- Rundown ---- */

static void each_runtime_is_asked_once(void **state)
{
	struct watched w = begin(&by_hand);
	uint32_t first = 0, second = 0;
	(void)state;
	assert_false(weft_rundown_wanted(&first));
	weft_watch_ask_rundown(w.watch);
	assert_true(weft_rundown_wanted(&first));
	assert_false(weft_rundown_wanted(&first));
	weft_watch_ask_rundown(w.watch);
	assert_true(weft_rundown_wanted(&second));
	assert_false(weft_rundown_wanted(&second));
	assert_true(weft_rundown_wanted(&first));
	end(&w);
	assert_false(weft_rundown_wanted(&(uint32_t){5}));
}

static void living_tasks_are_in_the_rundown(void **state)
{
	struct watched w = begin(&by_hand);
	struct trace trace;
	(void)state;
	weft_rundown_task(7, WEFT_KIND_BIND, "a label", 500, 8);
	weft_rundown_task(8, 1000, NULL, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
	weft_stop();
	trace_open(&trace, w.header, SIZE);
	trace_expect(&trace, WEFT_EVENT_ALIVE, 7, 8);
	assert_true(trace.event.is_rundown && trace.event.has_value);
	assert_int_equal(trace.event.kind, WEFT_KIND_BIND);
	assert_int_equal(trace.event.value, 500);
	trace_text(trace.event.text, "a label");
	trace_expect(&trace, WEFT_EVENT_ALIVE, 8, WEFT_TASK_NONE);
	assert_false(trace.event.has_value);
	assert_int_equal(trace.event.kind, 1000);
	assert_int_equal(trace.event.text.size, 0);
	trace_close(&trace);
	end(&w);
}

static void rules_are_handed_over(void **state)
{
	struct watched w = begin(&by_hand);
	struct weft_slice rule;
	char text[32];
	(void)state;
	assert_false(weft_watch_rule(w.watch, 0, &rule));
	for (int i = 0; i < 2; i++) {
		weft_trigger("counter queue > 100");
		weft_trigger("tag 'timeout'");
	}
	assert_true(weft_watch_rule(w.watch, 0, &rule));
	trace_text(rule, "counter queue > 100");
	assert_true(weft_watch_rule(w.watch, 1, &rule));
	trace_text(rule, "tag 'timeout'");
	assert_false(weft_watch_rule(w.watch, 2, &rule));
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "tag '%d'", i);
		weft_trigger(text);
	}
	assert_true(weft_watch_rule(w.watch, 63, &rule));
	assert_false(weft_watch_rule(w.watch, 64, &rule));
	w.header->snapshots.rule_count = 1000; /* more than there is room for */
	memcpy(w.header->snapshots.reserved2, &w.header->snapshots.rules[0], sizeof(uint16_t));
	assert_true(weft_watch_rule(w.watch, 63, &rule));
	assert_false(weft_watch_rule(w.watch, 64, &rule));
	w.header->snapshots.rule_count = 1;
	assert_false(weft_watch_rule(w.watch, 1, &rule));
	end(&w);
}

/* The buffer may be a file on a disk, which is shortened meanwhile. */
static void a_watch_survives_a_shortened_file(void **state)
{
	struct weft_slice reason;
	char path[] = "weft-watch-XXXXXX";
	(void)state;
	int fd = mkstemp(path);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	struct watched w = {mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), NULL, fd};
	assert_int_equal(weft_start(w.header, SIZE, &by_hand), 0);
	assert_int_equal(weft_source_survive_truncation(), 0);
	assert_int_equal(weft_watch_open(path, &w.watch), 0);
	assert_int_equal(unlink(path), 0);
	weft_stop();
	assert_int_equal(ftruncate(fd, 0), 0);
	weft_watch_listen(w.watch, 1000000);
	weft_watch_hold(w.watch, 1000000);
	assert_int_equal(weft_watch_requests(w.watch, &reason), 0);
	assert_int_equal(weft_watch_answer(w.watch), 0);
	weft_watch_close(w.watch);
	munmap(w.header, SIZE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_opened_while_it_is_made),
		cmocka_unit_test(a_copy_is_whole_while_it_is_written),
		cmocka_unit_test(held_packets_are_not_overwritten),
		cmocka_unit_test(a_hold_ends_by_itself),
		cmocka_unit_test(a_hold_has_a_limit),
		cmocka_unit_test(a_program_stops_when_it_is_asked),
		cmocka_unit_test(a_damaged_ring_is_not_copied),
		cmocka_unit_test(a_watch_needs_a_ring_that_it_may_write),
		cmocka_unit_test(a_watch_that_is_closed_leaves_the_program_alone),
		cmocka_unit_test(a_request_is_seen_with_its_reason),
		cmocka_unit_test(a_listening_watcher_finds_the_past),
		cmocka_unit_test(rules_are_handed_over),
		cmocka_unit_test(each_runtime_is_asked_once),
		cmocka_unit_test(living_tasks_are_in_the_rundown),
		cmocka_unit_test(a_watch_survives_a_shortened_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
