/* SPDX-License-Identifier: ISC
 *
 * Where the parts of a buffer lie, by its size, and what is cleared.
 */
#include "record_trace.h"

#include <weft/error.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "abi/table_abi.h"
#include "record/recorder.h"

struct layout {
	size_t size;
	uint32_t slots, names, packet, packets;
};

static const struct layout layouts[] = {
	{65536, 80, 4096, 4096, 11},
	{327679, 80, 8192, 4096, 73},
	{327680, 64, 8192, 4096, 74},
	{524287, 64, 8192, 4096, 122},
	{524288, 128, 16384, 4096, 118},
	{1 << 20, 256, 32768, 4096, 237},
	{64 << 20, 16384, 1 << 20, 4096, 15550},
	{128 << 20, 16384, 1 << 20, 8192, 15967},
};

static void assert_layout(const struct weft_abi_buffer *header, const struct layout *expected)
{
	uint64_t slots_bytes =
		(uint64_t)expected->slots * (sizeof(struct weft_abi_slot) + WEFT_ABI_NAME_BYTES);
	assert_int_equal(header->version, WEFT_ABI_VERSION);
	assert_int_equal(header->header_bytes, 4096);
	assert_int_equal(header->buffer_bytes, expected->size);
	assert_int_equal(header->slots_offset, 4096);
	assert_int_equal(header->slot_bytes, sizeof(struct weft_abi_slot));
	assert_int_equal(header->slot_count, expected->slots);
	assert_int_equal(header->names_offset, 4096 + slots_bytes);
	assert_int_equal(header->names_bytes, expected->names);
	assert_int_equal(header->names_index, expected->names / 16);
	assert_int_equal(header->tables_offset, 4096 + slots_bytes + expected->names);
	assert_int_equal(header->tables_bytes, WEFT_ABI_TABLES_BYTES);
	assert_int_equal(header->packets_offset, header->tables_offset + WEFT_ABI_TABLES_BYTES);
	assert_int_equal(header->packet_bytes, expected->packet);
	assert_int_equal(header->packet_count, expected->packets);
	assert_int_equal(header->next_task, 1);
	assert_true(
		header->packets_offset + (uint64_t)expected->packet * expected->packets <= expected->size);
}

static void lay_out(void *buffer, size_t size, bool is_zero)
{
	struct weft__region region;
	assert_int_equal(weft__record_buffer_check(buffer, size), 0);
	weft__record_region_lay_out(&region, buffer, size);
	weft__record_buffer_prepare(&region, is_zero);
}

static void parts_follow_from_the_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct weft_abi_buffer *header = trace_buffer((layouts[i].size + 63) & ~(size_t)63);
		lay_out(header, layouts[i].size, false);
		assert_layout(header, &layouts[i]);
		free(header);
	}
}

/* Packets of a fresh file stay untouched, except for their headers. */
static void only_what_must_be_zero_is_cleared(void **state)
{
	(void)state;
	enum {
		SIZE = 65536
	};
	unsigned char *bytes = trace_buffer(SIZE);
	const struct weft_abi_buffer *header = (const void *)bytes;
	memset(bytes, 0xff, SIZE);
	lay_out(bytes, SIZE, false);
	assert_layout(header, &layouts[0]);
	assert_int_equal(header->magic[0], 0);
	assert_int_equal(header->pid | header->hand | header->slots_used | header->names_used, 0);
	for (uint64_t at = header->slots_offset; at < header->tables_offset; at++)
		assert_int_equal(bytes[at], 0);
	for (uint32_t i = 0; i < header->packet_count; i++) {
		const unsigned char *packet =
			bytes + header->packets_offset + (size_t)i * header->packet_bytes;
		for (size_t at = 0; at < header->packet_bytes; at++)
			assert_int_equal(packet[at], at < sizeof(struct weft_abi_packet) ? 0 : 0xff);
	}
	free(bytes);
}

static void other_memory_is_refused(void **state)
{
	(void)state;
	unsigned char *bytes = trace_buffer(2 * WEFT_ABI_BUFFER_MIN_BYTES);
	assert_int_equal(
		weft__record_buffer_check(bytes, WEFT_ABI_BUFFER_MIN_BYTES - 1), WEFT_ERROR_ARGUMENT);
	assert_int_equal(
		weft__record_buffer_check(bytes + 32, WEFT_ABI_BUFFER_MIN_BYTES), WEFT_ERROR_ARGUMENT);
	assert_int_equal(
		weft__record_buffer_check(NULL, WEFT_ABI_BUFFER_MIN_BYTES), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft__record_buffer_check(bytes + 64, WEFT_ABI_BUFFER_MIN_BYTES), 0);
#if SIZE_MAX > UINT32_MAX
	assert_int_equal(weft__record_buffer_check(bytes, (size_t)1 << 47), WEFT_ERROR_LIMIT);
#endif
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_follow_from_the_size),
		cmocka_unit_test(only_what_must_be_zero_is_cleared),
		cmocka_unit_test(other_memory_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
