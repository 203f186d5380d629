/* SPDX-License-Identifier: ISC
 *
 * Several files opened as one trace: which of them fit together, in which order, and the reasons
 * for leaving the others out.
 */
#include "record_trace.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/input.h>
#include <weft/model.h>
#include <weft/xen.h>

#include "abi/buffer_abi.h"
#include "failing_allocation.h"
#include "made_xentrace.h"
#include "nothing_left.h"

#define SIZE  ((size_t)64 << 10)
#define MS_NS ((uint64_t)1000000)

enum {
	FILES_MAX = 4,
};

/* Members of a file's header; zero: unknown. */
struct made {
	const char *name;
	uint8_t boot, uuid;
	uint32_t pid;
	uint64_t start_ms, end_ms;
};

static const char *host; /* of the files that are made; NULL: unknown, as their wall clock */
static char directory[64];
static char paths[FILES_MAX][128];
static const char *named[FILES_MAX]; /* what is opened */
static size_t count;
static struct weft_input *input;

static uint64_t event_ticks; /* the time of the only event of a file */

static const struct weft_platform platform = {.ticks_at = &event_ticks, .ticks_hz = 1000000000};

static int begin(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/weft-test-files-XXXXXX");
	count = 0;
	input = NULL;
	return mkdtemp(directory) == NULL;
}

static int end(void **state)
{
	(void)state;
	weft_input_close(input);
	for (size_t i = 0; i < count; i++)
		unlink(paths[i]);
	return rmdir(directory);
}

static const char *add_path(const char *name)
{
	assert_true(count < FILES_MAX);
	snprintf(paths[count], sizeof(paths[0]), "%s/%s", directory, name);
	named[count] = paths[count];
	return paths[count++];
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* A buffer of a program that recorded one event in the middle of its time. Its ticks are
 * nanoseconds. */
static struct weft_abi_buffer *record(const struct made *made)
{
	struct weft_abi_buffer *header = trace_buffer(SIZE);
	event_ticks = (made->start_ms + made->end_ms) / 2 * MS_NS;
	assert_int_equal(weft_start(header, SIZE, &platform), 0);
	weft_tag(made->name);
	weft_stop();
	const uint64_t start_ns = made->start_ms * MS_NS, end_ns = made->end_ms * MS_NS;
	header->start = (struct weft_abi_clock_reading){start_ns, start_ns, 0};
	if (host) {
		header->start.unix_ns = 1000000000000 * MS_NS + start_ns;
		strcpy(header->host, host);
	}
	header->second = (struct weft_abi_clock_reading){0};
	header->end = (struct weft_abi_clock_reading){end_ns, end_ns, 0};
	header->pid = made->pid;
	memset(header->boot_id, made->boot, sizeof(header->boot_id));
	memset(header->uuid, made->uuid, sizeof(header->uuid));
	return header;
}

static void add(struct made made)
{
	struct weft_abi_buffer *header = record(&made);
	write_file(add_path(made.name), header, SIZE);
	free(header);
}

static void add_of(const char *name, struct made made)
{
	host = name;
	add(made);
	host = NULL;
}

static void open_files(void)
{
	assert_int_equal(weft_input_open_files(named, count, NULL, &input), 0);
	assert_int_equal(weft_input_file_count(input), count);
	assert_null(weft_input_file(input, count));
}

/* The file that was opened under this name. */
static const struct weft_input_file *file_of(const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (strcmp(strrchr(file->path, '/') + 1, name) == 0)
			return file;
	}
	fail_msg("no file %s", name);
	return NULL;
}

/* The merged trace has the events of these files only, in this order. */
static void expect_order(size_t open, const char *const *names)
{
	struct weft_event event;
	const struct weft_trace_description *trace = weft_decoder_describe(weft_input_decoder(input));
	assert_int_equal(trace->buffer_count, open);
	for (size_t i = 0; i < open; i++) {
		assert_string_equal(trace->buffers[i].file, names[i]);
		const struct weft_input_file *file = file_of(names[i]);
		assert_int_equal(file->fit, WEFT_INPUT_OPEN);
		assert_int_equal(file->part, i);
		assert_int_equal(weft_input_explain(file, NULL, 0), 0);
	}
	size_t events = 0;
	while (weft_decoder_next(weft_input_decoder(input), &event) == WEFT_OK)
		events += event.type == WEFT_EVENT_TAG;
	assert_int_equal(events, open);
}

#define EXPECT_ORDER(...)                                                      \
	expect_order(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), \
		(const char *const[]){__VA_ARGS__})

/* The file is left out for this reason, which names another file. */
static void expect_left_out(
	const char *name, enum weft_input_fit fit, const char *other, const char *reason)
{
	char text[512];
	const struct weft_input_file *file = file_of(name);
	assert_int_equal(file->fit, fit);
	assert_null(file->decoder);
	if (other)
		assert_string_equal(strrchr(file->other, '/') + 1, other);
	else
		assert_null(file->other);
	size_t size = weft_input_explain(file, text, sizeof(text));
	assert_int_equal(size, strlen(text));
	if (!strstr(text, reason))
		fail_msg("%s", text);
}

