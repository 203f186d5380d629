/* SPDX-License-Identifier: ISC
 *
 * Messages of which one side is known: compared with a list in the order of time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/ends.h>
#include <weft/event.h>
#include <weft/model.h>

#include "model/messages.h"

#define STEPS 6000
#define TASKS 50

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* ---- The list ---- */

struct list {
	struct weft__message messages[STEPS];
	uint32_t count;
	uint64_t handled;
};

static uint32_t find(const struct list *list, weft_message_key key)
{
	uint32_t i = 0;
	while (i < list->count && list->messages[i].key != key)
		i++;
	return i;
}

static bool take(struct list *list, weft_message_key key, struct weft__message *ret)
{
	const uint32_t i = find(list, key);
	if (i == list->count)
		return false;
	*ret = list->messages[i];
	memmove(&list->messages[i], &list->messages[i + 1],
		(--list->count - i) * sizeof(list->messages[0]));
	return true;
}

static void add(struct list *list, const struct weft__message *message)
{
	struct weft__message same;
	(void)take(list, message->key, &same);
	list->messages[list->count++] = *message;
}

/* A raise to a port, and one to any port of the domain, are for the guest that receives. */
static bool take_other(
	struct list *list, const struct weft__message *message, struct weft__message *ret)
{
	struct weft__message exact, raise;
	const bool is_exact = take(list, message->key, &exact);
	const bool is_raised = message->is_received && message->key >> 48 == WEFT_KEY_CHANNEL >> 48 &&
						   take(list, message->key | WEFT_KEY_CHANNEL_PORT, &raise);
	list->handled += is_raised;
	if (is_raised)
		*ret = raise;
	if (is_exact)
		*ret = exact;
	return is_exact || is_raised;
}

static void move(struct list *list, const uint32_t *new_index)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		struct weft__message it = list->messages[i];
		it.task = new_index[it.task];
		if (it.task != WEFT_NONE)
			list->messages[kept++] = it;
	}
	list->count = kept;
}

/* ---- The comparison ---- */

/* Keys of channels with and without a port, of streams, and such that are used once. */
static weft_message_key some_key(void)
{
	const uint32_t number = pick(300);
	switch (pick(6)) {
	case 0:
		return (uint64_t)WEFT_KEY_STREAM_FIRST << 56 | number;
	case 1:
		return WEFT_KEY_ONCE | number;
	case 2:
		return (uint64_t)WEFT_KEY_EXECS << 56 | number;
	default:
		return WEFT_KEY_CHANNEL | (uint64_t)pick(10) << 32 |
			   (pick(3) ? pick(3) : WEFT_KEY_CHANNEL_PORT);
	}
}

static void same_message(const struct weft__message *a, const struct weft__message *b)
{
	assert_true(a->key == b->key);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->task, b->task);
	assert_int_equal(a->is_received, b->is_received);
}

/* All, in the order of time. */
static void same_messages(const struct weft__messages *messages, const struct list *list)
{
	uint32_t i = messages->count ? messages->oldest : WEFT_NONE;
	assert_int_equal(messages->count, list->count);
	assert_int_equal(messages->handled, list->handled);
	for (uint32_t n = 0; n < list->count; n++, i = messages->list[i].newer)
		same_message(&messages->list[i].message, &list->messages[n]);
	assert_int_equal(i, WEFT_NONE);
}

static void take_or_add(struct weft__messages *messages, struct list *list, uint64_t time)
{
	const struct weft__message message = {some_key(), time, pick(TASKS), pick(2)};
	struct weft__message found, expected;
	if (pick(3)) {
		assert_int_equal(weft__model_messages_add(messages, &message), 0);
		add(list, &message);
		return;
	}
	const bool has_other = weft__model_messages_take_other(messages, &message, &found);
	assert_int_equal(has_other, take_other(list, &message, &expected));
	if (has_other)
		same_message(&found, &expected);
}

static void messages_are_those_of_a_list(void **state)
{
	static struct list list;
	struct weft__messages messages = {0};
	uint32_t new_index[TASKS];
	(void)state;
	seed = 3;
	for (uint64_t step = 1; step <= STEPS; step++) {
		take_or_add(&messages, &list, step / 2); /* two have one time */
		if (step % 1000 == 0) {
			for (uint32_t task = 0; task < TASKS; task++)
				new_index[task] = pick(4) ? TASKS - 1 - task : WEFT_NONE;
			weft__model_messages_move(&messages, new_index);
			move(&list, new_index);
		}
		if (step % 64 == 0)
			same_messages(&messages, &list);
	}
	assert_true(list.handled > 100);
	weft__model_messages_finish(&messages);
}

/* Beyond the limit the oldest is forgotten, whatever its key. */
static void the_oldest_is_forgotten(void **state)
{
	struct weft__messages messages = {0};
	struct weft__message found;
	(void)state;
	for (uint32_t i = 0; i < WEFT__MESSAGES_MAX + 2; i++)
		assert_int_equal(
			weft__model_messages_add(&messages, &(struct weft__message){.key = i, .time_ns = i}),
			0);
	assert_int_equal(messages.count, WEFT__MESSAGES_MAX);
	for (uint32_t i = 0; i < WEFT__MESSAGES_MAX + 2; i++)
		assert_int_equal(weft__model_messages_take(&messages, i, &found), i > 1);
	assert_int_equal(messages.count, 0);
	weft__model_messages_finish(&messages);
}

/* By the rules of docs/model.md: a receive comes after its send; of keys that are used once also
 * before it, up to a bound. */
static void sides_join_in_one_order(void **state)
{
	const weft_message_key once = WEFT_KEY_ONCE | 1, stream = (uint64_t)WEFT_KEY_STREAM_FIRST << 56;
	const struct weft__message send = {once, 100, 1, false}, receive = {once, 200, 2, true};
	struct weft__message late = {once, 200 + WEFT_KEY_ONCE_NS, 1, false};
	(void)state;
	assert_true(weft__model_message_joins(&send, &receive));
	assert_true(weft__model_message_joins(&receive, &late));
	late.time_ns++;
	assert_false(weft__model_message_joins(&receive, &late));
	assert_false(weft__model_message_joins(&send, &send));
	assert_false(weft__model_message_joins(&receive, &receive));
	const struct weft__message sent = {stream, 100, 1, false}, got = {stream, 200, 2, true};
	assert_true(weft__model_message_joins(&sent, &got));
	assert_false(weft__model_message_joins(&got, &sent));
	assert_true(weft__model_message_comes_first(&sent, &sent));
	assert_false(weft__model_message_comes_first(&sent, &got));
	assert_false(weft__model_message_comes_first(&got, &sent));
	assert_false(weft__model_message_comes_first(&send, &send));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_those_of_a_list),
		cmocka_unit_test(the_oldest_is_forgotten),
		cmocka_unit_test(sides_join_in_one_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
