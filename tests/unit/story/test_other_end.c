/* SPDX-License-Identifier: ISC
 *
 * The process at the other end of a pipe, in traces that tests make up: it may have several
 * threads or ends, and end or be replaced at the time that is asked about.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "loaded.h"
#include "story/other_end.h"

enum {
	THREAD = 1, /* of each process */
	SECOND = 2,
	READER = 11, /* of the first process */
	WRITER = 12,
	PIPE = 5, /* the key of both ends */
	AT = 5000,
};

/* The first process reads the pipe. The third one is another, or the second one after exec. */
static struct made begin(uint64_t third_pid)
{
	static struct weft_trace_buffer buffers[3];
	static const struct weft_trace_thread threads[] = {
		{.name = "a"}, {.name = "b", .buffer = 1}, {.name = "c", .buffer = 2}};
	const uint64_t pids[] = {7, 8, third_pid};
	struct made made = make_begin();
	for (uint32_t i = 0; i < 3; i++)
		buffers[i] = (struct weft_trace_buffer){.process = "p",
			.host = "",
			.file = "",
			.code = "",
			.unseen = "",
			.pid = pids[i],
			.end_ns = 100000,
			.has_categories = true};
	made.buffers = buffers;
	made.buffer_count = 3;
	made.threads = threads;
	made.thread_count = 3;
	return made;
}

static void in_process(struct made *made, uint32_t number)
{
	made->thread = made->buffer = number;
}

static void make_thread(struct made *made, uint32_t process, uint64_t id)
{
	in_process(made, process);
	make_create(made, WEFT_TASK_NONE, id, WEFT_KIND_THREAD);
}

static void make_pipe_end(
	struct made *made, uint32_t process, uint64_t parent, uint64_t id, const char *tag)
{
	in_process(made, process);
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = parent,
				   .other = id,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {"pipe", 4},
				   .category = {"io", 2}});
	make_tag(made, id, tag, PIPE);
}

/* Threads of two processes, and the reader. */
static struct made begin_two(uint64_t third_pid)
{
	struct made made = begin(third_pid);
	for (uint32_t process = 0; process < 2; process++)
		make_thread(&made, process, THREAD);
	make_pipe_end(&made, 0, THREAD, READER, WEFT_TAG_READS);
	return made;
}

/* The other end, as the reader finds it at AT; `user` and `end` are ids. */
struct seen {
	bool is_found;
	uint64_t user, end;
	uint32_t process, others;
};

/* Frees the trace. */
static struct seen look(struct made *made)
{
	made->time = 20000;
	in_process(made, 0);
	make_label(made, THREAD, "last");
	struct loaded loaded = make_end(made);
	const struct weft_tasks *t = &loaded.model->tasks;
	struct weft__other_end other;
	struct seen seen = {0};
	seen.is_found = weft__story_other_end(
		&loaded.story, weft_model_find_task(loaded.model, 0, READER), AT, &other);
	if (seen.is_found)
		seen = (struct seen){
			true, t->id[other.user], t->id[other.end], t->buffer[other.end], other.others};
	loaded_finish(&loaded);
	return seen;
}

static void a_process_has_its_ends_until_its_last_thread_ends(void **state)
{
	(void)state;
	for (int lives = 0; lives < 2; lives++) {
		struct made made = begin_two(9);
		make_thread(&made, 1, SECOND);
		make_pipe_end(&made, 1, SECOND, WRITER, WEFT_TAG_WRITES);
		made.time = 1000;
		make_edge(&made, WEFT_EVENT_RESOLVE, THREAD, THREAD);
		if (!lives)
			make_edge(&made, WEFT_EVENT_RESOLVE, SECOND, SECOND);
		const struct seen seen = look(&made);
		assert_int_equal(seen.is_found, lives);
		assert_int_equal(seen.user, lives ? SECOND : 0);
	}
}

/* The end itself runs, as in a loop, so it does not need a thread that lives. */
static void a_process_that_ends_at_the_time_has_no_ends(void **state)
{
	(void)state;
	for (uint64_t end = AT; end <= AT + 1; end++) {
		struct made made = begin_two(9);
		make_pipe_end(&made, 1, THREAD, WRITER, WEFT_TAG_WRITES);
		make_switch(&made, WRITER);
		made.time = end;
		make_edge(&made, WEFT_EVENT_RESOLVE, THREAD, THREAD);
		assert_int_equal(look(&made).is_found, end > AT);
	}
}

static void an_end_that_is_used_both_ways_again_and_again_is_one(void **state)
{
	struct made made = begin_two(9);
	(void)state;
	make_pipe_end(&made, 1, THREAD, WRITER, WEFT_TAG_WRITES);
	make_tag(&made, WRITER, WEFT_TAG_READS, PIPE);
	make_tag(&made, WRITER, WEFT_TAG_WRITES, PIPE);
	const struct seen seen = look(&made);
	assert_true(seen.is_found);
	assert_int_equal(seen.others, 0);
}

static void a_program_has_its_ends_until_exec(void **state)
{
	(void)state;
	for (int later = 0; later < 2; later++) {
		struct made made = begin_two(8);
		make_pipe_end(&made, 1, THREAD, WRITER, WEFT_TAG_WRITES);
		made.time = later ? AT + 1000 : AT - 1000;
		make_thread(&made, 2, THREAD);
		assert_int_equal(look(&made).is_found, later);
	}
}

static void a_task_that_only_waits_for_the_end_uses_it(void **state)
{
	struct made made = begin_two(9);
	(void)state;
	make_thread(&made, 1, SECOND);
	make_pipe_end(&made, 1, THREAD, WRITER, WEFT_TAG_WRITES);
	make_edge(&made, WEFT_EVENT_TRY_READ, SECOND, WRITER);
	assert_int_equal(look(&made).user, SECOND);
}

static void the_process_that_sent_last_comes_before_the_first_writer(void **state)
{
	(void)state;
	for (uint32_t sender = 1; sender <= 2; sender++) {
		struct made made = begin_two(9);
		make_thread(&made, 2, THREAD);
		make_pipe_end(&made, 1, THREAD, WRITER, WEFT_TAG_WRITES);
		make_pipe_end(&made, 2, THREAD, WRITER, WEFT_TAG_WRITES);
		made.time = 1000;
		in_process(&made, sender);
		make(&made, (struct weft_event){.type = WEFT_EVENT_SEND, .task = THREAD, .key = 77});
		made.time = 2000;
		in_process(&made, 0);
		make(&made, (struct weft_event){.type = WEFT_EVENT_RECEIVE, .task = READER, .key = 77});
		const struct seen seen = look(&made);
		assert_int_equal(seen.process, sender);
		assert_int_equal(seen.others, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_its_ends_until_its_last_thread_ends),
		cmocka_unit_test(a_process_that_ends_at_the_time_has_no_ends),
		cmocka_unit_test(an_end_that_is_used_both_ways_again_and_again_is_one),
		cmocka_unit_test(a_program_has_its_ends_until_exec),
		cmocka_unit_test(a_task_that_only_waits_for_the_end_uses_it),
		cmocka_unit_test(the_process_that_sent_last_comes_before_the_first_writer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
