/* SPDX-License-Identifier: ISC
 *
 * A part that begins from a checkpoint equals the part that is cut from the whole trace, to the
 * byte.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <weft/checkpoint.h>

#include "cut_parts.h"
#include "random_events.h"

enum {
	EVENTS = 400,
	DENSE_EVENTS = 60,
	FIELDS = 16,
};

static const struct weft_checkpoint_key key = {1, 2, 3};

struct trace {
	struct weft_event events[EVENTS];
	struct weft_field fields[EVENTS][FIELDS];
	int count;
	uint64_t seed;
};

static struct trace trace;

/* The whole trace: without losses; with some at known times; or with others, too. The second pass
 * learns of them late. */
static struct weft_trace_description described, early;
static struct weft_loss_period lost[3];

static void lose(uint64_t seed)
{
	const uint64_t first = trace.events[0].time_ns;
	const uint64_t length = trace.events[trace.count - 1].time_ns - first + 1;
	if (seed % 3 == 0)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t start = first + next_random(&trace.seed) % length;
		lost[i] = (struct weft_loss_period){.start = start,
			.end = start + next_random(&trace.seed) % (length / 5 + 1),
			.count = 2,
			.thread = i,
			.cause = WEFT_LOSS_FULL};
	}
	described.loss_periods = lost;
	described.loss_period_count = 3;
	described.losses[WEFT_LOSS_FULL] = seed % 9 == 1 ? 7 : 6;
}

/* The lives of ids so far: random_event() has ids below TASKS. */
#define TASKS 9
static bool is_created[TASKS], has_ended[TASKS];

static bool is_living(weft_task_id id)
{
	return id < TASKS && is_created[id] && !has_ended[id];
}

/* False if a checkpoint could not have what the event leads to. */
static bool is_good(const struct weft_event *e)
{
	switch (e->type) {
	case WEFT_EVENT_CREATE:
		return !is_living(e->other) && e->task == WEFT_TASK_NONE;
	case WEFT_EVENT_LABEL:
		return e->text.size; /* a rundown cannot say that a task has an empty one */
	default:
		return true;
	}
}

static void follow(const struct weft_event *e)
{
	const weft_task_id task = e->type == WEFT_EVENT_BECOME ? e->task : e->other;
	if (task == WEFT_TASK_NONE)
		return;
	switch (e->type) {
	case WEFT_EVENT_CREATE:
		has_ended[task] &= !is_created[task]; /* its id is used again */
		is_created[task] = true;
		break;
	case WEFT_EVENT_BECOME:
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
	case WEFT_EVENT_CANCEL:
	case WEFT_EVENT_CLOSE:
	case WEFT_EVENT_TIME_OUT:
		has_ended[task] = true;
		break;
	default:
		break;
	}
}

static struct weft_event good_event(struct weft_field *fields, uint64_t time_ns)
{
	struct weft_event event;
	do {
		event = random_event(&trace.seed, fields);
		event.time_ns = time_ns;
		if (event.type == WEFT_EVENT_SEND || event.type == WEFT_EVENT_RECEIVE)
			event.key =
				next_random(&trace.seed) % 5 | (next_random(&trace.seed) % 2 ? WEFT_KEY_ONCE : 0);
	} while (!is_good(&event));
	follow(&event);
	return event;
}

static void begin_trace(uint64_t seed)
{
	trace.seed = seed;
	trace.count = 0;
	early = description;
	memset(early.losses, 0, sizeof(early.losses));
	described = early;
	memset(is_created, 0, sizeof(is_created));
	memset(has_ended, 0, sizeof(has_ended));
}

static void make_trace(uint64_t seed, uint32_t step)
{
	uint64_t now = 1000;
	begin_trace(seed);
	for (; trace.count < EVENTS; trace.count++)
		trace.events[trace.count] =
			good_event(trace.fields[trace.count], now += next_random(&trace.seed) % step);
	lose(seed);
}

/* Events on which it depends who runs, waits and holds; on few threads, often at equal times. */
static void make_dense_trace(uint64_t seed)
{
	static const uint8_t types[] = {WEFT_EVENT_SWITCH, WEFT_EVENT_SWITCH, WEFT_EVENT_BAND,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_WAIT_ANY, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_CREATE, WEFT_EVENT_BECOME, WEFT_EVENT_READ};
	uint64_t now = 1000;
	begin_trace(seed);
	while (trace.count < DENSE_EVENTS) {
		struct weft_event event = good_event(trace.fields[0], now);
		if (!memchr(types, event.type, sizeof(types)))
			continue;
		event.thread %= 2;
		event.band = WEFT_BAND_IDLE;
		event.time_ns = now += next_random(&trace.seed) % 3;
		trace.events[trace.count++] = event;
	}
	lose(seed);
}

