/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <malloc.h>
#include <stdlib.h>
#include <cmocka.h>

#include <weft/diagnostic.h>
#include <weft/error.h>
#include <weft/seed.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/diagnostics.h"
#include "base/field.h"
#include "base/index.h"
#include "base/search.h"
#include "base/sort.h"

static void diagnostics_are_counted_by_text(void **state)
{
	(void)state;
	struct weft_diagnostics list = {0};
	weft_diagnostics_add(&list, 40, "a");
	weft_diagnostics_add(&list, 20, "b");
	weft_diagnostics_add(&list, 60, "a");
	assert_int_equal(list.count, 2);
	assert_int_equal(list.list[0].count, 2);
	assert_int_equal(list.list[0].offset, 40);
	assert_string_equal(list.list[1].message, "b");
}

static void moved_diagnostics_are_added_and_gone(void **state)
{
	(void)state;
	struct weft_diagnostics from = {0}, to = {0};
	weft_diagnostics_add(&from, 40, "a");
	weft_diagnostics_add(&from, 50, "a");
	weft_diagnostics_add(&from, 60, "b");
	weft_diagnostics_add(&to, 45, "a");
	weft__diagnostics_move(&from, &to);
	assert_int_equal(from.count, 0);
	assert_int_equal(to.count, 2);
	assert_int_equal(to.list[0].count, 3);
	assert_int_equal(to.list[0].offset, 40);
	assert_int_equal(to.list[1].offset, 60);
	weft__diagnostics_move(&from, &to);
	assert_int_equal(to.list[0].count, 3);
}

static void every_error_has_a_text(void **state)
{
	(void)state;
#define X(name, number, text) assert_string_equal(weft_error_text(WEFT_ERROR_##name), text);
	WEFT_ERRORS(X)
#undef X
	assert_string_equal(weft_error_text(-1000), "unknown error");
}

/* From Python 3.11, whose hash of bytes is SipHash-1-3, with PYTHONHASHSEED 1 and 0. */
static void hashes_are_those_of_siphash(void **state)
{
	(void)state;
	static const struct {
		size_t size;
		uint64_t seeded, unseeded;
	} known[] = {
		{1, UINT64_C(0xecd3e5afcecda4b9), UINT64_C(0x68a914128e01e473)},
		{7, UINT64_C(0xfd15e78052a69ddf), UINT64_C(0x2f098ab0c751325a)},
		{8, UINT64_C(0xc0b5739e7e28dd01), UINT64_C(0xead411e67ebe2eea)},
		{15, UINT64_C(0xfa87985f39e97a53), UINT64_C(0xf30eb725bb91c9ea)},
		{63, UINT64_C(0x542052345bc68274), UINT64_C(0x385d3e39e5f37359)},
	};
	const uint32_t seed[4] = {0x84be2329, 0xaed66ce1, 0xf1499052, 0xebe9bbf1};
	struct weft__hash_key zero = weft__hash_key(), key;
	uint8_t bytes[64];
	weft_seed_hashes(seed);
	key = weft__hash_key();
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		assert_true(weft__hash_bytes(&key, bytes, known[i].size) == known[i].seeded);
		assert_true(weft__hash_bytes(&zero, bytes, known[i].size) == known[i].unseeded);
	}
}

#define ENTRIES 4096

static uint64_t hash_of(const struct weft__hash_key *key, const void *owner, uint32_t value)
{
	return weft__hash_u64(key, ((const uint64_t *)owner)[value]);
}

/* The maximum number of consecutive slots that a lookup may have to visit. */
static uint32_t longest_run(const struct weft__index *index)
{
	uint32_t longest = 0, run = 0;
	for (uint32_t i = 0; i <= index->mask; i++) {
		run = index->slots[i] == WEFT__INDEX_EMPTY ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* With a known key, entries can be found that all collide under it, which is easy for a table of
 * this size; under another key the same entries are spread evenly. */
static void entries_that_collide_under_one_key_are_spread_under_another(void **state)
{
	(void)state;
	static uint64_t words[ENTRIES];
	struct weft__hash_key known = weft__hash_key();
	struct weft__index index;
	uint32_t count = 0;
	for (uint64_t word = 0; count < ENTRIES; word++)
		if ((weft__hash_u64(&known, word) & 0x1f80) == 0)
			words[count++] = word;
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(weft__index_init(&index), 0);
		for (uint32_t i = 0; i < ENTRIES; i++)
			assert_int_equal(weft__index_add(&index, i, hash_of, words), 0);
		if (round == 0)
			assert_in_range(longest_run(&index), ENTRIES, 2 * ENTRIES);
		else
			assert_in_range(longest_run(&index), 1, ENTRIES / 8);
		weft__index_finish(&index);
		weft_seed_hashes((const uint32_t[]){1, 2, 3, 4});
	}
}

/* More than 2^16 values are sorted by wider digits. */
static void many_values_of_64_bits_are_sorted(void **state)
{
	(void)state;
	enum {
		COUNT = 70000
	};
	uint64_t *values = malloc(COUNT * sizeof(*values)), *scratch = malloc(COUNT * sizeof(*scratch));
	uint64_t random = 1, sum = 0;
	for (size_t i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		values[i] = random;
		sum += random;
	}
	weft__sort_u64(values, scratch, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(i == 0 || values[i - 1] <= values[i]);
		sum -= values[i];
	}
	assert_int_equal(sum, 0);
	free(values);
	free(scratch);
}

static uint64_t next_key(uint64_t *random, uint64_t mask)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (*random >> 32 | *random << 32) & mask;
}

