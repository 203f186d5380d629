/* SPDX-License-Identifier: ISC
 *
 * When and why a record ended: stored by the recorder, by a watcher, in a stream and in a cut, and
 * what the model makes of it.
 */
#include "record_trace.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/cut.h>
#include <weft/model.h>
#include <weft/text.h>
#include <weft/watch.h>

#include "abi/buffer_abi.h"
#include "made_stream.h"

#define SIZE ((size_t)64 << 10)

/* A clock that the test moves; its monotonic time is the same. */
static uint64_t now_ns;

static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	*ret_monotonic_ns = *ret_unix_ns = now_ns;
}

static const struct weft_platform by_hand = {
	.ticks_at = &now_ns, .ticks_hz = 1000000000, .read_clocks = read_clocks};

static void *record_wait(void)
{
	void *buffer = trace_buffer(SIZE);
	now_ns = 1000000;
	assert_int_equal(weft_start(buffer, SIZE, &by_hand), 0);
	uint64_t reply = weft_create(WEFT_KIND_WAIT);
	uint64_t request = weft_create(WEFT_KIND_TASK);
	weft_switch(request);
	now_ns += 1000;
	weft_try_read(reply);
	weft_switch(WEFT_TASK_NONE);
	now_ns += 5000000;
	return buffer;
}

static const struct weft_trace_buffer *about(const struct trace *t)
{
	return weft_decoder_describe(t->decoder)->buffers;
}

static void read_all(struct trace *t)
{
	while (trace_next(t))
		continue;
}

static void stopping_stores_when_and_why(void **state)
{
	void *buffer = *state = record_wait();
	struct trace t;
	char text[128];
	weft_stop();
	trace_open(&t, buffer, SIZE);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_STOP);
	assert_int_equal(about(&t)->end_ns, now_ns);
	assert_int_equal(about(&t)->wait_status, 0);
	weft_trace_format_ending(about(&t), text, sizeof(text));
	assert_string_equal(text, "the program stopped recording");
	trace_close(&t);
}

static void a_wait_status_becomes_a_sentence(void **state)
{
	char text[128];
	(void)state;
	struct weft_trace_buffer buffer = {
		.ending = WEFT_ENDING_GONE, .wait_status = WEFT_WAIT_KNOWN | 9};
	weft_trace_format_ending(&buffer, text, sizeof(text));
	assert_string_equal(text, "the program was killed by signal 9");
	buffer.wait_status = WEFT_WAIT_KNOWN | 3 << 8;
	weft_trace_format_ending(&buffer, text, sizeof(text));
	assert_string_equal(text, "the program ended with status 3");
	buffer.ending = WEFT_ENDING_STOP; /* long before */
	weft_trace_format_ending(&buffer, text, sizeof(text));
	assert_string_equal(text, "the program stopped recording");
	buffer = (struct weft_trace_buffer){.ending = WEFT_ENDING_GONE}; /* its parent did not tell */
	weft_trace_format_ending(&buffer, text, sizeof(text));
	assert_string_equal(
		text, "the program ended without its exit handlers: by a signal, _exit or exec");
	assert_string_equal(weft_ending_name(WEFT_ENDING_GONE), "gone");
	assert_null(weft_ending_name(WEFT_ENDINGS));
}

/* The two clocks of the last reading must agree: a damaged one would stretch the trace. */
static void a_damaged_end_is_not_used(void **state)
{
	void *buffer = *state = record_wait();
	struct weft_abi_buffer *header = buffer;
	struct trace t;
	weft_stop();
	const struct weft_abi_clock_reading end = header->end;
	header->second = (struct weft_abi_clock_reading){2000000, 2000000, 2000000};
	header->end.ticks = end.ticks + 900000000;
	trace_open(&t, buffer, SIZE);
	read_all(&t);
	assert_int_equal(about(&t)->end_ns, 0);
	trace_close(&t);
	header->end = end;
	trace_open(&t, buffer, SIZE);
	read_all(&t);
	assert_int_equal(about(&t)->end_ns, end.ticks);
	trace_close(&t);
	header->ending = 1000;
	trace_open(&t, buffer, SIZE);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_UNKNOWN);
	trace_close(&t);
}

/* ---- The model ---- */

static struct weft_model *model_of(const void *bytes, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct trace t;
	trace_open(&t, bytes, size);
	assert_int_equal(weft_model_builder_create(&builder), 0);
	while (trace_next(&t))
		assert_int_equal(weft_model_builder_add(builder, &t.event, &diagnostics), 0);
	assert_int_equal(
		weft_model_builder_finish(builder, weft_decoder_describe(t.decoder), &model), 0);
	weft_model_builder_destroy(builder);
	trace_close(&t);
	return model;
}

