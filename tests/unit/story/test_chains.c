/* SPDX-License-Identifier: ISC
 *
 * Chains of waits, the ends to which they lead, and the groups of tasks with one end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>

#include "trace_script.h"
#include "waits_made.h"

static const char *end_sentence(const struct loaded *loaded, const struct weft_chain *chain)
{
	static char text[WEFT_SENTENCE_BYTES];
	weft_chain_end_sentence(&loaded->story, chain, text, sizeof(text));
	return text;
}

static const char *hop_sentence(
	const struct loaded *loaded, const struct weft_chain *chain, uint32_t hop)
{
	static char text[WEFT_SENTENCE_BYTES];
	assert_true(hop < chain->kept);
	weft_chain_hop_sentence(&loaded->story, &chain->hops[hop], text, sizeof(text));
	return text;
}

static struct weft_chain *chain_of(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	struct weft_chain *chain;
	assert_int_equal(
		weft_chain_create(&loaded->story, task_of(loaded, id), at, WEFT_CHAIN_HOPS, &chain), 0);
	for (uint32_t i = 0; i + 1 < chain->kept; i++)
		assert_int_equal(chain->hops[i].wait.source, chain->hops[i + 1].wait.task);
	return chain;
}

static const char *group_sentence(
	const struct loaded *loaded, const struct weft_waiting *waiting, uint32_t group)
{
	static char text[WEFT_SENTENCE_BYTES];
	weft_waiters_sentence(&loaded->story, waiting, &waiting->list[group], text, sizeof(text));
	return text;
}

static void a_lost_lookup_leads_to_its_signal(void **state)
{
	struct loaded loaded = lost_lookup();
	struct weft_chain *chain = chain_of(&loaded, 26, WEFT_STORY_WHOLE);
	(void)state;
	assert_int_equal(chain->count, 7);
	assert_string_equal(hop_sentence(&loaded, chain, 6), "try 31 waits for task 30 since 6.2 us.");
	assert_int_equal(chain->end.type, WEFT_CHAIN_UNRESOLVED);
	assert_string_equal(end_sentence(&loaded, chain),
		"Nobody resolved task 30; condition 10 was signalled at 4 us, 2 us before the wait began.");
	weft_chain_destroy(chain);
	assert_int_equal(
		weft_chain_create(&loaded.story, task_of(&loaded, 26), WEFT_STORY_WHOLE, 3, &chain), 0);
	assert_int_equal(chain->count, 7);
	assert_int_equal(chain->kept, 3);
	assert_int_equal(loaded.model->tasks.id[chain->hops[1].wait.task], 25);
	assert_int_equal(loaded.model->tasks.id[chain->hops[2].wait.source], 30);
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* An event loop: main waits for a wave, which a client ends when its call is answered. */
static struct loaded event_loop(void)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	make_label(&made, 1, "main");
	make_create(&made, 1, 2, WEFT_KIND_TASK);
	make_label(&made, 2, "client");
	make_create(&made, 1, 3, WEFT_KIND_PROMISE);
	make_label(&made, 3, "wave");
	make_create(&made, 2, 4, WEFT_KIND_PROMISE);
	make_label(&made, 4, "call");
	make_create(&made, 1, 5, WEFT_KIND_TASK);
	make_label(&made, 5, "server");
	make_switch(&made, 5);
	made.time = 500;
	make_switch(&made, 1);
	made.time = 1000;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	make_switch(&made, 2);
	made.time = 2000;
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 4);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 9000;
	make_switch(&made, 5);
	made.time = 9100;
	make_edge(&made, WEFT_EVENT_RESOLVE, 5, 4);
	made.time = 9200;
	make_edge(&made, WEFT_EVENT_READ, 2, 4);
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time = 9300;
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time = 9400;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