/* False if the trace is refused. */
static bool make_checkpoints(uint64_t spacing, struct weft_text *file)
{
	const struct weft_cut_sink sink = {append, file};
	struct weft_checkpoints *c;
	assert_int_equal(weft_checkpoints_create(&key, spacing, &sink, &c), 0);
	int error = 0;
	for (int i = 0; i < trace.count && !error; i++)
		error = weft_checkpoints_look(c, &trace.events[i]);
	if (error) {
		assert_int_equal(error, WEFT_ERROR_DAMAGED);
		weft_checkpoints_destroy(c);
		return false;
	}
	assert_int_equal(weft_checkpoints_know_losses(c, &described), 0);
	for (int i = 0; i < trace.count; i++)
		assert_int_equal(weft_checkpoints_add(c, &trace.events[i], &early), 0);
	assert_int_equal(weft_checkpoints_finish(c), 0);
	weft_checkpoints_destroy(c);
	return true;
}

/* Adds what the checkpoint has; returns the number of the first event that it lacks. */
static int add_checkpoint(struct weft_cut *cut, const struct weft_checkpoint *from)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	int status, i = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, from->bytes, from->size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		assert_true(event.time_ns <= from->time_ns);
		assert_int_equal(weft_cut_add_state(cut, &event), 0);
	}
	assert_int_equal(status, WEFT_END);
	assert_int_equal(weft_decoder_diagnostics(decoder)->count, 0);
	weft_decoder_destroy(decoder);
	while (i < trace.count && trace.events[i].time_ns < from->time_ns)
		i++;
	return i;
}

static struct weft_text cut_from(
	const struct weft_cut_range *range, const struct weft_checkpoint *from)
{
	struct weft_text part = {0};
	struct weft_cut *cut = begin(range, &part);
	int status = WEFT_OK;
	for (int i = from ? add_checkpoint(cut, from) : 0; i < trace.count && status == WEFT_OK; i++)
		status = weft_cut_add(cut, &trace.events[i], &described);
	assert_true(status >= 0);
	assert_int_equal(weft_cut_finish(cut, &described), 0);
	weft_cut_destroy(cut);
	return part;
}

/* Prints the first line that differs. */
static void report(const struct weft_cut_range *range, const struct weft_checkpoint *from,
	const char *whole, const char *part)
{
	size_t same = 0;
	while (whole[same] && whole[same] == part[same])
		same++;
	while (same && whole[same - 1] != '\n')
		same--;
	print_message(
		"# [%llu, %llu) from %llu, of the whole:\n#  %.*s\n# from the checkpoint:\n#  %.*s\n",
		(unsigned long long)range->start_ns, (unsigned long long)range->end_ns,
		(unsigned long long)from->time_ns, (int)strcspn(whole + same, "\n"), whole + same,
		(int)strcspn(part + same, "\n"), part + same);
}

static void compare(const struct weft_cut_range *range, const struct weft_checkpoint *from)
{
	struct weft_text whole = cut_from(range, NULL), part = cut_from(range, from);
	if (part.size != whole.size || memcmp(part.bytes, whole.bytes, whole.size) != 0) {
		struct decoded a = decode(whole.bytes, whole.size, 0), b = decode(part.bytes, part.size, 0);
		report(range, from, a.lines.bytes, b.lines.bytes);
		fail();
	}
	weft_text_finish(&whole);
	weft_text_finish(&part);
}

static int compare_ranges(const struct weft_text *file)
{
	const uint64_t last = trace.events[trace.count - 1].time_ns;
	int compared = 0;
	for (int i = 0; i < 20; i++) {
		const uint64_t start = 1000 + next_random(&trace.seed) % (last - 999);
		const struct weft_cut_range range = {
			start, start + next_random(&trace.seed) % (last / 10), 0};
		struct weft_checkpoint from;
		const int status =
			weft_checkpoint_find(file->bytes, file->size, &key, range.start_ns, &from);
		if (status == WEFT_END)
			continue;
		assert_int_equal(status, WEFT_OK);
		assert_true(from.time_ns <= start);
		compare(&range, &from);
		compared++;
	}
	return compared;
}

static void parts_from_checkpoints_are_the_same(void **state)
{
	(void)state;
	static const uint32_t steps[] = {
		3, 30, 5000, 20000000}; /* ns: see WEFT__GOES_ON_NS, WEFT_KEY_ONCE_NS */
	int compared = 0;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct weft_text file = {0};
		make_trace(seed, steps[seed % 4]);
		if (make_checkpoints(1 + seed % 60, &file))
			compared += compare_ranges(&file);
		weft_text_finish(&file);
	}
	assert_true(compared > 2000);
}

