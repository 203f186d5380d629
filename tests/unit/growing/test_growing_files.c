/* SPDX-License-Identifier: ISC
 *
 * Growing inputs that read by themselves: files, and the rings of programs.
 */
#include "record_trace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/cut.h>
#include <weft/follow.h>
#include <weft/source.h>

#include "abi/buffer_abi.h"
#include "moved_clock.h"

#define SIZE ((size_t)64 << 10)

static const uint64_t SECOND_NS = 1000000000;

static char directory[64], paths[2][96];
static const char *const both[] = {paths[0], paths[1]};
static struct weft_growing *growing;

static int begin(void **state)
{
	(void)state;
	growing = NULL;
	strcpy(directory, "/tmp/weft-test-growing-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%d.sexp", directory, i);
	return 0;
}

static int end(void **state)
{
	(void)state;
	weft_growing_close(growing);
	unlink(paths[0]);
	unlink(paths[1]);
	return rmdir(directory);
}

static struct weft_growing_state now(void)
{
	struct weft_growing_state state;
	weft_growing_state(growing, &state);
	return state;
}

static void append_text(int file, const char *text)
{
	FILE *out = fopen(paths[file], "a");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* At that second, a task is made. */
static void append(int file, int second)
{
	char text[64];
	snprintf(text, sizeof(text), "((time %d.0)(op(Creates 0 %d Task)))\n", second, second);
	append_text(file, text);
}

/* An event of which a part has come. */
static void append_part(int file)
{
	append_text(file, "((time 9.");
}

static void open_files(size_t count, bool is_patient)
{
	const struct weft_growing_spec spec = {
		.size = sizeof(spec), .paths = both, .count = count, .is_patient = is_patient};
	assert_int_equal(weft_input_open_growing(&spec, &growing), 0);
}

/* Takes the seconds of events that make a task, as long as there are some. */
static void expect(const char *seconds, int status_after)
{
	char found[256] = "";
	struct weft_event event;
	int status;
	while ((status = weft_growing_next(growing, &event)) == WEFT_OK)
		if (event.type == WEFT_EVENT_CREATE)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%d ",
				(int)(event.time_ns / SECOND_NS));
	assert_string_equal(found, seconds);
	assert_int_equal(status, status_after);
}

static void a_file_is_read_as_it_grows(void **state)
{
	(void)state;
	append(0, 1);
	open_files(1, false);
	assert_int_equal(now().phase, WEFT_GROWING_READING);
	expect("1 ", WEFT_AGAIN);
	assert_int_equal(now().phase, WEFT_GROWING_CURRENT);
	assert_false(now().is_program);
	move_clock(3600 * SECOND_NS);
	expect("", WEFT_AGAIN); /* it is whole, but may grow */
	append(0, 2);
	append_part(0);
	expect("2 ", WEFT_AGAIN);
	move_clock(2 * SECOND_NS);
	expect("", WEFT_AGAIN);
	move_clock(1);
	expect("", WEFT_END); /* the writer of the part has probably gone */
	assert_int_equal(now().phase, WEFT_GROWING_ENDED);
	assert_int_equal(weft_growing_wait(growing, 0), 0);
}

/* `weft dump --follow` goes on until Ctrl-C. */
static void a_patient_input_waits(void **state)
{
	(void)state;
	append(0, 1);
	append_part(0);
	open_files(1, true);
	expect("1 ", WEFT_AGAIN);
	move_clock(3600 * SECOND_NS);
	expect("", WEFT_AGAIN);
	append_text(0, "0)(op(Creates 0 9 Task)))\n");
	expect("9 ", WEFT_AGAIN);
}

/* So that few events are kept in memory: each is read block by block. */
static void files_are_read_at_the_same_pace(void **state)
{
	enum {
		EVENTS = 40000
	};
	struct weft_event event;
	(void)state;
	for (int i = 0; i < 2; i++) {
		FILE *out = fopen(paths[i], "w");
		assert_non_null(out);
		for (int k = 0; k < EVENTS; k++)
			fprintf(out, "((time 1.0)(op(Creates 0 %d Task)))\n", 10000 + k);
		assert_int_equal(fclose(out), 0);
	}
	open_files(2, false);
	assert_int_equal(weft_growing_next(growing, &event), WEFT_OK);
	assert_in_range(weft_growing_part(growing, 0).bytes, 1, 20 * EVENTS);
	assert_in_range(weft_growing_part(growing, 1).bytes, 1, 20 * EVENTS);
}

static void an_empty_file_has_no_end(void **state)
{
	(void)state;
	close(open(paths[0], O_CREAT | O_WRONLY, 0600));
	open_files(1, false);
	expect("", WEFT_AGAIN);
	move_clock(3600 * SECOND_NS);
	expect("", WEFT_AGAIN);
}