/* ---- Order ---- */

static void programs_come_in_the_order_of_their_start(void **state)
{
	(void)state;
	add((struct made){"late.weft", 1, 1, 7, 3000, 4000});
	add((struct made){"early.weft", 1, 2, 9, 1000, 9000});
	add((struct made){"between.weft", 1, 3, 8, 2000, 8000});
	open_files();
	EXPECT_ORDER("early.weft", "between.weft", "late.weft");
	assert_ptr_equal(weft_input_source(input), file_of("early.weft")->source);
}

/* A forked child has its parent's start. */
static void equal_starts_are_ordered_by_process(void **state)
{
	(void)state;
	add((struct made){"c.weft", 1, 1, 9, 1000, 4000});
	add((struct made){"b.weft", 1, 2, 7, 1000, 4000});
	add((struct made){"a.weft", 1, 3, 9, 1000, 4000});
	open_files();
	EXPECT_ORDER("b.weft", "c.weft", "a.weft");
}

/* Pieces of one stream, whatever their files are called. */
static void pieces_come_in_their_order(void **state)
{
	static const char *const names[] = {"c.weft", "a.weft", "b.weft"};
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		const struct made made = {names[i], 1, 1, 7, 1000, 4000};
		struct weft_abi_buffer *header = record(&made);
		header->stream = 1;
		header->series = 99;
		header->piece = 1 + (i + 1) % 3;
		write_file(add_path(names[i]), header, SIZE);
		free(header);
	}
	open_files();
	/* b.weft is the first piece, then c.weft and a.weft. */
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(file_of(names[i])->part, (i + 1) % 3);
}

/* ---- Boots ---- */

static void the_boot_of_most_files_is_opened(void **state)
{
	(void)state;
	add((struct made){"old.weft", 1, 1, 7, 1000, 4000});
	add((struct made){"a.weft", 2, 2, 7, 2000, 4000});
	add((struct made){"b.weft", 2, 3, 8, 3000, 4000});
	open_files();
	EXPECT_ORDER("a.weft", "b.weft");
	expect_left_out("old.weft", WEFT_INPUT_OTHER_BOOT, "a.weft", "another boot than that of");
}

static void of_two_boots_the_first_is_opened(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 1000, 4000});
	add((struct made){"b.weft", 2, 2, 7, 2000, 4000});
	add((struct made){"c.weft", 2, 3, 7, 3000, 4000});
	add((struct made){"d.weft", 1, 4, 7, 4000, 5000});
	open_files();
	EXPECT_ORDER("a.weft", "d.weft");
	expect_left_out("b.weft", WEFT_INPUT_OTHER_BOOT, "a.weft", "a.weft, so their times");
	expect_left_out("c.weft", WEFT_INPUT_OTHER_BOOT, "a.weft", "open it alone");
}

/* Also if the other one began earlier. */
static void of_two_boots_the_first_path_counts(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 2000, 4000});
	add((struct made){"b.weft", 2, 2, 7, 1000, 4000});
	open_files();
	EXPECT_ORDER("a.weft");
	expect_left_out("b.weft", WEFT_INPUT_OTHER_BOOT, "a.weft", "open it alone");
}

static void a_file_without_a_boot_is_left_out(void **state)
{
	(void)state;
	add((struct made){"no-clock.weft", 1, 1, 7, 0, 4000});
	add((struct made){"no-boot.weft", 0, 2, 7, 1000, 4000});
	add((struct made){"whole.weft", 1, 3, 7, 2000, 4000});
	open_files();
	EXPECT_ORDER("whole.weft");
	expect_left_out("no-boot.weft", WEFT_INPUT_NO_BOOT, "whole.weft", "does not say which boot");
	expect_left_out("no-clock.weft", WEFT_INPUT_NO_BOOT, "whole.weft", "does not say which boot");
}

static void files_without_a_boot_do_not_fit_to_each_other(void **state)
{
	(void)state;
	add((struct made){"a.weft", 0, 1, 7, 1000, 4000});
	add((struct made){"b.weft", 0, 2, 7, 1000, 4000});
	open_files();
	expect_left_out("a.weft", WEFT_INPUT_NO_BOOT, NULL, "those of other files");
	expect_left_out("b.weft", WEFT_INPUT_NO_BOOT, NULL, "those of other files");
	assert_null(weft_input_decoder(input));
	assert_null(weft_input_source(input));
}

static void one_readable_file_always_fits(void **state)
{
	(void)state;
	add_path("missing.weft");
	add((struct made){"a.weft", 0, 1, 7, 0, 4000});
	open_files();
	EXPECT_ORDER("a.weft");
	assert_ptr_equal(weft_input_source(input), file_of("a.weft")->source);
}

/* ---- Parts of a buffer ---- */