static const uint64_t masks[] = {
	0, 1, 0xf, 0x8100, 0xff00ff, (uint64_t)0xc1 << 56, 0x80000000000000ff, UINT64_MAX};

/* Rows of equal keys stay in their order. */
static void keys_give_an_order(void **state)
{
	(void)state;
	enum {
		COUNT = 300
	};
	uint64_t keys[COUNT], random = 7;
	uint32_t order[COUNT], scratch[COUNT];
	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (uint32_t count = 0; count <= COUNT; count += count < 5 ? 1 : 59) {
			bool is_there[COUNT] = {false};
			for (uint32_t i = 0; i < count; i++)
				keys[i] = next_key(&random, masks[m]);
			weft__order_by_u64(keys, order, scratch, count);
			for (uint32_t i = 0; i < count; i++) {
				assert_true(order[i] < count && !is_there[order[i]]);
				is_there[order[i]] = true;
				if (i > 0 && keys[order[i - 1]] == keys[order[i]])
					assert_true(order[i - 1] < order[i]);
				else if (i > 0)
					assert_true(keys[order[i - 1]] < keys[order[i]]);
			}
		}
}

/* Lower bits do not count, and keep their order. */
static void values_are_sorted_from_a_bit_on(void **state)
{
	(void)state;
	enum {
		COUNT = 300
	};
	uint64_t values[COUNT], scratch[COUNT], random = 11;
	static const unsigned low_bits[] = {0, 1, 9, 33, 63};
	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (size_t b = 0; b < sizeof(low_bits) / sizeof(low_bits[0]); b++) {
			uint64_t low = ((uint64_t)1 << low_bits[b]) - 1, sum = 0;
			for (uint32_t i = 0; i < COUNT; i++) {
				values[i] = (next_key(&random, masks[m]) & ~low) | (i & low);
				sum += values[i];
			}
			weft__sort_u64_by(values, scratch, COUNT, low_bits[b]);
			for (uint32_t i = 0; i < COUNT; i++) {
				sum -= values[i];
				if (i > 0 && values[i - 1] >> low_bits[b] == values[i] >> low_bits[b])
					assert_true(low < COUNT || (values[i - 1] & low) < (values[i] & low));
				else if (i > 0)
					assert_true(values[i - 1] < values[i]);
			}
			assert_int_equal(sum, 0);
		}
}

/* All searches against counting, in each part of columns with equal keys. */
static void searches_find_the_first_row(void **state)
{
	(void)state;
	enum {
		ROWS = 12
	};
	for (uint32_t step = 1; step < 4; step++) {
		uint32_t keys[ROWS];
		for (uint32_t i = 0; i < ROWS; i++)
			keys[i] = 10 + i / step * 2;
		for (uint32_t first = 0; first <= ROWS; first++)
			for (uint32_t end = first; end <= ROWS; end++)
				for (uint32_t key = 9; key < 36; key++) {
					uint32_t less = first, not_more = first;
					while (less < end && keys[less] < key)
						less++;
					while (not_more < end && keys[not_more] <= key)
						not_more++;
					assert_int_equal(weft__search(keys, first, end, weft__is_less_u32, key), less);
					assert_int_equal(weft__gallop(keys, first, end, weft__is_less_u32, key), less);
					assert_int_equal(
						weft__gallop(keys, first, end, weft__is_not_more_u32, key), not_more);
					assert_int_equal(
						weft__search_flat(keys, first, end, weft__is_less_u32, key), less);
				}
	}
}

/* ---- Arrays ---- */