/* From each event on, from the latest checkpoint and from an earlier one. Returns the number of
 * parts. */
static int compare_all(void)
{
	struct weft_text file = {0};
	struct weft_checkpoint from;
	int compared = 0;
	const uint64_t end = trace.events[trace.count - 1].time_ns + 1;
	const bool has_file = make_checkpoints(1, &file);
	for (int i = 0; has_file && i < 2 * trace.count; i++) {
		const struct weft_cut_range range = {trace.events[i / 2].time_ns, end, 0};
		const int at = i % 2 ? i / 2 : (int)(next_random(&trace.seed) % (i / 2 + 1));
		if (weft_checkpoint_find(file.bytes, file.size, &key, trace.events[at].time_ns, &from))
			continue;
		compare(&range, &from);
		compared++;
	}
	weft_text_finish(&file);
	return compared;
}

static void parts_of_dense_traces_are_the_same(void **state)
{
	(void)state;
	int compared = 0;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		make_dense_trace(seed);
		compared += compare_all();
	}
	assert_true(compared > 1000);
}

static void put(uint8_t type, weft_task_id task, weft_task_id other)
{
	trace.events[trace.count] = (struct weft_event){.type = type,
		.time_ns = 1000 + 10 * (uint64_t)trace.count,
		.task = task,
		.other = other,
		.kind = type == WEFT_EVENT_CREATE ? (other == 1 ? WEFT_KIND_LOCK : WEFT_KIND_SEMAPHORE) : 0,
		.text = {"", 0}};
	trace.count++;
}

/* A rundown has 64 nested holds. */
static void deep_holds_are_the_same(void **state)
{
	(void)state;
	begin_trace(0);
	put(WEFT_EVENT_CREATE, WEFT_TASK_NONE, 1);
	for (int i = 0; i < 70; i++)
		put(WEFT_EVENT_ACQUIRE, 5, 1);
	for (int i = 0; i < 67; i++)
		put(WEFT_EVENT_RELEASE, 5, 1);
	assert_true(compare_all() > 100);
}

/* Semaphores list 256 holders, and count the others. */
static void many_holders_are_the_same(void **state)
{
	(void)state;
	begin_trace(0);
	put(WEFT_EVENT_CREATE, WEFT_TASK_NONE, 2);
	for (weft_task_id i = 0; i < 260; i++)
		put(WEFT_EVENT_ACQUIRE, 10 + i, 2);
	for (weft_task_id i = 0; i < 10; i++)
		put(WEFT_EVENT_RELEASE, 1000 + i, 2);
	assert_true(compare_all() > 100);
}

/* A checkpoint has other numbers of names than its trace. */
static void names_are_the_same(void **state)
{
	(void)state;
	begin_trace(0);
	put(WEFT_EVENT_LABEL, 1, 0);
	trace.events[0].text = text_of("early");
	for (uint16_t i = 0; i < 50; i++) {
		put(WEFT_EVENT_LABEL, 2 + i, 0);
		trace.events[trace.count - 1].text = text_of("late");
		trace.events[trace.count - 1].name_id = (uint16_t)(1 + i);
	}
	for (int i = 0; i < 40; i++) /* so that some are in no checkpoint */
		trace.events[11 + i].text = text_of("later");
	assert_true(compare_all() > 50);
}

/* The checkpoints of a trace of tasks that begin, and of others that end. */
static void make_file(struct weft_text *file)
{
	begin_trace(1);
	trace.count = EVENTS;
	for (int i = 0; i < EVENTS; i++)
		trace.events[i] =
			(struct weft_event){.type = i % 3 ? WEFT_EVENT_CREATE : WEFT_EVENT_RESOLVE,
				.time_ns = 1000 + 10 * (uint64_t)i,
				.task = WEFT_TASK_NONE,
				.other = (weft_task_id)(i % 3 ? i : i + 1000),
				.text = {"", 0}};
	lose(1);
	assert_true(make_checkpoints(50, file));
}

static int find(const struct weft_text *file, uint64_t time_ns, struct weft_checkpoint *ret)
{
	return weft_checkpoint_find(file->bytes, file->size, &key, time_ns, ret);
}

static void the_latest_checkpoint_is_found(void **state)
{
	(void)state;
	struct weft_text file = {0};
	struct weft_checkpoint from;
	make_file(&file);
	assert_int_equal(find(&file, 1498, &from), WEFT_END);
	assert_int_equal(find(&file, 1499, &from), WEFT_OK);
	assert_int_equal(from.time_ns, 1499);
	assert_int_equal(find(&file, 1998, &from), WEFT_OK);
	assert_int_equal(from.time_ns, 1499);
	assert_int_equal(find(&file, UINT64_MAX, &from), WEFT_OK);
	assert_in_range(from.time_ns, 4000, 4990);
	assert_memory_equal(from.losses, described.losses, sizeof(from.losses));
	weft_text_finish(&file);
}