static void the_longest_part_of_a_buffer_is_opened(void **state)
{
	(void)state;
	add((struct made){"first.weft", 1, 5, 7, 1000, 2000});
	add((struct made){"whole.weft", 1, 5, 7, 1000, 4000});
	add((struct made){"second.weft", 1, 5, 7, 1000, 3000});
	add((struct made){"else.weft", 1, 6, 8, 1000, 3000});
	open_files();
	EXPECT_ORDER("whole.weft", "else.weft");
	expect_left_out(
		"first.weft", WEFT_INPUT_SAME_BUFFER, "whole.weft", "a part of the same recording as");
	expect_left_out(
		"second.weft", WEFT_INPUT_SAME_BUFFER, "whole.weft", "a part of the same recording as");
}

static void of_two_equal_parts_the_first_is_opened(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 5, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 5, 7, 1000, 2000});
	open_files();
	EXPECT_ORDER("a.weft");
	expect_left_out("b.weft", WEFT_INPUT_SAME_BUFFER, "a.weft", "same recording");
}

static void buffers_without_an_identity_are_not_compared(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 0, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 0, 8, 1000, 3000});
	open_files();
	EXPECT_ORDER("a.weft", "b.weft");
}

/* A part that is left out because of its boot does not keep a shorter part of its buffer out. */
static void a_part_of_another_boot_does_not_count(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 5, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 6, 8, 1000, 2000});
	add((struct made){"other.weft", 2, 5, 7, 1000, 3000});
	open_files();
	EXPECT_ORDER("a.weft", "b.weft");
	expect_left_out("other.weft", WEFT_INPUT_OTHER_BOOT, "a.weft", "another boot");
}

/* ---- Hosts ---- */

/* The first boot's only file is a part of another boot's. */
static void a_boot_without_a_file_is_no_host(void **state)
{
	(void)state;
	add_of("alpha", (struct made){"a.weft", 1, 5, 7, 1000, 2000});
	add_of("beta", (struct made){"b.weft", 2, 5, 7, 1000, 3000});
	open_files();
	assert_int_equal(weft_input_host_count(input), 0);
	EXPECT_ORDER("b.weft");
	expect_left_out("a.weft", WEFT_INPUT_SAME_BUFFER, "b.weft", "same recording");
}

static void only_hosts_of_one_name_are_named_with_their_boots(void **state)
{
	(void)state;
	static const char *const names[] = {
		"web10", "web1", "web1 (boot 03030303)", "web1 (boot 04040404)"};
	add_of("web10", (struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add_of("web1", (struct made){"b.weft", 2, 2, 7, 1000, 2000});
	add_of("web1", (struct made){"c.weft", 3, 3, 7, 1000, 2000});
	add_of("web1", (struct made){"d.weft", 4, 4, 7, 1000, 2000});
	open_files();
	assert_int_equal(weft_input_host_count(input), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(weft_input_host(input, i)->name, names[i]);
}

/* ---- Files that cannot be read ---- */

static void files_that_cannot_be_read_are_explained(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add_path("missing.weft");
	write_file(add_path("empty.weft"), "", 0);
	write_file(add_path("text.weft"), "no trace\n", 9);
	open_files();
	expect_left_out("missing.weft", WEFT_INPUT_UNREADABLE, NULL, strerror(ENOENT));
	assert_int_equal(file_of("missing.weft")->error, WEFT_ERROR_SYSTEM);
	assert_int_equal(file_of("missing.weft")->reason, ENOENT);
	EXPECT_ORDER("a.weft");
	expect_left_out("empty.weft", WEFT_INPUT_UNREADABLE, "a.weft", "the file is empty");
	expect_left_out(
		"text.weft", WEFT_INPUT_UNREADABLE, "a.weft", weft_error_text(WEFT_ERROR_FORMAT));
}

static void a_file_that_is_no_trace_is_explained(void **state)
{
	static const struct {
		const char *content;
		int error;
	} cases[] = {{"", WEFT_ERROR_EMPTY}, {"no trace\n", WEFT_ERROR_FORMAT}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		count = 0;
		write_file(add_path("file"), cases[i].content, strlen(cases[i].content));
		open_files();
		expect_left_out("file", WEFT_INPUT_UNREADABLE, NULL,
			i == 0 ? "the file is empty" : weft_error_text(WEFT_ERROR_FORMAT));
		assert_int_equal(file_of("file")->error, cases[i].error);
		assert_null(weft_input_decoder(input));
		weft_input_close(input);
		input = NULL;
	}
}

static void the_options_limit_a_device(void **state)
{
	(void)state;
	static const char *const zeros = "/dev/zero";
	const struct weft_input_options options = {.size = sizeof(options), .max_bytes = 1000};
	assert_int_equal(weft_input_open_files(&zeros, 1, &options, &input), 0);
	assert_int_equal(weft_input_file(input, 0)->error, WEFT_ERROR_SIZE);
	assert_int_equal(weft_input_open_files(&zeros, 0, &options, &input), WEFT_ERROR_ARGUMENT);
}

/* ---- One clock ---- */

/* Each program's own readings give its counter another rate. The events are at the same ticks, and
 * all are converted by the first and the last reading. */
static void counters_are_converted_by_the_same_readings(void **state)
{
	(void)state;
	static const char *const names[] = {"a.weft", "b.weft", "other-boot.weft"};
	struct weft_event events[2];
	for (int i = 0; i < 3; i++) {
		struct made made = {names[i], (uint8_t)(i < 2 ? 1 : 2), (uint8_t)(i + 1), 7, 1000, 3000};
		struct weft_abi_buffer *header = record(&made);
		header->clock = WEFT_ABI_CLOCK_TSC;
		header->end.monotonic_ns += i ? 100000 : 0;
		header->end.ticks += i ? 50000 : 0;
		header->end.ticks *= i == 2 ? 4 : 1; /* its readings agree with no other */
		write_file(add_path(made.name), header, SIZE);
		free(header);
	}
	open_files();
	for (int i = 0; i < 2;)
		if (weft_decoder_next(weft_input_decoder(input), &events[i]) == WEFT_OK)
			i += events[i].type == WEFT_EVENT_TAG;
	assert_int_equal(events[0].time_ns, events[1].time_ns);
	assert_int_not_equal(events[0].buffer, events[1].buffer);
}

static void one_counter_is_converted_by_its_own_readings(void **state)
{
	(void)state;
	const struct made made = {"a.weft", 1, 1, 7, 1000, 3000};
	struct weft_event event = {.time_ns = 0};
	struct weft_abi_buffer *header = record(&made);
	header->clock = WEFT_ABI_CLOCK_TSC;
	header->start.monotonic_ns += 5 * MS_NS;
	header->end.monotonic_ns += 5 * MS_NS;
	write_file(add_path(made.name), header, SIZE);
	free(header);
	add((struct made){"b.weft", 1, 2, 8, 1500, 5000});
	open_files();
	while (event.time_ns == 0 || event.type != WEFT_EVENT_TAG)
		assert_int_equal(weft_decoder_next(weft_input_decoder(input), &event), WEFT_OK);
	assert_int_equal(event.time_ns, 2005 * MS_NS);
}

static void a_name_without_a_directory_is_whole(void **state)
{
	(void)state;
	char before[4096];
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 2, 8, 1000, 2000});
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(directory), 0);
	static const char *const names[] = {"a.weft", "b.weft"};
	assert_int_equal(weft_input_open_files(names, 2, NULL, &input), 0);
	assert_int_equal(chdir(before), 0);
	const struct weft_trace_description *trace = weft_decoder_describe(weft_input_decoder(input));
	assert_string_equal(trace->buffers[0].file, "a.weft");
	assert_string_equal(trace->buffers[1].file, "b.weft");
}

