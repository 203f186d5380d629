/* SPDX-License-Identifier: ISC
 *
 * The program that records: more threads than packets, and what else the round asks for. Each event
 * is numbered by its writer: a thread, or its signal handler.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

#include "delay.h"
#include "faults.h"
#include "record/recorder.h"
#include "round.h"

#define THREADS_MAX 24

static const struct round *round_;
static struct tale *tale;

struct thread {
	pthread_t id;
	uint64_t writer; /* of its events; + HANDLER: of its handler's; … */
	unsigned events, pause_us;
	volatile sig_atomic_t may_jump;
	bool will_be_mended;
	sigjmp_buf back;
	uint64_t caches[NAMES];
};

static _Thread_local struct thread *self __attribute__((tls_model("initial-exec")));

static unsigned random_below(unsigned bound)
{
	return stress_next() % bound;
}

static bool happens(unsigned what)
{
	return round_->happenings & what;
}

/* ---- Events ---- */

static void record_text(uint64_t number, int64_t value)
{
	char text[TEXT_MAX + 1];
	text_of(number, text);
	weft_mark("text", "value", value, "text", text);
}

static void record_kind(uint64_t *caches, uint64_t writer, uint64_t number)
{
	int64_t value = (int64_t)(writer << 32 | number);
	if (number % 8 == 3)
		weft_tag_value_as(writer + 1, "of another task", value);
	else if (number % 8 == 5)
		weft_mark("numbers", "value", value, "writer", writer);
	else if (number % 16 == 7)
		record_text(number, value);
	else
		weft__tag_value(WEFT_TASK_CURRENT, &caches[number % NAMES], name_of(number), value);
}

static void record(uint64_t *caches, uint64_t writer)
{
	uint64_t number = tale->begun[writer];
	__atomic_store_n(&tale->begun[writer], number + 1, __ATOMIC_RELEASE);
	record_kind(caches, writer, number);
	__atomic_store_n(&tale->done[writer], number + 1, __ATOMIC_RELEASE);
}

static void request_snapshot(uint64_t writer)
{
	__atomic_fetch_add(&tale->begun[writer], 1, __ATOMIC_RELEASE);
	weft_snapshot_request("stress");
	__atomic_fetch_add(&tale->done[writer], 1, __ATOMIC_RELEASE);
}

/* ---- Threads ---- */

static void begin_thread(struct thread *thread)
{
	thread->writer = (uint64_t)__atomic_fetch_add(&tale->writers, ROLES, __ATOMIC_RELAXED);
	self = thread;
}

static void record_moment(uint64_t *caches, uint64_t writer)
{
	weft_moment_begin();
	record(caches, writer);
	record(caches, writer);
	weft_moment_end();
}

/* Another thread may be the first to use this name. */
static void handle(int signal)
{
	uint64_t caches[NAMES] = {0};
	struct thread *thread = self;
	(void)signal;
	if (!thread || thread->writer + HANDLER >= WRITERS)
		return;
	if (happens(MOMENTS) && random_below(2))
		record_moment(caches, thread->writer + HANDLER);
	else
		record(caches, thread->writer + HANDLER);
	if (happens(JUMPS) && thread->may_jump && random_below(8) == 0)
		siglongjmp(thread->back, 1);
}

/* True in the middle of an event; a moment alone does not count. */
static bool is_stuck(const struct weft_abi_slot *slot)
{
	bool is_between = weft__load(&slot->is_in_moment) && weft__load(&slot->moment_events) % 2 == 0;
	return weft__load(&slot->sequence) % 2 && !is_between;
}

static void come_back(struct thread *thread)
{
	uint64_t begun = tale->begun[thread->writer];
	thread->may_jump = 0;
	__atomic_fetch_add(&tale->left, begun - tale->done[thread->writer], __ATOMIC_RELEASE);
	__atomic_store_n(&tale->done[thread->writer], begun, __ATOMIC_RELEASE);
	const struct weft_abi_slot *slot = weft__record_self()->slot;
	if (thread->will_be_mended || !slot || !is_stuck(slot))
		return;
	/* Only once, since handlers may jump out again meanwhile. */
	thread->will_be_mended = true;
	thread->events += WEFT__NESTED_MAX;
	thread->pause_us = 0;
}

/* Its end may be left out, or its beginning. */
static void begin_moment_or_end(bool may_begin)
{
	unsigned chance = happens(MOMENTS) ? random_below(16) : 2;
	if (chance == 0 && may_begin)
		weft_moment_begin();
	else if (chance == 1)
		weft_moment_end();
}

static void record_many(struct thread *thread)
{
	volatile unsigned i = 0;
	if (sigsetjmp(thread->back, 1))
		come_back(thread);
	while (i < thread->events && thread->writer + REQUEST < WRITERS) {
		i++;
		thread->may_jump = 1;
		atomic_signal_fence(memory_order_seq_cst);
		record(thread->caches, thread->writer);
		begin_moment_or_end(!thread->pause_us);
		atomic_signal_fence(memory_order_seq_cst);
		thread->may_jump = 0;
		if (happens(HOLDS) && random_below(1000) == 0)
			request_snapshot(thread->writer + REQUEST);
		if (thread->pause_us)
			usleep(random_below(thread->pause_us));
	}
	/* A follower waits for its end. */
	weft_moment_end();
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;
	begin_thread(thread);
	record_many(thread);
	self = NULL;
	return NULL;
}

