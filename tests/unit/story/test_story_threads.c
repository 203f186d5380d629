/* SPDX-License-Identifier: ISC
 *
 * Threads that wait for several others, or in epoll for several descriptors.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <weft/chain.h>
#include <weft/ends.h>

#include "loaded.h"

#define MS UINT64_C(1000000)

/* A pipe that an epoll instance watches. */
static void make_watched(struct made *made, uint64_t id, int64_t instance)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = WEFT_TASK_NONE,
				   .other = id,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {"pipe", 4},
				   .category = {"io", 2}});
	make_tag(made, id, WEFT_TAG_EPOLL, instance);
}

/* Writes the chain of a task, a line for each hop and one for its end. */
static const char *chain_of(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	static char text[4 * WEFT_SENTENCE_BYTES];
	char line[WEFT_SENTENCE_BYTES];
	struct weft_chain *chain;
	size_t used = 0;
	const uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_equal(weft_chain_create(&loaded->story, task, at, WEFT_CHAIN_HOPS, &chain), 0);
	for (uint32_t i = 0; i < chain->kept; i++) {
		weft_chain_hop_sentence(&loaded->story, &chain->hops[i], line, sizeof(line));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", line);
	}
	weft_chain_end_sentence(&loaded->story, chain, line, sizeof(line));
	snprintf(text + used, sizeof(text) - used, "%s\n", line);
	weft_chain_destroy(chain);
	return text;
}

static const struct weft_trace_thread threads[] = {
	{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};

static struct made begin(void)
{
	struct made made = make_begin();
	made.threads = threads;
	made.thread_count = 4;
	for (uint32_t i = 0; i < 4; i++) {
		made.thread = i;
		make_create(&made, 0, 1 + i, WEFT_KIND_THREAD);
		make_label(&made, 1 + i, threads[i].name);
		make_switch(&made, 1 + i);
	}
	return made;
}

static void make_barrier(struct made *made)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = WEFT_TASK_NONE,
				   .other = 20,
				   .kind = WEFT_KIND_CONDITION,
				   .category = {"thread", 6}});
	make_label(made, 20, "barrier 20");
}

/* A thread waits at a barrier; or goes on behind it. */
static void wait_at(struct made *made, uint32_t thread, uint64_t time)
{
	made->thread = thread;
	made->time = time;
	make_edge(made, WEFT_EVENT_TRY_READ, 1 + thread, 20);
	make_switch(made, WEFT_TASK_NONE);
}

static void go_on(struct made *made, uint32_t thread, uint64_t time)
{
	made->thread = thread;
	made->time = time;
	make_switch(made, 1 + thread);
	make_edge(made, WEFT_EVENT_READ, 1 + thread, 20);
}

static void a_barrier_waits_for_the_last(void **state)
{
	struct made made = begin();
	(void)state;
	make_barrier(&made);
	wait_at(&made, 0, 10 * MS);
	wait_at(&made, 1, 30 * MS);
	wait_at(&made, 2, 90 * MS);
	go_on(&made, 0, 100 * MS);
	go_on(&made, 2, 100 * MS);
	go_on(&made, 1, 101 * MS);
	struct loaded loaded = make_end(&made);
	assert_string_equal(chain_of(&loaded, 1, 50 * MS),
		"thread 1 'a' waits for condition 20 'barrier 20' since 10 ms, until 100 ms.\n"
		"condition 20 'barrier 20' is reached last by thread 3 'c' at 90 ms.\n"
		"thread 3 'c' runs since 0 ns, until 90 ms.\n");
	loaded_finish(&loaded);
}

/* Those that go on before the last one comes are of an earlier turn. */
static void a_barrier_of_two_turns_names_nobody(void **state)
{
	struct made made = begin();
	(void)state;
	make_barrier(&made);
	wait_at(&made, 0, 10 * MS);
	wait_at(&made, 1, 30 * MS);
	go_on(&made, 1, 40 * MS);
	wait_at(&made, 2, 90 * MS);
	go_on(&made, 0, 100 * MS);
	go_on(&made, 2, 100 * MS);
	struct loaded loaded = make_end(&made);
	assert_string_equal(chain_of(&loaded, 1, 50 * MS),
		"thread 1 'a' waits for condition 20 'barrier 20' since 10 ms, until 100 ms.\n"
		"Nobody signalled condition 20 'barrier 20'.\n");
	loaded_finish(&loaded);
}

/* Thread a waits in epoll 7 for so many pipes; epoll 8 has another. */
static struct loaded epoll_of(unsigned count)
{
	struct made made = begin();
	made.thread = 0;
	for (uint64_t i = 0; i < count; i++)
		make_watched(&made, 30 + i, 7);
	make_watched(&made, 90, 8);
	made.time = 10 * MS;
	make_tag(&made, 1, WEFT_TAG_EPOLL, 7);
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 3;
	made.time = 200 * MS;
	make_label(&made, 4, "d");
	return make_end(&made);
}

static void a_thread_waits_in_epoll_for_what_it_watches(void **state)
{
	static const struct {
		unsigned count;
		const char *chain;
	} cases[] = {
		{0, "thread 1 'a' waits for nothing that the trace shows, since 10 ms.\n"},
		{1, "thread 1 'a' waits in epoll for pipe 30, since 10 ms.\n"},
		{2, "thread 1 'a' waits in epoll for pipe 30 and pipe 31, since 10 ms.\n"},
		{3, "thread 1 'a' waits in epoll for pipe 30, pipe 31 and pipe 32, since 10 ms.\n"},
		{4, "thread 1 'a' waits in epoll for pipe 30, pipe 31, pipe 32 and 1 other, since 10 ms.\n"},
		{20,
			"thread 1 'a' waits in epoll for pipe 30, pipe 31, pipe 32 and 17 others, since 10 ms.\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loaded loaded = epoll_of(cases[i].count);
		assert_string_equal(chain_of(&loaded, 1, 100 * MS), cases[i].chain);
		loaded_finish(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_barrier_waits_for_the_last),
		cmocka_unit_test(a_barrier_of_two_turns_names_nobody),
		cmocka_unit_test(a_thread_waits_in_epoll_for_what_it_watches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