/* ---- A second thread ---- */

static void large_traces_get_a_second_thread(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 2, 8, 1000, 2000});
	assert_int_equal(truncate(paths[0], 512 << 10), 0);
	assert_int_equal(truncate(paths[1], 512 << 10), 0);
	open_files();
	assert_null(weft_input_help(input));
	weft_input_close(input);
	assert_int_equal(truncate(paths[1], (512 << 10) + 1), 0);
	open_files();
	bool has_help = weft_input_help(input) != NULL;
	weft_input_close(input);
	input = NULL;
	assert_true(has_help || sysconf(_SC_NPROCESSORS_ONLN) < 2);
}

static void a_model_has_the_events_of_all_files(void **state)
{
	(void)state;
	struct weft_model *model;
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 2, 8, 1000, 2000});
	open_files();
	assert_int_equal(weft_input_build_model(input, NULL, &model), 0);
	assert_int_equal(model->summary.events, weft_decoder_events(weft_input_decoder(input)));
	assert_true(model->summary.events >= 2);
	weft_model_destroy(model);
}

/* ---- Closing ---- */

static void closing_leaves_nothing(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 2, 8, 1000, 2000});
	add_path("missing.weft");
	write_file(add_path("text"), "no trace\n", 9);
	assert_int_equal(truncate(paths[1], 256 << 10), 0); /* it is mapped */
	struct held before = {0};
	for (int i = 0; i < HELD_ROUNDS + 10; i++) {
		if (i == 10)
			before = held_now();
		open_files();
		weft_input_close(input);
	}
	held_expect(before);
	input = NULL;
}

/* Memory is short at one allocation after the other. */
static void a_failure_leaves_nothing(void **state)
{
	(void)state;
	add((struct made){"a.weft", 1, 1, 7, 1000, 2000});
	add((struct made){"b.weft", 1, 2, 8, 1000, 2000});
	struct held before = held_now();
	bool has_failed = true;
	int failures = 0;
	for (; has_failed && failures < 1000; failures++) {
		until_failure = failures;
		int error = weft_input_open_files(named, count, NULL, &input);
		has_failed = until_failure < 0;
		until_failure = -1;
		assert_true(error == 0 || error == WEFT_ERROR_MEMORY);
		bool is_told = !has_failed || error;
		for (size_t i = 0; error == 0 && i < count; i++) /* a file may be left out */
			if (weft_input_file(input, i)->fit == WEFT_INPUT_OPEN)
				assert_non_null(weft_input_file(input, i)->decoder);
			else {
				assert_int_equal(weft_input_file(input, i)->error, WEFT_ERROR_MEMORY);
				is_told = true;
			}
		assert_true(is_told);
		weft_input_close(error ? NULL : input);
	}
	input = NULL;
	assert_in_range(failures, 10, 999);
	assert_int_equal(held_now().file, before.file);
}

