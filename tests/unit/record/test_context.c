/* SPDX-License-Identifier: ISC
 *
 * Trace contexts: their text, their ids, what is recorded of them, and which one is current.
 */
#include "record_trace.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/context_hot.h"

#define SIZE ((size_t)256 << 10)
#define TEXT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static const struct weft_context remote = {.trace_high = UINT64_C(0x4bf92f3577b34da6),
	.trace_low = UINT64_C(0xa3ce929d0e0e4736),
	.span = UINT64_C(0x00f067aa0ba902b7),
	.flags = 1};

static int start(void **state)
{
	*state = trace_buffer(SIZE);
	return weft_start(*state, SIZE, NULL);
}

static int stop(void **state)
{
	weft_context_set(NULL);
	weft_stop();
	weft_context_set(NULL);
	free(*state);
	return 0;
}

static void assert_same(const struct weft_context *a, const struct weft_context *b)
{
	assert_int_equal(a->trace_high, b->trace_high);
	assert_int_equal(a->trace_low, b->trace_low);
	assert_int_equal(a->span, b->span);
	assert_int_equal(a->flags, b->flags);
}

/* ---- Text ---- */

static void assert_valid(const char *text)
{
	struct weft_context context;
	assert_true(weft_context_parse(text, strlen(text), &context));
	assert_int_equal(context.trace_high, remote.trace_high);
	assert_int_equal(context.trace_low, remote.trace_low);
	assert_int_equal(context.span, remote.span);
}

static void assert_invalid(const char *text)
{
	struct weft_context context = remote;
	assert_false(weft_context_parse(text, strlen(text), &context));
	assert_int_equal(context.trace_high | context.trace_low | context.span, 0);
}

