/* SPDX-License-Identifier: ISC
 *
 * Categories: the bytes of their levels, libraries that come and go, and readers of damaged ones.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/decoder.h>
#include <weft/error.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/category_abi.h"
#include "record/recorder.h"

#define BYTES ((size_t)1 << 20)

WEFT_CATEGORY_DEFINE(net, "net", "connections");

static struct weft_abi_buffer *start(void)
{
	void *buffer = aligned_alloc(64, BYTES);
	assert_non_null(buffer);
	assert_int_equal(weft_start(buffer, BYTES, NULL), 0);
	return buffer;
}

static void stop(struct weft_abi_buffer *header)
{
	weft_stop();
	free(header);
}

static unsigned number_of(
	const struct weft_abi_buffer *header, const struct weft_category *category)
{
	return (unsigned)(category->level - header->levels);
}

static void levels_are_in_the_buffer_while_it_records(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(*weft_category_net.level, 0);
		struct weft_abi_buffer *header = start();
		assert_int_equal(number_of(header, &weft_category_program), 0);
		assert_int_equal(number_of(header, &weft_category_net), 2); /* after "cpu" */
		assert_int_equal(*weft_category_net.level, WEFT_LEVEL_INFO);
		stop(header);
	}
	assert_int_equal(*weft_category_net.level, 0);
}

static void objects_of_one_name_are_one_category(void **state)
{
	(void)state;
	struct weft_category one = {&weft__level_zero, "db", "queries", NULL}, two = one;
	struct weft_abi_buffer *header = start();
	weft_category_register(&one);
	weft_category_register(&two);
	assert_ptr_equal(one.level, two.level);
	unsigned number = number_of(header, &one);
	weft_category_unregister(&one);
	assert_ptr_equal(one.level, &weft__level_zero);
	assert_int_equal(number_of(header, &two), number);
	weft_category_unregister(&two);
	weft_category_register(&one);
	assert_int_equal(number_of(header, &one), number);
	weft_category_unregister(&one);
	stop(header);
}

/* Another process sets all levels, to the same and to another value, before a library is loaded. */
static void a_requested_level_waits_for_its_category(void **state)
{
	(void)state;
	struct weft_category late = {&weft__level_zero, "late", "", NULL};
	assert_int_equal(weft_set_level("la*", WEFT_LEVEL_TRACE), 0);
	for (int level = WEFT_LEVEL_INFO; level >= WEFT_LEVEL_OFF; level -= 3) {
		struct weft_abi_buffer *header = start();
		weft__abi_set_level(header, 1, WEFT_ABI_CATEGORY_ALL, (uint8_t)level);
		weft_category_register(&late);
		assert_int_equal(*late.level, level == WEFT_LEVEL_INFO ? WEFT_LEVEL_TRACE : level);
		weft_category_unregister(&late);
		stop(header);
	}
}

/* The level's byte is the same. */
static void count_and_off_are_different_levels(void **state)
{
	(void)state;
	static const uint8_t levels[] = {WEFT_LEVEL_OFF, WEFT_LEVEL_COUNT};
	for (unsigned i = 0; i < 4; i++) {
		const uint8_t first = levels[i % 2], then = levels[i / 2];
		struct weft_category late = {&weft__level_zero, "at once", "", NULL};
		assert_int_equal(weft_set_level("*", (enum weft_level)first), 0);
		struct weft_abi_buffer *header = start();
		weft__abi_set_level(header, 1, WEFT_ABI_CATEGORY_ALL, then);
		weft_category_register(&late);
		assert_int_equal(*late.level, 0);
		assert_int_equal(header->counting[number_of(header, &late)], then == WEFT_LEVEL_COUNT);
		weft_category_unregister(&late);
		stop(header);
	}
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_INFO), 0);
}

/* Also a pattern of one letter. */
static void only_a_lone_star_means_all(void **state)
{
	(void)state;
	assert_int_equal(weft_set_level("*zz", WEFT_LEVEL_TRACE), 0);
	assert_int_equal(weft_set_level("z", WEFT_LEVEL_TRACE), 0);
	struct weft_abi_buffer *header = start();
	assert_int_equal(*weft_category_net.level, WEFT_LEVEL_INFO);
	assert_int_equal(weft_set_level("z*", WEFT_LEVEL_TRACE), 0);
	assert_int_equal(*weft_category_net.level, WEFT_LEVEL_INFO);
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_TRACE), 0);
	assert_int_equal(*weft_category_net.level, WEFT_LEVEL_TRACE);
	stop(header);
	header = start();
	assert_int_equal(*weft_category_net.level, WEFT_LEVEL_INFO);
	stop(header);
}

