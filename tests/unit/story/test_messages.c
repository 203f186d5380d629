/* SPDX-License-Identifier: ISC
 *
 * Sends and receives: which of them belong together, also in different buffers, and how a receive
 * ends a wait.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>

#include "model/messages.h"
#include "same_model.h"
#include "trace_script.h"

/* ---- The table ---- */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static void add(struct weft__messages *messages, uint64_t key, uint32_t task)
{
	assert_int_equal(
		weft__model_messages_add(messages, &(struct weft__message){.key = key, .task = task}), 0);
}

/* The task of the message, or WEFT_NONE. */
static uint32_t take(struct weft__messages *messages, uint64_t key)
{
	struct weft__message message;
	return weft__model_messages_take(messages, key, &message) ? message.task : WEFT_NONE;
}

/* Few keys, so that they are added again, and taken in vain. */
static void agrees_with_a_naive_table(void **state)
{
	enum {
		KEYS = 300
	};
	uint32_t task_of[KEYS];
	uint64_t seed = 3;
	struct weft__messages messages = {0};
	(void)state;
	for (unsigned key = 0; key < KEYS; key++)
		task_of[key] = WEFT_NONE;
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t key = next_random(&seed) % KEYS;
		if (next_random(&seed) % 3) {
			add(&messages, key, i);
			task_of[key] = i;
		} else {
			assert_int_equal(take(&messages, key), task_of[key]);
			task_of[key] = WEFT_NONE;
		}
	}
	for (unsigned key = 0; key < KEYS; key++)
		assert_int_equal(take(&messages, key), task_of[key]);
	assert_int_equal(messages.count, 0);
	weft__model_messages_finish(&messages);
}

static void forgets_the_oldest(void **state)
{
	struct weft__messages messages = {0};
	(void)state;
	for (uint32_t key = 0; key < WEFT__MESSAGES_MAX; key++)
		add(&messages, key, key);
	add(&messages, 0, 7); /* this key becomes the newest */
	add(&messages, UINT64_MAX, 8);
	assert_int_equal(messages.count, WEFT__MESSAGES_MAX);
	assert_int_equal(take(&messages, 1), WEFT_NONE);
	assert_int_equal(take(&messages, 0), 7);
	assert_int_equal(take(&messages, 2), 2);
	assert_int_equal(take(&messages, UINT64_MAX), 8);
	weft__model_messages_finish(&messages);
}

static void tasks_are_renumbered(void **state)
{
	static const uint32_t new_index[] = {WEFT_NONE, 0, WEFT_NONE, 1};
	struct weft__messages messages = {0};
	(void)state;
	for (uint32_t task = 0; task < 4; task++)
		add(&messages, 10 + task, task);
	weft__model_messages_move(&messages, new_index);
	assert_int_equal(messages.count, 2);
	assert_int_equal(take(&messages, 10), WEFT_NONE);
	assert_int_equal(take(&messages, 11), 0);
	assert_int_equal(take(&messages, 13), 1);
	weft__model_messages_finish(&messages);
}

/* ---- Edges ---- */

/* The edges of the type in order, as "sender>receiver@ns". */
static void expect_receives(const struct weft_model *m, const char *expected)
{
	char shown[256] = "";
	for (uint32_t i = 0; i < m->edges.count; i++) {
		size_t used = strlen(shown);
		if (m->edges.type[i] == WEFT_EDGE_RECEIVE)
			snprintf(shown + used, sizeof(shown) - used, "%s%d>%d@%d", used ? " " : "",
				(int)m->tasks.id[m->edges.from[i]], (int)m->tasks.id[m->edges.to[i]],
				(int)m->edges.time[i]);
	}
	assert_string_equal(shown, expected);
}

static void a_receive_takes_the_latest_send(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model(
		"receive 9 5; send 1 5; ~10; send 2 5; send 3 6; ~10; receive 4 5; receive 4 5; ~10;"
		"receive 3 6; send 1 7; become 1 8; ~10; receive 4 7",
		0);
	expect_receives(m, "2>4@20 3>3@30 8>4@40");
	assert_int_equal(m->summary.by_event[WEFT_EVENT_SEND], 4);
	assert_int_equal(m->summary.by_event[WEFT_EVENT_RECEIVE], 5);
	assert_int_equal(m->summary.withdrawn, 0);
	weft_model_destroy(m);
}

