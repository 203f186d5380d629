/* SPDX-License-Identifier: ISC
 *
 * Which task a task waits for, in traces that tests make up: a lost lookup in the manner of Lwt,
 * and programs that poll without a switch to no task.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>

#include "loaded.h"
#include "model/holds.h"
#include "trace_script.h"
#include "wait_chain.h"

static uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static uint64_t waits_for(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	struct weft_story_wait wait;
	if (!weft_story_wait_at(&loaded->story, task_of(loaded, id), at, &wait))
		return 0;
	return wait.source == WEFT_NONE ? UINT64_MAX : loaded->model->tasks.id[wait.source];
}

/* A lookup in the manner of Lwt: each bind is created, tries to read and is then become. Task 1
 * becomes bind 26, which waits for binds 25 … 20. Bind 20 becomes try 31, which waits for task 30,
 * a waiter of condition 10. Nothing signals the condition after that; 2 runs until 1 ms. */
static struct loaded lost_lookup(void)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_BIND);
	make_create(&made, 0, 2, WEFT_KIND_BIND);
	make_switch(&made, 1);
	made.time = 1000;
	make_create(&made, 1, 10, WEFT_KIND_CONDITION);
	make_label(&made, 10, "answer");
	for (uint64_t id = 20; id <= 26; id++) {
		made.time += 10;
		make_create(&made, 1, id, WEFT_KIND_BIND);
		made.time += 10;
		if (id > 20)
			make_edge(&made, WEFT_EVENT_TRY_READ, id, id - 1);
	}
	made.time = 2000;
	make_edge(&made, WEFT_EVENT_BECOME, 1, 26);
	made.time = 3000;
	make_switch(&made, 2);
	made.time = 4000;
	make_signal(&made, 10, 2, true);
	made.time = 5000;
	make_switch(&made, 20);
	made.time = 6000;
	make_signal(&made, 10, 20, true);
	make_create(&made, 10, 30, WEFT_KIND_TASK);
	made.time = 6100;
	make_switch(&made, 20);
	make_create(&made, 20, 31, WEFT_KIND_TRY);
	made.time = 6200;
	make_edge(&made, WEFT_EVENT_TRY_READ, 31, 30);
	made.time = 6300;
	make_edge(&made, WEFT_EVENT_BECOME, 20, 31);
	made.time = 7000;
	make_switch(&made, 2);
	made.time = 1000000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

static void a_become_is_no_end_of_a_wait(void **state)
{
	static const uint64_t expected[] = {26, 25, 24, 23, 22, 21, 31, 30};
	struct loaded loaded = lost_lookup();
	struct weft_story_wait waits[16];
	bool cycle;
	(void)state;
	for (int with_index = 0; with_index < 2; with_index++) {
		struct weft_story story = loaded.story;
		if (!with_index)
			story.index = NULL;
		assert_int_equal(
			wait_chain(&story, task_of(&loaded, 26), WEFT_STORY_WHOLE, waits, 16, &cycle), 7);
		assert_false(cycle);
		for (int i = 0; i < 7; i++) {
			assert_int_equal(loaded.model->tasks.id[waits[i].task], expected[i]);
			assert_int_equal(loaded.model->tasks.id[waits[i].source], expected[i + 1]);
			assert_int_equal(waits[i].until, UINT64_MAX);
		}
		assert_int_equal(waits[0].since, 1140);
	}
	/* The same just before it is become, and not while it runs. */
	assert_int_equal(waits_for(&loaded, 26, 1500), 25);
	assert_int_equal(waits_for(&loaded, 26, 2500), 0);
	assert_int_equal(waits_for(&loaded, 26, 3500), 25);
	loaded_finish(&loaded);
}

/* Tasks 1 to `count`. Task 1 runs, and waits for task 3 from 100 ns on. */
static struct made begin_wait(uint64_t count)
{
	struct made made = make_begin();
	make_tasks(&made, count);
	make_switch(&made, 1);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	return made;
}

/* A task that runs again without a become has stopped waiting. */
static void a_task_that_runs_has_stopped_to_wait(void **state)
{
	struct made made = begin_wait(3);
	(void)state;
	made.time = 200;
	make_switch(&made, 2);
	made.time = 300;
	make_switch(&made, 1);
	made.time = 400;
	make_switch(&made, 2);
	made.time = 500;
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	assert_int_equal(waits_for(&loaded, 1, 250), 3);
	assert_int_equal(waits_for(&loaded, 1, 350), 0);
	assert_int_equal(waits_for(&loaded, 1, 450), 0);
	loaded_finish(&loaded);
}

