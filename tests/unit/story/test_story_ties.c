/* SPDX-License-Identifier: ISC
 *
 * Answers about times at which several things happen at once: an end that is the moment asked
 * about, a wait that ends as something begins, a second span of one name, a holder of another name.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>

#include "loaded.h"
#include "story/any.h"
#include "story/flame.h"

static uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static struct weft_chain *chain_of(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	struct weft_chain *chain;
	assert_int_equal(
		weft_chain_create(&loaded->story, task_of(loaded, id), at, WEFT_CHAIN_HOPS, &chain), 0);
	return chain;
}

/* ---- Waits for any ---- */

/* The edge right before has the same time, and is none of them; a second wait for any of two is not
 * one for any of four. */
static void a_wait_for_any_has_its_own_edges(void **state)
{
	struct made made = make_begin();
	struct weft__edge_list any;
	(void)state;
	make_tasks(&made, 4);
	make_switch(&made, 1);
	for (int i = 0; i < 2; i++) {
		make_edge(&made, WEFT_EVENT_READ, 1, 2);
		make_edge(&made, WEFT_EVENT_WAIT_ANY, 1, 3);
		make_edge(&made, WEFT_EVENT_WAIT_ANY, 1, 4);
	}
	struct loaded loaded = make_end(&made);
	const struct weft_edges *e = &loaded.model->edges;
	for (uint32_t edge = 0; edge < e->count; edge++)
		if (e->type[edge] == WEFT_EDGE_WAIT_ANY) {
			any = weft__story_any_of(loaded.model, edge);
			assert_int_equal(any.count, 2);
			assert_int_equal(e->to[any.edges[0]], task_of(&loaded, 3));
			assert_int_equal(e->to[any.edges[1]], task_of(&loaded, 4));
		}
	loaded_finish(&loaded);
}

/* ---- Signals ---- */

static void signal_until(struct made *made, uint64_t by, const uint64_t signals[2], uint64_t ns)
{
	for (unsigned i = 0; i < 2; i++)
		if (signals[i] >= made->time && signals[i] <= ns) {
			made->time = signals[i];
			make_signal(made, 10, by, false);
			made->time++;
		}
	made->time = ns;
}