static void make_message(
	struct made *made, uint32_t buffer, enum weft_event_type type, uint64_t task, uint64_t key)
{
	made->buffer = made->thread = buffer;
	made->time += 10;
	make(made, (struct weft_event){.type = (uint8_t)type, .task = task, .value = (int64_t)key});
}

/* A send of no task removes the message that waits, and is none itself. */
static void a_message_is_withdrawn(void **state)
{
	(void)state;
	struct made made = make_begin();
	make_message(&made, 0, WEFT_EVENT_SEND, 1, 5);
	make_message(&made, 0, WEFT_EVENT_SEND, WEFT_TASK_NONE, 5);
	make_message(&made, 0, WEFT_EVENT_RECEIVE, 2, 5);
	make_message(&made, 0, WEFT_EVENT_RECEIVE, WEFT_TASK_NONE, 6);
	struct weft_model *m = make_model(&made);
	expect_receives(m, "");
	assert_int_equal(m->summary.by_event[WEFT_EVENT_SEND], 2);
	assert_int_equal(m->summary.withdrawn, 1);
	weft_model_destroy(m);
}

/* The first write ends the wait of a reader, and a read may get all that was written. */
static void a_stream_keeps_its_first_send(void **state)
{
	const uint64_t stream = (UINT64_C(6) << 56) + 17, other = (UINT64_C(5) << 56) + 17;
	struct made made = make_begin();
	(void)state;
	for (uint64_t task = 1; task < 4; task++) {
		make_message(&made, 0, WEFT_EVENT_SEND, task, stream);
		make_message(&made, 0, WEFT_EVENT_SEND, task, other);
	}
	make_message(&made, 1, WEFT_EVENT_RECEIVE, 5, stream);
	make_message(&made, 1, WEFT_EVENT_RECEIVE, 6, stream);
	make_message(&made, 1, WEFT_EVENT_RECEIVE, 7, other);
	struct weft_model *m = make_model(&made);
	expect_receives(m, "1>5@70 3>7@90");
	assert_int_equal(m->summary.withdrawn, 0);
	weft_model_destroy(m);
}

/* The send may be recorded late, but not after a second. A key without the bit is another message.
 */
static void a_send_may_come_late(void **state)
{
	(void)state;
	const uint64_t once = WEFT_KEY_ONCE, late_ns = WEFT_KEY_ONCE_NS;
	struct made made = make_begin();
	const uint64_t key[] = {once | 1, once | 2, 3}, after[] = {late_ns, late_ns + 1, 1};
	for (unsigned i = 0; i < 3; i++) {
		make_message(&made, 0, WEFT_EVENT_RECEIVE, i, key[i]);
		made.time += after[i] - 10;
		make_message(&made, 0, WEFT_EVENT_SEND, 10 + i, key[i]);
		make_message(&made, 0, WEFT_EVENT_RECEIVE, 20 + i, key[i]);
	}
	struct weft_model *m = make_model(&made);
	expect_receives(m, "10>0@1000000010 11>21@2000000041 12>22@2000000062");
	weft_model_destroy(m);
}

static void processes_are_connected(void **state)
{
	const struct weft_trace_description description = {.format = "test", .clock.name = "test"};
	struct made made = make_begin();
	struct weft_model *snapshot, *m;
	(void)state;
	make_message(&made, 0, WEFT_EVENT_SEND, 1, UINT64_MAX);
	assert_int_equal(
		weft_model_builder_snapshot(made.builder, &description, made.time, &snapshot), 0);
	expect_receives(snapshot, "");
	weft_model_destroy(snapshot);
	make_message(&made, 1, WEFT_EVENT_RECEIVE, 1, UINT64_MAX);
	make_message(&made, 1, WEFT_EVENT_SEND, 2, 4);
	make_message(&made, 0, WEFT_EVENT_RECEIVE, 3, 4);
	make_message(&made, 0, WEFT_EVENT_SEND, WEFT_TASK_NONE, 4);
	make_message(&made, 1, WEFT_EVENT_RECEIVE, 3, 4);
	assert_int_equal(
		weft_model_builder_snapshot(made.builder, &description, made.time, &snapshot), 0);
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &m), 0);
	weft_model_builder_destroy(made.builder);
	expect_receives(snapshot, "1>1@20 2>3@40");
	expect_receives(m, "1>1@20 2>3@40");
	uint32_t first = 0;
	while (m->edges.type[first] != WEFT_EDGE_RECEIVE)
		first++;
	assert_int_equal(m->tasks.buffer[m->edges.from[first]], 0);
	assert_int_equal(m->tasks.buffer[m->edges.to[first]], 1);
	weft_model_destroy(snapshot);
	weft_model_destroy(m);
}