static void a_traceparent_is_read(void **state)
{
	(void)state;
	struct weft_context context;
	assert_true(weft_context_parse(TEXT, strlen(TEXT), &context));
	assert_same(&context, &remote);
	assert_valid(" \t" TEXT "\t ");
	assert_valid("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff");
	assert_valid("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	assert_valid("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes");
}

static void another_text_is_refused(void **state)
{
	(void)state;
	assert_invalid("");
	assert_invalid("  ");
	assert_invalid(TEXT "-00");
	assert_invalid(TEXT "0");
	assert_invalid("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what-comes");
	assert_invalid("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	assert_invalid("00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	assert_invalid("00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01");
	assert_invalid("00-00000000000000000000000000000000-00f067aa0ba902b7-01");
	assert_invalid("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01");
	assert_invalid("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g");
	for (size_t size = 0; size < strlen(TEXT); size++) {
		struct weft_context context;
		char *copy = malloc(size + 1); /* so that valgrind and sanitizers see what is read */
		assert_non_null(copy);
		memcpy(copy, TEXT, size);
		assert_false(weft_context_parse(copy, size, &context));
		free(copy);
	}
}

static void a_context_is_printed(void **state)
{
	(void)state;
	char text[WEFT_CONTEXT_TEXT] = "?";
	assert_int_equal(weft_context_print(&remote, text), strlen(TEXT));
	assert_string_equal(text, TEXT);
	assert_int_equal(weft_context_print(&(struct weft_context){0}, text), 0);
	assert_string_equal(text, "");
}

static void the_environment_has_one(void **state)
{
	(void)state;
	struct weft_context context = remote;
	unsetenv("TRACEPARENT");
	assert_false(weft_context_from_environment(&context));
	assert_int_equal(context.span, 0);
	setenv("TRACEPARENT", TEXT, 1);
	assert_true(weft_context_from_environment(&context));
	assert_same(&context, &remote);
	setenv("TRACEPARENT", "nonsense", 1);
	assert_false(weft_context_from_environment(&context));
	unsetenv("TRACEPARENT");
}

static void a_context_is_printed_for_an_environment(void **state)
{
	(void)state;
	char text[WEFT_CONTEXT_VARIABLE] = "?";
	assert_int_equal(weft_context_print_variable(&remote, text), strlen("TRACEPARENT=" TEXT));
	assert_string_equal(text, "TRACEPARENT=" TEXT);
	assert_int_equal(weft_context_print_variable(&(struct weft_context){0}, text), 0);
	assert_string_equal(text, "");
}

/* ---- Baggage ---- */

/* Members as "key value|key value"; the header is in memory of its size, so that sanitizers see
 * what is read. */
static void assert_members(const char *header, const char *expected)
{
	const size_t size = strlen(header);
	char *copy = malloc(size + 1), found[200] = "";
	struct weft_baggage_member member;
	size_t at = 0;
	assert_non_null(copy);
	memcpy(copy, header, size);
	while (weft_baggage_next(copy, size, &at, &member))
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%.*s %.*s|",
			(int)member.key_size, member.key, (int)member.value_size, member.value);
	assert_string_equal(found, expected);
	assert_null(member.key);
	free(copy);
}

static void baggage_is_read(void **state)
{
	(void)state;
	assert_members("", "");
	assert_members("a=1", "a 1|");
	assert_members("userId=alice,serverNode=DF%2028;ttl=5", "userId alice|serverNode DF%2028|");
	assert_members(" a\t= 1 ; p = q ,\tb=2;x ", "a 1|b 2|");
	assert_members("a=", "a |");
	assert_members("a=b=c", "a b=c|");
	assert_members(",,a=1,,=2,b,c d=3,e=\"4\",f=5\\,g=\x7f,;x=1,h=1", "a 1|h 1|");
}

static void long_baggage_ends_with_a_whole_member(void **state)
{
	static char header[3 * WEFT_BAGGAGE_BYTES];
	struct weft_baggage_member member;
	size_t at = 0, members = 0;
	(void)state;
	for (size_t i = 0; i + 10 < sizeof(header); i += 10)
		memcpy(header + i, "key=value,", 10);
	const size_t size = strlen(header);
	while (weft_baggage_next(header, size, &at, &member))
		members++;
	assert_int_equal(members, 819);
	assert_int_equal(weft_baggage_size(header, size, SIZE), 8189);
	assert_int_equal(weft_baggage_size(header, size, 19), 19);
	assert_int_equal(weft_baggage_size(header, size, 20), 19);
	assert_int_equal(weft_baggage_size(header, size, 8), 0);
	assert_int_equal(weft_baggage_size("a=1", 3, 3), 3);
	assert_int_equal(weft_baggage_size("a=1", 3, 2), 0);
	assert_int_equal(weft_baggage_size("", 0, 2), 0);
}

/* ---- Ids ---- */

#define IDS     20000
#define THREADS 4

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return a < b ? -1 : a > b;
}

static void *make_ids(void *of)
{
	uint64_t *ids = of;
	for (size_t i = 0; i < IDS; i++) {
		struct weft_context context;
		weft_context_start(i % 2 ? &remote : NULL, &context);
		ids[i] = context.span;
	}
	return NULL;
}

static void ids_are_made_once(void **state)
{
	(void)state;
	const size_t count = (size_t)IDS * (THREADS + 1);
	uint64_t *ids = calloc(count, sizeof(*ids));
	pthread_t threads[THREADS];
	int ends[2];
	assert_non_null(ids);
	assert_int_equal(pipe(ends), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_ids, ids + i * IDS), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	const pid_t child = fork();
	if (child == 0) {
		/* Its ring is gone, so it asks for ids as the recorder does. */
		struct weft__contexts *contexts = weft__platform_contexts();
		bool good = contexts->spans == 0;
		for (size_t i = 0; i < IDS; i++)
			ids[i] = weft__record_context_span();
		good = good && write(ends[1], ids, 4096) == 4096;
		_exit(!good);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], ids + (size_t)THREADS * IDS, 4096), 4096);
	qsort(ids, (size_t)THREADS * IDS + 512, sizeof(*ids), compare);
	for (size_t i = 1; i < (size_t)THREADS * IDS + 512; i++)
		assert_true(ids[i] != ids[i - 1]);
	assert_true(ids[0] != 0);
	free(ids);
	close(ends[0]);
	close(ends[1]);
}

static bool is_of_seed(uint64_t id, uint64_t seed)
{
	for (uint64_t count = 0; count < UINT64_C(1) << 22; count++)
		if (weft__context_mix(seed + count) == id)
			return true;
	return false;
}

