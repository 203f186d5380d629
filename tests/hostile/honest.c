/* SPDX-License-Identifier: ISC
 *
 * Threads that record valid events of every type.
 *
 * Their ring is damaged meanwhile, so that the recorder may follow a wrong address or lose its
 * memory. A thread to which that happens stops there, and waits for the process's end.
 */
#include "writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

enum {
	THREADS = 3
};

static atomic_bool stopping;
static _Thread_local volatile sig_atomic_t is_recorder;

static void park(int number)
{
	(void)number;
	if (!is_recorder)
		_exit(98); /* a fault in the attack itself */
	for (;;)
		pause();
}

static void sleep_us(long us)
{
	const struct timespec time = {0, us * 1000};
	nanosleep(&time, NULL);
}

/* A request that reads, waits, fails now and then, and has children. */
static void record_request(uint64_t number, uint64_t other)
{
	uint64_t task = weft_create(WEFT_KIND_TASK), child = weft_create_as(task, WEFT_KIND_BIND);
	weft_label_as(task, "request");
	weft_switch(task);
	weft_note("a note with a literal text");
	weft_notef("number %-+8lld of %s: %5.2f%% \"%c\"", (long long)number, "many", 1.5, 'x');
	weft_mark("request", "bytes", (int)number, "path", "/index.html", "share", 0.5);
	weft_label_as(child, number % 2 ? "child" : "another child");
	weft_try_read(child);
	weft_counter_set("queue", (int64_t)(number % 200));
	weft_counter_add("requests", 1);
	weft_tag("cache miss");
	weft_tag_value("took", (int64_t)number);
	weft_signal_only(other);
	weft_resolve_as(task, child);
	weft_moment_begin();
	weft_read_as(task, child);
	if (number % 13)
		weft_resolve(task);
	else
		weft_fail(task, "connection lost");
	weft_moment_end();
	weft_switch(WEFT_TASK_NONE);
}

static void record_idle(uint64_t number)
{
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	sleep_us(200 + (long)(number % 7) * 100);
	weft_band_end(WEFT_BAND_IDLE, "poll");
	if (number % 100 == 0)
		weft_gc(1000000);
}

static void *record(void *unused)
{
	static atomic_uint_fast64_t last;
	uint32_t seen = 0;
	(void)unused;
	is_recorder = 1;
	for (uint64_t number = 0; !stopping; number++) {
		char text[64] = "a text that is copied into the event: ";
		record_request(number, last);
		last = weft_current();
		text[38] = (char)('a' + number % 26);
		weft_note(text);
		record_idle(number);
		if (weft_rundown_wanted(&seen))
			weft_rundown_task(number + 1, WEFT_KIND_TASK, "request", 1000000, WEFT_TASK_NONE);
	}
	return NULL;
}

void honest_start(void)
{
	struct sigaction action = {.sa_handler = park, .sa_flags = SA_NODEFER};
	pthread_t thread;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	weft_trigger("counter queue > 150");
	weft_trigger("tag 'cache miss'");
	weft_trigger("waits > 100ms");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, record, NULL) == 0)
			pthread_detach(thread);
}

void honest_stop(void)
{
	stopping = true;
	sleep_us(20000);
}