/* Each member of the key counts. */
static void checkpoints_of_another_file_are_not_used(void **state)
{
	(void)state;
	static const struct weft_checkpoint_key others[] = {{0, 2, 3}, {1, 0, 3}, {1, 2, 0}};
	struct weft_text file = {0};
	struct weft_checkpoint from;
	make_file(&file);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			weft_checkpoint_find(file.bytes, file.size, &others[i], 2000, &from), WEFT_ERROR_STATE);
	weft_text_finish(&file);
}

/* Whichever byte is another one: the checkpoint is the same, or there is none. */
static void damage_is_found(void **state)
{
	(void)state;
	struct weft_text file = {0};
	struct weft_checkpoint whole, from;
	int found = 0;
	make_file(&file);
	assert_int_equal(find(&file, 3000, &whole), WEFT_OK);
	for (size_t at = 0; at < file.size; at++) {
		file.bytes[at] ^= 0x10;
		const int status = find(&file, 3000, &from);
		const char *used = whole.bytes;
		if (status == WEFT_OK) {
			found++;
			assert_ptr_equal(from.bytes, used);
			assert_false(file.bytes + at >= used && file.bytes + at < used + whole.size);
		}
		file.bytes[at] ^= 0x10;
	}
	assert_true(found > 0); /* in other checkpoints */
	for (size_t size = 0; size < file.size; size++)
		assert_true(weft_checkpoint_find(file.bytes, size, &key, 3000, &from) < 0);
	weft_text_finish(&file);
}

static void several_buffers_are_refused(void **state)
{
	(void)state;
	struct weft_text file = {0};
	const struct weft_cut_sink sink = {append, &file};
	const struct weft_event event = {.type = WEFT_EVENT_CREATE, .other = 1, .buffer = 1};
	struct weft_checkpoints *c;
	assert_int_equal(weft_checkpoints_create(&key, 1, &sink, &c), 0);
	assert_int_equal(weft_checkpoints_look(c, &event), WEFT_ERROR_UNSUPPORTED);
	assert_int_equal(weft_checkpoints_add(c, &event, &description), WEFT_ERROR_UNSUPPORTED);
	weft_checkpoints_destroy(c);
	weft_text_finish(&file);
}

static int look_at(const struct weft_event *events, int count)
{
	struct weft_text file = {0};
	const struct weft_cut_sink sink = {append, &file};
	struct weft_checkpoints *c;
	int error = 0;
	assert_int_equal(weft_checkpoints_create(&key, 1, &sink, &c), 0);
	for (int i = 0; i < count && !error; i++)
		error = weft_checkpoints_look(c, &events[i]);
	weft_checkpoints_destroy(c);
	return error;
}

/* A rundown cannot have what such a program leads to. */
static void a_trace_that_breaks_rules_is_refused(void **state)
{
	(void)state;
	static const struct weft_event own_child[] = {
		{.type = WEFT_EVENT_CREATE, .task = 1, .other = 1}};
	/* The become is ignored, but the next create makes another task. */
	static const struct weft_event vain_become[] = {
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_BECOME, .task = 1, .other = 1},
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1}};
	/* An id that is used again. */
	static const struct weft_event good[] = {
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_RESOLVE, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1}};
	assert_int_equal(look_at(own_child, 1), WEFT_ERROR_DAMAGED);
	assert_int_equal(look_at(vain_become, 2), 0);
	assert_int_equal(look_at(vain_become, 3), WEFT_ERROR_DAMAGED);
	assert_int_equal(look_at(good, 3), 0);
}

static void a_full_disk_ends_it(void **state)
{
	(void)state;
	const struct weft_cut_sink sink = {refuse, NULL};
	struct weft_checkpoints *c;
	assert_int_equal(weft_checkpoints_create(&key, 1, &sink, &c), 0);
	assert_int_equal(weft_checkpoints_finish(c), WEFT_ERROR_SYSTEM);
	weft_checkpoints_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_from_checkpoints_are_the_same),
		cmocka_unit_test(parts_of_dense_traces_are_the_same),
		cmocka_unit_test(deep_holds_are_the_same),
		cmocka_unit_test(many_holders_are_the_same),
		cmocka_unit_test(names_are_the_same),
		cmocka_unit_test(the_latest_checkpoint_is_found),
		cmocka_unit_test(checkpoints_of_another_file_are_not_used),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(several_buffers_are_refused),
		cmocka_unit_test(a_trace_that_breaks_rules_is_refused),
		cmocka_unit_test(a_full_disk_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