/* Else a program's pictures would depend on when others read what it wrote. */
static void a_receive_is_no_act(void **state)
{
	(void)state;
	struct weft_model *m = trace_script_model(
		"run 1; send 1 5; ~10; try 1 2; ~10; receive 3 5; ~10; read 1 2; run 1", 0);
	for (uint32_t i = 0; i < m->edges.count; i++)
		assert_int_not_equal(m->edges.type[i], WEFT_EDGE_TRY_READ);
	assert_int_equal(m->edges.by_actor_count, 1);
	weft_model_destroy(m);
}

/* ---- Stories ---- */

/* Task 1 waits for descriptor 2, which task 3 wrote to while it waited for 4. */
static struct loaded chain_of_processes(void)
{
	return trace_script_load(
		"create 0 2 task; run 3; ~10; run 1; ~10; try 1 2; idle; ~100; run 3; send 3 5;"
		"~10; receive 2 5; read 1 2; run 1; ~50",
		0);
}

static void a_chain_leads_to_the_sender(void **state)
{
	struct loaded loaded = chain_of_processes();
	struct weft_chain *chain;
	char text[WEFT_SENTENCE_BYTES];
	(void)state;
	uint32_t waiter = weft_model_find_task(loaded.model, 0, 1);
	assert_int_equal(weft_chain_create(&loaded.story, waiter, 60, WEFT_CHAIN_HOPS, &chain), 0);
	assert_int_equal(chain->count, 2);
	assert_int_equal(chain->hops[0].step, WEFT_CHAIN_WAITS);
	assert_int_equal(chain->hops[1].step, WEFT_CHAIN_RECEIVES);
	assert_int_equal(loaded.model->tasks.id[chain->hops[1].wait.source], 3);
	weft_chain_hop_sentence(&loaded.story, &chain->hops[1], text, sizeof(text));
	assert_string_equal(text, "task 2 waits for a message, from preexisting 3 at 130 ns.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

static void a_receive_wakes(void **state)
{
	struct loaded loaded = trace_script_load(
		"run 1; ~10; idle; run 3; send 3 5; ~10; idle; receive 1 5; run 1; ~10; idle", 0);
	struct weft_story_wake wake;
	char text[WEFT_SENTENCE_BYTES];
	(void)state;
	uint32_t task = weft_model_find_task(loaded.model, 0, 1);
	assert_true(weft_story_woken_by(&loaded.story, task, 25, &wake));
	assert_int_equal(loaded.model->tasks.id[wake.task], 3);
	weft_story_edge_sentence(&loaded.story, wake.edge, text, sizeof(text));
	assert_string_equal(text, "preexisting 3 sends to preexisting 1 at 20 ns.");
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_naive_table),
		cmocka_unit_test(a_stream_keeps_its_first_send),
		cmocka_unit_test(forgets_the_oldest),
		cmocka_unit_test(tasks_are_renumbered),
		cmocka_unit_test(a_receive_takes_the_latest_send),
		cmocka_unit_test(a_message_is_withdrawn),
		cmocka_unit_test(a_send_may_come_late),
		cmocka_unit_test(processes_are_connected),
		cmocka_unit_test(a_receive_is_no_act),
		cmocka_unit_test(a_chain_leads_to_the_sender),
		cmocka_unit_test(a_receive_wakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