static void what_is_open_lasts_until_the_end(void **state)
{
	void *buffer = *state = record_wait();
	weft_stop();
	struct weft_model *model = model_of(buffer, SIZE);
	assert_int_equal(model->summary.last, 1001000);
	assert_int_equal(model->summary.end, now_ns);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		assert_int_equal(model->tasks.end[task], now_ns);
	assert_int_equal(model->band_count, 1);
	assert_int_equal(model->bands[0].end, now_ns);
	assert_int_equal(model->summary.by_outcome[WEFT_OUTCOME_UNFINISHED], 2);
	weft_model_destroy(model);
}

static void without_a_known_end_tasks_end_soon_after_their_last_event(void **state)
{
	void *buffer = *state = record_wait();
	struct weft_model *model = model_of(buffer, SIZE); /* as if it had been killed */
	assert_int_equal(model->summary.end, 1001000);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		assert_in_range(model->tasks.end[task], 1001000, 1002000);
	weft_model_destroy(model);
	weft_stop();
}

static void a_task_that_runs_does_so_until_the_end(void **state)
{
	void *buffer = *state = trace_buffer(SIZE);
	now_ns = 1000;
	assert_int_equal(weft_start(buffer, SIZE, &by_hand), 0);
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_switch(task);
	now_ns = 7000000;
	weft_stop();
	struct weft_model *model = model_of(buffer, SIZE);
	assert_int_equal(model->activations.count, 1);
	assert_int_equal(model->activations.end[0], now_ns);
	weft_model_destroy(model);
}

/* An end more than nine years later is damage. */
static void a_far_end_does_not_stretch_the_trace(void **state)
{
	void *buffer = *state = record_wait();
	struct weft_abi_buffer *header = buffer;
	weft_stop();
	header->end.ticks = header->end.monotonic_ns = UINT64_C(1) << 60;
	struct weft_model *model = model_of(buffer, SIZE);
	assert_int_equal(model->summary.end, 1001000);
	weft_model_destroy(model);
}

/* ---- Copies, streams, cuts ---- */

static void a_copy_of_a_running_program_ends_when_it_was_made(void **state)
{
	char path[] = "/tmp/weft-ending-XXXXXX";
	int fd = mkstemp(path);
	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_switch(weft_create(WEFT_KIND_TASK));
	struct weft_watch *watch;
	void *bytes;
	size_t size;
	struct trace t;
	assert_int_equal(weft_watch_open_descriptor(fd, &watch), 0);
	assert_false(weft_watch_note_end(watch, WEFT_WAIT_KNOWN)); /* we are still here */
	assert_int_equal(weft_watch_copy(watch, &bytes, &size), 0);
	trace_open(&t, bytes, size);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_RUNNING);
	assert_true(about(&t)->end_ns >= t.event.time_ns);
	trace_close(&t);
	weft_watch_free(bytes, size);
	weft_watch_close(watch);
	weft_stop();
	munmap(ring, SIZE);
	close(fd);
	unlink(path);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A child that is killed has not stored its end. */
static void a_watcher_notes_the_end_of_a_killed_process(void **state)
{
	char path[] = "/tmp/weft-ending-XXXXXX";
	int fd = mkstemp(path), status, ready[2];
	(void)state;
	assert_true(fd >= 0 && pipe(ready) == 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (weft_start(ring, SIZE, NULL) == 0)
			weft_switch(weft_create(WEFT_KIND_TASK));
		_exit(write(ready[1], "", 1) == 1 && pause());
	}
	assert_int_equal(read(ready[0], &status, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	struct weft_watch *watch;
	struct trace t;
	assert_int_equal(weft_watch_open_descriptor(fd, &watch), 0);
	uint64_t monotonic_ns = clock_ns(CLOCK_MONOTONIC), unix_ns = clock_ns(CLOCK_REALTIME);
	assert_true(weft_watch_note_end(watch, WEFT_WAIT_KNOWN | (uint32_t)status));
	const struct weft_abi_clock_reading noted = ((struct weft_abi_buffer *)ring)->end;
	assert_in_range(noted.monotonic_ns, monotonic_ns, clock_ns(CLOCK_MONOTONIC));
	assert_in_range(noted.unix_ns, unix_ns, clock_ns(CLOCK_REALTIME));
	assert_true(noted.ticks > ((struct weft_abi_buffer *)ring)->start.ticks);
	assert_true(weft_watch_note_end(watch, 0)); /* does not change what was noted */
	assert_int_equal(((struct weft_abi_buffer *)ring)->end.ticks, noted.ticks);
	trace_open(&t, ring, SIZE);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_GONE);
	assert_int_equal(about(&t)->wait_status, WEFT_WAIT_KNOWN | SIGKILL);
	assert_true(about(&t)->end_ns >= t.event.time_ns);
	trace_close(&t);
	weft_watch_close(watch);
	munmap(ring, SIZE);
	close(fd);
	close(ready[0]);
	close(ready[1]);
	unlink(path);
}

/* The last header of a stream says how it ended. Without one, it lasts until its last mark. */
static void a_stream_ends_at_its_last_mark_at_least(void **state)
{
	static struct made_stream stream;
	struct weft_abi_buffer header = made_header();
	struct made_packet packet = made_packet(1, 1);
	struct trace t;
	(void)state;
	made_begin(&stream, &header);
	made_switch(&packet, 100, 1);
	made_add_packet(&stream, &packet, 0);
	made_mark(&stream, 5000);
	trace_open(&t, stream.bytes, stream.size);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_UNKNOWN);
	assert_int_equal(about(&t)->end_ns, 5000);
	trace_close(&t);
	header.end.ticks = header.end.monotonic_ns = 7000;
	header.ending = WEFT_ABI_ENDING_EXIT;
	made_chunk(&stream, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header));
	trace_open(&t, stream.bytes, stream.size);
	read_all(&t);
	assert_int_equal(about(&t)->ending, WEFT_ENDING_EXIT);
	assert_int_equal(about(&t)->end_ns, 7000);
	trace_close(&t);
}

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return ((struct weft_text *)text)->error;
}