/* As after a restore from an image, from which other copies of the process go on. */
static void new_seeds_give_other_ids(void **state)
{
	const uint64_t seeds[] = {UINT64_C(1) << 40, UINT64_C(1) << 41, UINT64_C(1) << 42};
	struct weft_context before, after;
	(void)state;
	weft_context_start(NULL, &before); /* the thread has taken counts for itself */
	weft_context_seed(seeds);
	weft_context_start(NULL, &after);
	assert_false(is_of_seed(before.span, seeds[0]) || is_of_seed(before.trace_low, seeds[2]));
	assert_true(is_of_seed(after.span, seeds[0]) && is_of_seed(after.trace_low, seeds[2]));
	assert_true(after.trace_high == weft__context_mix(seeds[1] + after.trace_low));
}

/* Each bit is set in half of 10,000 ids: within six standard deviations. */
static void each_bit_of_an_id_is_even(void **state)
{
	(void)state;
	unsigned set[3][64] = {{0}};
	for (unsigned i = 0; i < 10000; i++) {
		struct weft_context context;
		weft_context_start(NULL, &context);
		assert_int_equal(context.flags, WEFT_CONTEXT_SAMPLED | WEFT_CONTEXT_RANDOM);
		const uint64_t parts[] = {context.trace_high, context.trace_low, context.span};
		for (unsigned part = 0; part < 3; part++)
			for (unsigned bit = 0; bit < 64; bit++)
				set[part][bit] += parts[part] >> bit & 1;
	}
	for (unsigned part = 0; part < 3; part++)
		for (unsigned bit = 0; bit < 64; bit++)
			assert_in_range(set[part][bit], 5000 - 300, 5000 + 300);
}

/* ---- What is recorded ---- */

static void assert_field(
	const struct weft_event *event, uint32_t index, const char *name, const char *text)
{
	assert_true(index < event->field_count);
	trace_text(event->fields[index].name, name);
	assert_int_equal(event->fields[index].type, WEFT_FIELD_TEXT);
	trace_text(event->fields[index].value.text, text);
}

static void a_task_is_a_span_of_its_parent(void **state)
{
	struct weft_context parent = remote, own, top;
	char text[WEFT_CONTEXT_TEXT];
	struct trace t;
	parent.state = "vendor=value";
	parent.state_size = 12;
	weft_switch(7);
	weft_context_start(&parent, &own);
	weft_context_start_as(8, NULL, &top);
	weft_context_start_as(9, &own, NULL);
	weft_context_begin("query", &own, &top);
	weft_context_end(&own);
	weft_stop();
	assert_int_equal(own.trace_high, remote.trace_high);
	assert_int_equal(own.trace_low, remote.trace_low);
	assert_int_equal(own.flags, remote.flags);
	assert_ptr_equal(own.state, parent.state);
	weft_context_print(&own, text);
	text[52] = 0;
	trace_open(&t, *state, SIZE);
	trace_expect(&t, WEFT_EVENT_SWITCH, 7, 0);
	const struct weft_event *event = trace_expect(&t, WEFT_EVENT_MARK, 7, 0);
	trace_text(event->text, "trace context");
	assert_int_equal(event->field_count, 5);
	assert_field(event, 0, "trace_id", "4bf92f3577b34da6a3ce929d0e0e4736");
	assert_field(event, 1, "span_id", text + 36);
	trace_text(event->fields[2].name, "trace_flags");
	assert_int_equal(event->fields[2].value.u64, 1);
	assert_field(event, 3, "parent_span_id", "00f067aa0ba902b7");
	assert_field(event, 4, "trace_state", "vendor=value");
	event = trace_expect(&t, WEFT_EVENT_MARK, 8, 0);
	assert_int_equal(event->field_count, 3);
	event = trace_expect(&t, WEFT_EVENT_MARK, 9, 0);
	assert_int_equal(event->field_count, 5);
	assert_field(event, 3, "parent_span_id", text + 36);
	trace_text(trace_expect(&t, WEFT_EVENT_BEGIN, 7, 0)->text, "query");
	event = trace_expect(&t, WEFT_EVENT_MARK, 7, 0);
	trace_text(event->text, "span context");
	assert_field(event, 3, "parent_span_id", text + 36);
	trace_expect(&t, WEFT_EVENT_END, 7, 0);
	trace_close(&t);
}