static void wishes_are_bounded(void **state)
{
	(void)state;
	char name[100];
	int error = 0, kept = 0;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(weft_set_level(name, WEFT_LEVEL_DEBUG), WEFT_ERROR_LIMIT);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "wish.%d", i);
		error = weft_set_level(name, WEFT_LEVEL_DEBUG);
		kept += error == 0;
	}
	assert_int_equal(error, WEFT_ERROR_LIMIT);
	assert_in_range(kept, 32, 64);
	assert_int_equal(weft_set_level("", WEFT_LEVEL_DEBUG), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_set_level("*", (enum weft_level)7), WEFT_ERROR_ARGUMENT);
	/* Categories that exist get the level even while recording is on. */
	struct weft_abi_buffer *header = start();
	assert_int_equal(weft_set_level("ne*", WEFT_LEVEL_TRACE), WEFT_ERROR_LIMIT);
	assert_int_equal(*weft_category_net.level, WEFT_LEVEL_TRACE);
	stop(header);
}

static void patterns_match(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *name;
		bool matches;
	} rows[] = {
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"net", "net", true},
		{"net", "nets", false},
		{"nets", "net", false},
		{"n*t", "net", true},
		{"n*t", "nt", true},
		{"n*t", "nets", false},
		{"*a*b", "aab ab", true},
		{"*a*b", "aab aba", false},
		{"a**", "a", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			weft__abi_matches(rows[i].pattern, rows[i].name, (uint32_t)strlen(rows[i].name)),
			rows[i].matches);
}

/* Libraries come and go while others start, stop and record. */

static atomic_bool done;

static void *come_and_go(void *argument)
{
	const char *name = argument;
	while (!atomic_load(&done)) {
		struct weft_category *category = malloc(sizeof(*category));
		*category = (struct weft_category){&weft__level_zero, name, "comes and goes", NULL};
		weft_category_register(category);
		for (int i = 0; i < 10; i++)
			if (weft__allows(category, WEFT_LEVEL_INFO))
				weft_tag("here");
		weft_category_unregister(category);
		assert_ptr_equal(category->level, &weft__level_zero);
		free(category);
	}
	return NULL;
}

static void *set_levels(void *argument)
{
	for (int i = 0; !atomic_load(&done); i++)
		weft_set_level(i % 3 ? "*" : "come*", (enum weft_level)(i % 6));
	return argument;
}

static void threads_come_and_go(void **state)
{
	static char names[3][8] = {"come.1", "come.2", "come.2"};
	pthread_t threads[4];
	void *buffers[50];
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, names[i]), 0);
	assert_int_equal(pthread_create(&threads[3], NULL, set_levels, NULL), 0);
	for (int i = 0; i < 50; i++) {
		buffers[i] = start();
		for (int n = 0; n < 200; n++)
			weft_note("main");
		weft_stop();
	}
	atomic_store(&done, true);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 50; i++)
		free(buffers[i]);
	assert_int_equal(*weft_category_net.level, 0);
}

/* It is for categories that found no number. */
static void the_last_category_stays_free(void **state)
{
	struct weft_category category = {&weft__level_zero, "one", "", NULL};
	struct weft_abi_buffer *header = start();
	(void)state;
	weft_category_register(&category);
	weft_category_unregister(&category);
	assert_int_not_equal(header->categories[1], 0);
	assert_int_equal(header->categories[WEFT_ABI_CATEGORY_OTHER], 0);
	assert_int_equal(weft_set_level("**", WEFT_LEVEL_TRACE), 0);
	assert_int_equal(header->levels[1], WEFT_LEVEL_TRACE);
	assert_int_equal(header->levels[WEFT_ABI_CATEGORY_OTHER], WEFT_LEVEL_INFO);
	assert_int_equal(weft_set_level("**", WEFT_LEVEL_INFO), 0);
	stop(header);
}

/* ---- Readers ---- */

static struct weft_decoder *decode(const void *bytes)
{
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, BYTES), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	return decoder;
}

static void long_texts_of_categories_are_cut_between_characters(void **state)
{
	static const size_t room = sizeof(((struct weft_trace_category *)NULL)->description);
	static char texts[4][200];
	static struct weft_category categories[4];
	static const char *const names[4] = {"cut.0", "cut.1", "cut.2", "cut.3"};
	(void)state;
	struct weft_abi_buffer *header = start();
	for (size_t i = 0; i < 4; i++) {
		size_t size = room - 2 + i;
		memset(texts[i], 'd', size);
		memcpy(texts[i] + size - 2, "\xc3\xa9", 2);
		categories[i] = (struct weft_category){&weft__level_zero, names[i], texts[i], NULL};
		weft_category_register(&categories[i]);
	}
	weft_stop();
	struct weft_decoder *decoder = decode(header);
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	unsigned found = 0;
	for (uint32_t i = 0; i < trace->category_count; i++) {
		const struct weft_trace_category *category = &trace->categories[i];
		if (strncmp(category->name, "cut.", 4) != 0)
			continue;
		/* The third text is cut one byte earlier, before its last character. */
		static const size_t kept[4] = {190, 191, 190, 191};
		size_t number = (size_t)(category->name[4] - '0');
		assert_int_equal(strlen(category->description), kept[number]);
		assert_memory_equal(category->description, texts[number], kept[number]);
		found++;
	}
	assert_int_equal(found, 4);
	for (size_t i = 0; i < 4; i++)
		weft_category_unregister(&categories[i]);
	weft_decoder_destroy(decoder);
	free(header);
}

