/* SPDX-License-Identifier: ISC
 *
 * The values of counters: they change whether or not anything is recorded, in all threads, in each
 * process by itself; and the trace has them.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft_ffi.h>

#include "record_trace.h"
#include "wipes.h"

#define BYTES 65536

/* The value in the last total of that name; -1 if there is none. */
static double last_total(const void *buffer, const char *name)
{
	struct trace trace;
	struct weft_event event;
	double found = -1;
	trace_open(&trace, buffer, BYTES);
	while (weft_decoder_next(trace.decoder, &event) == WEFT_OK)
		if (event.type == WEFT_EVENT_TOTAL && event.text.size == strlen(name) &&
			memcmp(event.text.bytes, name, event.text.size) == 0)
			found = event.is_real ? event.real : (double)event.value;
	assert_int_equal(weft_decoder_diagnostics(trace.decoder)->count, 0);
	weft_decoder_destroy(trace.decoder);
	return found;
}

static void they_change_while_nothing_is_recorded(void **state)
{
	void *buffer = trace_buffer(BYTES);
	(void)state;
	for (int i = 0; i < 100; i++)
		weft_counter_add("before", 1);
	assert_int_equal(weft_counter_read("before"), 100);
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	weft_counter_add("before", 1);
	weft_stop();
	weft_counter_add("before", 5);
	assert_int_equal(weft_counter_read("before"), 106);
	assert_int_equal(last_total(buffer, "before"), 101);
	assert_int_equal(weft_counter_read("never changed"), 0);
	free(buffer);
}

static void levels_do_not_matter(void **state)
{
	void *buffer = trace_buffer(BYTES);
	(void)state;
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	for (int i = 0; i < 3; i++)
		weft_at(WEFT_LEVEL_DEBUG, weft_counter_add("detail", 2));
	weft_stop();
	assert_int_equal(last_total(buffer, "detail"), 6);
	free(buffer);
}

/* The name of one call site may differ from call to call. */
static void names_that_are_no_literals_count(void **state)
{
	static const char *const names[] = {"first of several", "second of several"};
	(void)state;
	for (int i = 0; i < 10; i++)
		weft_counter_add(names[i % 2], i);
	assert_int_equal(weft_counter_read(names[0]), 0 + 2 + 4 + 6 + 8);
	assert_int_equal(weft_counter_read(names[1]), 1 + 3 + 5 + 7 + 9);
}

static void a_set_is_the_value(void **state)
{
	(void)state;
	weft_counter_add("level", 7);
	weft_counter_set("level", 3);
	assert_int_equal(weft_counter_read("level"), 3);
	weft_counter_add("level", -4);
	assert_int_equal(weft_counter_read("level"), -1);
	weft_counter_set("level", INT64_MIN);
	assert_int_equal(weft_counter_read("level"), INT64_MIN);
}

static void a_real_one_has_fractions(void **state)
{
	void *buffer = trace_buffer(BYTES);
	(void)state;
	weft_counter_add("real", 2);
	weft_counter_add("real", 0.75);
	weft_counter_add("real", 1);
	weft_counter_add("real", 0.0 / 0.0); /* no number */
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	weft_stop();
	assert_true(last_total(buffer, "real") == 3.75);
	assert_int_equal(weft_counter_read("real"), 3);
	weft_counter_set("real", -1e300);
	assert_int_equal(weft_counter_read("real"), INT64_MIN);
	weft_counter_set("real", 12);
	assert_int_equal(weft_counter_read("real"), 12);
	free(buffer);
}

#define THREADS 8
#define CHANGES 50000

static void *change(void *is_last)
{
	for (int i = 0; i < CHANGES; i++)
		weft_counter_add("shared", 1);
	weft_counter_add(is_last ? "of the last" : "of others", 1);
	return NULL;
}

static void no_change_of_any_thread_is_lost(void **state)
{
	pthread_t threads[THREADS];
	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, change, i == THREADS - 1 ? threads : NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(weft_counter_read("shared"), THREADS * CHANGES);
	assert_int_equal(weft_counter_read("of others"), THREADS - 1);
	weft_counter_set("shared", 5);
	assert_int_equal(weft_counter_read("shared"), 5);
}

static uint64_t shared_cache;

static void *add_by_shared_cache(void *unused)
{
	for (int i = 0; i < 10; i++)
		weft_ffi_counter_add(NULL, 0, 0, "of a binding", 12, &shared_cache, 1);
	return unused;
}