/* Puts another file, with as many bytes, where the file was. */
static void replace(int file)
{
	char path[96];
	strcpy(path, paths[file]);
	snprintf(paths[file], sizeof(paths[file]), "%s/new", directory);
	append(file, 7);
	assert_int_equal(rename(paths[file], path), 0);
	strcpy(paths[file], path);
}

static void another_file_at_the_path_ends_the_events(void **state)
{
	(void)state;
	append(0, 1);
	open_files(1, true);
	expect("1 ", WEFT_AGAIN);
	replace(0);
	expect("", WEFT_END);
}

static void one_of_several_that_is_replaced_needs_another_opening(void **state)
{
	(void)state;
	append(0, 1);
	append(1, 2);
	open_files(2, false);
	expect("1 ", WEFT_AGAIN);
	replace(1);
	expect("", WEFT_ERROR_STATE);
	assert_int_equal(now().phase, WEFT_GROWING_OUTDATED);
}

/* One of two files has no writer any more. If it grows later, all has to be read again. */
static void a_quiet_file_holds_up_the_others_for_a_while(void **state)
{
	(void)state;
	append(0, 1);
	for (int second = 2; second < 5; second++)
		append(1, second);
	open_files(2, false);
	expect("1 ", WEFT_AGAIN);
	assert_int_equal(now().left, 2);
	move_clock(SECOND_NS);
	append(1, 5);
	expect("", WEFT_AGAIN);
	assert_false(weft_growing_part(growing, 0).is_complete);
	move_clock(SECOND_NS);
	append(1, 6);
	expect("2 3 4 5 6 ", WEFT_AGAIN);
	assert_int_equal(now().left, 1);
	assert_true(weft_growing_part(growing, 0).is_complete);
	assert_int_equal(weft_growing_wait(growing, 0), 0);
	append(0, 7);
	move_clock(SECOND_NS);
	assert_int_equal(weft_growing_wait(growing, 0), WEFT_ERROR_STATE);
	assert_int_equal(now().phase, WEFT_GROWING_OUTDATED);
}

static void it_says_why_there_is_nothing(void **state)
{
	const struct weft_growing_spec none = {.size = sizeof(none)};
	struct weft_growing_spec spec = {.size = sizeof(spec), .paths = both, .count = 1};
	(void)state;
	assert_int_equal(weft_input_open_growing(&none, &growing), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_input_open_growing(&spec, &growing), WEFT_ERROR_SYSTEM);
	append(0, 1);
	spec.what = WEFT_GROWING_RING;
	assert_int_equal(weft_input_open_growing(&spec, &growing), WEFT_ERROR_FORMAT);
}

/* ---- Rings ---- */

static uint64_t ticks;

static const struct weft_platform by_hand = {.ticks_at = &ticks, .ticks_hz = 1000000000};

/* Begins to record into the first file. */
static void *start(void)
{
	int fd = open(paths[0], O_RDWR | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(ring != MAP_FAILED);
	/* Files with holes are refused. */
	memset(ring, 1, SIZE);
	memset(ring, 0, SIZE);
	close(fd);
	ticks = 1000000000;
	assert_int_equal(weft_start(ring, SIZE, &by_hand), 0);
	return ring;
}

static void record(uint64_t second)
{
	ticks = second * SECOND_NS;
	weft_create(WEFT_KIND_TASK);
}

static void a_ring_is_followed(void **state)
{
	void *ring = start();
	(void)state;
	record(2);
	open_files(1, false);
	expect("2 ", WEFT_AGAIN);
	record(3);
	expect("3 ", WEFT_AGAIN);
	assert_true(now().mark_ns > 0);
	assert_int_equal(now().left, 1);
	weft_stop();
	expect("", WEFT_END);
	assert_int_equal(now().left, 0);
	struct weft_growing_state ended = now();
	assert_string_equal(weft_growing_sentence(&ended),
		"The program has ended, or records no more: this is all that it recorded.");
	munmap(ring, SIZE);
}

/* A run of programs, and a file beside them, are one trace. */
static void a_ring_and_a_file_are_merged(void **state)
{
	const pid_t pids[] = {getpid(), 0};
	struct weft_ring_check check;
	const struct weft_growing_spec spec = {
		.size = sizeof(spec), .paths = both, .count = 2, .pids = pids, .ret_check = &check};
	void *ring = start();
	(void)state;
	record(2);
	append(1, 1);
	append(1, 9);
	assert_int_equal(weft_input_open_growing(&spec, &growing), 0);
	assert_int_equal(now().parts, 2);
	assert_true(now().is_program);
	record(3);
	weft_stop();
	expect("1 2 ", WEFT_AGAIN);
	move_clock(3 * SECOND_NS);
	expect("3 9 ", WEFT_END);
	munmap(ring, SIZE);
}

static void store(int file, struct weft_abi_buffer *ring, int boot)
{
	memset(ring->boot_id, boot, sizeof(ring->boot_id));
	FILE *out = fopen(paths[file], "w");
	assert_non_null(out);
	assert_int_equal(fwrite(ring, 1, SIZE, out), SIZE);
	assert_int_equal(fclose(out), 0);
}

/* Clocks that count from different boots give no order. */
static void files_of_several_boots_are_refused(void **state)
{
	struct weft_abi_buffer *ring = start(), *copy = malloc(SIZE);
	(void)state;
	record(2);
	weft_stop();
	assert_non_null(copy);
	memcpy(copy, ring, SIZE);
	munmap(ring, SIZE);
	for (int boot = 1; boot < 3; boot++) {
		store(0, copy, 1);
		store(1, copy, boot);
		open_files(2, false);
		expect("", WEFT_AGAIN);
		move_clock(3 * SECOND_NS);
		expect(boot == 1 ? "2 2 " : "", boot == 1 ? WEFT_END : WEFT_ERROR_UNSUPPORTED);
		assert_int_equal(now().phase, boot == 1 ? WEFT_GROWING_ENDED : WEFT_GROWING_FAILED);
		weft_growing_close(growing);
		growing = NULL;
	}
	free(copy);
}

static int append_bytes(void *file, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, file) == size && fflush(file) == 0 ? 0 : WEFT_ERROR_SYSTEM;
}