static atomic_uint running;
static pthread_barrier_t all_created;

/* The threads begin together. Otherwise the first ones may have ended before the last ones are
 * created, most of all under ThreadSanitizer, and packets are hardly ever taken. */
static void *run_long_thread(void *argument)
{
	pthread_barrier_wait(&all_created);
	run_thread(argument);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void *run_short_threads(void *argument)
{
	static struct thread pool[8];
	unsigned turns = random_below(40);
	(void)argument;
	for (unsigned turn = 0; turn < turns; turn++) {
		unsigned count = 1 + random_below(8);
		for (unsigned i = 0; i < count; i++) {
			pool[i] = (struct thread){.events = 1 + random_below(30)};
			if (pthread_create(&pool[i].id, NULL, run_thread, &pool[i]))
				abort();
		}
		for (unsigned i = 0; i < count; i++)
			pthread_join(pool[i].id, NULL);
	}
	return NULL;
}

/* ---- Other actions of the round ---- */

static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static atomic_bool is_over;

static void *send_signals(void *argument)
{
	(void)argument;
	while (!atomic_load(&is_over)) {
		pthread_kill(threads[random_below(thread_count)].id, SIGUSR1);
		usleep(random_below(100));
	}
	return NULL;
}

static struct weft_abi_buffer *buffer_at(unsigned index)
{
	return (void *)(round_->buffers + index * BUFFER_BYTES);
}

static void start_in(unsigned index)
{
	if (weft_start(buffer_at(index), BUFFER_BYTES, NULL))
		report_problem(tale, "recording does not start in buffer %u", index);
	/* Not earlier, so that a process that copies it finds it complete. */
	__atomic_store_n(&tale->buffer, index, __ATOMIC_RELEASE);
}

static void *restart(void *argument)
{
	(void)argument;
	for (unsigned i = 1; i < BUFFERS && !atomic_load(&is_over); i++) {
		usleep(random_below(20000));
		weft_stop();
		if (random_below(2))
			stress_wait();
		start_in(i);
	}
	return NULL;
}

/* ---- The platform, with counts and planted bugs ---- */

static bool (*pass_barrier)(void *context);

static bool count_barrier(void *context)
{
	__atomic_fetch_add(&tale->barriers, 1, __ATOMIC_RELAXED);
	stress_delay();
	bool passed = stress_fault == STRESS_TAKEN_WITHOUT_BARRIER || pass_barrier(context);
	stress_delay();
	return passed;
}

static bool all_have_ended(void *context, uint32_t thread)
{
	(void)context;
	(void)thread;
	return true;
}

/* Call it after a start, which finds out whether the kernel has barriers. */
static void change_platform(void)
{
	struct weft_platform *platform = (struct weft_platform *)weft__platform_default();
	if (platform->barrier && platform->barrier != count_barrier) {
		pass_barrier = platform->barrier;
		platform->barrier = count_barrier;
	}
	if (stress_fault == STRESS_ALIVE_TAKEN)
		platform->has_ended = all_have_ended;
}

/* ---- The round ---- */

static void start_threads(void)
{
	thread_count = 2 + random_below(THREADS_MAX - 1);
	unsigned events = 200 + random_below(4000);
	atomic_store(&running, thread_count);
	pthread_barrier_init(&all_created, NULL, thread_count);
	for (unsigned i = 0; i < thread_count; i++) {
		bool is_idle = i > 0 && random_below(3) == 0;
		threads[i].events = is_idle ? 1 + random_below(30) : 1 + random_below(events);
		threads[i].pause_us = is_idle ? 2000 : 0;
		if (pthread_create(&threads[i].id, NULL, run_long_thread, &threads[i]))
			abort();
	}
}

static void *(*const besides[])(void *) = {run_short_threads, send_signals, restart};
static const unsigned when[] = {SHORT, HANDLERS, RESTARTS};

#define BESIDES (sizeof(when) / sizeof(*when))

static void run_threads(void)
{
	pthread_t ids[BESIDES];
	start_threads();
	for (unsigned i = 0; i < BESIDES; i++)
		if (happens(when[i]) && pthread_create(&ids[i], NULL, besides[i], NULL))
			abort();
	while (atomic_load(&running) > 0)
		usleep(500);
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < BESIDES; i++)
		if (happens(when[i]))
			pthread_join(ids[i], NULL);
	/* Not earlier, because signals were sent to these threads. */
	for (unsigned i = 0; i < thread_count; i++)
		pthread_join(threads[i].id, NULL);
}

static void check_names(void)
{
	for (unsigned name = 0; name < NAMES; name++) {
		uint64_t known = 0;
		for (unsigned i = 0; i < thread_count; i++) {
			uint64_t cache = threads[i].caches[name];
			if (known && cache && cache != known)
				report_problem(tale, "one text with two ids: \"%s\"", name_of(name));
			known = cache ? cache : known;
		}
	}
}

static void start_round(const struct round *round)
{
	round_ = round;
	tale = round->tale;
	stress_seed(round->seed);
	stress_watch(round->buffers, BUFFER_BYTES, BUFFERS);
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	start_in(0);
	change_platform();
	__atomic_store_n(&tale->is_recording, 1, __ATOMIC_RELEASE);
}

void run_program(const struct round *round)
{
	start_round(round);
	run_threads();
	if (!happens(RESTARTS))
		check_names();
	weft_stop();
}
