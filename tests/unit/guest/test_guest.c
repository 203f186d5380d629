/* SPDX-License-Identifier: ISC
 *
 * A guest's buffer: what is granted and what is written to XenStore, and the header's clock.
 */
#include "record_trace.h"

#include <weft/xen.h>

#include "abi/buffer_abi.h"
#include "guest/publish.h"

#define PAGE WEFT_XEN_PAGE_BYTES

/* XenStore and the table of grants of a domain. */
static struct {
	const char *buffer;
	uint32_t granted, grants_max;
	uint64_t first_ref;
	size_t writes, refuse_at; /* 0: none */
	struct {
		char path[128], value[2048];
	} keys[64];
	uint64_t now, step;
} world;

static uint64_t frame(void *context, const void *page)
{
	assert_ptr_equal(context, &world);
	assert_int_equal((uintptr_t)page % PAGE, 0);
	return 1000 + (uint64_t)(((const char *)page - world.buffer) / PAGE);
}

static uint32_t grant(void *context, uint16_t domain, uint64_t of_frame, bool is_writable)
{
	assert_ptr_equal(context, &world);
	assert_int_equal(domain, 7);
	if (world.granted == world.grants_max)
		return 0;
	/* Only the header is for writing, too. */
	assert_int_equal(is_writable, of_frame == 1000);
	/* The pages of the directory are not beside the buffer. */
	if (world.granted < 64)
		assert_int_equal(of_frame, 1000 + world.granted);
	return (uint32_t)(world.first_ref + world.granted++);
}

static int write_key(void *context, const char *path, const char *value)
{
	assert_ptr_equal(context, &world);
	assert_true(strlen(value) <= 1900);
	assert_true(world.writes < sizeof(world.keys) / sizeof(world.keys[0]));
	strcpy(world.keys[world.writes].path, path);
	strcpy(world.keys[world.writes++].value, value);
	return world.refuse_at == world.writes;
}

static void clocks(void *context, uint64_t *ret_system_ns, uint64_t *ret_unix_ns)
{
	assert_ptr_equal(context, &world);
	world.now += world.step +=
		3; /* each call takes longer, so that no reading is between two others */
	*ret_system_ns = world.now;
	*ret_unix_ns = 5000000000;
}

static const struct weft_xen_guest guest = {&world, frame, grant, write_key, clocks};

static struct weft_xen_share share_of(size_t pages)
{
	memset(&world, 0, sizeof(world));
	world.grants_max = UINT32_MAX;
	world.first_ref = 8;
	world.now = 1000000;
	void *buffer = aligned_alloc(PAGE, pages * PAGE);
	assert_non_null(buffer);
	world.buffer = buffer;
	return (struct weft_xen_share){.buffer = buffer, .size = pages * PAGE, .domain = 7};
}

/* The last value that was written. */
static const char *value_of(const char *path)
{
	for (size_t i = world.writes; i > 0; i--)
		if (strcmp(world.keys[i - 1].path, path) == 0)
			return world.keys[i - 1].value;
	return NULL;
}

static void a_buffer_is_published(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(16);
	share.name = "a unikernel";
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	assert_int_equal(weft_xen_start(&guest, &share), WEFT_ERROR_STATE);
	assert_string_equal(world.keys[0].path, "data/weft/0/state");
	assert_string_equal(world.keys[0].value, "closed");
	assert_string_equal(value_of("data/weft/0/format"), "1");
	assert_string_equal(value_of("data/weft/0/name"), "a unikernel");
	assert_string_equal(value_of("data/weft/0/pages"), "16");
	assert_string_equal(
		value_of("data/weft/0/ring-ref-0"), "8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23");
	assert_null(value_of("data/weft/0/ring-ref-1"));
	assert_null(value_of("data/weft/0/alive-ref"));
	assert_string_equal(world.keys[world.writes - 1].path, "data/weft/0/state");
	assert_string_equal(world.keys[world.writes - 1].value, "open");
	weft_tag_value("number", 7);
	weft_xen_close(&guest, &share);
	assert_string_equal(value_of("data/weft/0/state"), "closed");
	weft_tag_value("number", 8); /* recorded by nobody */

	struct trace trace;
	trace_open(&trace, share.buffer, share.size);
	const struct weft_trace_description *about = weft_decoder_describe(trace.decoder);
	assert_string_equal(about->clock.name, "xen");
	assert_string_equal(about->buffers[0].process, "a unikernel");
	assert_true(trace_next(&trace));
	assert_in_range(trace.event.time_ns, 1000000, world.now);
	assert_in_range(about->clock.offset_ns, 5000000000 - (int64_t)world.now, 5000000000 - 1000000);
	trace_close(&trace);
	free(share.buffer);
}