static void arrays_grow_by_half(void **state)
{
	(void)state;
	assert_int_equal(weft__array_next_capacity(0, 1), 16);
	assert_int_equal(weft__array_next_capacity(10, 11), 16);
	assert_int_equal(weft__array_next_capacity(12, 13), 18);
	assert_int_equal(weft__array_next_capacity(100, 101), 150);
	assert_int_equal(weft__array_next_capacity(100, 1000), 1000);
}

static void a_size_that_overflows_is_refused(void **state)
{
	(void)state;
	uint64_t *array = NULL;
	assert_int_equal(weft__array_resize(&array, SIZE_MAX / 8 + 2, 8), WEFT_ERROR_MEMORY);
	assert_null(array);
	assert_int_equal(weft__array_resize(&array, 2, sizeof(*array)), 0);
	array[1] = 7;
	assert_int_equal(weft__array_resize(&array, 100, sizeof(*array)), 0);
	assert_int_equal(array[1], 7);
	assert_int_equal(weft__array_resize(&array, 0, sizeof(*array)), 0);
	assert_non_null(array); /* NULL is an error of realloc */
	free(array);
}

static void columns_grow_and_shrink_together(void **state)
{
	(void)state;
	uint64_t *wide = NULL;
	char *narrow = NULL;
	const struct weft__column columns[] = {{&wide, sizeof(*wide)}, {&narrow, 1}};
	size_t capacity = 0;
	assert_int_equal(weft__columns_reserve(columns, 2, &capacity, 1), 0);
	assert_int_equal(capacity, 16);
	for (size_t i = 0; i < 16; i++) {
		wide[i] = i;
		narrow[i] = (char)i;
	}
	const uint64_t *before = wide;
	assert_int_equal(weft__columns_reserve(columns, 2, &capacity, 16), 0); /* there is room */
	assert_ptr_equal(wide, before);
	assert_int_equal(capacity, 16);
	assert_int_equal(weft__columns_reserve(columns, 2, &capacity, 17), 0);
	assert_int_equal(capacity, 24);
	assert_int_equal(wide[15], 15);
	assert_int_equal(narrow[15], 15);
	assert_int_equal(weft__columns_reserve(columns, 2, &capacity, UINT32_MAX), WEFT_ERROR_LIMIT);
	assert_int_equal(capacity, 24);
	weft__columns_trim(columns, 2, &capacity, 3);
	assert_int_equal(capacity, 3);
	assert_true(malloc_usable_size(wide) < 16 * sizeof(*wide));
	assert_true(malloc_usable_size(narrow) >= 3);
	free(wide);
	free(narrow);
}

/* ---- Pairs ---- */

struct some_pairs {
	uint32_t keys[300];
	uint16_t values[300];
};

static void fill_pairs(struct some_pairs *pairs, uint32_t mask, size_t count)
{
	uint64_t random = mask + 5;
	for (size_t i = 0; i < count; i++) {
		pairs->keys[i] = (uint32_t)next_key(&random, mask);
		pairs->values[i] = (uint16_t)i;
	}
}

/* Values stay with their keys; equal keys, and keys that differ only below `low_bit`, stay in their
 * order. */
static void check_sorted_pairs(uint32_t mask, unsigned low_bit, size_t count)
{
	struct some_pairs given, sorted, scratch;
	bool is_there[300] = {false};
	fill_pairs(&given, mask, count);
	sorted = given;
	weft__sort_pairs((struct weft__pairs){sorted.keys, sorted.values},
		(struct weft__pairs){scratch.keys, scratch.values}, count, low_bit);
	for (size_t i = 0; i < count; i++) {
		uint16_t value = sorted.values[i];
		assert_true(value < count && !is_there[value]);
		is_there[value] = true;
		assert_int_equal(sorted.keys[i], given.keys[value]);
		if (i > 0 && sorted.keys[i - 1] >> low_bit == sorted.keys[i] >> low_bit)
			assert_true(sorted.values[i - 1] < value);
		else if (i > 0)
			assert_true(sorted.keys[i - 1] < sorted.keys[i]);
	}
}

static void pairs_are_sorted_by_their_keys(void **state)
{
	(void)state;
	static const uint32_t key_masks[] = {0, 1, 0x8100, 0xff00ff, 0x80000001, UINT32_MAX};
	for (size_t m = 0; m < sizeof(key_masks) / sizeof(key_masks[0]); m++)
		for (size_t count = 0; count <= 300; count += count < 4 ? 1 : 37)
			for (unsigned low_bit = 0; low_bit < 32; low_bit += 9)
				check_sorted_pairs(key_masks[m], low_bit, count);
}

/* ---- Bytes ---- */