static void baggage_is_recorded_at_debug(void **state)
{
	struct trace t;
	weft_baggage_record("a=1", 3);
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_DEBUG), 0);
	weft_baggage_record("a=1,b=2", 7);
	weft_baggage_record("", 0);
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_INFO), 0);
	weft_stop();
	trace_open(&t, *state, SIZE);
	const struct weft_event *event = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	trace_text(event->text, "baggage");
	assert_field(event, 0, "baggage", "a=1,b=2");
	trace_close(&t);
}

static void a_long_state_is_cut(void **state)
{
	char states[600];
	struct weft_context parent = remote;
	struct trace t;
	memset(states, 'x', sizeof(states));
	parent.state = states;
	parent.state_size = sizeof(states);
	weft_context_start(&parent, NULL);
	weft_stop();
	trace_open(&t, *state, SIZE);
	const struct weft_event *event = trace_expect(&t, WEFT_EVENT_MARK, WEFT_TASK_NONE, 0);
	assert_int_equal(event->fields[4].value.text.size, 512);
	trace_close(&t);
}

static void a_level_that_is_off_passes_contexts_on(void **state)
{
	struct weft_context own;
	struct trace t;
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_ERROR), 0);
	weft_context_start(&remote, &own);
	assert_same(&own, &remote);
	weft_context_begin("query", &remote, &own);
	assert_same(&own, &remote);
	weft_context_end(NULL);
	weft_context_start(NULL, &own);
	assert_int_equal(own.span | own.trace_high | own.trace_low, 0);
	assert_int_equal(weft_set_level("*", WEFT_LEVEL_INFO), 0);
	weft_stop();
	trace_open(&t, *state, SIZE);
	trace_close(&t);
}

/* ---- What is current ---- */

static bool is_current(const struct weft_context *context)
{
	struct weft_context current;
	if (!weft_context_current(&current))
		return false;
	assert_same(&current, context);
	return true;
}

static void a_context_belongs_to_its_task(void **state)
{
	(void)state;
	struct weft_context first, second, third, current;
	weft_context_set(&remote);
	assert_true(is_current(&remote)); /* of the thread */
	weft_switch(1);
	assert_false(weft_context_current(&current));
	assert_int_equal(current.span, 0);
	weft_context_start(&remote, &first);
	weft_context_start_as(3, &remote, &third);
	weft_switch(2);
	assert_false(weft_context_current(&current));
	weft_context_begin("part", &remote, &second);
	assert_true(is_current(&second));
	weft_switch(1);
	assert_true(is_current(&first));
	weft_switch(3);
	assert_true(is_current(&third));
	weft_switch(2);
	weft_context_end(NULL);
	assert_false(weft_context_current(&current));
	weft_switch(1);
	weft_context_set(&third);
	assert_true(is_current(&third));
	weft_switch(WEFT_TASK_NONE);
	assert_true(is_current(&remote));
	weft_context_set(NULL);
	assert_false(weft_context_current(&current));
}

static void *look_for_first(void *context)
{
	weft_switch(1);
	assert_true(is_current(context));
	return NULL;
}

