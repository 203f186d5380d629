/* SPDX-License-Identifier: ISC
 *
 * One thread builds a model and makes snapshots while another one reads and destroys them. For the
 * thread sanitizer, which finds any memory that both use at once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/model.h>

#include "decoded.h"
#include "event_types.h"
#include "same_model.h"

#define SNAPSHOTS 300

static const struct weft_trace_description description = {.format = "test", .clock.name = "test"};

struct hand_over {
	_Atomic(struct weft_model *) model; /* from the builder's thread to the reader's */
	atomic_bool is_last;
	unsigned read, changed;
};

/* Reads each snapshot twice, with time for the builder to go on in between. */
static void *read_snapshots(void *context)
{
	struct hand_over *h = context;
	for (bool was_last = false; !was_last;) {
		was_last = atomic_load(&h->is_last);
		struct weft_model *model = atomic_exchange(&h->model, NULL);
		if (!model) {
			sched_yield();
			continue;
		}
		uint64_t sum = checksum(model);
		sched_yield();
		h->changed += checksum(model) != sum;
		h->read++;
		weft_model_destroy(model);
	}
	return NULL;
}

static void add_events(struct weft_model_builder *builder, uint64_t *seed, uint64_t *time)
{
	struct weft_diagnostics diagnostics = {0};
	for (unsigned i = next_random(seed) % 60; i > 0; i--) {
		struct weft_event event = {
			.type = event_type_of(next_random(seed)),
			.time_ns = ++*time,
			.task = next_random(seed) % 200,
			.other = next_random(seed) % 200,
			.flag = next_random(seed) % 2,
			.text = {"text", next_random(seed) % 4},
			.thread = next_random(seed) % 3,
		};
		assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
	}
}

static void reader_and_builder_share_without_a_race(void **state)
{
	(void)state;
	struct hand_over h = {.read = 0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	uint64_t seed = 7, time = 0;
	pthread_t reader;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_snapshots, &h), 0);
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		add_events(builder, &seed, &time);
		assert_int_equal(weft_model_builder_snapshot(builder, &description, 0, &model), 0);
		weft_model_destroy(atomic_exchange(&h.model, model)); /* the reader did not take it */
		if (i % 4 == 0)
			while (atomic_load(&h.model))
				sched_yield();
	}
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	atomic_store(&h.is_last, true);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_true(h.read >= SNAPSHOTS / 4);
	assert_int_equal(h.changed, 0);
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_and_builder_share_without_a_race),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
