/* SPDX-License-Identifier: ISC
 *
 * Many threads, signal handlers and children: every event is read or counted as lost, exactly.
 */
#include "record_trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/event_abi.h"
#include "record/atomics.h"
#include "record/recorder.h"
#include "waiting.h"

#define SIZE    ((size_t)64 << 10) /* the smallest: 11 packets, 80 slots */
#define WRITERS 64
#define SLOTS   80

/* An event contains its writer and its number among that writer's events. */
static void write_events(uint64_t writer, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		int64_t value = (int64_t)(writer << 32 | i);
		if (i % 7 == 3)
			weft_tag_value_as(writer, "24 bytes", value);
		else if (i % 11 == 5)
			weft_mark("32 bytes", "value", value, "writer", writer);
		else
			weft_tag_value("16 bytes", value);
	}
}

static uint64_t value_of(const struct weft_event *event)
{
	return (uint64_t)(event->type == WEFT_EVENT_MARK ? event->fields[0].value.i64 : event->value);
}

/* Each writer's events are in order, and none is missing between two of them unless `has_gaps`.
 * Returns their number. */
static uint64_t check_order(struct trace *trace, bool has_gaps)
{
	static uint64_t next[1 << 16];
	uint64_t count = 0;
	memset(next, 0, sizeof(next));
	while (trace_next(trace)) {
		if (trace->event.is_rundown)
			continue;
		uint64_t writer = value_of(&trace->event) >> 32;
		uint64_t number = value_of(&trace->event) & UINT32_MAX;
		assert_in_range(writer, 0, (1 << 16) - 1);
		assert_true(number >= next[writer]);
		if (next[writer] && !has_gaps)
			assert_int_equal(number, next[writer]);
		next[writer] = number + 1;
		count++;
	}
	return count;
}

static uint64_t all_losses(const struct trace *trace)
{
	uint64_t sum = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		sum += cause == WEFT_LOSS_NAMES_FULL ? 0 : trace_loss(trace, (enum weft_loss)cause);
	return sum;
}

static void *write_many(void *writer)
{
	write_events((uintptr_t)writer, 0, 20000);
	return NULL;
}

static void run_writers(uintptr_t first, unsigned count, void *(*body)(void *))
{
	pthread_t threads[WRITERS];
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(first + i)), 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_few_threads_lose_only_what_is_overwritten(void **state)
{
	struct trace t;
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	run_writers(1, 4, write_many);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, false);
	assert_in_range(count, 1000, 4000);
	assert_int_equal(count + trace_loss(&t, WEFT_LOSS_OVERWRITTEN), 4 * 20000);
	assert_int_equal(all_losses(&t), trace_loss(&t, WEFT_LOSS_OVERWRITTEN));
	trace_close(&t);
}

static pthread_barrier_t all_hold_a_packet;

static void *write_beside_others(void *writer)
{
	write_events((uintptr_t)writer, 0, 1);
	pthread_barrier_wait(&all_hold_a_packet);
	write_events((uintptr_t)writer, 1, 2000);
	pthread_barrier_wait(&all_hold_a_packet);
	return NULL;
}

/* They take packets from each other, and all resulting losses are counted. */
static void more_threads_than_packets(void **state)
{
	struct trace t;
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, WRITERS), 0);
	run_writers(1, WRITERS, write_beside_others);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, true);
	assert_in_range(count, 100, 11 * 260);
	assert_int_equal(count + all_losses(&t), WRITERS * 2000);
	trace_close(&t);
}

static void *hold_a_packet(void *writer)
{
	write_events((uintptr_t)writer, 0, 1);
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	write_events((uintptr_t)writer, 1, 2);
	return NULL;
}

/* As many idle threads as a pool may have, and one that records. */
static void idle_threads_do_not_silence_a_busy_one(void **state)
{
	struct trace t;
	pthread_t threads[WRITERS];
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, WRITERS + 1), 0);
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hold_a_packet, (void *)(200 + i)), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	write_events(100, 0, 50000);
	pthread_barrier_wait(&all_hold_a_packet);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, true);
	assert_int_equal(count + all_losses(&t), 50000 + 2 * WRITERS);
	assert_int_equal(all_losses(&t), trace_loss(&t, WEFT_LOSS_OVERWRITTEN));
	trace_close(&t);
}

