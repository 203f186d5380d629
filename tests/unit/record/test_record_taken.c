/* SPDX-License-Identifier: ISC
 *
 * A thread that needs a packet takes one from an idle thread only if it has passed two open ones in
 * a row: the latest events of few idle threads stay.
 */
#include "record_trace.h"

#include <pthread.h>
#include <string.h>

#include "record/packet.h"
#include "record/reserve.h"

enum {
	SIZE = 64 << 10, /* the smallest: 13 packets */
	MANY = 50000,
	HOLDERS_MAX = 8,
};

static pthread_barrier_t all_hold_a_packet;

/* Records one event, and lives until the others have recorded theirs. */
static void *hold_a_packet(void *value)
{
	weft_tag_value("held", (intptr_t)value);
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	return NULL;
}

struct outcome {
	int held;  /* events of idle threads that are still there */
	int own;   /* events of the busy thread */
	bool last; /* its last one is there */
};

static struct outcome record_beside(int holders)
{
	struct trace t;
	struct outcome outcome = {0};
	pthread_t threads[HOLDERS_MAX];
	void *buffer = trace_buffer(SIZE);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, (unsigned)holders + 1), 0);
	for (intptr_t i = 0; i < holders; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hold_a_packet, (void *)i), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	for (int64_t i = 0; i < MANY; i++)
		weft_tag_value("own", i);
	pthread_barrier_wait(&all_hold_a_packet);
	for (int i = 0; i < holders; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	while (trace_next(&t)) {
		outcome.held += t.event.text.bytes[0] == 'h';
		outcome.own += t.event.text.bytes[0] == 'o';
		outcome.last |= t.event.text.bytes[0] == 'o' && t.event.value == MANY - 1;
	}
	assert_int_equal(
		outcome.held + outcome.own + (int)trace_loss(&t, WEFT_LOSS_OVERWRITTEN), MANY + holders);
	weft_decoder_destroy(t.decoder);
	free(buffer);
	return outcome;
}

static void one_idle_thread_keeps_its_packet(void **state)
{
	(void)state;
	struct outcome outcome = record_beside(1);
	assert_int_equal(outcome.held, 1);
	assert_true(outcome.last && outcome.own > 1000);
}

static void of_many_idle_threads_some_lose_theirs(void **state)
{
	(void)state;
	struct outcome outcome = record_beside(HOLDERS_MAX);
	assert_in_range(outcome.held, 1, HOLDERS_MAX - 1);
	assert_true(outcome.last && outcome.own > 500);
}

/* Records seven events of two, three and many words, and lives until the test has looked at them.
 */
static void *record_seven(void *ret_slot)
{
	weft_switch(weft_create(WEFT_KIND_TASK));
	weft_tag_value("valued", 7);
	weft_note_as(9, "a text without a name, which is longer than a word");
	weft_wait_any_as(9, 3, (const uint64_t[]){1, 2, 3});
	*(struct weft_abi_slot **)ret_slot = weft__record_self()->slot;
	pthread_barrier_wait(&all_hold_a_packet);
	pthread_barrier_wait(&all_hold_a_packet);
	return NULL;
}

/* A thread that left in the middle of closing another's packet finishes that before its next event:
 * it counts the events. */
static void an_unfinished_packet_is_counted(void **state)
{
	struct weft_abi_slot *other = NULL;
	pthread_t thread;
	void *buffer = trace_buffer(SIZE);
	(void)state;
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	assert_int_equal(pthread_barrier_init(&all_hold_a_packet, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, record_seven, (void *)&other), 0);
	pthread_barrier_wait(&all_hold_a_packet);
	weft_tag_value("own", 1);
	struct weft_abi_slot *own = weft__record_self()->slot;
	struct weft_abi_packet *packet = weft__record_packet_of(weft__record_region(), other);
	assert_int_equal(packet->state & WEFT_ABI_PACKET_STATE, WEFT_ABI_PACKET_OPEN);
	other->limit = 0;
	own->unfinished = packet->state >> 2;
	own->sequence++;
	weft__record_packet_repair(own);
	assert_int_equal(packet->state & WEFT_ABI_PACKET_STATE, WEFT_ABI_PACKET_CLOSED);
	assert_int_equal(packet->written - packet->before, 7);
	assert_int_equal(own->unfinished, 0);
	assert_int_equal(own->sequence % 2, 0);
	pthread_barrier_wait(&all_hold_a_packet);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&all_hold_a_packet);
	weft_stop();
	free(buffer);
}

/* A thread that left in the middle of opening a packet closes it, empty. Readers compare the
 * numbers of events that a thread's packets have before them: this one must not begin again at 0.
 */
static void a_packet_that_was_never_opened_has_its_threads_number(void **state)
{
	void *buffer = trace_buffer(SIZE);
	(void)state;
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	weft_tag_value("own", 1);
	struct weft_abi_slot *own = weft__record_self()->slot;
	const struct weft__region *region = weft__record_region();
	weft__record_packet_close(own);
	assert_int_equal(own->number, 1);
	const uint64_t sequence = ++region->header->hand;
	struct weft_abi_packet *packet = weft__record_packet_at(region, sequence);
	memset(packet, 0, sizeof(*packet));
	packet->state = sequence << 2 | WEFT_ABI_PACKET_OPENING;
	own->unfinished = sequence;
	own->sequence++;
	weft__record_packet_repair(own);
	assert_int_equal(packet->state, sequence << 2 | WEFT_ABI_PACKET_CLOSED);
	assert_int_equal(packet->number, 1);
	assert_int_equal(packet->thread, own->thread);
	weft_tag_value("own", 2);
	weft_stop();
	struct trace t;
	trace_open(&t, buffer, SIZE);
	while (trace_next(&t))
		assert_int_equal(t.event.text.bytes[0], 'o');
	assert_int_equal(trace_loss(&t, WEFT_LOSS_MISSING_PACKETS), 0);
	weft_decoder_destroy(t.decoder);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_idle_thread_keeps_its_packet),
		cmocka_unit_test(an_unfinished_packet_is_counted),
		cmocka_unit_test(a_packet_that_was_never_opened_has_its_threads_number),
		cmocka_unit_test(of_many_idle_threads_some_lose_theirs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