static void make_poll(struct made *made, uint64_t ns)
{
	struct weft_event event = {
		.type = WEFT_EVENT_BAND, .band = WEFT_BAND_IDLE, .flag = true, .text = {"poll", 4}};
	make(made, event);
	made->time += ns;
	event.flag = false;
	make(made, event);
}

/* Task 1 waits for 3. After a poll it goes on for `goes_on` ns, and does something if told to,
 * until the program switches to 2, which resolves 3. */
static struct loaded polling(uint64_t goes_on, bool acts, bool reads)
{
	struct made made = begin_wait(4);
	made.time = 1000;
	make_poll(&made, 1000000);
	made.time += goes_on / 2;
	if (acts)
		make_edge(&made, WEFT_EVENT_RESOLVE, 1, 4);
	made.time += goes_on - goes_on / 2;
	make_switch(&made, 2);
	made.time += 1000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time += 1000;
	if (reads)
		make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time += 1000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

static void a_task_waits_on_after_a_poll(void **state)
{
	struct loaded loaded = polling(500, false, true);
	struct weft_story_wait wait;
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 500), 0); /* it runs until the poll */
	for (uint64_t at = 1000; at < 1003000; at += 100) {
		if (!weft_story_wait_at(&loaded.story, task_of(&loaded, 1), at, &wait))
			fail_msg("waits for nothing at %llu", (unsigned long long)at);
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.since, 1000);
		assert_int_equal(wait.until, 1003500);
	}
	loaded_finish(&loaded);
}

/* The loop runs in task 1, which waits for 3: it returns from another task, and polls. */
static void a_loop_that_polls_waits_on(void **state)
{
	struct made made = begin_wait(3);
	(void)state;
	for (int i = 0; i < 3; i++) {
		made.time += 100;
		make_switch(&made, 2);
		made.time += 1000;
		make_switch(&made, 1);
		made.time += 500;
		make_poll(&made, 10000);
	}
	struct loaded loaded = make_end(&made);
	for (uint64_t at = 300; at < loaded.model->summary.end; at += 100)
		assert_int_equal(waits_for(&loaded, 1, at), 3);
	loaded_finish(&loaded);
}

/* Task 1 of that kind runs until 1 us, and from 3 us on, in `runs` parts. In the last one it reads
 * task 3, which has ended at that time. */
static struct loaded reads_when_it_runs(uint16_t kind, uint64_t end, unsigned runs)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, kind);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	make_create(&made, 0, 3, WEFT_KIND_WAIT);
	make_switch(&made, 1);
	if (end < 1000) {
		made.time = end;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	}
	made.time = 1000;
	make_switch(&made, 2);
	if (end >= 1000 && end <= 3000) {
		made.time = end;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	}
	for (unsigned i = 0; i < runs; i++) {
		made.time = 3000 + i * 1000;
		make_switch(&made, 1);
		made.time += 200;
		if (i + 1 < runs)
			make_switch(&made, 2);
	}
	if (end > 3000)
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time += 100;
	make_switch(&made, 2);
	return make_end(&made);
}

/* Runtimes that say that a promise runs before they say for what. */
static void a_promise_runs_for_the_first_that_it_reads(void **state)
{
	struct weft_story_wait wait;
	(void)state;
	for (uint64_t end = 2500; end <= 3000; end += 500) {
		struct loaded loaded = reads_when_it_runs(WEFT_KIND_BIND, end, 1);
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), 2000, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.since, 1000);
		assert_int_equal(wait.until, 3000);
		loaded_finish(&loaded);
	}
	static const struct {
		uint16_t kind;
		uint64_t end;
		unsigned runs;
	} unknown[] = {
		{WEFT_KIND_THREAD, 2500, 1}, /* a thread runs for many reasons */
		{WEFT_KIND_BIND, 500, 1},    /* it had ended before */
		{WEFT_KIND_BIND, 2000, 1},   /* at the time */
		{WEFT_KIND_BIND, 3100, 1},   /* it ended later than the task began to run */
		{WEFT_KIND_BIND, 2500, 2},   /* the task ran for something else before */
	};
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct loaded loaded = reads_when_it_runs(unknown[i].kind, unknown[i].end, unknown[i].runs);
		assert_int_equal(waits_for(&loaded, 1, 2000), 0);
		loaded_finish(&loaded);
	}
}