/* Without a barrier, a late thread gets no packet, and its lost events are counted. */
static void where_packets_cannot_be_taken_they_stay(void **state)
{
	struct trace t;
	struct weft_platform platform = *weft__platform_default();
	void *buffer = *state = trace_buffer(SIZE);
	platform.barrier = NULL;
	assert_int_equal(weft_start(buffer, SIZE, &platform), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, WRITERS), 0);
	run_writers(1, WRITERS, write_beside_others);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, true);
	/* Each of 11 has the last part of its events in its one packet. */
	assert_in_range(count, 200, 11 * 260);
	assert_true(trace_loss(&t, WEFT_LOSS_FULL) > 0);
	assert_int_equal(count + all_losses(&t), WRITERS * 2000);
	trace_close(&t);
}

static uint32_t own_tid;

static uint32_t tid_by_hand(void *context, char name[16])
{
	(void)context;
	memset(name, 0, 16);
	return own_tid;
}

static bool all_others_have_ended(void *context, uint32_t tid)
{
	(void)context;
	return tid != own_tid;
}

static void *write_thousand(void *unused)
{
	own_tid++;
	write_events(2, 0, 1000);
	return unused;
}

/* A thread that found no packet does not look for one during its next events. Its successor in the
 * slot must not wait, too, and has not lost what it lost. */
static void refusals_are_not_inherited_with_a_slot(void **state)
{
	struct weft_platform platform = *weft__platform_default();
	void *buffer = *state = trace_buffer(SIZE);
	struct trace t;
	pthread_t thread;
	platform.self = tid_by_hand;
	platform.has_ended = all_others_have_ended;
	own_tid = 1000;
	assert_int_equal(weft_start(buffer, SIZE, &platform), 0);
	write_events(1, 0, 1);
	struct weft_abi_buffer *header = buffer;
	struct weft_abi_slot *slot = (void *)((char *)buffer + header->slots_offset);
	slot->refuse = 50;
	slot->lost = 70;
	assert_int_equal(pthread_create(&thread, NULL, write_thousand, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	weft_stop();
	assert_int_equal(header->slots_used, 1);
	assert_int_equal(slot->lost, 0);
	trace_open(&t, buffer, SIZE);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_FULL), 0);
	while (trace_next(&t))
		continue;
	trace_close(&t);
}

static atomic_uint questions;

static bool count_questions(void *context, uint32_t thread)
{
	(void)context;
	const struct weft_platform *real = weft__platform_default();
	atomic_fetch_add(&questions, 1);
	return real->has_ended(real->context, thread);
}

static void *hold_a_slot(void *writer)
{
	write_events((uintptr_t)writer, 0, 1);
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	return NULL;
}

/* A query loses nothing. */
static void ask_without_a_slot(void)
{
	for (int i = 0; i < 100; i++) {
		assert_false(weft_is_recording());
		assert_int_equal(weft_current(), WEFT_TASK_NONE);
	}
}

/* Finding out whether a thread has ended costs a system call, and there are few slots. */
static void a_thread_without_a_slot_looks_for_one_now_and_then(void **state)
{
	struct trace t;
	pthread_t threads[SLOTS];
	struct weft_platform platform = *weft__platform_default();
	void *buffer = *state = trace_buffer(SIZE);
	platform.has_ended = count_questions;
	assert_int_equal(weft_start(buffer, SIZE, &platform), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, SLOTS + 1), 0);
	for (uintptr_t i = 0; i < SLOTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hold_a_slot, (void *)i), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	ask_without_a_slot();
	/* A quiet recorder asks at a thread's first event only. */
	((struct weft_abi_buffer *)buffer)->is_quiet = 1;
	atomic_store(&questions, 0);
	write_events(100, 0, 3000);
	assert_int_equal(atomic_load(&questions), 0);
	((struct weft_abi_buffer *)buffer)->is_quiet = 0;
	write_events(100, 3000, 9400);
	assert_in_range(atomic_load(&questions), SLOTS, 6400 / 32 * SLOTS);
	ask_without_a_slot();
	pthread_barrier_wait(&all_hold_a_packet);
	for (int i = 0; i < SLOTS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	write_events(100, 9400, 9600); /* now there are slots */
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, true);
	assert_int_equal(count + all_losses(&t), SLOTS + 9600);
	assert_in_range(count, 11 + 130, SLOTS + 200);
	trace_close(&t);
}

static void *write_few(void *writer)
{
	write_events((uintptr_t)writer, 0, 5);
	return NULL;
}