/* ---- Xen's own trace ---- */

/* A guest's events at 1.5 s of Xen's time, which is 60 ms ahead of the host's. The counter has
 * 2 GHz and was 1e9 when Xen's time was 0. */
static void describe_guest(struct weft_abi_buffer *header)
{
	header->clock = WEFT_ABI_CLOCK_XEN;
	header->start = (struct weft_abi_clock_reading){1000 * MS_NS, 1000 * MS_NS, 0};
	header->second = (struct weft_abi_clock_reading){0};
	header->end = (struct weft_abi_clock_reading){2000 * MS_NS, 2000 * MS_NS, 0};
	memset(header->boot_id, 1, sizeof(header->boot_id));
	header->pid = 5;
	header->guest = 6;
	strcpy(header->program, "web/server");
	strcpy(header->host, "host");
	header->time_offset_ns = -60 * (int64_t)MS_NS;
	header->comparison_count = 2;
	for (unsigned i = 0; i < 2; i++)
		header->comparisons[i] = (struct weft_abi_comparison){
			.xen_ns = (1 + i) * 1000 * MS_NS,
			.monotonic_ns = (1 + i) * 1000 * MS_NS - 60 * MS_NS,
			.counter = 1000000000 + (1 + i) * 2000 * MS_NS,
			.error_ns = 77,
		};
}

static void add_guest(void)
{
	const struct made made = {"guest.weft", 1, 1, 5, 1000, 2000};
	struct weft_abi_buffer *header = record(&made);
	describe_guest(header);
	write_file(add_path(made.name), header, SIZE);
	free(header);
}

/* Domain 5 makes a hypercall at 1.25 s of Xen's time. */
static void add_xentrace(uint64_t cycles)
{
	struct made_xentrace *trace = xentrace_begin();
	xentrace_window(trace, 0);
	xentrace_runstate(trace, cycles, 5, 0, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, cycles + 10, 17);
	xentrace_runstate(trace, cycles + 20, 7, 0, BLOCKED, RUNNABLE);
	write_file(add_path("a.xentrace"), trace->bytes, trace->size);
	free(trace);
}

static void the_hypervisors_trace_is_on_the_guests_axis(void **state)
{
	(void)state;
	struct weft_event event = {0};
	add_xentrace(3500000000);
	add_guest();
	open_files();
	const struct weft_trace_description *trace = weft_decoder_describe(weft_input_decoder(input));
	assert_int_equal(trace->buffer_count, 4);
	assert_int_equal(trace->clock.comparisons, 2);
	assert_in_range(trace->clock.error_ns, 77, 78);
	assert_string_equal(trace->buffers[0].process, "web/server");
	assert_string_equal(trace->buffers[1].process, "Xen");
	assert_string_equal(trace->buffers[2].process, "web");
	assert_string_equal(trace->buffers[3].process, "domain");
	for (uint32_t i = 0; i < 4; i++) {
		assert_string_equal(trace->buffers[i].host, "host");
		assert_int_equal(weft_trace_first_of_host(trace->buffers, 4, i), 0);
		assert_int_equal(weft_trace_first_of_process(trace->buffers, 4, i), i == 2 ? 0 : i);
	}
	while (event.type != WEFT_EVENT_BEGIN || event.task == WEFT_TASK_NONE)
		assert_int_equal(weft_decoder_next(weft_input_decoder(input), &event), WEFT_OK);
	assert_int_equal(event.buffer, 2);
	assert_in_range(event.time_ns, 1190 * MS_NS + 4, 1190 * MS_NS + 5);
	while (event.type != WEFT_EVENT_TAG)
		assert_int_equal(weft_decoder_next(weft_input_decoder(input), &event), WEFT_OK);
	assert_in_range(event.time_ns, 1440 * MS_NS - 1, 1440 * MS_NS);
	while (weft_decoder_next(weft_input_decoder(input), &event) == WEFT_OK)
		continue;
	trace = weft_decoder_describe(weft_input_decoder(input));
	assert_string_equal(trace->buffers[2].process, "web");
	assert_int_equal(trace->buffers[2].pid, 5);
}

/* Records that the guest handles an event of a port at 1.5 s of Xen's time, twice. */
static void add_handler(void)
{
	struct weft_abi_buffer *header = trace_buffer(SIZE);
	event_ticks = 1500 * MS_NS;
	assert_int_equal(weft_start(header, SIZE, &platform), 0);
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_receive_as(task, weft_xen_channel(WEFT_XEN_SELF, 3));
	event_ticks += 1000;
	weft_receive_as(task, weft_xen_channel(5, 4));
	weft_stop();
	describe_guest(header);
	write_file(add_path("guest.weft"), header, SIZE);
	free(header);
}