/* In the parent's order, with its levels. */
static void a_child_inherits_its_parents_categories(void **state)
{
	static struct weft_category more[] = {
		{&weft__level_zero, "disk", "files", NULL}, {&weft__level_zero, "plain", NULL, NULL}};
	struct weft_abi_buffer *parent = start();
	(void)state;
	weft_category_register(&more[0]);
	weft_category_register(&more[1]);
	assert_int_equal(weft_set_level("disk", WEFT_LEVEL_TRACE), 0);
	assert_int_equal(weft_set_level("plain", WEFT_LEVEL_OFF), 0);
	weft__live.generation = 0; /* as in a forked child: the objects point at the parent's levels */
	weft__recorder.parent = parent;
	struct weft_abi_buffer *child = start();
	weft__recorder.parent = NULL;
	weft_stop();
	struct weft_decoder *of_parent = decode(parent), *of_child = decode(child);
	const struct weft_trace_description *a = weft_decoder_describe(of_parent);
	const struct weft_trace_description *b = weft_decoder_describe(of_child);
	assert_int_equal(a->category_count, b->category_count);
	for (uint32_t i = 0; i < a->category_count; i++) {
		assert_string_equal(a->categories[i].name, b->categories[i].name);
		assert_string_equal(a->categories[i].description, b->categories[i].description);
		assert_int_equal(a->categories[i].number, b->categories[i].number);
		assert_int_equal(a->categories[i].level, b->categories[i].level);
	}
	weft_decoder_destroy(of_parent);
	weft_decoder_destroy(of_child);
	weft_category_unregister(&more[0]);
	weft_category_unregister(&more[1]);
	assert_int_equal(weft_set_level("disk", WEFT_LEVEL_INFO), 0);
	assert_int_equal(weft_set_level("plain", WEFT_LEVEL_INFO), 0);
	free(parent);
	free(child);
}

static void a_change_that_was_not_completed_is_left_out(void **state)
{
	(void)state;
	struct weft_abi_buffer *header = start();
	uint64_t ticks = header->start.ticks;
	for (unsigned i = 0; i < 70; i++)
		weft__abi_note_change(header, ticks + i, 1, (uint8_t)(i % 6));
	header->changes_count++; /* killed after it took its number */
	weft__abi_note_change(header, ticks + 71, 0, WEFT_LEVEL_DEBUG);
	weft_stop();
	struct weft_decoder *decoder = decode(header);
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	assert_int_equal(trace->change_count, WEFT_ABI_CHANGES - 1);
	assert_int_equal(trace->changes[0].level, (70 + 2 - 64) % 6);
	assert_int_equal(trace->changes[62].category, 0);
	assert_int_equal(trace->changes[62].level, WEFT_LEVEL_DEBUG);
	assert_true(trace->changes[0].time_ns <= trace->changes[62].time_ns);
	weft_decoder_destroy(decoder);
	free(header);
}

static void hostile_categories_stay_in_bounds(void **state)
{
	(void)state;
	struct weft_abi_buffer *header = start();
	weft_stop();
	for (unsigned i = 0; i < WEFT_ABI_LEVELS; i++) {
		header->categories[i] = i * 0x04210817u + 1;
		header->levels[i] = (uint8_t)(i * 7);
	}
	header->changes_count = UINT32_MAX - 3;
	memset(header->changes, 0xff, sizeof(header->changes));
	/* A name of the maximum size, of bytes that are half a character each. */
	unsigned char *entry = (unsigned char *)header + header->names_offset + header->names_index * 4;
	memset(entry, 0xbf, 1100);
	((uint32_t *)(void *)entry)[1] = 1024;
	header->categories[63] = 1 | 1 << 16;
	struct weft_decoder *decoder = decode(header);
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	for (uint32_t i = 0; i < trace->category_count; i++) {
		assert_true(strlen(trace->categories[i].name) < sizeof(trace->categories[i].name));
		assert_true(trace->categories[i].number < WEFT_ABI_LEVELS);
	}
	assert_true(trace->change_count <= WEFT_ABI_CHANGES);
	weft_decoder_destroy(decoder);
	free(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_in_the_buffer_while_it_records),
		cmocka_unit_test(objects_of_one_name_are_one_category),
		cmocka_unit_test(a_requested_level_waits_for_its_category),
		cmocka_unit_test(count_and_off_are_different_levels),
		cmocka_unit_test(only_a_lone_star_means_all),
		cmocka_unit_test(the_last_category_stays_free),
		cmocka_unit_test(patterns_match),
		cmocka_unit_test(a_child_inherits_its_parents_categories),
		cmocka_unit_test(a_change_that_was_not_completed_is_left_out),
		cmocka_unit_test(long_texts_of_categories_are_cut_between_characters),
		cmocka_unit_test(hostile_categories_stay_in_bounds),
		cmocka_unit_test(wishes_are_bounded),
		cmocka_unit_test(threads_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