/* A binding has one cache for a name, by which it sets and adds. */
static void a_set_knows_what_others_added_by_its_cache(void **state)
{
	pthread_t threads[THREADS];
	(void)state;
	weft_ffi_counter_set(NULL, 0, 0, "of a binding", 12, &shared_cache, 5);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_by_shared_cache, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(weft_counter_read("of a binding"), 5 + THREADS * 10);
	weft_ffi_counter_set(NULL, 0, 0, "of a binding", 12, &shared_cache, 7);
	assert_int_equal(weft_counter_read("of a binding"), 7);
}

/* Its parent's changes are its parent's, and the other way round. */
static void a_forked_child_begins_with_zeros(void **state)
{
	int status = 0;
	(void)state;
	if (!system_wipes())
		skip();
	for (int i = 0; i < 2; i++) {
		pid_t child = i ? fork() : 0;
		weft_counter_add("forked", 10);
		if (i && child == 0)
			_exit(weft_counter_read("forked") == 10 ? 0 : 1);
		if (i)
			assert_int_equal(waitpid(child, &status, 0), child);
	}
	assert_int_equal(status, 0);
	assert_int_equal(weft_counter_read("forked"), 20);
}

/* The buffer has wrapped several times since. */
static void the_trace_has_it_long_after_the_last_change(void **state)
{
	void *buffer = trace_buffer(BYTES);
	struct trace trace;
	(void)state;
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	weft_counter_set("long ago", 3);
	for (int i = 0; i < 50000; i++)
		weft_tag_value("n", i);
	/* The process ends here without a word. */
	assert_int_equal(last_total(buffer, "long ago"), 3);
	weft_stop();
	trace_open(&trace, buffer, BYTES);
	assert_true(trace_loss(&trace, WEFT_LOSS_OVERWRITTEN) > 10000);
	weft_decoder_destroy(trace.decoder);
	free(buffer);
}

/* A program that is killed soon leaves nothing but that packet. */
static void the_first_packet_of_each_recording_has_it(void **state)
{
	(void)state;
	weft_counter_set("kept", 3);
	for (int i = 0; i < 2; i++) {
		void *buffer = trace_buffer(BYTES);
		assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
		weft_tag_value("n", i);
		assert_int_equal(last_total(buffer, "kept"), 3);
		weft_stop();
		free(buffer);
	}
}

/* More totals than one packet may have. */
static void losses_in_each_packet_leave_totals_of_all(void **state)
{
	static char text[2000];
	const struct weft_abi_buffer *header;
	void *buffer = trace_buffer(BYTES);
	char name[32];
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	for (int i = 0; i < 80; i++) {
		snprintf(name, sizeof(name), "one of many %d", i);
		weft_counter_add(name, 1);
	}
	header = buffer;
	while (header->hand < 100) {
		weft_counter_add(text, 1); /* is lost */
		weft_tag_value("n", 1);
	}
	assert_int_equal(last_total(buffer, name), 1);
	weft_stop();
	free(buffer);
}

static void more_than_there_is_room_for_are_refused(void **state)
{
	void *buffer = trace_buffer(BYTES);
	struct trace trace;
	char name[32];
	(void)state;
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	for (int i = 0; i < WEFT_ABI_COUNTERS + 10; i++) {
		snprintf(name, sizeof(name), "counter %d", i);
		weft_counter_add(name, i);
	}
	weft_stop();
	assert_int_equal(weft_counter_read("counter 7"), 7);
	assert_int_equal(weft_counter_read(name), 0);
	trace_open(&trace, buffer, BYTES);
	assert_true(trace_loss(&trace, WEFT_LOSS_METRICS_FULL) >= 10);
	weft_decoder_destroy(trace.decoder);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_change_while_nothing_is_recorded),
		cmocka_unit_test(levels_do_not_matter),
		cmocka_unit_test(names_that_are_no_literals_count),
		cmocka_unit_test(a_set_is_the_value),
		cmocka_unit_test(a_real_one_has_fractions),
		cmocka_unit_test(no_change_of_any_thread_is_lost),
		cmocka_unit_test(a_set_knows_what_others_added_by_its_cache),
		cmocka_unit_test(a_forked_child_begins_with_zeros),
		cmocka_unit_test(the_trace_has_it_long_after_the_last_change),
		cmocka_unit_test(the_first_packet_of_each_recording_has_it),
		cmocka_unit_test(losses_in_each_packet_leave_totals_of_all),
		cmocka_unit_test(more_than_there_is_room_for_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