/* Short threads continue in each other's packets: 5 events of each of 3,000 threads in 64 KiB. */
static void short_threads_fill_packets(void **state)
{
	struct trace t;
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	for (uintptr_t i = 0; i < 3000; i++)
		run_writers(1 + i, 1, write_few);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, false);
	/* 5 events and a thread record take some 130 bytes, so 11 packets hold 300 threads' worth. */
	assert_in_range(count, 1500, 3000);
	assert_int_equal(count + all_losses(&t), 3000 * 5);
	assert_int_equal(all_losses(&t), trace_loss(&t, WEFT_LOSS_OVERWRITTEN));
	assert_in_range(weft_decoder_describe(t.decoder)->thread_count, 250, 600);
	trace_close(&t);
}

/* Emulators of other machines take gigabytes for threads that have ended. */
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define MANY 4000
#else
#define MANY 100000
#endif
#define CROWD_BYTES ((size_t)1 << 20)

static void *write_some(void *writer)
{
	write_events((uintptr_t)writer, 0, 20);
	return NULL;
}

/* Bytes of events in all packets, not counting thread records. */
static uint64_t bytes_of_events(const unsigned char *buffer)
{
	const struct weft_abi_buffer *header = (const void *)buffer;
	uint64_t sum = 0; /* the threads have the name that their packets have */
	for (uint32_t i = 0; i < header->packet_count; i++) {
		const struct weft_abi_packet *packet =
			(const void *)(buffer + header->packets_offset + (size_t)i * header->packet_bytes);
		if (packet->committed > sizeof(*packet))
			sum += packet->committed - sizeof(*packet) -
				   packet->thread_records * WEFT_ABI_THREAD_WORDS * 8;
	}
	return sum;
}

/* Four at a time, so that some hold a packet when others start. */
static void many_short_threads(void **state)
{
	struct trace t;
	void *buffer = *state = trace_buffer(CROWD_BYTES);
	assert_int_equal(weft_start(buffer, CROWD_BYTES, NULL), 0);
	for (uintptr_t i = 0; i < MANY; i += 4)
		run_writers(1 + i % 65000, 4, write_some);
	weft_stop();
	trace_open(&t, buffer, CROWD_BYTES);
	uint64_t count = 0;
	while (trace_next(&t))
		count += !t.event.is_rundown;
	assert_int_equal(count + all_losses(&t), (uint64_t)MANY * 20);
	assert_int_equal(all_losses(&t), trace_loss(&t, WEFT_LOSS_OVERWRITTEN));
	/* The share of all its bytes, including header, names and slots: usually 85 %, less where
	 * threads of a busy emulator hold packets for long. With a packet for each thread it would be 3
	 * %. */
	assert_in_range(bytes_of_events(buffer), CROWD_BYTES * 6 / 10, CROWD_BYTES);
	trace_close(&t);
}

static atomic_uint handled, errno_changed;

static void on_signal(int signal)
{
	(void)signal;
	unsigned number = atomic_load(&handled);
	int before = errno;
	errno = 4321;
	write_events(2, number, number + 1);
	if (errno != 4321)
		atomic_fetch_add(&errno_changed, 1);
	errno = before;
	atomic_store(&handled, number + 1);
}

static void *write_until_enough(void *unused)
{
	(void)unused;
	uint64_t written = 0;
	while (atomic_load(&handled) < 500) {
		write_events(1, written, written + 100);
		written += 100;
	}
	return (void *)(uintptr_t)written;
}

static void signal_handlers_record(void **state)
{
	struct trace t;
	pthread_t writer;
	void *written, *buffer = *state = trace_buffer(SIZE);
	struct sigaction action = {.sa_handler = on_signal}, before;
	atomic_store(&handled, 0);
	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_until_enough, NULL), 0);
	while (atomic_load(&handled) < 500) {
		pthread_kill(writer, SIGUSR1);
		let_pass_us(20);
	}
	assert_int_equal(pthread_join(writer, &written), 0);
	sigaction(SIGUSR1, &before, NULL);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	uint64_t count = check_order(&t, true);
	assert_int_equal(count + all_losses(&t), (uint64_t)(uintptr_t)written + atomic_load(&handled));
	assert_int_equal(atomic_load(&errno_changed), 0);
	assert_int_equal(
		all_losses(&t), trace_loss(&t, WEFT_LOSS_OVERWRITTEN) + trace_loss(&t, WEFT_LOSS_NESTED));
	trace_close(&t);
}

/* Each letter of a note follows from its number, so that half a note is noticed. */
static void write_notes_for_ever(void)
{
	char text[260];
	for (unsigned i = 0;; i++) {
		unsigned size = 1 + i % 251;
		memset(text, 'a' + i % 23, size);
		text[size] = '\0';
		weft_note(text);
	}
}

