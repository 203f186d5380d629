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

/* A note about a host's wall clock; an error of 0 ends the list. */
struct wall {
	uint64_t own_ns, wall_ns, error_ns;
};

static const struct wall unknown[] = {{0}};

static void note_walls(struct weft__shared_readings *readings, const struct wall *wall)
{
	for (; wall->error_ns; wall++)
		readings->wall_notes[readings->wall_note_count++] =
			(struct weft__wall_note){wall->own_ns, wall->wall_ns, wall->error_ns};
}

/* The sides of each host end with a time of 0. */
static void align_by(const struct side *const sides[HOSTS], const struct wall *const walls[HOSTS],
	bool aligns, struct weft__input_host hosts[HOSTS])
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
		note_walls(&hosts[i].readings, walls[i]);
	}
	assert_int_equal(weft__input_align(hosts, HOSTS, parts, HOSTS, aligns), 0);
	for (uint32_t i = 0; i < HOSTS; i++) {
		weft_decoder_destroy(parts[i].decoder);
		free(buffers[i]);
	}
}

static void align(const struct side *const sides[HOSTS], struct weft__input_host hosts[HOSTS])
{
	align_by(sides, (const struct wall *const[]){unknown, unknown, unknown}, true, hosts);
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

/* ---- Wall clocks ---- */

#define YEAR (31557600 * S)

static const struct side two[] = {{1 * S, SENDS, 1}, {2 * S, SENDS, 2}, {0}};
static const struct side others[] = {{1 * S, SENDS, 3}, {2 * S, SENDS, 4}, {0}};
static const struct side thirds[] = {{1 * S, SENDS, 5}, {2 * S, SENDS, 6}, {0}};

static void expect_words(const struct weft__input_host *host, const char *words)
{
	char text[256];
	weft_input_explain_host(&host->about, text, sizeof(text));
	if (!strstr(text, words))
		fail_msg("%s", text);
}

/* The second wall clock was set by 3 s after its program had begun, which the note knows. */
static void wall_clocks_place_a_host_without_messages(void **state)
{
	static const struct wall first[] = {{1 * S, YEAR, 2 * MS}, {0}};
	static const struct wall second[] = {{1 * S, YEAR + 3 * S, 5 * MS}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){two, others, none},
		(const struct wall *const[]){first, second, unknown}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_true(hosts[1].about.has_wall_error);
	assert_int_equal(hosts[1].about.pairs, 0);
	/* 7 ms, and 1.5 ms for the 3 s between the notes; then 0.1 % of the second until the end. */
	assert_true(llabs(hosts[1].about.moved_ns - (int64_t)(3 * S)) < 10000);
	assert_true(hosts[1].about.error_ns > 8 * MS && hosts[1].about.error_ns < 10 * MS);
	expect_words(&hosts[1], "moved by +3 s \302\261 9");
	expect_words(&hosts[1], " ppm, from the errors of both wall clocks that NTP knew");
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_NONE);
	expect_words(&hosts[2], "no message from or to other hosts");
	assert_false(hosts[0].about.has_wall_error);
}

static void the_nearest_note_of_the_other_host_counts(void **state)
{
	static const struct wall first[] = {
		{1 * S, YEAR, 1 * MS}, {2000 * S, YEAR + 1999 * S, 1 * MS}, {0}};
	static const struct wall second[] = {{2000 * S, YEAR + 1999 * S, 1 * MS}, {0}};
	static const struct side late[] = {{1999 * S, SENDS, 3}, {2001 * S, SENDS, 4}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){two, late, none},
		(const struct wall *const[]){first, second, unknown}, true, hosts);
	assert_true(hosts[1].about.error_ns < 4 * MS);
}

static void nothing_is_placed_by_one_wall_clock_or_unasked(void **state)
{
	static const struct wall known[] = {{1 * S, YEAR, 2 * MS}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){two, others, none},
		(const struct wall *const[]){unknown, known, known}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_NONE);
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_NONE);
	align_by((const struct side *const[]){two, others, none},
		(const struct wall *const[]){known, unknown, known}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_NONE);
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	align_by((const struct side *const[]){two, others, none},
		(const struct wall *const[]){known, known, known}, false, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_NONE);
	assert_false(hosts[1].about.has_wall_error);
}

/* Messages that lead one way bound one side, and wall clocks the other one. If they contradict each
 * other, the messages are right. */