static void a_context_goes_with_its_task(void **state)
{
	(void)state;
	struct weft_context own;
	pthread_t thread;
	weft_switch(1);
	weft_context_start(NULL, &own);
	weft_switch(WEFT_TASK_NONE);
	assert_int_equal(pthread_create(&thread, NULL, look_for_first, &own), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A task has its own context or none, however many there are. */
static void the_newest_contexts_are_kept(void **state)
{
	(void)state;
	struct weft_context contexts[3000];
	size_t kept = 0;
	for (size_t i = 0; i < 3000; i++)
		weft_context_start_as(i + 1, NULL, &contexts[i]);
	for (size_t i = 0; i < 3000; i++) {
		weft_switch(i + 1);
		kept += is_current(&contexts[i]);
	}
	assert_int_equal(kept, 1024);
	weft_switch(3000);
	assert_true(is_current(&contexts[2999]));
}

enum {
	ROUNDS = 200000,
	RIVALS = 8, /* threads with a task each, for which there are half as many entries */
};

static struct weft_context context_of(uint64_t task, uint64_t round)
{
	const uint64_t random = weft__context_mix(task << 32 | round);
	return (struct weft_context){
		.trace_high = task, .trace_low = round + 1, .span = random | 1, .flags = random >> 56};
}

/* Each time, the task has its newest context or none. */
static void *set_and_look(void *of)
{
	const uint64_t task = *(const uint64_t *)of;
	uintptr_t wrong = 0;
	weft_switch(task);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		const struct weft_context own = context_of(task, round);
		struct weft_context current;
		weft_context_set(&own);
		wrong += weft_context_current(&current) && memcmp(&current, &own, sizeof(own)) != 0;
	}
	weft_switch(WEFT_TASK_NONE);
	struct weft_context of_thread;
	return (void *)(wrong + weft_context_current(&of_thread));
}

static void threads_that_share_entries_never_mix_contexts(void **state)
{
	const size_t size = (size_t)4 << 20; /* a packet for each thread */
	void *second = trace_buffer(size);
	pthread_t threads[RIVALS];
	uint64_t tasks[RIVALS];
	(void)state;
	weft_stop();
	assert_int_equal(weft_start(second, size, NULL), 0);
	for (uint64_t i = 0; i < RIVALS; i++) {
		tasks[i] = 1 + i * WEFT__CONTEXT_ENTRIES / WEFT__CONTEXT_WAYS;
		assert_int_equal(pthread_create(&threads[i], NULL, set_and_look, &tasks[i]), 0);
	}
	for (size_t i = 0; i < RIVALS; i++) {
		void *wrong = NULL;
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	weft_stop();
	free(second);
}

static void another_buffer_has_other_tasks(void **state)
{
	void *second = trace_buffer(SIZE);
	struct weft_context current;
	(void)state;
	weft_switch(1);
	weft_context_set(&remote);
	weft_stop();
	assert_int_equal(weft_start(second, SIZE, NULL), 0);
	weft_switch(1);
	assert_false(weft_context_current(&current));
	weft_stop();
	free(second);
}

static void without_a_recording_the_thread_has_one(void **state)
{
	struct weft_context current;
	(void)state;
	weft_stop();
	assert_false(weft_context_current(&current));
	weft_context_set(&remote);
	assert_true(is_current(&remote));
	weft_context_start(&remote, &current);
	assert_same(&current, &remote);
	weft_context_set(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_traceparent_is_read),
		cmocka_unit_test(another_text_is_refused),
		cmocka_unit_test(a_context_is_printed),
		cmocka_unit_test(the_environment_has_one),
		cmocka_unit_test(a_context_is_printed_for_an_environment),
		cmocka_unit_test(baggage_is_read),
		cmocka_unit_test(long_baggage_ends_with_a_whole_member),
		cmocka_unit_test_setup_teardown(ids_are_made_once, start, stop),
		cmocka_unit_test_setup_teardown(each_bit_of_an_id_is_even, start, stop),
		cmocka_unit_test_setup_teardown(new_seeds_give_other_ids, start, stop),
		cmocka_unit_test_setup_teardown(a_task_is_a_span_of_its_parent, start, stop),
		cmocka_unit_test_setup_teardown(baggage_is_recorded_at_debug, start, stop),
		cmocka_unit_test_setup_teardown(a_long_state_is_cut, start, stop),
		cmocka_unit_test_setup_teardown(a_level_that_is_off_passes_contexts_on, start, stop),
		cmocka_unit_test_setup_teardown(a_context_belongs_to_its_task, start, stop),
		cmocka_unit_test_setup_teardown(a_context_goes_with_its_task, start, stop),
		cmocka_unit_test_setup_teardown(the_newest_contexts_are_kept, start, stop),
		cmocka_unit_test_setup_teardown(threads_that_share_entries_never_mix_contexts, start, stop),
		cmocka_unit_test_setup_teardown(another_buffer_has_other_tasks, start, stop),
		cmocka_unit_test_setup_teardown(without_a_recording_the_thread_has_one, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