/* Task 1 asks 3 and then 4. It wakes for 3, waits on, and wakes again for 4, which it may read. */
static void a_wait_for_one_of_several_ends_with_its_own_wake_up(void **state)
{
	(void)state;
	for (int reads = 0; reads < 2; reads++) {
		struct made made = begin_wait(3);
		struct weft_story_wait wait;
		make_create(&made, 1, 4, WEFT_KIND_TASK);
		made.time += 100;
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
		uint64_t asked = made.time;
		made.time += 100;
		make_switch(&made, 2);
		made.time += 5000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
		make_switch(&made, 1);
		uint64_t woken = made.time;
		made.time += 200000; /* longer than a poll */
		make_edge(&made, WEFT_EVENT_READ, 1, 3);
		made.time += 100;
		make_switch(&made, 2);
		made.time += 5000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 4);
		make_switch(&made, 1);
		uint64_t woken_again = made.time;
		made.time += 300;
		if (reads)
			make_edge(&made, WEFT_EVENT_READ, 1, 4);
		made.time += 300;
		make_switch(&made, 2);
		struct loaded loaded = make_end(&made);
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), asked + 200, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 4));
		assert_int_equal(wait.until, reads ? woken_again : woken);
		loaded_finish(&loaded);
	}
}

static void a_task_that_acts_or_works_after_a_poll_has_woken(void **state)
{
	(void)state;
	for (int acts = 0; acts < 2; acts++) {
		struct loaded loaded = polling(acts ? 500 : 200000, acts, false);
		struct weft_story_wait wait;
		assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), 2000, &wait));
		assert_int_equal(wait.source, task_of(&loaded, 3));
		assert_int_equal(wait.until, 1001000);
		assert_int_equal(waits_for(&loaded, 1, 1001200), 0);
		loaded_finish(&loaded);
	}
}

/* Task 1 does something short between two idle bands: it creates task 4, or asks for it again, and
 * the answer comes in the second band. The model drops that try_read. */
static void a_task_that_creates_or_waits_in_a_short_run_has_woken(void **state)
{
	(void)state;
	for (int creates = 0; creates < 2; creates++) {
		struct made made = make_begin();
		make_tasks(&made, 3);
		make_switch(&made, 1);
		made.time = 1000;
		make_switch(&made, 2);
		made.time = 200000;
		if (!creates)
			make_create(&made, 2, 4, WEFT_KIND_TASK);
		make_switch(&made, WEFT_TASK_NONE);
		made.time = 250000;
		make_switch(&made, 1);
		made.time += 5000;
		if (creates)
			make_create(&made, 1, 4, WEFT_KIND_TASK);
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
		make_switch(&made, WEFT_TASK_NONE);
		made.time += 10000000;
		make_edge(&made, WEFT_EVENT_RESOLVE, 3, 4);
		make_edge(&made, WEFT_EVENT_READ, 1, 4);
		struct loaded loaded = make_end(&made);
		assert_int_equal(waits_for(&loaded, 1, 100000), 0);
		assert_int_equal(waits_for(&loaded, 1, 230000), 0);
		assert_int_equal(waits_for(&loaded, 1, 5000000), 4);
		loaded_finish(&loaded);
	}
}

/* ---- Chains ---- */

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

/* Task 1 wants 3 and 4, wakes for 3, and waits on for 4, which it reads later. */
static void a_task_waits_on_for_the_second_of_two(void **state)
{
	struct made made = begin_wait(4);
	(void)state;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 4);
	make_switch(&made, 2);
	made.time = 500;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time = 600;
	make_switch(&made, 1);
	make_label(&made, 1, "works");
	made.time = 700;
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	make_switch(&made, 2);
	made.time = 900;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 4);
	made.time = 1000;
	make_switch(&made, 1);
	made.time = 1100;
	make_edge(&made, WEFT_EVENT_READ, 1, 4);
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	assert_int_equal(waits_for(&loaded, 1, 300), 4);
	assert_int_equal(waits_for(&loaded, 1, 650), 0);
	assert_int_equal(waits_for(&loaded, 1, 800), 4);
	loaded_finish(&loaded);
}

