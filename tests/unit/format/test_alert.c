/* SPDX-License-Identifier: ISC
 *
 * An alert is added to a copy of a buffer, behind the tables that the buffer has.
 */
#include "record_trace.h"

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "abi/table_abi.h"

#define SIZE ((size_t)64 << 10)

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

/* A buffer with room behind it. */
static uint8_t *record(void)
{
	uint8_t *bytes = trace_buffer(SIZE + 4 * WEFT_BUFFER_ALERT_BYTES);
	now_ticks = 1000;
	assert_int_equal(weft_start(bytes, SIZE, &by_hand), 0);
	weft_tag("one");
	now_ticks = 2000;
	weft_tag("two");
	weft_stop();
	return bytes;
}

struct opened {
	struct weft_decoder *decoder;
	const struct weft_trace_buffer *buffer;
	unsigned tags;
};

static struct opened open_trace(const uint8_t *bytes, size_t size)
{
	struct opened o = {0};
	struct weft_event event;
	int status;
	assert_int_equal(weft_decoder_create(&o.decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(o.decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(o.decoder), 0);
	while ((status = weft_decoder_next(o.decoder, &event)) == WEFT_OK)
		o.tags += event.type == WEFT_EVENT_TAG;
	assert_int_equal(status, WEFT_END);
	const struct weft_trace_description *d = weft_decoder_describe(o.decoder);
	assert_int_equal(d->buffer_count, 1);
	o.buffer = d->buffers;
	return o;
}

static struct weft_abi_buffer *header_of(uint8_t *bytes)
{
	return (void *)bytes;
}

static void the_copy_has_the_alert_and_all_events(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	struct weft_trace_alert alert = {
		.time_ns = 1500, .task = 7, .name = "Slow", .rule = "waits > 1s", .value = "3 s"};
	assert_int_equal(weft_buffer_add_alert(bytes, SIZE, &alert), 0);
	struct opened o = open_trace(bytes, SIZE + WEFT_BUFFER_ALERT_BYTES);
	assert_int_equal(o.tags, 2);
	assert_int_equal(o.buffer->alert_count, 1);
	const struct weft_trace_alert *found = &o.buffer->alerts[0];
	assert_int_equal(found->time_ns, 1500);
	assert_int_equal(found->task, 7);
	assert_string_equal(found->name, "Slow");
	assert_string_equal(found->rule, "waits > 1s");
	assert_string_equal(found->value, "3 s");
	weft_decoder_destroy(o.decoder);
	free(bytes);
}

static void texts_are_as_long_as_their_columns(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	struct weft_trace_alert alert = {.ticks = 1700, .time_ns = 1, .task = WEFT_TASK_NONE};
	memset(alert.name, 'n', sizeof(alert.name) - 1);
	memset(alert.rule, 'r', sizeof(alert.rule) - 1);
	memset(alert.value, 'v', sizeof(alert.value) - 1);
	assert_int_equal(weft_buffer_add_alert(bytes, SIZE, &alert), 0);
	struct opened o = open_trace(bytes, SIZE + WEFT_BUFFER_ALERT_BYTES);
	const struct weft_trace_alert *found = &o.buffer->alerts[0];
	assert_int_equal(found->time_ns, 1700); /* the ticks count, if there are any */
	assert_int_equal(found->task, WEFT_TASK_NONE);
	assert_string_equal(found->name, alert.name);
	assert_string_equal(found->rule, alert.rule);
	assert_string_equal(found->value, alert.value);
	weft_decoder_destroy(o.decoder);
	free(bytes);
}

/* Earlier versions have no side tables. */
static void a_buffer_without_tables_gets_one(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	const struct weft_trace_alert alert = {.time_ns = 1500, .task = 7, .rule = "tag x"};
	header_of(bytes)->tables_offset = header_of(bytes)->tables_bytes = 0;
	assert_int_equal(weft_buffer_add_alert(bytes, SIZE, &alert), 0);
	struct opened o = open_trace(bytes, SIZE + WEFT_BUFFER_ALERT_BYTES);
	assert_int_equal(o.tags, 2);
	assert_string_equal(o.buffer->alerts[0].rule, "tag x");
	weft_decoder_destroy(o.decoder);
	free(bytes);
}

static void expect_refusal(uint8_t *bytes)
{
	const struct weft_trace_alert alert = {.time_ns = 1500, .rule = "tag x"};
	const size_t size = SIZE + 4 * WEFT_BUFFER_ALERT_BYTES;
	uint8_t *before = malloc(size);
	assert_non_null(before);
	memcpy(before, bytes, size);
	assert_int_not_equal(weft_buffer_add_alert(bytes, SIZE, &alert), 0);
	assert_memory_equal(before, bytes, size);
	free(before);
	free(bytes);
}

/* A copy is what a hostile program has written. */
static void a_damaged_copy_stays_as_it_is(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	header_of(bytes)->tables_bytes -= 8; /* the packets do not follow */
	expect_refusal(bytes);
	bytes = record();
	header_of(bytes)->tables_offset = SIZE * 2;
	expect_refusal(bytes);
	bytes = record();
	struct weft_abi_table *first = (void *)(bytes + header_of(bytes)->tables_offset);
	first->row_bytes = 3;
	expect_refusal(bytes);
	bytes = record();
	header_of(bytes)->packets_offset = SIZE * 2;
	expect_refusal(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_copy_has_the_alert_and_all_events),
		cmocka_unit_test(texts_are_as_long_as_their_columns),
		cmocka_unit_test(a_buffer_without_tables_gets_one),
		cmocka_unit_test(a_damaged_copy_stays_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
