/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/error.h>
#include <weft/export.h>

/* The size of a packet's header and context if process and thread have no name. */
#define HEAD_BYTES (16 + 64 + 2)

/* A directory in memory: "metadata", "thread_0" … */
struct directory {
	struct {
		char name[32];
		uint8_t *bytes;
		size_t size;
	} files[8];
	size_t count;
	size_t written;
	size_t room; /* fails like a full disk beyond that; 0: no bound */
};

static int append(void *context, const char *name, const void *bytes, size_t size)
{
	struct directory *directory = context;
	size_t i = 0;
	if (directory->room && directory->written + size > directory->room)
		return WEFT_ERROR_SYSTEM;
	directory->written += size;
	while (i < directory->count && strcmp(directory->files[i].name, name) != 0)
		i++;
	assert_in_range(i, 0, 7);
	if (i == directory->count) {
		snprintf(directory->files[i].name, sizeof(directory->files[i].name), "%s", name);
		directory->count++;
	}
	directory->files[i].bytes = realloc(directory->files[i].bytes, directory->files[i].size + size);
	memcpy(directory->files[i].bytes + directory->files[i].size, bytes, size);
	directory->files[i].size += size;
	return 0;
}

static const uint8_t *file(const struct directory *directory, const char *name, size_t *ret_size)
{
	for (size_t i = 0; i < directory->count; i++) {
		if (strcmp(directory->files[i].name, name) == 0) {
			*ret_size = directory->files[i].size;
			return directory->files[i].bytes;
		}
	}
	*ret_size = 0;
	fail_msg("no file %s", name);
	return NULL;
}

static void clear(struct directory *directory)
{
	for (size_t i = 0; i < directory->count; i++)
		free(directory->files[i].bytes);
	*directory = (struct directory){0};
}

static struct weft_export_ctf *start(struct directory *directory)
{
	const struct weft_export_ctf_sink sink = {append, directory};
	struct weft_export_ctf *ctf;
	assert_int_equal(weft_export_ctf_create(&sink, &ctf), 0);
	return ctf;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
	uint64_t value = 0;
	for (int i = 7; i >= 0; i--)
		value = value << 8 | bytes[offset + (size_t)i];
	return value;
}

/* The n-th packet of a file: its offset and the numbers of its context. */
struct packet {
	const uint8_t *bytes;
	uint64_t begin, end, size, sequence, discarded;
};

static bool packet(const struct directory *directory, const char *name, int n, struct packet *ret)
{
	size_t size, offset = 0;
	const uint8_t *bytes = file(directory, name, &size);
	for (;; n--) {
		if (offset == size)
			return false;
		assert_true(offset + HEAD_BYTES <= size);
		const uint8_t *at = bytes + offset;
		assert_memory_equal(at, "\xC1\x1F\xFC\xC1\0\0\0\0", 8);
		*ret = (struct packet){
			at, u64_at(at, 16), u64_at(at, 24), u64_at(at, 40) / 8, u64_at(at, 48), u64_at(at, 56)};
		assert_int_equal(u64_at(at, 32), u64_at(at, 40)); /* no padding */
		if (n == 0)
			return true;
		offset += ret->size;
	}
}

static const struct weft_trace_thread threads[2] = {
	{.name = "", .tid = 0},
	{.name = "worker", .tid = 9, .buffer = 1},
};

static const struct weft_trace_buffer buffers[2] = {
	{.process = "", .host = "", .file = ""},
	{.process = "a\"b", .host = "", .file = "", .pid = 7},
};

static struct weft_trace_description describe(void)
{
	return (struct weft_trace_description){
		.format = "mirage-ctf",
		.clock = {.name = "unix", .epoch = WEFT_EPOCH_UNIX, .hz = 1000000000},
		.threads = threads,
		.thread_count = 2,
		.buffers = buffers,
		.buffer_count = 2,
	};
}