/* Each waits for the next one, the last one for the first. */
static void a_circle_is_named(void **state)
{
	struct made made = make_begin();
	struct weft_waiting *waiting;
	char text[WEFT_SENTENCE_BYTES];
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
	weft_waiters_sentence(&loaded.story, waiting, &waiting->list[0], text, sizeof(text));
	assert_string_equal(
		text, "3 tasks wait in a circle with task 2, and 1 behind it; first task 1, since 100 ns.");
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
	char text[WEFT_SENTENCE_BYTES];
	(void)state;
	assert_int_equal(weft_waiting_create(&many.story, WEFT_STORY_WHOLE, &waiting), 0);
	assert_int_equal(waiting->count, 1);
	assert_int_equal(waiting->list[0].ends, 5);
	weft_waiters_sentence(&many.story, waiting, &waiting->list[0], text, sizeof(text));
	assert_string_equal(
		text, "5 tasks wait for 5 tasks like promise 101 'reply 1'; first task 1, since 100 ns.");
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
	char text[WEFT_SENTENCE_BYTES];
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
	weft_waiters_sentence(&loaded.story, waiting, &waiting->list[0], text, sizeof(text));
	assert_string_equal(text,
		"8 tasks wait for lock 20 'db lock', held by task 9 'worker' since 100 ns; first task 1, "
		"since 300 ns.");
	weft_waiters_sentence(&loaded.story, waiting, &waiting->list[1], text, sizeof(text));
	assert_string_equal(text,
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

static void make_message(struct made *made, enum weft_event_type type, uint64_t task, int64_t key)
{
	make(made, (struct weft_event){.type = (uint8_t)type, .task = task, .value = key});
}

/* Tasks 1 and 3 on two threads ask each other, by descriptors 2 and 4. At 2 us, 3 has answered, and
 * waits for the next request; 1 receives the answer at 3 us, and asks again. */
static struct loaded request_and_answer(void)
{
	struct made made = make_begin();
	for (uint64_t id = 1; id <= 4; id++)
		make_create(&made, WEFT_TASK_NONE, id, WEFT_KIND_TASK);
	made.thread = 1;
	make_switch(&made, 3);
	made.thread = 0;
	make_switch(&made, 1);
	made.time = 500;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 1;
	made.time = 1500;
	make_message(&made, WEFT_EVENT_SEND, 3, 7);
	make_edge(&made, WEFT_EVENT_TRY_READ, 3, 4);
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 0;
	made.time = 3000;
	make_message(&made, WEFT_EVENT_RECEIVE, 2, 7);
	make_edge(&made, WEFT_EVENT_READ, 1, 2);
	made.time = 3500;
	make_message(&made, WEFT_EVENT_SEND, 1, 8);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 1;
	made.time = 4000;
	make_message(&made, WEFT_EVENT_RECEIVE, 4, 8);
	make_edge(&made, WEFT_EVENT_READ, 3, 4);
	return make_end(&made);
}

/* Their waits for each other would be a circle. */
static void a_message_on_its_way_is_no_wait_for_its_sender(void **state)
{
	struct loaded loaded = request_and_answer();
	struct weft_chain *chain;
	char sentence[WEFT_SENTENCE_BYTES];
	(void)state;
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 1), 1000, 10, &chain), 0);
	assert_int_equal(chain->count, 2); /* not sent yet */
	assert_int_equal(chain->end.type, WEFT_CHAIN_RUNS);
	assert_int_equal(chain->end.task, task_of(&loaded, 3));
	weft_chain_destroy(chain);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 1), 2000, 10, &chain), 0);
	assert_int_equal(chain->count, 1);
	assert_int_equal(chain->end.type, WEFT_CHAIN_SENT);
	weft_chain_end_sentence(&loaded.story, chain, sentence, sizeof(sentence));
	assert_string_equal(sentence, "task 2 gets at 3 us what task 3 has sent already.");
	weft_chain_destroy(chain);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 3), 2000, 10, &chain), 0);
	assert_int_equal(chain->count, 3); /* it waits for the request, and that for the answer */
	assert_int_equal(chain->end.type, WEFT_CHAIN_SENT);
	assert_int_equal(chain->end.task, task_of(&loaded, 2));
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* Task 2 waits for task 3, which nobody resolves: task 1 cancels it at 5 us. */
static void a_canceller_is_no_resolver(void **state)
{
	struct made made = make_begin();
	struct weft_chain *chain;
	char sentence[WEFT_SENTENCE_BYTES];
	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		make_create(&made, WEFT_TASK_NONE, id, id == 3 ? WEFT_KIND_PROMISE : WEFT_KIND_TASK);
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 3);
	make_switch(&made, 1);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 5000;
	make_switch(&made, 1);
	make_edge(&made, WEFT_EVENT_CANCEL, 1, 3);
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 2), 3000, 10, &chain), 0);
	assert_int_equal(chain->count, 1);
	assert_int_equal(chain->end.type, WEFT_CHAIN_STOPPED);
	weft_chain_end_sentence(&loaded.story, chain, sentence, sizeof(sentence));
	assert_string_equal(sentence, "Nobody resolved promise 3; task 1 cancelled it at 5 us.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* Task 1 waits for condition 3 from 1 us on; task 2 signals it at 4 us, and another one at 2 us,
 * which did not end the wait. */
static void who_signalled_the_condition_is_named(void **state)
{
	struct made made = make_begin();
	struct weft_chain *chain;
	(void)state;
	for (uint64_t id = 1; id <= 4; id++)
		make_create(&made, WEFT_TASK_NONE, id, id == 3 ? WEFT_KIND_CONDITION : WEFT_KIND_TASK);
	make_switch(&made, 1);
	made.time = 1000;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 2000;
	make_signal(&made, 3, 4, false);
	made.time = 4000;
	make_signal(&made, 1, 2, false);
	made.time = 4500;
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 1), 3000, 10, &chain), 0);
	assert_int_equal(chain->count, 2);
	assert_int_equal(chain->hops[1].step, WEFT_CHAIN_WOKEN);
	assert_int_equal(chain->hops[1].wait.source, task_of(&loaded, 2));
	assert_int_equal(chain->hops[1].wait.until, 4000);
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* Task 1 has released lock 9, task 2 waits on until it takes the lock at 3 us, and releases it at 4
 * us: it does not wait for this. */