/* Events that the last trace of Xen raised. */
static uint64_t raised;

/* Opens the guest's trace with one of Xen in which dom0's vCPU sends, and domain 5 wakes up.
 * Returns the only edge from that vCPU to the guest's task, and when it was sent; or WEFT_NONE. */
static uint32_t find_raise(struct made_xentrace *trace, uint64_t *ret_time, uint64_t *ret_sent)
{
	struct weft_model *model;
	uint32_t found = WEFT_NONE, messages = 0;
	write_file(add_path("a.xentrace"), trace->bytes, trace->size);
	free(trace);
	add_handler();
	open_files();
	assert_int_equal(weft_input_build_model(input, NULL, &model), 0);
	const struct weft_edges *edges = &model->edges;
	for (uint32_t i = 0; i < edges->count; i++) {
		if (edges->type[i] != WEFT_EDGE_RECEIVE)
			continue;
		assert_true(messages < edges->sent_count);
		if (model->tasks.buffer[edges->to[i]] == 0) {
			assert_int_equal(found, WEFT_NONE);
			assert_int_equal(model->buffers[model->tasks.buffer[edges->from[i]]].pid, 0);
			found = i;
			*ret_time = edges->time[i];
			*ret_sent = edges->sent[messages];
		}
		messages++;
	}
	assert_int_equal(messages, edges->sent_count);
	raised = model->summary.raised;
	assert_int_equal(model->summary.handled, found != WEFT_NONE);
	weft_model_destroy(model);
	return found;
}

/* At 1.25 s, dom0 raises an event of domain 5, which has blocked. */
static struct made_xentrace *raise_event(void)
{
	struct made_xentrace *trace = xentrace_begin();
	xentrace_window(trace, 0);
	xentrace_runstate(trace, 3400000000, 5, 0, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 3400000010, 29);
	xentrace_runstate(trace, 3400000020, 5, 0, RUNNING, BLOCKED);
	xentrace_runstate(trace, 3400000020, 0, 0, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 3500000010, 32);
	xentrace_runstate(trace, 3500000020, 5, 0, BLOCKED, RUNNABLE);
	return trace;
}

/* Domain 5 runs instead of dom0. */
static struct made_xentrace *run_event(void)
{
	struct made_xentrace *trace = raise_event();
	RECORD(trace, 0x20100d, 3500000030, 29);
	xentrace_runstate(trace, 3500000110, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 3500000110, 5, 0, RUNNABLE, RUNNING);
	return trace;
}

static void expect_no_raise(struct made_xentrace *trace)
{
	uint64_t time, sent;
	assert_int_equal(find_raise(trace, &time, &sent), WEFT_NONE);
}

/* The guest handles the event at 1.5 s. Its vCPU is interrupted later, so that the trace lasts
 * until then. */
static void a_raise_in_the_hypervisor_is_handled_in_the_guest(void **state)
{
	(void)state;
	uint64_t time, sent;
	struct made_xentrace *trace = run_event();
	xentrace_runstate(trace, 4500000000, 5, 0, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 4500000000, 0, 0, RUNNABLE, RUNNING);
	assert_int_not_equal(find_raise(trace, &time, &sent), WEFT_NONE);
	assert_int_equal(raised, 1);
	assert_in_range(sent, 1190 * MS_NS + 9, 1190 * MS_NS + 11);
	assert_in_range(time, 1440 * MS_NS - 1, 1440 * MS_NS);
}

static void blocking_again_withdraws_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	xentrace_runstate(trace, 3500000220, 5, 0, RUNNING, BLOCKED);
	xentrace_runstate(trace, 3500000220, 0, 0, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 4500000000, 29);
	expect_no_raise(trace);
	assert_int_equal(raised, 1); /* it is counted as unmatched */
}

/* The same vCPU sends again, perhaps to another port, whose event the guest handles first. */
static void a_second_send_withdraws_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = raise_event();
	RECORD(trace, 0x20100d, 3500000040, 32);
	RECORD(trace, 0x20100d, 4500000000, 29);
	expect_no_raise(trace);
}

/* A hypercall on the other pCPU began before the wake-up, and may send after it. */
static void an_open_send_on_another_pcpu_hides_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = raise_event();
	RECORD(trace, 0x20100d, 4500000000, 29);
	xentrace_window(trace, 1);
	xentrace_runstate(trace, 3400000000, 7, 0, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 3400000050, 32);
	expect_no_raise(trace);
}

static void an_interrupt_withdraws_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	RECORD(trace, 0x802008, 3600000050, 4, 3600000000 & 0xffffffff, 3600000050 & 0xffffffff);
	RECORD(trace, 0x20100d, 4500000000, 29);
	expect_no_raise(trace);
}

static void a_vcpu_without_entries_withdraws_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	xentrace_runstate(trace, 3500000220, 5, 0, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 3500000220, 7, 0, RUNNABLE, RUNNING);
	xentrace_runstate(trace, 4500000000, 7, 0, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 4500000000, 5, 0, RUNNABLE, RUNNING);
	expect_no_raise(trace);
}