/* The buffer's description in a cut of that range. */
static struct weft_trace_buffer cut(const void *buffer, struct weft_cut_range range)
{
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_cut *cut;
	struct trace t;
	trace_open(&t, buffer, SIZE);
	assert_int_equal(weft_cut_create(&range, "trace.weft", &sink, &cut), 0);
	while (trace_next(&t))
		assert_true(weft_cut_add(cut, &t.event, weft_decoder_describe(t.decoder)) >= 0);
	assert_int_equal(weft_cut_finish(cut, weft_decoder_describe(t.decoder)), 0);
	weft_cut_destroy(cut);
	trace_close(&t);
	trace_open(&t, part.bytes, part.size);
	read_all(&t);
	struct weft_trace_buffer about_part = *about(&t);
	about_part.process = about_part.host = about_part.file = NULL;
	trace_close(&t);
	weft_text_finish(&part);
	return about_part;
}

static void a_cut_ends_with_its_range_or_the_record(void **state)
{
	void *buffer = *state = record_wait();
	weft_stop();
	struct weft_trace_buffer part = cut(buffer, (struct weft_cut_range){0, UINT64_MAX, 0});
	assert_int_equal(part.ending, WEFT_ENDING_STOP);
	assert_int_equal(part.end_ns, now_ns);
	part = cut(buffer, (struct weft_cut_range){0, 1000500, 0});
	assert_int_equal(part.ending, WEFT_ENDING_CUT);
	assert_int_equal(part.end_ns, 1000500);
	part = cut(
		buffer, (struct weft_cut_range){0, 2000000, 0}); /* between the last event and the end */
	assert_int_equal(part.ending, WEFT_ENDING_CUT);
	assert_int_equal(part.end_ns, 2000000);
}

/* ---- Tasks from before the record ---- */

static void tasks_have_ids_before_recording_starts(void **state)
{
	void *buffer = *state = trace_buffer(SIZE);
	struct trace t;
	uint64_t before[3];
	for (size_t i = 0; i < 3; i++)
		before[i] = weft_create(WEFT_KIND_TASK);
	assert_true(before[0] && before[0] < before[1] && before[1] < before[2]);
	now_ns = 1000;
	assert_int_equal(weft_start(buffer, SIZE, &by_hand), 0);
	uint64_t after = weft_create(WEFT_KIND_TASK);
	assert_true(after > before[2]);
	weft_switch(before[1]);
	weft_switch(before[2]);
	weft_stop();
	assert_true(weft_create(WEFT_KIND_TASK) > after);
	trace_open(&t, buffer, SIZE);
	trace_expect(&t, WEFT_EVENT_CREATE, WEFT_TASK_NONE, after);
	trace_expect(&t, WEFT_EVENT_SWITCH, before[1], 0);
	trace_expect(&t, WEFT_EVENT_SWITCH, before[2], 0);
	trace_close(&t);
	struct weft_model *model = model_of(buffer, SIZE);
	assert_int_equal(model->summary.preexisting, 2);
	weft_model_destroy(model);
}

static int finish(void **state)
{
	free(*state);
	return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, finish)
	const struct CMUnitTest tests[] = {
		TEST(stopping_stores_when_and_why),
		cmocka_unit_test(a_wait_status_becomes_a_sentence),
		TEST(a_damaged_end_is_not_used),
		TEST(what_is_open_lasts_until_the_end),
		TEST(without_a_known_end_tasks_end_soon_after_their_last_event),
		TEST(a_task_that_runs_does_so_until_the_end),
		TEST(a_far_end_does_not_stretch_the_trace),
		cmocka_unit_test(a_copy_of_a_running_program_ends_when_it_was_made),
		cmocka_unit_test(a_watcher_notes_the_end_of_a_killed_process),
		cmocka_unit_test(a_stream_ends_at_its_last_mark_at_least),
		TEST(a_cut_ends_with_its_range_or_the_record),
		TEST(tasks_have_ids_before_recording_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