static void add_create(
	struct weft_cut *cut, uint64_t second, const struct weft_trace_description *description)
{
	const struct weft_event event = {.type = WEFT_EVENT_CREATE,
		.task = WEFT_TASK_NONE,
		.other = second,
		.time_ns = second * SECOND_NS,
		.ticks = second * SECOND_NS};
	assert_int_equal(weft_cut_add(cut, &event, description), 0);
}

/* A trace that is written while it is followed: its marks are its present, and its end is known. */
static void a_trace_that_is_flushed_grows_and_ends(void **state)
{
	const struct weft_cut_range all = {0, UINT64_MAX, 0}, later = {SECOND_NS, UINT64_MAX, 0};
	struct weft_trace_thread thread = {.name = "main", .number = 1};
	struct weft_trace_buffer buffer = {.process = "p", .host = "h", .file = ""};
	const struct weft_trace_description description = {.format = "weft",
		.clock = {.name = "monotonic", .epoch = WEFT_EPOCH_MONOTONIC, .hz = SECOND_NS},
		.threads = &thread,
		.thread_count = 1,
		.buffers = &buffer,
		.buffer_count = 1};
	struct weft_cut *cut;
	(void)state;
	FILE *file = fopen(paths[0], "wb");
	const struct weft_cut_sink sink = {append_bytes, file};
	assert_int_equal(weft_cut_create(&all, "test", &sink, &cut), 0);
	assert_int_equal(weft_cut_flush(cut, 1, &description), 0); /* there is nothing yet */
	assert_int_equal(ftell(file), 0);
	add_create(cut, 2, &description);
	assert_int_equal(weft_cut_flush(cut, 2 * SECOND_NS + 1, &description), 0);
	open_files(1, true);
	expect("2 ", WEFT_AGAIN);
	for (uint64_t second = 3; second < 6; second++) {
		add_create(cut, second, &description);
		expect("", WEFT_AGAIN);
		assert_int_equal(weft_cut_flush(cut, second * SECOND_NS + 1, &description), 0);
		expect((const char *[]){"3 ", "4 ", "5 "}[second - 3], WEFT_AGAIN);
	}
	const struct weft_refresh_source source = weft_growing_source(growing);
	assert_int_equal(source.now_ns(source.context), 5 * SECOND_NS + 1);
	assert_int_equal(weft_cut_flush(cut, 9 * SECOND_NS, &description), 0);
	expect("", WEFT_AGAIN);
	assert_int_equal(source.now_ns(source.context), 9 * SECOND_NS);
	buffer.ending = WEFT_ENDING_EXIT;
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	expect("", WEFT_END);
	weft_cut_destroy(cut);
	assert_int_equal(weft_cut_create(&later, "test", &sink, &cut), 0);
	add_create(cut, 0, &description);
	assert_int_equal(weft_cut_flush(cut, SECOND_NS, &description), WEFT_ERROR_UNSUPPORTED);
	weft_cut_destroy(cut);
	assert_int_equal(fclose(file), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_file_is_read_as_it_grows),
		CASE(a_patient_input_waits),
		CASE(files_are_read_at_the_same_pace),
		CASE(an_empty_file_has_no_end),
		CASE(another_file_at_the_path_ends_the_events),
		CASE(one_of_several_that_is_replaced_needs_another_opening),
		CASE(a_quiet_file_holds_up_the_others_for_a_while),
		CASE(it_says_why_there_is_nothing),
		CASE(a_ring_is_followed),
		CASE(a_ring_and_a_file_are_merged),
		CASE(files_of_several_boots_are_refused),
		CASE(a_trace_that_is_flushed_grows_and_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