static void the_header_says_which_clock(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(16);
	const struct weft_abi_buffer *header = share.buffer;
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	assert_int_equal(header->clock, WEFT_ABI_CLOCK_XEN);
	assert_int_equal(header->clock_hz, 1000000000);
	assert_int_equal(header->start.ticks, header->start.monotonic_ns);
	assert_int_equal(header->time_base, WEFT_ABI_TIME_XEN);
	assert_int_equal(header->time_offset_ns, 0);
	weft_xen_close(&guest, &share);
	free(share.buffer);

	share = share_of(16);
	share.tsc_hz = 2596000000;
	header = share.buffer;
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	assert_int_equal(header->clock_hz, 2596000000);
	assert_int_not_equal(header->clock, WEFT_ABI_CLOCK_XEN);
	assert_in_range(header->start.monotonic_ns, 1000000, world.now);
	assert_int_equal(header->time_base, WEFT_ABI_TIME_XEN);
	weft_xen_close(&guest, &share);
	free(share.buffer);
}

static void weft_stop_withdraws_the_buffer(void **state)
{
	(void)state;
	char id[] = "web-1";
	struct weft_xen_share share = share_of(16);
	share.id = id;
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	memset(id, 'x', sizeof(id)); /* a caller's text that has gone */
	share.id = NULL;
	weft_stop();
	assert_string_equal(value_of("data/weft/web-1/state"), "closed");
	size_t writes = world.writes;
	weft_stop();
	assert_int_equal(world.writes, writes);
	free(share.buffer);
}

/* Reads the numbers of ring-ref-0 and so on; returns their count. */
static size_t count_refs(uint64_t first)
{
	size_t count = 0;
	for (unsigned number = 0;; number++) {
		char path[64];
		snprintf(path, sizeof(path), "data/weft/0/ring-ref-%u", number);
		const char *at = value_of(path);
		if (!at)
			return count;
		for (; *at; at += *at == ',') {
			char *end;
			assert_int_equal(strtoull(at, &end, 10), first + count++);
			assert_true(end > at && (*end == ',' ? end[1] != '\0' : *end == '\0'));
			at = end;
		}
	}
}

static void long_lists_are_split(void **state)
{
	(void)state;
	/* References of one to ten digits. */
	static const uint64_t firsts[] = {1, 8, 95, 9990, 4294960000};
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		struct weft_xen_share share = share_of(1000);
		world.first_ref = firsts[i];
		world.granted = 0;
		assert_int_equal(weft_xen_start(&guest, &share), 0);
		assert_int_equal(count_refs(firsts[i]), 1000);
		weft_xen_close(&guest, &share);
		free(share.buffer);
	}
}

static void a_directory_takes_the_references(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(1025);
	share.directory = aligned_alloc(PAGE, 2 * PAGE);
	share.id = "A-1_z";
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	for (uint32_t i = 0; i < 1025; i++)
		assert_int_equal(share.directory[i], 8 + i);
	assert_string_equal(value_of("data/weft/A-1_z/directory-ref"), "1033,1034");
	assert_string_equal(value_of("data/weft/A-1_z/pages"), "1025");
	assert_null(value_of("data/weft/A-1_z/ring-ref-0"));
	weft_xen_close(&guest, &share);
	free(share.directory);
	free(share.buffer);
}

static void invalid_arguments_are_refused(void **state)
{
	(void)state;
	static const char *const ids[] = {
		"", "a/b", "../0", "a b", "\xc3\xa9", "012345678901234567890123456789012"};
	char name[65] = {0};
	struct weft_xen_share share = share_of(17), wrong = share;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		wrong.id = ids[i];
		assert_int_equal(weft_xen_start(&guest, &wrong), WEFT_ERROR_ARGUMENT);
	}
	wrong = share;
	wrong.name = memset(name, 'n', 64);
	assert_int_equal(weft_xen_start(&guest, &wrong), WEFT_ERROR_ARGUMENT);
	wrong = share;
	wrong.size -= 1;
	assert_int_equal(weft_xen_start(&guest, &wrong), WEFT_ERROR_ARGUMENT);
	wrong = share;
	wrong.buffer = (char *)share.buffer + 64;
	assert_int_equal(weft_xen_start(&guest, &wrong), WEFT_ERROR_ARGUMENT);
	wrong = share;
	wrong.size = 4 * PAGE; /* too small for a buffer */
	assert_int_equal(weft_xen_start(&guest, &wrong), WEFT_ERROR_ARGUMENT);
	assert_int_equal(world.writes, 0);
	assert_false(weft_is_recording());
	name[63] = '\0';
	share.name = name;
	share.id = "01234567890123456789012345678901";
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	weft_xen_close(&guest, &share);
	free(share.buffer);
}

static bool is_id(char letter)
{
	return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
		   (letter >= 'a' && letter <= 'z') || letter == '-' || letter == '_';
}