static void a_free_lock_waits_for_no_release(void **state)
{
	struct made made = make_begin();
	struct weft_chain *chain;
	char sentence[WEFT_SENTENCE_BYTES];
	(void)state;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	make_create(&made, WEFT_TASK_NONE, 2, WEFT_KIND_TASK);
	make_create(&made, WEFT_TASK_NONE, 9, WEFT_KIND_LOCK);
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 9);
	make_edge(&made, WEFT_EVENT_READ, 1, 9);
	made.time = 1000;
	make_signal(&made, 9, 1, false);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 3000;
	make_edge(&made, WEFT_EVENT_READ, 2, 9);
	made.time = 4000;
	make_signal(&made, 9, 2, false);
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_chain_create(&loaded.story, task_of(&loaded, 2), 2000, 10, &chain), 0);
	assert_int_equal(chain->count, 1);
	assert_int_equal(chain->end.type, WEFT_CHAIN_IDLE);
	weft_chain_end_sentence(&loaded.story, chain, sentence, sizeof(sentence));
	assert_string_equal(sentence, "lock 9 is held by nobody that the trace shows.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
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

/* ---- Random traces ---- */

static uint32_t pick(uint32_t below)
{
	static uint64_t seed = 5;
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* Half of the events have the time of the one before. Waits are given up and begun again; tasks are
 * created, and end, more than once. */
static struct loaded random_trace(uint32_t events, uint32_t tasks)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_BECOME, WEFT_EVENT_SIGNAL, WEFT_EVENT_RESOLVE, WEFT_EVENT_SWITCH,
		WEFT_EVENT_WAIT_ANY, WEFT_EVENT_SEND, WEFT_EVENT_RECEIVE, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_SIGNAL, WEFT_EVENT_SWITCH, WEFT_EVENT_CREATE, WEFT_EVENT_CANCEL,
		WEFT_EVENT_TIME_OUT, WEFT_EVENT_CLOSE, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE};
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_LOCK,
		WEFT_KIND_CONDITION, WEFT_KIND_JOIN, WEFT_KIND_SEMAPHORE, WEFT_KIND_PROMISE};
	struct made made = make_begin();
	for (uint32_t id = 0; id < tasks; id++)
		make_create(&made, WEFT_TASK_NONE, id, kinds[pick(sizeof(kinds) / sizeof(*kinds))]);
	for (uint32_t i = 0; i < events; i++) {
		made.time += pick(2) ? pick(100) : 0;
		make(&made, (struct weft_event){.type = types[pick(sizeof(types))],
						.task = pick(tasks),
						.other = pick(tasks),
						.value = pick(2)});
	}
	return make_end(&made);
}

/* The end under which all waiters list the task: a held resource, if its holder does not wait. */
static uint32_t end_of_group(const struct loaded *loaded, const struct weft_chain *chain)
{
	const struct weft_chain_hop *last = &chain->hops[chain->kept - 1];
	uint32_t end = chain->end.task;
	for (uint32_t i = 0; i < chain->kept; i++)
		if (chain->hops[i].step == WEFT_CHAIN_WOKEN)
			return chain->hops[i].wait.task; /* a group ends at the condition */
	if (chain->end.type != WEFT_CHAIN_CIRCLE)
		return last->step == WEFT_CHAIN_HELD ? last->wait.task : end;
	for (uint32_t i = chain->end.first; i < chain->kept; i++)
		if (chain->hops[i].wait.task < end)
			end = chain->hops[i].wait.task;
	assert_int_equal(chain->hops[chain->end.first].wait.task, chain->end.task);
	(void)loaded;
	return end;
}