static void check_note(const struct weft_event *note)
{
	assert_int_equal(note->type, WEFT_EVENT_NOTE);
	assert_in_range(note->text.size, 1, 251);
	for (size_t i = 1; i < note->text.size; i++)
		assert_int_equal(note->text.bytes[i], note->text.bytes[0]);
}

static void a_running_program_can_be_read(void **state)
{
	void *buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*state = NULL;
	assert_true(buffer != MAP_FAILED);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (weft_start(buffer, SIZE, NULL) == 0)
			write_notes_for_ever();
		_exit(1);
	}
	while (!weft__load_acquire((const uint64_t *)buffer)) {
		int status;
		if (waitpid(child, &status, WNOHANG) == child)
			fail_msg("the child ended with status %#x before it recorded", (unsigned)status);
		await();
	}
	for (int i = 0; i < 500; i++) {
		struct trace t;
		trace_open(&t, buffer, SIZE);
		while (trace_next(&t))
			if (!t.event.is_rundown) /* a switch names the running task where the program overwrote
										events */
				check_note(&t.event);
		trace_close(&t);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	munmap(buffer, SIZE);
}

#define BUFFERS  48
#define RESTARTS 4 /* threads */

static atomic_bool restarts_enough;

/* Literals whose numbers differ from buffer to buffer. */
static void *write_names(void *writer)
{
	for (uintptr_t i = (uintptr_t)writer; !atomic_load(&restarts_enough); i++) {
		switch (i % 4) {
		case 0:
			weft_tag_value("alpha", 0);
			break;
		case 1:
			weft_tag_value("a name of more than one unit", 1);
			break;
		case 2:
			weft_notef("gamma %d", 2);
			break;
		default:
			weft_mark("delta", "value", 3);
		}
	}
	return NULL;
}

static void check_name(const struct weft_event *event)
{
	static const char *const texts[] = {"alpha", "a name of more than one unit"};
	if (event->type == WEFT_EVENT_TAG) {
		assert_in_range(event->value, 0, 1);
		trace_text(event->text, texts[event->value]);
	} else {
		trace_text(event->text, event->type == WEFT_EVENT_NOTE ? "gamma 2" : "delta");
	}
}

/* Now and then an event takes so long that recording is stopped and started meanwhile. */
static uint64_t slow_ticks(void *context)
{
	static atomic_uint calls;
	(void)context;
	struct timespec now;
	if (atomic_fetch_add(&calls, 1) % 64 == 0)
		let_pass_us(1000);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static size_t restart_size(unsigned i)
{
	return i % 2 ? SIZE : SIZE * 64;
}

static void threads_finish_in_the_buffer_that_they_began_in(void **state)
{
	struct weft_platform platform = *weft__platform_default();
	pthread_t threads[RESTARTS];
	void *buffers[BUFFERS];
	*state = NULL;
	platform.ticks = slow_ticks;
	platform.ticks_hz = 1000000000;
	atomic_store(&restarts_enough, false);
	for (uintptr_t i = 0; i < RESTARTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_names, (void *)i), 0);
	for (unsigned i = 0; i < BUFFERS; i++) {
		buffers[i] = trace_buffer(restart_size(i));
		assert_int_equal(weft_start(buffers[i], restart_size(i), &platform), 0);
		let_pass_us(3000 + i * 50);
		weft_stop();
	}
	atomic_store(&restarts_enough, true);
	for (unsigned i = 0; i < RESTARTS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < BUFFERS; i++) {
		struct trace t;
		trace_open(&t, buffers[i], restart_size(i));
		while (trace_next(&t))
			check_name(&t.event);
		trace_close(&t);
		free(buffers[i]);
	}
}

static void *write_before_and_after(void *unused)
{
	weft_note("before");
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	weft_note("after");
	return unused;
}

/* It runs in our memory, but all other threads belong to another process. */
static void a_child_by_vfork_does_not_take_its_parents_threads_for_ended(void **state)
{
	struct trace t;
	pthread_t thread;
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_before_and_after, NULL), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	pid_t child = vfork();
	if (child == 0) {
		weft_note("in the child");
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	pthread_barrier_wait(&all_hold_a_packet);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	assert_true(trace_next(&t));
	uint32_t writer = t.event.thread;
	assert_true(trace_next(&t));
	trace_text(t.event.text, "after");
	assert_int_equal(t.event.thread, writer);
	trace_close(&t);
}

static struct {
	void *other; /* the buffer to which recording moves when the clock is read next; NULL: none */
	size_t size;
	const struct weft_platform *platform;
} restart;