/* Domain 5 runs until the end of the trace, and pCPU 1 has the records that follow: there, the
 * domain's other vCPU makes a hypercall at 3400000050. */
static void add_other_vcpu(struct made_xentrace *trace, uint32_t vcpu)
{
	RECORD(trace, 0x20100d, 4500000000, 29);
	xentrace_window(trace, 1);
	xentrace_runstate(trace, 3400000000, 5, vcpu, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 3400000050, 29);
}

/* The other vCPU stops running, and pCPU 1 is idle. */
static void stop_other_vcpu(struct made_xentrace *trace, uint32_t vcpu, uint32_t state)
{
	xentrace_runstate(trace, 3400000060, 5, vcpu, RUNNING, state);
	xentrace_runstate(trace, 3400000060, 0x7fff, 1, RUNNABLE, RUNNING);
}

static void a_raise_is_proven_while_the_other_vcpus_sleep(void **state)
{
	static const uint32_t sleeps[] = {BLOCKED, OFFLINE};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint64_t time, sent;
		struct made_xentrace *trace = run_event();
		add_other_vcpu(trace, 1);
		stop_other_vcpu(trace, 1, sleeps[i]);
		/* The guest has handled its event at 1.5 s of Xen's time, which is 4000000000. */
		xentrace_runstate(trace, 4000005000, 5, 1, sleeps[i], RUNNABLE);
		assert_int_not_equal(find_raise(trace, &time, &sent), WEFT_NONE);
		assert_in_range(sent, 1190 * MS_NS + 9, 1190 * MS_NS + 11);
		end(NULL);
		begin(NULL);
	}
}

/* The running vCPU may handle an earlier event. */
static void a_running_vcpu_hides_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	add_other_vcpu(trace, 1);
	expect_no_raise(trace);
}

/* It may have been interrupted after it took an earlier event, which the vCPU that wakes up handles
 * now. */
static void a_runnable_vcpu_hides_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	add_other_vcpu(trace, 1);
	stop_other_vcpu(trace, 1, RUNNABLE);
	expect_no_raise(trace);
}

/* A vCPU of the domain itself sends: the blocked one waits for it. */
static void a_vcpu_of_the_domain_raises_nothing(void **state)
{
	(void)state;
	struct made_xentrace *trace = raise_event();
	RECORD(trace, 0x20100d, 3500000030, 29);
	xentrace_runstate(trace, 3500000110, 5, 0, RUNNABLE, RUNNING);
	xentrace_runstate(trace, 3600000000, 5, 0, RUNNING, BLOCKED);
	xentrace_runstate(trace, 3600000000, 5, 1, RUNNABLE, RUNNING);
	RECORD(trace, 0x20100d, 3700000000, 32);
	xentrace_runstate(trace, 3700000010, 5, 0, BLOCKED, RUNNABLE);
	RECORD(trace, 0x20100d, 4500000000, 29);
	expect_no_raise(trace);
}

/* A timer, which Xen does not record, may have woken the other vCPU; it may then do work of an
 * earlier event. */
static void another_vcpu_that_wakes_up_withdraws_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	add_other_vcpu(trace, 1);
	stop_other_vcpu(trace, 1, BLOCKED);
	xentrace_runstate(trace, 3900000000, 5, 1, BLOCKED, RUNNABLE);
	expect_no_raise(trace);
}

/* Until the vCPU's first record, the trace does not say whether it runs. */
static void a_vcpu_of_unknown_state_hides_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	RECORD(trace, 0x20100d, 4500000000, 29);
	xentrace_runstate(trace, 4500000010, 5, 1, BLOCKED, RUNNABLE);
	expect_no_raise(trace);
}

/* The trace has no record of vCPU 1. */
static void a_gap_in_the_numbers_of_vcpus_hides_a_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	add_other_vcpu(trace, 2);
	stop_other_vcpu(trace, 2, BLOCKED);
	expect_no_raise(trace);
}

/* The lost records may have ended the vCPU's sleep. Both pCPUs have switched since then. */
static void lost_records_hide_whether_a_vcpu_sleeps(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	add_other_vcpu(trace, 1);
	stop_other_vcpu(trace, 1, BLOCKED);
	xentrace_lost(trace, 3400000090, 2, 0x7fff, 1, 3400000070);
	xentrace_runstate(trace, 3400000100, 0x7fff, 1, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 3400000100, 0x7fff, 1, RUNNABLE, RUNNING);
	expect_no_raise(trace);
}

/* The same without a second vCPU: the loss itself hides nothing. */
static void lost_records_before_a_raise_hide_none_of_one_vcpu(void **state)
{
	uint64_t time, sent;
	(void)state;
	struct made_xentrace *trace = run_event();
	RECORD(trace, 0x20100d, 4500000000, 29);
	xentrace_window(trace, 1);
	xentrace_runstate(trace, 3400000000, 0x7fff, 1, RUNNABLE, RUNNING);
	xentrace_lost(trace, 3400000090, 2, 0x7fff, 1, 3400000070);
	xentrace_runstate(trace, 3400000100, 0x7fff, 1, RUNNING, RUNNABLE);
	xentrace_runstate(trace, 3400000100, 0x7fff, 1, RUNNABLE, RUNNING);
	assert_int_not_equal(find_raise(trace, &time, &sent), WEFT_NONE);
}