static uint32_t become_at(const struct weft_tasks *t, uint32_t task, uint64_t at)
{
	while (t->becomes[task] != WEFT_NONE && t->end[task] <= at)
		task = t->becomes[task];
	return task;
}

static void check_hop(const struct loaded *loaded, const struct weft_chain_hop *hop, uint64_t at)
{
	static const enum weft_edge_type ends[] = {[WEFT_CHAIN_RESOLVED] = WEFT_EDGE_RESOLVE,
		[WEFT_CHAIN_SIGNALLED] = WEFT_EDGE_SIGNAL,
		[WEFT_CHAIN_WOKEN] = WEFT_EDGE_SIGNAL,
		[WEFT_CHAIN_RECEIVES] = WEFT_EDGE_RECEIVE};
	const struct weft_edges *e = &loaded->model->edges;
	assert_true(hop->wait.since <= at && hop->wait.until >= at);
	if (hop->step == WEFT_CHAIN_WAITS || hop->step == WEFT_CHAIN_HELD ||
		hop->step == WEFT_CHAIN_THREAD)
		return;
	assert_int_equal(e->type[hop->edge], ends[hop->step]);
	assert_true(e->to[hop->edge] == hop->wait.task ||
				(hop->step == WEFT_CHAIN_WOKEN && e->to[hop->edge] == hop[-1].wait.task));
	assert_int_equal(e->from[hop->edge], hop->wait.source);
	assert_int_equal(e->time[hop->edge], hop->wait.until);
	if (hop->step == WEFT_CHAIN_RESOLVED)
		assert_int_equal(hop->wait.until, loaded->model->tasks.end[hop->wait.task]);
}

/* The task begins to run because another becomes it. */
static bool begins_by_become(const struct weft_model *m, uint32_t task, uint64_t time)
{
	for (uint32_t i = 0; i < m->edges.count; i++)
		if (m->edges.type[i] == WEFT_EDGE_BECOME && m->edges.to[i] == task &&
			m->edges.time[i] == time)
			return true;
	return false;
}

/* The end of a chain whose task neither runs nor waits for another one. */
static void check_idle_end(const struct weft_model *m, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task;
	uint64_t since = m->tasks.start[task], until = UINT64_MAX;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		uint64_t start = m->activations.start[i];
		assert_false(start <= chain->at && chain->at < m->activations.end[i]);
		if (start <= chain->at)
			since = m->activations.end[i];
		else if (start < until && !begins_by_become(m, task, start))
			until = start;
	}
	if ((m->tasks.flags[task] & WEFT_TASK_RESOLVED) && m->tasks.end[task] < until)
		until = m->tasks.end[task];
	if (m->tasks.outcome[task] == WEFT_OUTCOME_CLOSED && chain->count &&
		chain->hops[chain->kept - 1].wait.until < until)
		until = chain->hops[chain->kept - 1].wait.until; /* it is closed when nobody needs it */
	if (chain->count && until == UINT64_MAX && m->tasks.kind[task] == WEFT_KIND_CONDITION)
		since = chain->hops[chain->kept - 1].wait.since;
	assert_int_equal(chain->end.since, since);
	assert_int_equal(chain->end.until, until);
}

static bool runs_between(const struct weft_model *m, uint32_t task, uint64_t start, uint64_t end)
{
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++)
		if (m->activations.start[i] == start && m->activations.end[i] == end)
			return true;
	return false;
}

/* It has run, and does not run between the time and the message. */
static void check_sender(const struct weft_model *m, uint32_t task, const struct weft_chain *chain)
{
	bool has_run = false;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		has_run |= m->activations.start[i] <= chain->end.until;
		assert_true(
			m->activations.end[i] <= chain->at || m->activations.start[i] > chain->end.until);
	}
	assert_true(has_run);
}