static void *restart_at(void *buffer)
{
	weft_stop();
	return weft_start(buffer, restart.size, restart.platform) ? buffer : NULL;
}

static uint64_t restarting_ticks(void *context)
{
	static uint64_t now;
	void *other = restart.other, *failed;
	(void)context;
	restart.other = NULL;
	if (other) {
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, restart_at, other), 0);
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
	}
	return ++now;
}

static void expect_values(const void *buffer, size_t size, uint64_t from, uint64_t to)
{
	struct trace t;
	trace_open(&t, buffer, size);
	for (uint64_t i = from; i < to; i++) {
		assert_true(trace_next(&t));
		assert_int_equal(t.event.value, i);
	}
	trace_close(&t);
}

/* Recording is stopped and started on another buffer, with packets of another size, while a thread
 * is about to claim a packet. */
static void an_event_stays_in_the_buffer_that_it_began_in(void **state)
{
	const uint64_t in_a_packet = (4096 - 128) / 16;
	struct weft_platform platform = *weft__platform_default();
	void *first = trace_buffer(SIZE), *second = *state = trace_buffer(SIZE * 64);
	platform.ticks = restarting_ticks;
	platform.ticks_hz = 1000;
	restart.size = SIZE * 64;
	restart.platform = &platform;
	assert_int_equal(weft_start(first, SIZE, &platform), 0);
	for (uint64_t i = 0; i < in_a_packet + 5; i++) {
		if (i == in_a_packet)
			restart.other = second;
		weft_tag_value("value", (int64_t)i);
	}
	weft_stop();
	expect_values(first, SIZE, 0, in_a_packet + 1);
	expect_values(second, SIZE * 64, in_a_packet + 1, in_a_packet + 5);
	free(first);
}

static void slow_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	let_pass_us(2000);
	*ret_monotonic_ns = *ret_unix_ns = 1;
}

static void *start_slowly(void *buffer)
{
	static const struct weft_platform platform = {
		.ticks_hz = 1000000000, .read_clocks = slow_clocks};
	return weft_start(buffer, SIZE, &platform) ? buffer : NULL;
}

static void of_two_starts_at_one_time_one_counts(void **state)
{
	pthread_t thread;
	void *mine = trace_buffer(SIZE), *other = trace_buffer(SIZE), *failed;
	assert_int_equal(pthread_create(&thread, NULL, start_slowly, other), 0);
	bool i_failed = start_slowly(mine);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_true(i_failed == !failed);
	weft_note("here");
	weft_stop();
	struct trace t;
	trace_open(&t, i_failed ? other : mine, SIZE);
	assert_true(trace_next(&t));
	trace_close(&t);
	free(mine);
	free(other);
	*state = NULL;
}

#define ID_WRITERS 4
#define IDS        3000

static uint64_t ids[ID_WRITERS][IDS];

static void *make_ids(void *writer)
{
	for (int i = 0; i < IDS; i++)
		ids[(uintptr_t)writer][i] = weft_create(WEFT_KIND_TASK);
	return NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void ids_are_unique(void **state)
{
	void *buffer = *state = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	run_writers(0, ID_WRITERS, make_ids);
	weft_stop();
	uint64_t *all = &ids[0][0];
	qsort(all, ID_WRITERS * IDS, sizeof(*all), compare_ids);
	assert_true(all[0] > 0);
	for (int i = 1; i < ID_WRITERS * IDS; i++)
		assert_true(all[i - 1] < all[i]);
	assert_true(all[ID_WRITERS * IDS - 1] < (uint64_t)1 << 53);
}

static int stop(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, stop)
	const struct CMUnitTest tests[] = {
		CASE(a_few_threads_lose_only_what_is_overwritten),
		CASE(more_threads_than_packets),
		CASE(idle_threads_do_not_silence_a_busy_one),
		CASE(refusals_are_not_inherited_with_a_slot),
		CASE(where_packets_cannot_be_taken_they_stay),
		CASE(a_thread_without_a_slot_looks_for_one_now_and_then),
		CASE(short_threads_fill_packets),
		CASE(many_short_threads),
		CASE(signal_handlers_record),
		CASE(a_running_program_can_be_read),
		CASE(a_child_by_vfork_does_not_take_its_parents_threads_for_ended),
		CASE(threads_finish_in_the_buffer_that_they_began_in),
		CASE(an_event_stays_in_the_buffer_that_it_began_in),
		CASE(of_two_starts_at_one_time_one_counts),
		CASE(ids_are_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