static void bytes_are_little_endian_and_exact(void **state)
{
	(void)state;
	struct weft__bytes bytes = {0};
	weft__bytes_put_u8(&bytes, 0x12);
	weft__bytes_put_u16(&bytes, 0x3456);
	weft__bytes_put_u32(&bytes, 0x789abcde);
	weft__bytes_put_u64(&bytes, 0x0123456789abcdef);
	weft__bytes_put(&bytes, "text", 4);
	weft__bytes_put(&bytes, NULL, 0);
	weft__bytes_print(&bytes, "%d%%", 100);
	static const char expected[] =
		"\x12\x56\x34\xde\xbc\x9a\x78\xef\xcd\xab\x89\x67\x45\x23\x01text100%";
	assert_int_equal(bytes.size, sizeof(expected) - 1);
	assert_memory_equal(bytes.data, expected, bytes.size);
	for (unsigned i = 0; i < 5000; i++)
		weft__bytes_print(&bytes, "%c", 'a' + i % 26);
	assert_int_equal(bytes.size, sizeof(expected) - 1 + 5000);
	for (unsigned i = 0; i < 5000; i++)
		assert_int_equal(bytes.data[sizeof(expected) - 1 + i], 'a' + i % 26);
	assert_false(bytes.failed);
	weft__bytes_finish(&bytes);
}

static void bytes_without_memory_stay_as_they_are(void **state)
{
	(void)state;
	struct weft__bytes bytes = {0};
	weft__bytes_put(&bytes, "kept", 4);
	weft__bytes_put(&bytes, "", SIZE_MAX - 2); /* its sum overflows */
	weft__bytes_put_u64(&bytes, 7);
	weft__bytes_print(&bytes, "%s", "lost");
	assert_true(bytes.failed);
	assert_int_equal(bytes.size, 4);
	assert_memory_equal(bytes.data, "kept", 4);
	weft__bytes_finish(&bytes);
}

/* ---- Fields ---- */

static void expect_field(const char *line, unsigned index, const char *expected)
{
	size_t size = 99;
	const char *field = weft__field(line, index, &size);
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(field, expected, size);
}

static void fields_are_between_spaces_and_tabs(void **state)
{
	(void)state;
	const char *line = "7f00-7fff rw-s\t00  00:01 42   /a b\nnext";
	expect_field(line, 0, "7f00-7fff");
	expect_field(line, 1, "rw-s");
	expect_field(line, 2, "00");
	expect_field(line, 3, "00:01");
	expect_field(line, 4, "42");
	expect_field(line, 5, "/a");
	expect_field(line, 6, "b");
	expect_field(line, 7, "");
	expect_field(line, 1000, "");
	expect_field(" \t1 ", 0, "1");
	expect_field(" \t1 ", 1, "");
	expect_field("\n1", 0, "");
	expect_field("\n1", 1, "");
	expect_field("", 0, "");
	expect_field("", 1, "");
}

static void a_field_is_a_number_as_a_whole(void **state)
{
	(void)state;
	const char *line = "12 -3 +4 5x 18446744073709551615 18446744073709551616";
	uint64_t number = 77;
	assert_false(weft__field_number(line, 0, 11, &number));
	for (unsigned i = 1; i < 8; i++)
		if (i != 4)
			assert_false(weft__field_number(line, i, UINT64_MAX, &number));
	assert_int_equal(number, 77);
	assert_true(weft__field_number(line, 0, 12, &number));
	assert_int_equal(number, 12);
	assert_false(weft__field_number(line, 4, UINT64_MAX - 1, &number));
	assert_true(weft__field_number(line, 4, UINT64_MAX, &number));
	assert_true(number == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diagnostics_are_counted_by_text),
		cmocka_unit_test(moved_diagnostics_are_added_and_gone),
		cmocka_unit_test(every_error_has_a_text),
		cmocka_unit_test(hashes_are_those_of_siphash),
		cmocka_unit_test(entries_that_collide_under_one_key_are_spread_under_another),
		cmocka_unit_test(many_values_of_64_bits_are_sorted),
		cmocka_unit_test(keys_give_an_order),
		cmocka_unit_test(values_are_sorted_from_a_bit_on),
		cmocka_unit_test(searches_find_the_first_row),
		cmocka_unit_test(arrays_grow_by_half),
		cmocka_unit_test(a_size_that_overflows_is_refused),
		cmocka_unit_test(columns_grow_and_shrink_together),
		cmocka_unit_test(pairs_are_sorted_by_their_keys),
		cmocka_unit_test(bytes_are_little_endian_and_exact),
		cmocka_unit_test(bytes_without_memory_stay_as_they_are),
		cmocka_unit_test(fields_are_between_spaces_and_tabs),
		cmocka_unit_test(a_field_is_a_number_as_a_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