/* Records of other domains were removed: one of these may have sent. */
static void a_filtered_trace_shows_no_raise(void **state)
{
	(void)state;
	struct made_xentrace *trace = run_event();
	xentrace_runstate(trace, 4400000000, 5, 0, RUNNING, RUNNABLE);
	RECORD(trace, 0x21002, 4500000000, 5u << 16);
	expect_no_raise(trace);
}

/* Xen's trace ends before the guest handles an event, so that a later send is not in it. */
static void the_traces_end_withdraws_a_raise(void **state)
{
	(void)state;
	expect_no_raise(run_event());
}

static void without_its_counter_the_hypervisors_trace_is_left_out(void **state)
{
	(void)state;
	add_xentrace(3500000000);
	add((struct made){"plain.weft", 1, 1, 5, 1000, 2000});
	open_files();
	EXPECT_ORDER("plain.weft");
	expect_left_out("a.xentrace", WEFT_INPUT_NO_COUNTER, "plain.weft", "have no readings");
}

static void a_hypervisors_trace_of_an_earlier_boot_is_left_out(void **state)
{
	(void)state;
	add_xentrace(1000000); /* before the clock of dom0 was 0 */
	add_guest();
	open_files();
	EXPECT_ORDER("guest.weft");
	expect_left_out("a.xentrace", WEFT_INPUT_NO_COUNTER, "guest.weft", "of another boot");
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILES(programs_come_in_the_order_of_their_start),
		WITH_FILES(pieces_come_in_their_order),
		WITH_FILES(equal_starts_are_ordered_by_process),
		WITH_FILES(the_boot_of_most_files_is_opened),
		WITH_FILES(of_two_boots_the_first_is_opened),
		WITH_FILES(of_two_boots_the_first_path_counts),
		WITH_FILES(a_file_without_a_boot_is_left_out),
		WITH_FILES(files_without_a_boot_do_not_fit_to_each_other),
		WITH_FILES(one_readable_file_always_fits),
		WITH_FILES(the_longest_part_of_a_buffer_is_opened),
		WITH_FILES(of_two_equal_parts_the_first_is_opened),
		WITH_FILES(buffers_without_an_identity_are_not_compared),
		WITH_FILES(a_part_of_another_boot_does_not_count),
		WITH_FILES(a_boot_without_a_file_is_no_host),
		WITH_FILES(only_hosts_of_one_name_are_named_with_their_boots),
		WITH_FILES(files_that_cannot_be_read_are_explained),
		WITH_FILES(a_file_that_is_no_trace_is_explained),
		WITH_FILES(the_options_limit_a_device),
		WITH_FILES(counters_are_converted_by_the_same_readings),
		WITH_FILES(one_counter_is_converted_by_its_own_readings),
		WITH_FILES(a_name_without_a_directory_is_whole),
		WITH_FILES(large_traces_get_a_second_thread),
		WITH_FILES(a_model_has_the_events_of_all_files),
		WITH_FILES(closing_leaves_nothing),
		WITH_FILES(a_failure_leaves_nothing),
		WITH_FILES(the_hypervisors_trace_is_on_the_guests_axis),
		WITH_FILES(a_raise_in_the_hypervisor_is_handled_in_the_guest),
		WITH_FILES(blocking_again_withdraws_a_raise),
		WITH_FILES(a_second_send_withdraws_a_raise),
		WITH_FILES(an_open_send_on_another_pcpu_hides_a_raise),
		WITH_FILES(an_interrupt_withdraws_a_raise),
		WITH_FILES(a_vcpu_without_entries_withdraws_a_raise),
		WITH_FILES(a_raise_is_proven_while_the_other_vcpus_sleep),
		WITH_FILES(a_running_vcpu_hides_a_raise),
		WITH_FILES(a_runnable_vcpu_hides_a_raise),
		WITH_FILES(a_vcpu_of_the_domain_raises_nothing),
		WITH_FILES(another_vcpu_that_wakes_up_withdraws_a_raise),
		WITH_FILES(a_vcpu_of_unknown_state_hides_a_raise),
		WITH_FILES(a_gap_in_the_numbers_of_vcpus_hides_a_raise),
		WITH_FILES(lost_records_hide_whether_a_vcpu_sleeps),
		WITH_FILES(lost_records_before_a_raise_hide_none_of_one_vcpu),
		WITH_FILES(a_filtered_trace_shows_no_raise),
		WITH_FILES(the_traces_end_withdraws_a_raise),
		WITH_FILES(without_its_counter_the_hypervisors_trace_is_left_out),
		WITH_FILES(a_hypervisors_trace_of_an_earlier_boot_is_left_out),
	};
	return cmocka_run_group_tests_name("input_files", tests, NULL, NULL);
}
