/* SPDX-License-Identifier: ISC
 *
 * Where the clocks of several hosts are placed, by messages whose times are made up. A tick is a
 * ns, and all wall clocks are equal.
 */
#include "record_trace.h"

#include "input/hosts.h"

#define SIZE  ((size_t)64 << 10)
#define HOSTS 3
#define KEY   (UINT64_C(1) << 40)
#define MS    UINT64_C(1000000)
#define S     (1000 * MS)

static uint64_t now;

static const struct weft_platform by_hand = {.ticks_at = &now, .ticks_hz = 1000000000};

/* One side of a message, or of a context: a span, or a child of the span with that number. */
struct side {
	uint64_t at;
	enum {
		SENDS,
		RECEIVES,
		IS_SPAN,
		IS_CHILD
	} what;
	unsigned number;
};

static void record_side(const struct side *side)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	char span[17], parent[17];
	now = side->at;
	snprintf(span, sizeof(span), "%015x%d", side->number, side->what == IS_CHILD);
	snprintf(parent, sizeof(parent), "%015x0", side->number);
	switch (side->what) {
	case SENDS:
		weft_send_as(1, KEY + side->number);
		break;
	case RECEIVES:
		weft_receive_as(1, KEY + side->number);
		break;
	case IS_SPAN:
		weft_mark_as(1, "trace context", "trace_id", trace, "span_id", (const char *)span);
		break;
	case IS_CHILD:
		weft_mark_as(1, "trace context", "trace_id", trace, "span_id", (const char *)span,
			"parent_span_id", (const char *)parent);
		break;
	}
}

/* The sides of each host end with a time of 0. */
static void align(const struct side *const sides[HOSTS], struct weft__input_host hosts[HOSTS])
{
	struct weft__input_part parts[HOSTS];
	void *buffers[HOSTS];
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct trace trace;
		buffers[i] = trace_buffer(SIZE);
		now = 1;
		assert_int_equal(weft_start(buffers[i], SIZE, &by_hand), 0);
		for (const struct side *side = sides[i]; side->at; side++)
			record_side(side);
		weft_stop();
		trace_open(&trace, buffers[i], SIZE);
		parts[i] = (struct weft__input_part){trace.decoder, i};
		hosts[i] = (struct weft__input_host){.readings = {.offset_ns = 1}};
	}
	assert_int_equal(weft__input_align(hosts, HOSTS, parts, HOSTS, true), 0);
	for (uint32_t i = 0; i < HOSTS; i++) {
		weft_decoder_destroy(parts[i].decoder);
		free(buffers[i]);
	}
}

static const struct side none[] = {{0}};

/* A connection with the ports of an earlier one: the side of an hour before is no pair of it. */
static void a_message_of_another_hour_is_left_out(void **state)
{
	static const struct side first[] = {{2 * S, SENDS, 9}, {4000 * S, SENDS, 1},
		{4001 * S, SENDS, 2}, {4002 * S, SENDS, 3}, {4003 * S, RECEIVES, 4},
		{4004 * S, RECEIVES, 5}, {4005 * S, RECEIVES, 6}, {0}};
	static const struct side second[] = {{4000 * S + MS, RECEIVES, 1}, {4001 * S + MS, RECEIVES, 2},
		{4002 * S + MS, RECEIVES, 3}, {4003 * S - MS, SENDS, 4}, {4004 * S - MS, SENDS, 5},
		{4005 * S - MS, SENDS, 6}, {4006 * S, RECEIVES, 9}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align((const struct side *const[]){first, second, none}, hosts);
	assert_int_equal(hosts[1].about.pairs, 6);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_true(hosts[1].about.error_ns < 100 * MS);
	assert_true(hosts[1].about.bend_ns == 0);
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_NONE);
}

/* The third host has one slow message each way with the second, whose clock is known by a ms, and
 * quick ones with the first: it may be wrong by what the second one is. */
static void the_error_is_that_of_the_worst_host_before(void **state)
{
	static const struct side first[] = {{1 * S, SENDS, 1}, {2 * S, SENDS, 2}, {3 * S, RECEIVES, 3},
		{4 * S, RECEIVES, 4}, {5 * S, SENDS, 20}, {6 * S, RECEIVES, 21}, {0}};
	static const struct side second[] = {{1 * S + MS, RECEIVES, 1}, {2 * S + MS, RECEIVES, 2},
		{3 * S - MS, SENDS, 3}, {4 * S - MS, SENDS, 4}, {5 * S, SENDS, 10}, {6 * S, RECEIVES, 11},
		{0}};
	static const struct side third[] = {{5 * S + 1000, RECEIVES, 20},
		{5 * S + 2 * MS, RECEIVES, 10}, {6 * S - 2 * MS, SENDS, 11}, {6 * S - 1000, SENDS, 21},
		{0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align((const struct side *const[]){first, second, third}, hosts);
	assert_int_equal(hosts[1].about.pairs, 4);
	assert_int_equal(hosts[2].about.pairs, 4);
	assert_true(hosts[1].about.error_ns > MS / 2);
	assert_true(hosts[2].about.error_ns > hosts[1].about.error_ns);
}

/* Contexts that contradict each other bound the clock all the same if messages do so from one side
 * only. */
static void messages_of_one_direction_do_not_replace_contexts(void **state)
{
	static const struct side first[] = {
		{1 * S, SENDS, 1}, {2 * S, IS_SPAN, 1}, {4 * S, IS_CHILD, 2}, {0}};
	static const struct side second[] = {{1 * S + MS, RECEIVES, 1}, {2 * S - 5 * MS, IS_CHILD, 1},
		{4 * S + 5 * MS, IS_SPAN, 2}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align((const struct side *const[]){first, second, none}, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_int_equal(hosts[1].about.pairs, 3);
	assert_true(hosts[1].about.bend_ns > MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_of_another_hour_is_left_out),
		cmocka_unit_test(the_error_is_that_of_the_worst_host_before),
		cmocka_unit_test(messages_of_one_direction_do_not_replace_contexts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