/* Task 2 waits for condition 10 from 2 us until 5 us, when it goes on without a signal. */
static struct loaded given_up(uint64_t by, const uint64_t signals[2])
{
	struct made made = make_begin();
	make_tasks(&made, 2);
	make_create(&made, 1, 10, WEFT_KIND_CONDITION);
	signal_until(&made, by, signals, 2000);
	make_switch(&made, 2);
	make_edge(&made, WEFT_EVENT_TRY_READ, 2, 10);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 2001;
	signal_until(&made, by, signals, 5000);
	make_switch(&made, 2);
	made.time = 9000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

/* A signal at the wait's begin is not after it. */
static void only_signals_during_the_wait_count(void **state)
{
	static const struct {
		uint64_t times[2];
		uint32_t signals;
		uint64_t last; /* 0: none */
	} cases[] = {
		{{1000, 2000}, 0, 2000},
		{{2000, 2001}, 1, 2001},
		{{2001, 4500}, 2, 4500},
		{{6000, 6000}, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loaded loaded = given_up(2, cases[i].times);
		struct weft_chain *chain = chain_of(&loaded, 2, 4500);
		assert_int_equal(chain->count, 1);
		assert_int_equal(chain->hops[0].wait.until, 5000);
		assert_int_equal(chain->end.signals, cases[i].signals);
		if (cases[i].last)
			assert_int_equal(loaded.model->edges.time[chain->end.edge], cases[i].last);
		else
			assert_int_equal(chain->end.edge, WEFT_NONE);
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

/* The waiter is told from its signaller up to the signal, not after it: that did not end the wait.
 */
static void a_signaller_is_waited_for_until_its_signal(void **state)
{
	static const uint64_t signals[2] = {4000, 4000};
	struct loaded loaded = given_up(1, signals);
	(void)state;
	for (uint64_t at = 3999; at <= 4001; at++) {
		struct weft_chain *chain = chain_of(&loaded, 2, at);
		assert_int_equal(chain->count, at == 4001 ? 1 : 2);
		assert_int_equal(chain->end.task, task_of(&loaded, at == 4001 ? 10 : 1));
		assert_int_equal(chain->end.signals, at == 4001);
		weft_chain_destroy(chain);
	}
	loaded_finish(&loaded);
}

/* A wait that begins and is signalled at one time is one like longer ones. */
static void a_signal_may_come_at_the_waits_beginning(void **state)
{
	static const uint64_t signals[2] = {2000, 2000};
	struct loaded loaded = given_up(1, signals);
	(void)state;
	struct weft_chain *chain = chain_of(&loaded, 2, 2000);
	assert_int_equal(chain->count, 2);
	assert_int_equal(chain->hops[1].step, WEFT_CHAIN_WOKEN);
	assert_int_equal(chain->hops[1].wait.until, 2000);
	assert_int_equal(chain->end.task, task_of(&loaded, 1));
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

/* Task 2 waits for condition 10 from 2 us on. Task 1 signals the condition at 4 us, and task 3 the
 * waiter then or later: the later one ended the wait, and of equal ones that to the condition. */
static void the_later_of_two_signals_ended_the_wait(void **state)
{
	(void)state;
	for (uint64_t later = 0; later < 2; later++) {
		struct made made = make_begin();
		make_tasks(&made, 3);
		make_create(&made, 1, 10, WEFT_KIND_CONDITION);
		made.time = 2000;
		make_switch(&made, 2);
		make_edge(&made, WEFT_EVENT_TRY_READ, 2, 10);
		make_switch(&made, WEFT_TASK_NONE);
		made.time = 4000;
		make_signal(&made, 10, 1, false);
		made.time += later;
		make_signal(&made, 2, 3, false);
		made.time = 5000;
		make_edge(&made, WEFT_EVENT_READ, 2, 10);
		struct loaded loaded = make_end(&made);
		struct weft_chain *chain = chain_of(&loaded, 2, 4000);
		assert_int_equal(chain->hops[1].step, WEFT_CHAIN_WOKEN);
		assert_int_equal(chain->hops[1].wait.source, task_of(&loaded, later ? 3 : 1));
		weft_chain_destroy(chain);
		loaded_finish(&loaded);
	}
}

/* ---- Messages ---- */

/* Task 3 sends to 1, which waits for it from 0.5 us on, stops running at 1.5 us, and runs again
 * after 1 has received at 3 us. */
static struct loaded sent_message(void)
{
	struct made made = make_begin();
	make_tasks(&made, 3);
	made.thread = 1;
	make_switch(&made, 3);
	made.thread = 0;
	make_switch(&made, 1);
	made.time = 500;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 2);
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 1;
	made.time = 1500;
	make(&made, (struct weft_event){.type = WEFT_EVENT_SEND, .task = 3, .value = 7});
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 0;
	made.time = 3000;
	make(&made, (struct weft_event){.type = WEFT_EVENT_RECEIVE, .task = 2, .value = 7});
	make_edge(&made, WEFT_EVENT_READ, 1, 2);
	made.thread = 1;
	made.time = 3001;
	make_switch(&made, 3);
	made.time = 4000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

/* The sender's activation ends at the moment: from then on it cannot send any more. */
static void a_sender_that_stops_now_has_sent(void **state)
{
	static const struct {
		uint64_t at;
		enum weft_chain_end type;
	} cases[] = {{1499, WEFT_CHAIN_RUNS}, {1500, WEFT_CHAIN_SENT}, {1501, WEFT_CHAIN_SENT}};
	struct loaded loaded = sent_message();
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_chain *chain = chain_of(&loaded, 1, cases[i].at);
		assert_int_equal(chain->end.type, cases[i].type);
		weft_chain_destroy(chain);
	}
	loaded_finish(&loaded);
}

/* ---- Wakes ---- */

/* Task 1 begins to run at 300 ns, and reads at 400 ns what task 2 resolves on another thread;
 * perhaps it is resolved another time, too (0: it is not). */
static bool is_woken_by_resolver(uint64_t other_ns, uint64_t resolved_ns)
{
	struct made made = make_begin();
	struct weft_story_wake wake;
	make_tasks(&made, 3);
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	for (made.time = 100; made.time <= 400; made.time += 100) {
		made.thread = 1;
		if (made.time == resolved_ns || made.time == other_ns)
			make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
		made.thread = 0;
		if (made.time == 300)
			make_switch(&made, 1);
	}
	made.time = 400;
	make(&made, (struct weft_event){.type = WEFT_EVENT_READ, .task = 1, .other = 3, .flag = true});
	made.time = 500;
	make_switch(&made, WEFT_TASK_NONE);
	made.thread = 1;
	if (other_ns == 500)
		make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	struct loaded loaded = make_end(&made);
	bool is_woken = weft_story_woken_by(&loaded.story, task_of(&loaded, 1), 450, &wake);
	if (is_woken) {
		assert_int_equal(wake.task, task_of(&loaded, 2));
		assert_int_equal(wake.time, resolved_ns);
		assert_int_equal(wake.runs, 300);
	}
	loaded_finish(&loaded);
	return is_woken;
}

/* A task that is resolved after the run's beginning did not cause it. */
static void a_task_that_runs_already_is_not_woken(void **state)
{
	(void)state;
	assert_true(is_woken_by_resolver(0, 200));
	assert_true(is_woken_by_resolver(0, 300));
	assert_false(is_woken_by_resolver(0, 400));
}

/* The last resolve before the read counts. */
static void the_later_of_two_resolves_wakes(void **state)
{
	(void)state;
	assert_true(is_woken_by_resolver(100, 200));
	assert_false(is_woken_by_resolver(200, 400));
	assert_true(is_woken_by_resolver(500, 200));
}

/* ---- Holders ---- */

/* Task 1 takes a resource at 100 ns and becomes 2 at 200 ns, which becomes 3 at 300 ns; 3 gives it
 * back at 400 ns. `other`: task 4 holds it from 50 ns on, too. */
static struct loaded renamed_holder(uint16_t kind, bool other)
{
	struct made made = make_begin();
	make_tasks(&made, 4);
	make_create(&made, 0, 9, kind);
	made.time = 50;
	if (other)
		make_edge(&made, WEFT_EVENT_READ, 4, 9);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_READ, 1, 9);
	made.time = 200;
	make_edge(&made, WEFT_EVENT_BECOME, 1, 2);
	made.time = 300;
	make_edge(&made, WEFT_EVENT_BECOME, 2, 3);
	made.time = 400;
	make_signal(&made, 9, 3, false);
	made.time = 600;
	make_switch(&made, 3);
	return make_end(&made);
}

/* It is the holder's own hold that ends, not that of the task which has held for longest. */
static void a_holder_gives_back_under_its_later_name(void **state)
{
	static const uint64_t held_by[][2] = {
		{99, 0}, {100, 1}, {199, 1}, {200, 2}, {299, 2}, {300, 3}, {399, 3}, {400, 0}, {500, 0}};
	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		const bool other = k == 2;
		struct loaded loaded = renamed_holder(k ? WEFT_KIND_SEMAPHORE : WEFT_KIND_LOCK, other);
		for (size_t i = 0; i < sizeof(held_by) / sizeof(held_by[0]); i++) {
			struct weft_story_hold holds[2] = {{0}};
			uint32_t count =
				weft_story_holders(&loaded.story, task_of(&loaded, 9), held_by[i][0], holds, 2);
			assert_int_equal(count, other + (held_by[i][1] != 0));
			if (other)
				assert_int_equal(holds[0].task, task_of(&loaded, 4));
			if (held_by[i][1]) {
				assert_int_equal(holds[other].task, task_of(&loaded, held_by[i][1]));
				assert_int_equal(holds[other].since, 100);
			}
		}
		loaded_finish(&loaded);
	}
}

/* ---- Spans ---- */

static void make_span(struct made *made, const char *name, uint64_t from, uint64_t to)
{
	made->time = from;
	make_begin_span(made, 1, name);
	made->time = to;
	make_end_span(made, 1);
}

static const struct weft__flame_node *node_of(
	const struct loaded *loaded, const struct weft__flame *flame, const char *name)
{
	for (uint32_t i = 0; i < flame->count; i++) {
		struct weft_slice text = weft_model_string(loaded->model, flame->nodes[i].name);
		if (text.size == strlen(name) && memcmp(text.bytes, name, text.size) == 0)
			return &flame->nodes[i];
	}
	fail_msg("no node \"%s\"", name);
	return NULL;
}

/* A node begins with the first of its spans, in whatever order they are met. */
static void a_repeated_span_begins_with_its_first(void **state)
{
	struct made made = make_begin();
	struct weft__flame flame;
	(void)state;
	make_tasks(&made, 1);
	make_span(&made, "parse", 100, 200);
	make_span(&made, "send", 200, 210);
	make_span(&made, "parse", 210, 250);
	made.time = 300;
	make_begin_span(&made, 1, "outer");
	make_span(&made, "parse", 310, 320);
	make_span(&made, "parse", 330, 331);
	made.time = 400;
	make_end_span(&made, 1);
	struct loaded loaded = make_end(&made);
	weft__story_flame_make(loaded.model, task_of(&loaded, 1), &flame);
	assert_int_equal(flame.count, 4);
	const struct weft__flame_node *first = &flame.nodes[flame.order[0]];
	assert_int_equal(first->start, 100);
	assert_int_equal(first->count, 2);
	assert_int_equal(first->ns, 140);
	assert_int_equal(node_of(&loaded, &flame, "send")->start, 200);
	const struct weft__flame_node *inner = &flame.nodes[flame.order[2]];
	assert_ptr_equal(&flame.nodes[inner->parent], node_of(&loaded, &flame, "outer"));
	assert_int_equal(inner->start, 310);
	assert_int_equal(inner->count, 2);
	assert_int_equal(inner->ns, 11);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_any_has_its_own_edges),
		cmocka_unit_test(only_signals_during_the_wait_count),
		cmocka_unit_test(a_signaller_is_waited_for_until_its_signal),
		cmocka_unit_test(a_signal_may_come_at_the_waits_beginning),
		cmocka_unit_test(the_later_of_two_signals_ended_the_wait),
		cmocka_unit_test(a_sender_that_stops_now_has_sent),
		cmocka_unit_test(a_task_that_runs_already_is_not_woken),
		cmocka_unit_test(the_later_of_two_resolves_wakes),
		cmocka_unit_test(a_holder_gives_back_under_its_later_name),
		cmocka_unit_test(a_repeated_span_begins_with_its_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