static void check_end(const struct weft_model *m, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task;
	bool is_resolved = m->tasks.flags[task] & WEFT_TASK_RESOLVED;
	bool has_run = m->tasks.first_activation[task] < m->tasks.end_activation[task], is_resource;
	switch (chain->end.type) {
	case WEFT_CHAIN_RUNS:
		assert_true(chain->end.since <= chain->at &&
					(chain->at < chain->end.until || chain->at == m->summary.end));
		assert_true(runs_between(m, task, chain->end.since, chain->end.until));
		break;
	case WEFT_CHAIN_IDLE:
	case WEFT_CHAIN_UNRESOLVED:
		is_resource = weft__model_is_resource(m->tasks.kind[task]);
		assert_int_equal(has_run || is_resource, chain->end.type == WEFT_CHAIN_IDLE);
		assert_true(has_run || is_resource || !is_resolved);
		check_idle_end(m, chain);
		break;
	case WEFT_CHAIN_OUTSIDE:
		assert_true(chain->end.until >= chain->at);
		break;
	case WEFT_CHAIN_SENT:
		assert_int_equal(m->edges.to[chain->end.edge], task);
		assert_int_equal(m->edges.type[chain->end.edge], WEFT_EDGE_RECEIVE);
		assert_true(m->edges.time[chain->end.edge] == chain->end.until);
		assert_true(chain->end.since <= chain->at && chain->at <= chain->end.until);
		check_sender(m, m->edges.from[chain->end.edge], chain);
		break;
	case WEFT_CHAIN_STOPPED:
		assert_int_equal(m->edges.to[chain->end.edge], task);
		assert_true(m->tasks.flags[task] & WEFT_TASK_STOPPED);
		assert_true(m->edges.time[chain->end.edge] == chain->end.until);
		assert_true(chain->end.until >= chain->at);
		break;
	case WEFT_CHAIN_LATER:
		assert_int_equal(chain->end.since, m->tasks.start[task]);
		assert_true(chain->end.since > chain->at);
		break;
	case WEFT_CHAIN_OVER:
		assert_int_equal(chain->end.since, m->tasks.end[task]);
		assert_true(is_resolved && chain->end.since <= chain->at);
		break;
	case WEFT_CHAIN_CIRCLE:
		assert_int_equal(chain->end.since, chain->hops[chain->end.first].wait.since);
		assert_true(chain->end.until == UINT64_MAX);
		break;
	}
}

/* All hops are kept: each leads to the next, and the last one to the end. */
static void check_chain(const struct loaded *loaded, const struct weft_chain *chain)
{
	const struct weft_tasks *t = &loaded->model->tasks;
	assert_int_equal(chain->count, chain->kept);
	for (uint32_t i = 0; i < chain->count; i++) {
		uint32_t next = i + 1 < chain->count ? chain->hops[i + 1].wait.task : chain->end.task;
		check_hop(loaded, &chain->hops[i], chain->at);
		assert_int_equal(become_at(t, chain->hops[i].wait.source, chain->at), next);
	}
	check_end(loaded->model, chain);
}

/* The tasks with one end, and the longest wait of these. */
struct waiting_for {
	uint32_t count;
	uint64_t since;
};

/* By end. Groups of alike ends are compared in all. */
static void check_counts(
	const struct weft_waiting *waiting, const struct waiting_for *expected, uint32_t tasks)
{
	uint32_t ends = 0, count = 0, groups = 0;
	for (uint32_t task = 0; task < tasks; task++)
		ends += expected[task].count > 0;
	for (uint32_t i = 0; i < waiting->count; i++) {
		const struct weft_waiters *waiters = &waiting->list[i];
		assert_true(waiters->ends == 1 || waiters->ends > 3);
		assert_true(waiters->ends > 1 || waiters->count == expected[waiters->end].count);
		assert_int_equal(waiters->since, expected[waiters->end].since);
		assert_true(i == 0 || waiters[-1].count >= waiters->count);
		groups += waiters->ends;
		count += waiters->count;
	}
	assert_int_equal(groups, ends);
	assert_int_equal(count, waiting->tasks);
}

/* True if the list of all that wait was compared with the chains. */
static bool check_at(const struct loaded *loaded, uint64_t at)
{
	struct weft_waiting *waiting;
	struct waiting_for expected[64] = {0};
	uint32_t tasks = loaded->model->tasks.count, sum = 0;
	char text[WEFT_SENTENCE_BYTES];
	bool has_turns = false;
	assert_int_equal(weft_waiting_create(&loaded->story, at, &waiting), 0);
	for (uint32_t task = 0; task < tasks; task++) {
		struct weft_chain *chain;
		assert_int_equal(weft_chain_create(&loaded->story, task, at, WEFT_CHAIN_HOPS, &chain), 0);
		assert_int_equal(chain->count > 0, weft_chain_waits(&loaded->story, task, at));
		size_t size = weft_chain_end_sentence(&loaded->story, chain, text, sizeof(text));
		assert_true(size > 5 && text[size - 1] == '.');
		bool waits = chain->count && chain->hops[0].wait.task == task &&
					 chain->hops[0].step != WEFT_CHAIN_HELD &&
					 chain->hops[0].step != WEFT_CHAIN_RESOLVED;
		for (uint32_t i = 0; i < chain->kept; i++)
			weft_chain_hop_sentence(&loaded->story, &chain->hops[i], text, sizeof(text));
		check_chain(loaded, chain);
		/* All that wait are listed by what they wait for, not by who has their thread. */
		for (uint32_t i = 0; i < chain->kept; i++)
			has_turns |= chain->hops[i].step == WEFT_CHAIN_THREAD;
		if (waits && !has_turns) {
			struct waiting_for *end = &expected[end_of_group(loaded, chain)];
			uint64_t since = chain->hops[0].wait.since;
			end->since = end->count++ && end->since < since ? end->since : since;
		}
		sum += waits;
		weft_chain_destroy(chain);
	}
	if (!has_turns) {
		assert_int_equal(waiting->tasks, sum);
		check_counts(waiting, expected, tasks);
	}
	weft_waiting_destroy(waiting);
	return !has_turns;
}