static void an_event_is_bytes_as_the_metadata_says(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	const struct weft_event event = {.type = WEFT_EVENT_CREATE,
		.time_ns = 0x0102030405060708,
		.task = WEFT_TASK_NONE,
		.other = 5,
		.kind = WEFT_KIND_BIND};
	static const uint8_t expected[] = {
		0xC1, 0x1F, 0xFC, 0xC1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* magic, class, stream */
		8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1,             /* begin, end */
		0x68, 3, 0, 0, 0, 0, 0, 0, 0x68, 3, 0, 0, 0, 0, 0, 0,       /* 109 bytes, in bits */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             /* sequence, discarded */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             /* pid, tid */
		0, 0,                                                       /* process, thread */
		1, 8, 7, 6, 5, 4, 3, 2, 1,                                  /* create, at */
		255, 255, 255, 255, 255, 255, 255, 255,                     /* no task */
		5, 0, 0, 0, 0, 0, 0, 0, 2, 0,                               /* a bind, 5 */
	};
	size_t size;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	const uint8_t *bytes = file(&directory, "thread_0", &size);
	assert_int_equal(size, sizeof(expected));
	assert_memory_equal(bytes, expected, size);
	assert_int_equal(weft_export_ctf_summarize(ctf).events, 1);
	assert_int_equal(weft_export_ctf_summarize(ctf).bytes, directory.written);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

/* The only event of a trace ends with these bytes. */
static void expect_last(const struct weft_event *event, const char *bytes, size_t size)
{
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	size_t written;
	assert_int_equal(weft_export_ctf_add(ctf, event, &trace), 0);
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	const uint8_t *content = file(&directory, "thread_0", &written);
	assert_true(written > size);
	assert_memory_equal(content + written - size, bytes, size);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

#define EXPECT_LAST(event, bytes) expect_last(event, bytes, sizeof(bytes) - 1)

static void values_and_fields_are_bytes_as_the_metadata_says(void **state)
{
	(void)state;
	struct weft_event event = {
		.type = WEFT_EVENT_COUNTER, .task = 1, .text = {"n", 1}, .value = -2};
	EXPECT_LAST(&event, "n\0\0\xfe\xff\xff\xff\xff\xff\xff\xff");
	event.is_set = true;
	event.value = 7;
	EXPECT_LAST(&event, "n\0\1\7\0\0\0\0\0\0\0");
	event.type = WEFT_EVENT_TAG;
	event.has_value = true;
	EXPECT_LAST(&event, "n\0\1\7\0\0\0\0\0\0\0");
	event.type = WEFT_EVENT_GC;
	EXPECT_LAST(&event, "\7\0\0\0\0\0\0\0");
	const struct weft_field fields[] = {{{"f", 1}, WEFT_FIELD_I64, {.i64 = 3}},
		{{"g", 1}, WEFT_FIELD_TEXT, {.text = {"x", 1}}},
		{{"h", 1}, WEFT_FIELD_TEXT, {.text = {"", 0}}}};
	event.type = WEFT_EVENT_MARK;
	event.fields = fields;
	event.field_count = 3;
	EXPECT_LAST(&event, "n\0\3\0\0\0f\0\0\3\0\0\0\0\0\0\0g\0\3x\0h\0\4\0");
}

/* An event with an empty text has a class of its own, because of an error in a reader of CTF. */
static void an_empty_text_is_a_class_of_its_own(void **state)
{
	(void)state;
	struct weft_event event = {.type = WEFT_EVENT_LABEL, .time_ns = 3, .task = 5, .text = {"x", 1}};
	EXPECT_LAST(&event, "\7\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0x\0");
	event.text.size = 0;
	EXPECT_LAST(&event, "\x87\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0");
	event.type = WEFT_EVENT_CREATE; /* it has no text */
	EXPECT_LAST(&event, "\1\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
}

static void a_category_has_a_class_of_its_own(void **state)
{
	(void)state;
	const struct weft_event created = {
		.type = WEFT_EVENT_CREATE, .other = 5, .kind = 2, .category = {"net", 3}};
	EXPECT_LAST(&created, "\5\0\0\0\0\0\0\0\2\0net\0");
	const struct weft_event alive = {
		.type = WEFT_EVENT_ALIVE, .kind = 2, .text = {"x", 1}, .category = {"net", 3}};
	EXPECT_LAST(&alive, "\2\0net\0x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
}

static void metadata_is_as_reviewed(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	char path[4096], expected[16384];
	size_t size;
	trace.format = "a \"quoted\"\nname \xff";
	trace.clock.epoch = WEFT_EPOCH_MONOTONIC;
	trace.clock.offset_ns = 1413637708000000042;
	trace.losses[WEFT_LOSS_FULL] = 3;
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	const uint8_t *bytes = file(&directory, "metadata", &size);

	snprintf(path, sizeof(path), "%s/tests/data/ctf/metadata", getenv("WEFT_SOURCE"));
	FILE *golden = fopen(path, "rb");
	assert_non_null(golden);
	size_t golden_size = fread(expected, 1, sizeof(expected), golden);
	fclose(golden);
	if (size != golden_size || memcmp(bytes, expected, size) != 0) {
		fwrite(bytes, 1, size, stderr);
		fail_msg("the metadata above differs from %s", path);
	}
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

/* Readers of CTF find a kind's name in the metadata by the number in the event. */
static void kinds_with_names_are_in_the_metadata(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	static const struct {
		uint16_t kind;
		const char *name;
		const char *bytes; /* the number in CTF */
	} cases[] = {{257, "job", "\xfe\xff"}, {300, "job", "\xfe\xff"}, {257, "a\"\n\xff", "\xfd\xff"},
		{65534, "", "\x63\0"}, {258, "", "\2\1"}};
	size_t size;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct weft_event event = {.type = WEFT_EVENT_CREATE,
			.kind = cases[i].kind,
			.kind_name = {cases[i].name, strlen(cases[i].name)}};
		assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	}
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	const uint8_t *events = file(&directory, "thread_0", &size) + HEAD_BYTES;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_memory_equal(events + i * 27 + 25, cases[i].bytes, 2);
	const char *bytes = (const char *)file(&directory, "metadata", &size);
	char *metadata = strndup(bytes, size);
	assert_non_null(strstr(metadata, "\t\"job\" = 65534,\n"));
	assert_non_null(strstr(metadata, "\t\"a\\\"\\012\\377\" = 65533,\n"));
	free(metadata);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void packets_are_bounded_and_in_order(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	struct weft_event event = {.type = WEFT_EVENT_NOTE, .thread = 0};
	struct packet now;
	uint64_t last = 0;
	int count = 0;
	static const char text[200000] = "x";
	for (uint64_t i = 0; i < 20000; i++) {
		event.time_ns = i;
		event.text = (struct weft_slice){"hello", 5};
		if (i == 10000)
			event.text = (struct weft_slice){text, sizeof(text)};
		assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
		/* Packets are written on the way, not at the end. */
		assert_true(weft_export_ctf_summarize(ctf).bytes + 600000 > i * 23);
	}
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	for (; packet(&directory, "thread_0", count, &now); count++) {
		assert_int_equal(now.sequence, count);
		assert_true(now.size <= 200000 * 2 || count < 3);
		assert_true(now.begin >= last && now.end >= now.begin);
		last = now.end;
	}
	assert_int_equal(last, 19999);
	assert_in_range(count, 3, 8);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void a_nul_in_text_does_not_end_it(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	const struct weft_event event = {.type = WEFT_EVENT_LABEL, .text = {"\0a\xff\0", 4}};
	struct packet now;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	assert_true(packet(&directory, "thread_0", 0, &now));
	assert_int_equal(now.size, HEAD_BYTES + 9 + 8 + 7);
	assert_memory_equal(now.bytes + HEAD_BYTES + 9 + 8,
		"\xC0\x80"
		"a\xff\xC0\x80\0",
		7);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void losses_stand_between_packets(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = 10, .thread = 1};
	struct packet now;
	trace.losses[WEFT_LOSS_OVERWRITTEN] = 5;
	trace.losses[WEFT_LOSS_NAMES_FULL] = 100; /* these are not missing events */
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	event.thread = 0;
	event.time_ns = 11;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	trace.losses[WEFT_LOSS_FULL] = 2;
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);

	static const struct packet expected[] = {
		{.begin = 10, .end = 10, .size = HEAD_BYTES, .discarded = 0},
		{.begin = 11, .end = 11, .size = HEAD_BYTES + 17, .discarded = 5},
		{.begin = 11, .end = 11, .size = HEAD_BYTES, .discarded = 7},
	};
	for (int i = 0; i < 3; i++) {
		assert_true(packet(&directory, "thread_0", i, &now));
		assert_int_equal(now.begin, expected[i].begin);
		assert_int_equal(now.end, expected[i].end);
		assert_int_equal(now.size, expected[i].size);
		assert_int_equal(now.discarded, expected[i].discarded);
	}
	assert_false(packet(&directory, "thread_0", 3, &now));
	assert_true(packet(&directory, "thread_1", 0, &now));
	assert_int_equal(now.discarded, 0);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void a_packet_reaches_from_its_first_event_to_its_last(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	struct packet now;
	for (uint64_t time = 10; time <= 30; time += 10) {
		const struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = time};
		assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	}
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	assert_true(packet(&directory, "thread_0", 0, &now));
	assert_int_equal(now.begin, 10);
	assert_int_equal(now.end, 30);
	assert_false(packet(&directory, "thread_0", 1, &now));
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void names_in_the_metadata_are_escaped(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	static const char escaped[] = "\"\\037 ~\\177\\200\\\"\\\\\"";
	size_t size;
	trace.format = "\x1f \x7e\x7f\x80\"\\";
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	const uint8_t *bytes = file(&directory, "metadata", &size);
	assert_non_null(memmem(bytes, size, escaped, sizeof(escaped) - 1));
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void losses_without_events_have_a_stream(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	struct packet now;
	trace.losses[WEFT_LOSS_FULL] = 2;
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	assert_true(packet(&directory, "thread_0", 0, &now));
	assert_int_equal(now.discarded, 0);
	assert_true(packet(&directory, "thread_0", 1, &now));
	assert_int_equal(now.discarded, 2);
	assert_int_equal(directory.count, 2); /* with the metadata */
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void times_that_readers_cannot_take_are_counted(void **state)
{
	(void)state;
	struct directory directory = {0};
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_trace_description trace = describe();
	struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = INT64_MAX - 101};
	struct packet now;
	trace.clock.offset_ns = 100;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	event.time_ns = UINT64_MAX;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), 0);
	assert_true(packet(&directory, "thread_0", 0, &now));
	assert_int_equal(now.begin, INT64_MAX - 101);
	assert_int_equal(now.end, INT64_MAX - 101);
	assert_int_equal(weft_export_ctf_summarize(ctf).late_times, 1);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void many_threads_hold_bounded_memory(void **state)
{
	(void)state;
	struct directory directory = {0};
	static struct weft_trace_thread many[1000];
	struct weft_trace_description trace = describe();
	struct weft_event event = {.type = WEFT_EVENT_NOTE};
	static const char text[1000] = "x";
	uint64_t put = 0;
	trace.threads = many;
	trace.thread_count = 1000;
	directory.room = 1; /* so that the first packet handed over ends it */
	struct weft_export_ctf *ctf = start(&directory);
	int error = 0;
	while (!error && put < 100000) {
		event.thread = (uint32_t)(put % 1000);
		event.text = (struct weft_slice){text, sizeof(text)};
		error = weft_export_ctf_add(ctf, &event, &trace);
		put++;
	}
	/* No thread has filled a packet when all together exceed the memory limit. */
	assert_int_equal(error, WEFT_ERROR_SYSTEM);
	assert_in_range(put, 10000, 35000);
	weft_export_ctf_destroy(ctf);
	clear(&directory);
}

static void mistakes_and_full_disks_are_errors(void **state)
{
	(void)state;
	struct directory directory = {.room = 100};
	struct weft_trace_description trace = describe();
	struct weft_export_ctf *ctf = start(&directory);
	struct weft_event event = {.type = 0, .time_ns = 5};
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), WEFT_ERROR_ARGUMENT);
	event.type = WEFT_EVENT_TYPES;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), WEFT_ERROR_ARGUMENT);
	event.type = WEFT_EVENT_SWITCH;
	event.thread = 2;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), WEFT_ERROR_ARGUMENT);
	event.thread = 1;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), 0);
	event.time_ns = 4;
	assert_int_equal(weft_export_ctf_add(ctf, &event, &trace), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_export_ctf_finish(ctf, &trace), WEFT_ERROR_SYSTEM);
	for (size_t i = 0; i < directory.count; i++)
		assert_string_not_equal(directory.files[i].name, "metadata");
	weft_export_ctf_destroy(ctf);
	weft_export_ctf_destroy(NULL);
	clear(&directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_bytes_as_the_metadata_says),
		cmocka_unit_test(values_and_fields_are_bytes_as_the_metadata_says),
		cmocka_unit_test(an_empty_text_is_a_class_of_its_own),
		cmocka_unit_test(a_category_has_a_class_of_its_own),
		cmocka_unit_test(metadata_is_as_reviewed),
		cmocka_unit_test(kinds_with_names_are_in_the_metadata),
		cmocka_unit_test(packets_are_bounded_and_in_order),
		cmocka_unit_test(a_nul_in_text_does_not_end_it),
		cmocka_unit_test(losses_stand_between_packets),
		cmocka_unit_test(a_packet_reaches_from_its_first_event_to_its_last),
		cmocka_unit_test(names_in_the_metadata_are_escaped),
		cmocka_unit_test(losses_without_events_have_a_stream),
		cmocka_unit_test(times_that_readers_cannot_take_are_counted),
		cmocka_unit_test(many_threads_hold_bounded_memory),
		cmocka_unit_test(mistakes_and_full_disks_are_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
