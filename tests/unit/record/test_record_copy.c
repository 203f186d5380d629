/* SPDX-License-Identifier: ISC
 *
 * Two copies of the recorder in one process: this one and one that the test plays.
 */
#include "record_trace.h"

#include <weft/error.h>

#include "abi/buffer_abi.h"
#include "record/category.h"
#include "record/copy.h"
#include "record/recorder.h"

#define SIZE ((size_t)64 << 10)

static struct weft__recorder other_recorder;
static struct weft__live_page other_live;
static unsigned pointed, asked, started, stopped, numbered, leveled;
static uint32_t own_tid;

static void point(void)
{
	pointed++;
}

static uint32_t self(void *context, char name[16])
{
	(void)context;
	memset(name, 0, 16);
	asked++;
	return own_tid;
}

static const struct weft_platform platform = {.self = self, .ticks_hz = 1000000000};

/* ---- The other one follows ---- */

static struct weft__copy follower = {
	.recorder = &other_recorder, .live = &other_live, .point = point};

static int begin(void **state)
{
	*state = trace_buffer(SIZE);
	own_tid = 7;
	asked = pointed = 0;
	weft__recorder.followers = &follower;
	return weft_start(*state, SIZE, &platform);
}

static int end(void **state)
{
	weft_stop();
	weft__recorder.followers = NULL;
	free(*state);
	return 0;
}

static bool resume(bool for_event)
{
	(void)for_event;
	return false;
}

static void assert_followed(void)
{
	assert_int_equal(other_live.generation, weft__live.generation);
	assert_ptr_equal(other_recorder.region, weft__recorder.region);
	assert_ptr_equal(other_recorder.platform, weft__recorder.platform);
	assert_ptr_equal(other_recorder.idle, weft__recorder.idle);
	assert_true(other_recorder.resume == weft__recorder.resume);
}

static void a_follower_gets_each_change(void **state)
{
	static const uint8_t offered = 1;
	assert_ptr_equal(other_recorder.region->header, *state);
	assert_int_not_equal(other_live.generation, 0);
	assert_int_equal(pointed, 1);
	assert_followed();
	weft__recorder.offered = &offered;
	weft__recorder.resume = resume;
	weft_stop();
	assert_int_equal(other_live.generation, 0);
	assert_ptr_equal(other_recorder.idle, &offered);
	assert_true(other_recorder.resume == resume);
	assert_int_equal(pointed, 2);
	assert_followed();
	weft__recorder.offered = NULL;
	weft_stop();
	assert_int_equal(pointed, 3);
	assert_null(other_recorder.idle);
	assert_true(other_recorder.resume == NULL);
}

/* The thread is asked for its number once. */
static void a_follower_enters_the_leaders_slot(void **state)
{
	const struct weft_abi_buffer *header = *state;
	uint64_t generation = weft__record_generation();
	const struct weft_abi_slot *slot = weft__copy.enter(generation, true);
	assert_non_null(slot);
	assert_ptr_equal(slot, weft__record_self()->slot);
	assert_int_equal((uint32_t)slot->owner, 7);
	assert_ptr_equal(weft__copy.enter(generation, true), slot);
	assert_ptr_equal(weft__copy.enter(generation, false), slot);
	assert_int_equal(asked, 1);
	assert_null(weft__copy.enter(generation + 4, false));
	assert_int_equal(header->slots_used, 1);
}

static void a_refused_event_is_counted_by_the_leader(void **state)
{
	const struct weft_abi_buffer *header = *state;
	own_tid = 0; /* of a thread that must not record */
	assert_null(weft__copy.enter(weft__record_generation(), false));
	assert_int_equal(header->losses[WEFT_ABI_LOSS_FULL], 0);
	assert_null(weft__copy.enter(weft__record_generation(), true));
	assert_int_equal(header->losses[WEFT_ABI_LOSS_FULL], 1);
}

/* ---- The other one leads ---- */

static int other_start(void *buffer, size_t size, const struct weft_platform *given)
{
	started++;
	assert_non_null(buffer);
	assert_int_equal(size, SIZE);
	assert_ptr_equal(given, &platform);
	return WEFT_ERROR_LIMIT;
}

static void other_stop(void)
{
	stopped++;
}

static int other_set_level(const char *pattern, enum weft_level level)
{
	leveled++;
	assert_string_equal(pattern, "net");
	assert_int_equal(level, WEFT_LEVEL_DEBUG);
	return WEFT_ERROR_STATE;
}

static uint32_t other_category(
	const struct weft__region *region, const char *name, const char *description)
{
	(void)region;
	(void)description;
	assert_non_null(name);
	numbered++;
	return 5;
}

static struct weft_abi_slot *other_enter(uint64_t generation, bool for_event)
{
	(void)generation;
	(void)for_event;
	return NULL;
}

static struct weft__copy leader = {
	.recorder = &other_recorder,
	.live = &other_live,
	.start = other_start,
	.stop = other_stop,
	.enter = other_enter,
	.category = other_category,
	.set_level = other_set_level,
};

static void calls_go_to_the_leader(void **state)
{
	struct weft_abi_buffer *header = trace_buffer(SIZE);
	struct weft_category category = {&weft__level_zero, "late", "", NULL};
	(void)state;
	struct weft__region region;
	weft__record_region_lay_out(&region, header, SIZE);
	weft__record_buffer_prepare(&region, false);
	other_recorder = (struct weft__recorder){.region = &region, .platform = &platform};
	other_live.generation = 8;
	weft__copy_follow(&leader);
	assert_ptr_equal(other_recorder.followers, &weft__copy);
	assert_ptr_equal(weft__record_header(), header);
	assert_ptr_equal(weft__recorder.platform, &platform);
	assert_int_equal(weft__live.generation, 8);
	assert_true(numbered > 0);
	assert_ptr_equal(weft_category_program.level, &header->levels[5]);
	weft_category_register(&category);
	assert_ptr_equal(category.level, &header->levels[5]);
	weft_category_unregister(&category);
	assert_ptr_equal(category.level, &weft__level_zero);
	assert_int_equal(weft_start(header, SIZE, &platform), WEFT_ERROR_LIMIT);
	assert_int_equal(weft_set_level("net", WEFT_LEVEL_DEBUG), WEFT_ERROR_STATE);
	weft_stop();
	assert_int_equal(started, 1);
	assert_int_equal(stopped, 1);
	assert_int_equal(leveled, 1);
	weft__live.generation = 0; /* nothing records at the end of the program */
	free(header);
}

/* Runs last. */
static void a_copy_that_cannot_follow_records_nothing(void **state)
{
	void *buffer = trace_buffer(SIZE);
	(void)state;
	weft__copy_bar();
	assert_int_equal(weft_start(buffer, SIZE, &platform), WEFT_ERROR_UNSUPPORTED);
	assert_int_equal(started, 1);
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_follower_gets_each_change, begin, end),
		cmocka_unit_test_setup_teardown(a_follower_enters_the_leaders_slot, begin, end),
		cmocka_unit_test_setup_teardown(a_refused_event_is_counted_by_the_leader, begin, end),
		cmocka_unit_test(calls_go_to_the_leader),
		cmocka_unit_test(a_copy_that_cannot_follow_records_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