static void chains_and_groups_agree(void **state)
{
	(void)state;
	unsigned compared = 0; /* of 600 */
	for (int round = 0; round < 100; round++) {
		struct loaded loaded = random_trace(20 + pick(300), 3 + pick(30));
		for (int i = 0; i < 5; i++)
			compared += check_at(&loaded, loaded.model->summary.start + pick(20000));
		compared += check_at(&loaded, WEFT_STORY_WHOLE);
		for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
			uint64_t at;
			if (weft_chain_time(&loaded.story, task, 0, UINT64_MAX, &at))
				assert_true(weft_chain_waits(&loaded.story, task, at));
		}
		loaded_finish(&loaded);
	}
	assert_true(compared > 100);
}

/* A thread sleeps, wakes, and waits for a lock in calls that were noted. */
static void a_sleep_before_a_wait_is_not_part_of_it(void **state)
{
	struct loaded loaded = trace_script_load("create 0 1 thread; create 0 5 lock; run 1; +10; idle;"
											 "+20; run 1; +1; stack 1 flush; try 1 5; idle; +30;"
											 "acquire 1 5; run 1; +1; idle",
		0);
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 20 * 1000), 0);
	assert_int_equal(waits_for(&loaded, 1, 50 * 1000), 5);
	loaded_finish(&loaded);
}

/* A waiter says that thread 1, which sleeps, holds the lock. */
static void a_holder_does_not_wait_for_its_lock(void **state)
{
	struct loaded loaded =
		trace_script_load("create 0 1 thread; create 0 2 thread; create 0 5 lock; thread 1; run 1;"
						  "+5; idle; thread 2; run 2; +10; acquire 1 5; stack 2 flush; try 2 5;"
						  "idle; +10; thread 1; run 1; release 1 5; +1; idle",
			0);
	(void)state;
	assert_int_equal(waits_for(&loaded, 1, 10 * 1000), 0);
	assert_int_equal(waits_for(&loaded, 2, 20 * 1000), 5);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_become_is_no_end_of_a_wait),
		cmocka_unit_test(a_task_that_runs_has_stopped_to_wait),
		cmocka_unit_test(a_task_waits_on_after_a_poll),
		cmocka_unit_test(a_task_that_creates_or_waits_in_a_short_run_has_woken),
		cmocka_unit_test(a_wait_for_one_of_several_ends_with_its_own_wake_up),
		cmocka_unit_test(a_loop_that_polls_waits_on),
		cmocka_unit_test(a_promise_runs_for_the_first_that_it_reads),
		cmocka_unit_test(a_task_that_acts_or_works_after_a_poll_has_woken),
		cmocka_unit_test(a_lost_lookup_leads_to_its_signal),
		cmocka_unit_test(a_chain_goes_on_beyond_a_promise),
		cmocka_unit_test(a_task_waits_on_for_the_second_of_two),
		cmocka_unit_test(a_circle_is_named),
		cmocka_unit_test(waiters_are_told_by_their_lock),
		cmocka_unit_test(alike_ends_are_one_group),
		cmocka_unit_test(a_holder_is_found_behind_many_waiters),
		cmocka_unit_test(a_very_long_chain_is_followed),
		cmocka_unit_test(the_moment_is_in_the_longest_wait),
		cmocka_unit_test(a_message_on_its_way_is_no_wait_for_its_sender),
		cmocka_unit_test(a_canceller_is_no_resolver),
		cmocka_unit_test(who_signalled_the_condition_is_named),
		cmocka_unit_test(a_free_lock_waits_for_no_release),
		cmocka_unit_test(a_chain_ends_with_the_signals_of_its_condition),
		cmocka_unit_test(a_sleep_before_a_wait_is_not_part_of_it),
		cmocka_unit_test(a_holder_does_not_wait_for_its_lock),
		cmocka_unit_test(chains_and_groups_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
