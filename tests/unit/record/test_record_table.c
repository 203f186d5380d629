/* SPDX-License-Identifier: ISC
 *
 * The table of names in a buffer.
 */
#include "record_trace.h"

#include "abi/name_abi.h"
#include "record/name.h"

enum {
	SIZE = 64 << 10,
};

/* A table takes names until its last byte is used, and finds each of them again. */
static void names_fill_their_table(void **state)
{
	static char texts[3000][64];
	static uint16_t ids[3000];
	char big[WEFT_ABI_NAME_MAX_BYTES + 1];
	uint32_t count = 0, size;
	struct weft_abi_buffer *header = trace_buffer(SIZE);
	(void)state;
	assert_int_equal(weft_start(header, SIZE, NULL), 0);
	const struct weft__region *region = weft__record_region();
	uint32_t room = header->names_bytes - header->names_index * 4;
	memset(big, 'b', sizeof(big));
	assert_int_equal(weft__record_name_find_or_add(region, big, sizeof(big)), 0);
	assert_int_not_equal(weft__record_name_find_or_add(region, big, sizeof(big) - 1), 0);
	while (room - header->names_used > 160) {
		snprintf(texts[count], sizeof(texts[0]), "%.*s%u", (int)(count % 50), big, count);
		ids[count] =
			weft__record_name_find_or_add(region, texts[count], (uint32_t)strlen(texts[count]));
		assert_int_not_equal(ids[count++], 0);
	}
	size = room - header->names_used - (uint32_t)sizeof(struct weft_abi_name);
	assert_int_equal(weft__record_name_find_or_add(region, big, size + 1), 0);
	assert_int_not_equal(weft__record_name_find_or_add(region, big, size), 0);
	assert_int_equal(header->names_used, room);
	assert_int_equal(weft__record_name_find_or_add(region, "new", 3), 0);
	for (uint32_t i = 0; i < count; i++) {
		size = (uint32_t)strlen(texts[i]);
		assert_int_equal(weft__record_name_find_or_add(region, texts[i], size), ids[i]);
		assert_memory_equal(
			weft__record_name_bytes(region, ids[i], &size), texts[i], strlen(texts[i]));
		assert_int_equal(size, strlen(texts[i]));
	}
	weft_stop();
	free(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_fill_their_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
