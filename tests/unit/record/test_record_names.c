/* SPDX-License-Identifier: ISC
 *
 * When the recorder calls its platform: for a thread's number and name at the thread's first event
 * and when it is asked to; in a quiet buffer for nothing else later.
 */
#include "../model/few_packets.h"
#include "record_trace.h"

#include <pthread.h>

#include "record/recorder.h"

enum {
	SIZE = 64 << 10,
	MANY = 50000,
	HOLDERS = 8,
};

static const char *system_name;
static unsigned questions, later_calls;

static uint32_t self(void *context, char ret_name[16])
{
	char any[16];
	(void)context;
	questions++;
	strcpy(ret_name, system_name);
	return weft__platform_default()->self(NULL, any);
}

static bool has_ended(void *context, uint32_t thread)
{
	(void)context;
	(void)thread;
	later_calls++;
	return false;
}

static bool barrier(void *context)
{
	later_calls++;
	return weft__platform_default()->barrier(context);
}

static void wake(void *context, uint32_t *word)
{
	(void)context;
	(void)word;
	later_calls++;
}

static struct weft_platform platform;

static struct weft_abi_buffer *start(void)
{
	void *buffer = trace_buffer(SIZE);
	platform = *weft__platform_default();
	platform.self = self;
	platform.has_ended = has_ended;
	platform.wake = wake;
	platform.barrier = barrier;
	questions = later_calls = 0;
	system_name = "first";
	assert_int_equal(weft_start(buffer, SIZE, &platform), 0);
	return buffer;
}

static void record_some(int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		weft_tag_value("own", i);
}

/* Ends the record and expects this name of the only thread. */
static void expect_name(void *buffer, const char *name)
{
	struct trace t;
	weft_stop();
	trace_open(&t, buffer, SIZE);
	while (trace_next(&t))
		continue;
	assert_int_equal(weft_decoder_describe(t.decoder)->thread_count, 1);
	assert_string_equal(weft_decoder_describe(t.decoder)->threads[0].name, name);
	trace_close(&t);
	free(buffer);
}

static void a_thread_is_asked_once(void **state)
{
	(void)state;
	void *buffer = start();
	record_some(1);
	system_name = "second";
	record_some(MANY);
	assert_int_equal(questions, 1);
	expect_name(buffer, "first");
}

static void a_new_name(void **state)
{
	(void)state;
	void *buffer = start();
	record_some(1);
	system_name = "second";
	weft_thread_name(NULL);
	assert_int_equal(questions, 2);
	record_some(1);
	expect_name(buffer, "second");
	buffer = start();
	record_some(1);
	weft_thread_name("a name of more than 15 bytes");
	record_some(1);
	assert_int_equal(questions, 1);
	expect_name(buffer, "a name of more ");
	weft_thread_name("none");
}

static void a_name_before_the_first_event(void **state)
{
	(void)state;
	void *buffer = start();
	weft_thread_name("early");
	record_some(1);
	expect_name(buffer, "early");
}

static pthread_barrier_t all_hold_a_packet;

static void *hold_a_packet(void *none)
{
	record_some(1);
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	return none;
}

/* Records beside idle threads that hold packets, and a follower that waits. The number of calls
 * after the first events. */
static unsigned calls_of(bool is_quiet)
{
	struct weft_abi_buffer *header = start();
	pthread_t threads[HOLDERS];
	header->is_quiet = is_quiet;
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, HOLDERS + 1), 0);
	for (int i = 0; i < HOLDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hold_a_packet, NULL), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	record_some(1);
	unsigned before = questions;
	later_calls = 0;
	header->waiters = 1;
	record_some(MANY);
	assert_int_equal(questions, before);
	unsigned calls = later_calls;
	pthread_barrier_wait(&all_hold_a_packet);
	for (int i = 0; i < HOLDERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	free(header);
	return calls;
}

static void a_quiet_buffer(void **state)
{
	(void)state;
	assert_true(calls_of(false) > 1);
	assert_int_equal(calls_of(true), 0);
}

/* All packets are held, so events are lost; without `is_quiet` the thread asks who has ended. */
static void a_quiet_buffer_without_packets(void **state)
{
	(void)state;
	struct weft_abi_buffer *header = start();
	pthread_t thread;
	header->is_quiet = 1;
	use_few_packets(1, 3072);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, hold_a_packet, NULL), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	record_some(1);
	later_calls = 0;
	record_some(1000);
	assert_int_equal(later_calls, 0);
	assert_int_equal(header->losses[WEFT_ABI_LOSS_FULL], 1001);
	pthread_barrier_wait(&all_hold_a_packet);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	free(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_asked_once),
		cmocka_unit_test(a_new_name),
		cmocka_unit_test(a_name_before_the_first_event),
		cmocka_unit_test(a_quiet_buffer),
		cmocka_unit_test(a_quiet_buffer_without_packets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