static void a_chain_goes_on_beyond_a_promise(void **state)
{
	static const char *const expected[] = {
		"task 1 'main' waits for promise 3 'wave' since 1 us, until 9.3 us.",
		"promise 3 'wave' is resolved by task 2 'client' at 9.2 us.",
		"task 2 'client' waits for promise 4 'call' since 2 us, until 9.2 us.",
		"promise 4 'call' is resolved by task 5 'server' at 9.1 us.",
	};
	struct loaded loaded = event_loop();
	struct weft_chain *chain = chain_of(&loaded, 1, 5000);
	(void)state;
	assert_int_equal(chain->count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(hop_sentence(&loaded, chain, i), expected[i]);
	assert_string_equal(end_sentence(&loaded, chain),
		"task 5 'server' waits for nothing that the trace shows, since 500 ns until 9 us.");
	weft_chain_destroy(chain);
	chain = chain_of(&loaded, 1, 9050);
	assert_int_equal(chain->count, 4);
	assert_string_equal(
		end_sentence(&loaded, chain), "task 5 'server' runs since 9 us, until 9.2 us.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* Each waits for the next one, the last one for the first. */
static void a_circle_is_named(void **state)
{
	struct made made = make_begin();
	struct weft_waiting *waiting;
	(void)state;
	make_tasks(&made, 4);
	for (uint64_t id = 1; id <= 4; id++) {
		make_switch(&made, id);
		made.time += 100;
		make_edge(&made, WEFT_EVENT_TRY_READ, id, id < 4 ? id + 1 : 2);
	}
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 1, WEFT_STORY_WHOLE);
	assert_int_equal(chain->count, 4);
	assert_int_equal(chain->end.type, WEFT_CHAIN_CIRCLE);
	assert_int_equal(chain->end.first, 1);
	assert_string_equal(end_sentence(&loaded, chain), "A circle: task 2 again, after 3 hops.");
	weft_chain_destroy(chain);
	assert_int_equal(weft_waiting_create(&loaded.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 1);
	assert_int_equal(waiting->tasks, 4);
	assert_true(waiting->list[0].is_circle);
	assert_string_equal(group_sentence(&loaded, waiting, 0),
		"3 tasks wait in a circle with task 2, and 1 behind it; first task 1, since 100 ns.");
	weft_waiting_destroy(waiting);
	loaded_finish(&loaded);
}

static struct loaded many_replies(unsigned count)
{
	struct made made = make_begin();
	char label[32];
	for (uint64_t id = 1; id <= count; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_create(&made, id, 100 + id, WEFT_KIND_PROMISE);
		snprintf(label, sizeof(label), "reply %u", (unsigned)id);
		make_label(&made, 100 + id, label);
		made.time += 100;
		make_edge(&made, WEFT_EVENT_TRY_READ, id, 100 + id);
	}
	return make_end(&made);
}

static void alike_ends_are_one_group(void **state)
{
	struct loaded many = many_replies(5), few = many_replies(3);
	struct weft_waiting *waiting;
	(void)state;
	assert_int_equal(weft_waiting_create(&many.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 1);
	assert_int_equal(waiting->list[0].ends, 5);
	assert_string_equal(group_sentence(&many, waiting, 0),
		"5 tasks wait for 5 tasks like promise 101 'reply 1'; first task 1, since 100 ns.");
	weft_waiting_destroy(waiting);
	assert_int_equal(weft_waiting_create(&few.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 3);
	assert_int_equal(waiting->list[0].ends, 1);
	weft_waiting_destroy(waiting);
	loaded_finish(&many);
	loaded_finish(&few);
}

/* Tasks 1 to 8 wait for lock 20, which 9 holds; and 10 and 11 for lock 21 of the same task. */
static void waiters_are_told_by_their_lock(void **state)
{
	struct made made = make_begin();
	struct weft_waiting *waiting;
	(void)state;
	make_tasks(&made, 11);
	make_label(&made, 9, "worker");
	make_create(&made, 0, 20, WEFT_KIND_LOCK);
	make_label(&made, 20, "db lock");
	make_create(&made, 0, 21, WEFT_KIND_LOCK);
	made.time = 100;
	make_switch(&made, 9);
	make_edge(&made, WEFT_EVENT_READ, 9, 20);
	made.time = 200;
	make_edge(&made, WEFT_EVENT_READ, 9, 21);
	for (uint64_t id = 1; id <= 11; id++) {
		if (id == 9)
			continue;
		made.time += 100;
		make_switch(&made, id);
		make_edge(&made, WEFT_EVENT_TRY_READ, id, id < 9 ? 20 : 21);
	}
	made.time += 100;
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_waiting_create(&loaded.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 2);
	assert_int_equal(waiting->list[0].count, 8);
	assert_string_equal(group_sentence(&loaded, waiting, 0),
		"8 tasks wait for lock 20 'db lock', held by task 9 'worker' since 100 ns; first task 1, "
		"since 300 ns.");
	assert_string_equal(group_sentence(&loaded, waiting, 1),
		"2 tasks wait for lock 21, held by task 9 'worker' since 200 ns; first task 10, since 1.1 us.");
	weft_waiting_destroy(waiting);
	struct weft_chain *chain = chain_of(&loaded, 5, WEFT_STORY_WHOLE);
	assert_int_equal(chain->count, 2);
	assert_string_equal(hop_sentence(&loaded, chain, 1),
		"lock 20 'db lock' is held by task 9 'worker' since 100 ns.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* The holder is known although more tasks wait than edges are played for one question. */
static void a_holder_is_found_behind_many_waiters(void **state)
{
	enum {
		WAITERS = 70000
	};
	struct made made = make_begin();
	struct weft_chain_hop hop;
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_LOCK);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_READ, 2, 1);
	for (uint64_t id = 10; id < 10 + WAITERS; id++) {
		made.time++;
		make_create(&made, 0, id, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, id, 1);
	}
	struct loaded loaded = make_end(&made);
	struct weft_chain *chain = chain_of(&loaded, 10, WEFT_STORY_WHOLE);
	assert_int_equal(chain->count, 2);
	hop = chain->hops[1];
	assert_int_equal(hop.step, WEFT_CHAIN_HELD);
	assert_int_equal(hop.wait.source, task_of(&loaded, 2));
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* With sanitizers a shorter chain shows the same errors of memory. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LONG_CHAIN 100000
#endif
#endif
#ifndef LONG_CHAIN
#define LONG_CHAIN 1000000
#endif

/* Chains of 10^6 hops take linear time and little memory. */
static void a_very_long_chain_is_followed(void **state)
{
	enum {
		TASKS = LONG_CHAIN
	};
	struct made made = make_begin();
	struct weft_waiting *waiting;
	struct weft_chain *chain;
	(void)state;
	for (uint64_t id = 1; id <= TASKS; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		made.time++;
		if (id > 1)
			make_edge(&made, WEFT_EVENT_TRY_READ, id, id - 1);
	}
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, TASKS), WEFT_STORY_WHOLE,
						 WEFT_CHAIN_HOPS, &chain),
		0);
	assert_int_equal(chain->count, TASKS - 1);
	assert_int_equal(chain->kept, WEFT_CHAIN_HOPS);
	assert_int_equal(chain->end.task, task_of(&loaded, 1));
	assert_int_equal(chain->hops[chain->kept - 1].wait.source, chain->end.task);
	weft_chain_destroy(chain);
	assert_int_equal(weft_waiting_create(&loaded.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 1);
	assert_int_equal(waiting->tasks, TASKS - 1);
	weft_waiting_destroy(waiting);
	loaded_finish(&loaded);
}

static void the_moment_is_in_the_longest_wait(void **state)
{
	struct loaded loaded = event_loop(), lost = lost_lookup();
	uint64_t at;
	(void)state;
	assert_true(weft_chain_time(&loaded.story, task_of(&loaded, 1), 0, UINT64_MAX, &at));
	assert_int_equal(at, 1000 + (9300 - 1000) / 2);
	assert_true(weft_chain_time(&loaded.story, task_of(&loaded, 1), 5000, 7000, &at));
	assert_int_equal(at, 6000);
	assert_false(weft_chain_time(&loaded.story, task_of(&loaded, 1), 9310, 9390, &at));
	assert_true(weft_chain_time(&lost.story, task_of(&lost, 26), 0, UINT64_MAX, &at));
	assert_int_equal(at, 1000000);
	loaded_finish(&loaded);
	loaded_finish(&lost);
}

/* Tasks 1 and 3 on two threads ask each other, by descriptors 2 and 4. At 2 us, 3 has answered, and
 * waits for the next request; 1 receives the answer at 3 us, and asks again. */
#define ASKS                                                                                    \
	"create 0 1 task; create 0 2 task; create 0 3 task; create 0 4 task; thread 1; run 3;"      \
	"thread 0; run 1; ~500; try 1 2; idle; thread 1; +1; send 3 7; try 3 4; idle; thread 0;"    \
	"~1500; receive 2 7; read 1 2; ~500; send 1 8; try 1 2; idle; thread 1; ~500; receive 4 8;" \
	"read 3 4"

static const struct {
	const char *what, *script;
	uint64_t task, at;
	uint32_t count;
	enum weft_chain_end type;
	const char *hop; /* the last one, or NULL */
	const char *end;
} followed[] = {
	{"a message that is not sent yet", ASKS, 1, 1000, 2, WEFT_CHAIN_RUNS, NULL,
		"task 3 runs since 0 ns, until 1.5 us."},
	/* Their waits for each other would be a circle. */
	{"a message on its way", ASKS, 1, 2000, 1, WEFT_CHAIN_SENT, NULL,
		"task 2 gets at 3 us what task 3 has sent already."},
	{"a request, and that for an answer", ASKS, 3, 2000, 3, WEFT_CHAIN_SENT, NULL,
		"task 2 gets at 3 us what task 3 has sent already."},
	{"a canceller is no resolver",
		"create 0 1 task; create 0 2 task; create 0 3 promise; run 2; try 2 3; run 1; try 1 2;"
		"idle; +5; run 1; cancel 1 3",
		2, 3000, 1, WEFT_CHAIN_STOPPED, NULL,
		"Nobody resolved promise 3; task 1 cancelled it at 5 us."},
	/* Another task signalled it before, which did not end the wait. */
	{"the task that signalled the condition",
		"create 0 1 task; create 0 2 task; create 0 3 condition; create 0 4 task; run 1; +1;"
		"try 1 3; idle; +1; signal 3 4; +2; signal 1 2; ~500; read 1 3",
		1, 3000, 2, WEFT_CHAIN_UNRESOLVED, "condition 3 is signalled by task 2 at 4 us.",
		"Nobody resolved task 2."},
	/* The second task takes it at 3 us, and releases it at 4 us: it does not wait for that. */
	{"a free lock waits for no release",
		"create 0 1 task; create 0 2 task; create 0 9 lock; run 2; try 2 9; read 1 9; +1;"
		"signal 9 1; idle; +2; read 2 9; +1; signal 9 2",
		2, 2000, 1, WEFT_CHAIN_IDLE, NULL, "lock 9 is held by nobody that the trace shows."},
};

static void a_chain_is_followed_to_its_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(followed) / sizeof(*followed); i++) {
		struct loaded loaded = trace_script_load(followed[i].script, 0);
		struct weft_chain *chain = chain_of(&loaded, followed[i].task, followed[i].at);
		if (chain->count != followed[i].count || chain->end.type != followed[i].type)
			fail_msg("%s: %u hops, end %d", followed[i].what, chain->count, (int)chain->end.type);
		if (followed[i].hop)
			assert_string_equal(hop_sentence(&loaded, chain, chain->count - 1), followed[i].hop);
		assert_string_equal(end_sentence(&loaded, chain), followed[i].end);
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

/* Task 2 waits for condition 10 from 2 us on and is never woken; task 1 signals it `before` times
 * before that, one us apart, and `after` times after it. */
static struct loaded ignored_signals(unsigned before, unsigned after)
{
	struct made made = make_begin();
	make_tasks(&made, 2);
	make_create(&made, 1, 10, WEFT_KIND_CONDITION);
	make_label(&made, 10, "ready");
	made.time = 2000 - before * 1000;
	for (unsigned i = 0; i < before; i++, made.time += 1000)
		make_signal(&made, 10, 1, false);
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 10);
	made.time = 3000;
	make_switch(&made, 1);
	for (unsigned i = 0; i < after; i++, made.time += 1000)
		make_signal(&made, 10, 1, false);
	made.time = 9000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

static void a_chain_ends_with_the_signals_of_its_condition(void **state)
{
	static const struct {
		unsigned before, after;
		const char *sentence;
	} cases[] = {
		{0, 0, "Nobody signalled condition 10 'ready'."},
		{2, 0,
			"Nobody signalled condition 10 'ready' after the wait began; the last signal was at 1 us, "
			"1 us before."},
		{1, 1,
			"condition 10 'ready' was signalled 1 time after the wait began, the last time at 3 us."},
		{0, 3,
			"condition 10 'ready' was signalled 3 times after the wait began, the last time at 5 us."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loaded loaded = ignored_signals(cases[i].before, cases[i].after);
		struct weft_chain *chain = chain_of(&loaded, 2, WEFT_STORY_WHOLE);
		assert_int_equal(chain->count, 1);
		assert_int_equal(chain->end.signals, cases[i].after);
		assert_int_equal(chain->end.since - loaded.model->summary.start, 2000);
		assert_string_equal(end_sentence(&loaded, chain), cases[i].sentence);
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_lookup_leads_to_its_signal),
		cmocka_unit_test(a_chain_goes_on_beyond_a_promise),
		cmocka_unit_test(a_circle_is_named),
		cmocka_unit_test(alike_ends_are_one_group),
		cmocka_unit_test(waiters_are_told_by_their_lock),
		cmocka_unit_test(a_holder_is_found_behind_many_waiters),
		cmocka_unit_test(a_very_long_chain_is_followed),
		cmocka_unit_test(the_moment_is_in_the_longest_wait),
		cmocka_unit_test(a_chain_is_followed_to_its_end),
		cmocka_unit_test(a_chain_ends_with_the_signals_of_its_condition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