static void ids_are_of_letters_and_digits(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(17);
	for (int letter = 1; letter < 256; letter++) {
		const char id[] = {'x', (char)letter, '\0'};
		share.id = id;
		assert_int_equal(weft__guest_can_publish(&share), is_id((char)letter));
	}
	free(share.buffer);
}

static void the_longest_id_has_room(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(16);
	share.id = "12345678901234567890123456789012";
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	assert_non_null(value_of("data/weft/12345678901234567890123456789012/ring-ref-0"));
	weft_stop();
	assert_string_equal(value_of("data/weft/12345678901234567890123456789012/state"), "closed");
	share.id = "123456789012345678901234567890123";
	assert_false(weft__guest_can_publish(&share));
	free(share.buffer);
}

/* Pages so large in number that the references of the directory's pages just fill a key. */
static void a_directory_has_at_most_one_key(void **state)
{
	(void)state;
	const size_t fits = 172; /* 10 digits and a comma each, up to 1,890 bytes and one more */
	struct weft_xen_share share = share_of(1);
	share.directory = aligned_alloc(PAGE, (fits + 1) * PAGE);
	for (size_t pages = fits; pages <= fits + 1; pages++) {
		const struct weft__publication publication = {&guest, &share, 0};
		world.granted = 64; /* other pages than of the buffer */
		world.first_ref = 4000000000;
		world.writes = 0;
		share.size = pages * PAGE / sizeof(uint32_t) * PAGE;
		int error = weft__guest_publish(&publication);
		assert_int_equal(error, pages == fits ? 0 : WEFT_ERROR_LIMIT);
		assert_int_equal(value_of("data/weft/0/directory-ref") != NULL, error == 0);
	}
	free(share.directory);
	free(share.buffer);
}

static void the_page_that_says_who_lives_is_named(void **state)
{
	(void)state;
	struct weft_xen_share share = share_of(16);
	const struct weft__publication publication = {&guest, &share, UINT32_MAX};
	assert_int_equal(weft__guest_publish(&publication), 0);
	assert_string_equal(value_of("data/weft/0/alive-ref"), "4294967295");
	assert_string_equal(world.keys[world.writes - 1].path, "data/weft/0/state");
	free(share.buffer);
}

/* After any refusal nothing records. */
static void refusals_stop_the_recording(void **state)
{
	(void)state;
	for (size_t refused = 1;; refused++) {
		struct weft_xen_share share = share_of(16);
		world.refuse_at = refused;
		int error = weft_xen_start(&guest, &share);
		assert_int_equal(weft_is_recording(), error == 0);
		weft_xen_close(&guest, &share);
		free(share.buffer);
		if (error == 0) {
			assert_int_equal(refused, 6);
			break;
		}
		assert_int_equal(error, WEFT_ERROR_SYSTEM);
	}
	for (uint32_t most = 0; most < 16; most += 5) {
		struct weft_xen_share share = share_of(16);
		world.grants_max = most;
		assert_int_equal(weft_xen_start(&guest, &share), WEFT_ERROR_LIMIT);
		assert_string_equal(value_of("data/weft/0/state"), "closed");
		assert_false(weft_is_recording());
		free(share.buffer);
	}
}

/* There is a lab for what Linux does in a guest; here it is refused. */
static void a_process_outside_of_xen_is_refused(void **state)
{
	(void)state;
	assert_int_equal(weft_xen_record(0, 64 * PAGE + 1), WEFT_ERROR_ARGUMENT);
	int error = weft_xen_record(0, 64 * PAGE);
	assert_true(error == WEFT_ERROR_UNSUPPORTED || error == WEFT_ERROR_SYSTEM);
	assert_false(weft_is_recording());
	assert_int_equal(weft_xen_renew(), WEFT_ERROR_STATE);
	error = weft_xen_context();
	assert_true(error == WEFT_ERROR_UNSUPPORTED || error == WEFT_ERROR_SYSTEM);
	struct weft_xen_share share = share_of(16);
	assert_int_equal(weft_xen_start(&guest, &share), 0);
	assert_int_equal(weft_xen_record(0, 64 * PAGE), WEFT_ERROR_STATE);
	weft_xen_close(&guest, &share);
	free(share.buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_is_published),
		cmocka_unit_test(weft_stop_withdraws_the_buffer),
		cmocka_unit_test(the_header_says_which_clock),
		cmocka_unit_test(long_lists_are_split),
		cmocka_unit_test(a_directory_takes_the_references),
		cmocka_unit_test(invalid_arguments_are_refused),
		cmocka_unit_test(ids_are_of_letters_and_digits),
		cmocka_unit_test(the_longest_id_has_room),
		cmocka_unit_test(a_directory_has_at_most_one_key),
		cmocka_unit_test(the_page_that_says_who_lives_is_named),
		cmocka_unit_test(refusals_stop_the_recording),
		cmocka_unit_test(a_process_outside_of_xen_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