static void wall_clocks_bound_the_other_side(void **state)
{
	static const struct side late[] = {{1 * S + MS, RECEIVES, 1}, {2 * S + MS, RECEIVES, 2}, {0}};
	static const struct side early[] = {
		{1 * S - 100 * MS, RECEIVES, 1}, {2 * S - 100 * MS, RECEIVES, 2}, {0}};
	static const struct wall known[] = {{1 * S, YEAR, 5 * MS}, {2 * S, YEAR + S, 5 * MS}, {0}};
	const struct wall *const walls[] = {known, known, unknown};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){two, late, none}, walls, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_int_equal(hosts[1].about.pairs, 2);
	assert_true(hosts[1].about.error_ns < 7 * MS);
	expect_words(&hosts[1], "from 2 pairs and the errors of both wall clocks");
	align_by((const struct side *const[]){two, early, none}, walls, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_ONE_SIDED);
	assert_false(hosts[1].about.has_wall_error);
}

static void messages_both_ways_need_no_wall_clock(void **state)
{
	static const struct side there[] = {{1 * S, SENDS, 1}, {2 * S, RECEIVES, 2}, {0}};
	static const struct side back[] = {{1 * S + MS, RECEIVES, 1}, {2 * S - MS, SENDS, 2}, {0}};
	static const struct wall first[] = {{1 * S, YEAR, 1}, {0}};
	static const struct wall second[] = {{1 * S, YEAR + YEAR, 1}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){there, back, none},
		(const struct wall *const[]){first, second, unknown}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_false(hosts[1].about.has_wall_error);
	assert_true(hosts[1].about.bend_ns == 0 && hosts[1].about.error_ns < 3 * MS);
}

/* The first host has no notes: the third is placed by the second, which messages placed, and has
 * its error as well. */
static void the_error_of_the_host_in_between_is_inherited(void **state)
{
	static const struct side there[] = {{1 * S, SENDS, 1}, {1 * S + 20 * MS, RECEIVES, 2}, {0}};
	static const struct side back[] = {
		{1 * S + 10 * MS, RECEIVES, 1}, {1 * S + 10 * MS + 1, SENDS, 2}, {0}};
	static const struct wall known[] = {{1 * S, YEAR, 3 * MS}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){there, back, thirds},
		(const struct wall *const[]){unknown, known, known}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_true(hosts[1].about.error_ns > 9 * MS && hosts[1].about.error_ns < 11 * MS);
	assert_true(hosts[2].about.error_ns > 15 * MS && hosts[2].about.error_ns < 18 * MS);
}

/* The second host exchanges messages with the third one alone, which its wall clock places: so the
 * third one has its place first. */
static void a_host_with_a_wall_clock_is_placed_before_one_without(void **state)
{
	static const struct side there[] = {{1 * S, SENDS, 1}, {2 * S, RECEIVES, 2}, {0}};
	static const struct side back[] = {{1 * S + MS, RECEIVES, 1}, {2 * S - MS, SENDS, 2}, {0}};
	static const struct wall known[] = {{1 * S, YEAR, 3 * MS}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){thirds, there, back},
		(const struct wall *const[]){known, unknown, known}, true, hosts);
	assert_int_equal(hosts[1].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_int_equal(hosts[1].about.pairs, 2);
	assert_int_equal(hosts[2].about.alignment, WEFT_ALIGNMENT_BOUNDED);
	assert_true(hosts[2].about.has_wall_error && !hosts[1].about.has_wall_error);
}

/* A damaged or hostile file has any numbers. */
static void notes_may_have_any_numbers(void **state)
{
	static const struct wall strange[] = {{UINT64_MAX, 1, UINT64_MAX}, {1, UINT64_MAX, 1},
		{UINT64_MAX / 2, UINT64_MAX / 2, UINT64_MAX / 2}, {0}};
	static const struct wall known[] = {{1 * S, YEAR, 3 * MS}, {0}};
	struct weft__input_host hosts[HOSTS];
	(void)state;
	align_by((const struct side *const[]){two, others, thirds},
		(const struct wall *const[]){known, strange, strange}, true, hosts);
	align_by((const struct side *const[]){two, others, thirds},
		(const struct wall *const[]){strange, known, strange}, true, hosts);
	for (uint32_t i = 0; i < HOSTS; i++)
		expect_words(&hosts[i], i ? "" : "its clock is that of the trace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_of_another_hour_is_left_out),
		cmocka_unit_test(the_error_is_that_of_the_worst_host_before),
		cmocka_unit_test(messages_of_one_direction_do_not_replace_contexts),
		cmocka_unit_test(wall_clocks_place_a_host_without_messages),
		cmocka_unit_test(the_nearest_note_of_the_other_host_counts),
		cmocka_unit_test(nothing_is_placed_by_one_wall_clock_or_unasked),
		cmocka_unit_test(wall_clocks_bound_the_other_side),
		cmocka_unit_test(messages_both_ways_need_no_wall_clock),
		cmocka_unit_test(the_error_of_the_host_in_between_is_inherited),
		cmocka_unit_test(a_host_with_a_wall_clock_is_placed_before_one_without),
		cmocka_unit_test(notes_may_have_any_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
