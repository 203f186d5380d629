/* SPDX-License-Identifier: ISC
 *
 * The clocks of several hosts, from bounds of which the truth is known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <weft/error.h>
#include <weft/kinds.h>

#include "format/shift.h"
#include "input/clock_fit.h"
#include "input/messages.h"

#define MESSAGES 400

/* ---- Lines ---- */

static uint64_t state;

/* xorshift: from 0 to 1. */
static double chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* The truth: by how much a clock is behind. */
struct truth {
	double offset_ns, drift;
	int64_t middle_ns;
};

static double offset_at(const struct truth *truth, int64_t at_ns)
{
	return truth->offset_ns + truth->drift * (double)(at_ns - truth->middle_ns);
}

static double fitted_at(const struct weft__clock_fit *fit, int64_t at_ns)
{
	return fit->offset_ns + fit->drift * (double)(at_ns - fit->at_ns);
}

/* A message that takes `delay_ns`: received or sent by the clock at `at_ns`. */
static struct weft__clock_bound bound(
	const struct truth *truth, int64_t at_ns, double delay_ns, bool is_most)
{
	double offset = offset_at(truth, at_ns) + (is_most ? delay_ns : -delay_ns);
	return (struct weft__clock_bound){
		at_ns, (int64_t)(is_most ? ceil(offset) : floor(offset)), is_most};
}

static struct weft__clock_fit fit_all(
	const struct weft__clock_bound *list, size_t count, int64_t from_ns, int64_t to_ns)
{
	struct weft__clock_fit fit;
	assert_int_equal(weft__input_fit_clock(list, count, from_ns, to_ns, &fit), WEFT_OK);
	return fit;
}

static void expect_truth(
	const struct weft__clock_fit *fit, const struct truth *truth, int64_t at_ns)
{
	assert_true(fabs(fitted_at(fit, at_ns) - offset_at(truth, at_ns)) <= fit->error_ns);
}

static void expect_no_effect_before_its_cause(
	const struct weft__clock_fit *fit, const struct weft__clock_bound *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double slack = fitted_at(fit, list[i].at_ns) - (double)list[i].offset_ns;
		assert_true((list[i].is_most ? -slack : slack) >= -0.01);
	}
}

/* Delays have a minimum of their own in each direction, and a long tail; most messages are lost. */
static size_t make_messages(
	const struct truth *truth, int64_t from_ns, int64_t to_ns, struct weft__clock_bound *list)
{
	double least[2] = {1e3 + 1e6 * chance(), 1e3 + 5e6 * chance()}, jitter = 1e6 * chance();
	double loss[2] = {chance(), chance()};
	size_t count = 0;
	for (size_t i = 0; i < MESSAGES; i++) {
		bool is_most = chance() < 0.5;
		int64_t at_ns = from_ns + (int64_t)(chance() * (double)(to_ns - from_ns));
		double delay = least[is_most] - jitter * log(1 - chance());
		bool is_needed = i < 2;
		if (is_needed)
			is_most = i;
		if (is_needed || chance() > loss[is_most])
			list[count++] = bound(truth, at_ns, delay, is_most);
	}
	return count;
}

static void the_truth_lies_within_the_error(void **unused)
{
	(void)unused;
	double errors = 0;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct weft__clock_bound list[MESSAGES];
		state = seed * UINT64_C(0x9e3779b97f4a7c15);
		const int64_t from = (int64_t)(1e16 * chance()), length = (int64_t)(1e9 + 1e12 * chance());
		const struct truth truth = {
			2e10 * (chance() - 0.5), 6e-4 * (chance() - 0.5), from + length / 2};
		size_t count = make_messages(&truth, from, from + length, list);
		const struct weft__clock_fit fit = fit_all(list, count, from - length, from + 2 * length);
		assert_true(fit.has_least && fit.has_most);
		assert_true(fit.bend_ns == 0);
		for (int i = -4; i <= 8; i++)
			expect_truth(&fit, &truth, from + length / 4 * i);
		assert_true(fabs(fit.drift - truth.drift) <= fit.drift_error + 1e-12);
		expect_no_effect_before_its_cause(&fit, list, count);
		errors += fit_all(list, count, from, from + length).error_ns;
	}
	assert_true(errors / 2000 < 1e8); /* an error of hours would be true, too */
}

static void many_messages_bound_drift_and_offset(void **unused)
{
	(void)unused;
	const struct truth truth = {3200000, 12e-6, 50000000000};
	struct weft__clock_bound list[2000];
	state = 7;
	for (size_t i = 0; i < 2000; i++)
		list[i] = bound(&truth, (int64_t)i * 50000000, 20000 + 1e6 * chance(), i % 2);
	const struct weft__clock_fit fit = fit_all(list, 2000, 0, 100000000000);
	assert_true(fit.error_ns < 60000);
	assert_true(fabs(fit.drift - 12e-6) < 1e-6);
	assert_true(fabs(fit.offset_ns - 3200000) < 40000);
}

static void one_message_each_way_halves_the_delay(void **unused)
{
	(void)unused;
	const struct weft__clock_bound list[] = {{1000, -100, false}, {1000, 300, true}};
	const struct weft__clock_fit fit = fit_all(list, 2, 1000, 1000);
	assert_true(fabs(fit.offset_ns - 100) < 1);
	assert_true(fabs(fit.error_ns - 201) < 1);
}

static void one_way_traffic_bounds_one_side(void **unused)
{
	(void)unused;
	const struct weft__clock_bound late[] = {{5, 300, false}, {9, 700, false}};
	struct weft__clock_fit fit = fit_all(late, 2, 0, 10);
	assert_true(fit.has_least && !fit.has_most);
	assert_true(fit.offset_ns == 700 && fit.drift == 0);
	const struct weft__clock_bound early[] = {{5, -300, false}};
	fit = fit_all(early, 1, 0, 10);
	assert_true(fit.has_least && fit.offset_ns == 0);
	const struct weft__clock_bound most[] = {{5, -300, true}, {7, 20, true}};
	fit = fit_all(most, 2, 0, 10);
	assert_true(fit.has_most && !fit.has_least && fit.offset_ns == -300);
	fit = fit_all(most, 0, 0, 10);
	assert_true(!fit.has_most && !fit.has_least && fit.offset_ns == 0);
}

/* A clock that was set in between: no line satisfies all. */
static void contradictions_are_part_of_the_error(void **unused)
{
	(void)unused;
	const struct truth before = {0, 0, 0}, after = {5000000, 0, 0};
	struct weft__clock_bound list[200];
	for (size_t i = 0; i < 200; i++)
		list[i] = bound(i < 100 ? &before : &after, (int64_t)i * 1000, 1000, i % 2);
	const struct weft__clock_fit fit = fit_all(list, 200, 0, 200000);
	assert_true(fit.bend_ns > 2000000);
	expect_truth(&fit, &before, 0);
	expect_truth(&fit, &after, 200000);
}

/* A damaged file has any times. */
static void times_may_be_as_far_apart_as_numbers_are(void **unused)
{
	(void)unused;
	const struct weft__clock_bound list[] = {{INT64_MAX, INT64_MIN, false},
		{INT64_MIN, INT64_MAX, true}, {0, INT64_MAX, false}, {-1, 5, true}};
	for (size_t count = 0; count <= 4; count++) {
		assert_true(isfinite(fit_all(list, count, INT64_MAX, INT64_MIN).offset_ns));
		assert_true(isfinite(fit_all(list, count, INT64_MIN, INT64_MAX).error_ns));
	}
	const uint64_t far = UINT64_C(1) << 62;
	struct weft__shift shift = {.offset_ns = INT64_MAX, .drift = 0.001};
	assert_true(weft__format_shift(&shift, far) == far + INT64_MAX);
	shift = (struct weft__shift){.offset_ns = INT64_MIN, .drift = -0.001};
	assert_true(weft__format_shift(&shift, far) == 0);
}

/* ---- Messages ---- */

#define KEY (UINT64_C(1) << 40)

static void send_or_receive(
	struct weft__input_sides *sides, unsigned type, uint64_t key, uint64_t time_ns, uint32_t host)
{
	const struct weft_event event = {
		.type = (uint8_t)type, .task = 1, .key = key, .time_ns = time_ns};
	assert_int_equal(weft__input_sides_add(sides, &event, host), 0);
}

static size_t match(struct weft__input_sides *sides, struct weft__input_pair *ret_first)
{
	struct weft__input_pair *list;
	size_t count;
	assert_int_equal(weft__input_sides_match(sides, &list, &count), 0);
	if (count)
		*ret_first = list[0];
	free(list);
	free(sides->list);
	*sides = (struct weft__input_sides){0};
	return count;
}

static void a_message_has_two_sides_on_two_hosts(void **unused)
{
	(void)unused;
	struct weft__input_sides sides = {0};
	struct weft__input_pair pair;
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 5, 900, 1);
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 5, 1000, 0);
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 6, 1100, 0); /* never received */
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 7, 1200, 0); /* of one host */
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 7, 1300, 0);
	assert_int_equal(match(&sides, &pair), 1);
	assert_int_equal(pair.cause_ns, 1000);
	assert_int_equal(pair.effect_ns, 900);
	assert_int_equal(pair.cause_host, 0);
	assert_int_equal(pair.effect_host, 1);
}

/* Two sends and two receives do not say which ones belong together; a key of an adapter is about
 * one host; a small number may be one that each host counts. */
static void what_is_ambiguous_is_no_pair(void **unused)
{
	(void)unused;
	struct weft__input_sides sides = {0};
	struct weft__input_pair pair;
	for (uint64_t i = 0; i < 2; i++) {
		send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 5, 1000 + i, 0);
		send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 5, 2000 + i, 1);
	}
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 6, 1000, 0); /* received twice, sent twice */
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 6, 2000, 1);
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 6, 2000, 1);
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 7, 1000, 0);
	send_or_receive(&sides, WEFT_EVENT_SEND, KEY + 7, 1000, 0);
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, KEY + 7, 2000, 1);
	send_or_receive(&sides, WEFT_EVENT_SEND, UINT64_C(3) << 56 | 9, 1000, 0);
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, UINT64_C(3) << 56 | 9, 2000, 1);
	send_or_receive(&sides, WEFT_EVENT_SEND, 5, 1000, 0);
	send_or_receive(&sides, WEFT_EVENT_RECEIVE, 5, 2000, 1);
	assert_int_equal(match(&sides, &pair), 0);
}

#define TEXT(text)               \
	{                            \
		(text), sizeof(text) - 1 \
	}

struct context {
	uint64_t time_ns;
	uint32_t host;
	bool is_child, is_rundown;
};

static void add_context(struct weft__input_sides *sides, struct context context)
{
	const struct weft_field fields[] = {
		{.name = TEXT("trace_id"), .type = WEFT_FIELD_TEXT, .value.text = TEXT("0af7")},
		{.name = TEXT("span_id"),
			.type = WEFT_FIELD_TEXT,
			.value.text = {context.is_child ? "00c1" : "00f0", 4}},
		{.name = TEXT("parent_span_id"), .type = WEFT_FIELD_TEXT, .value.text = TEXT("00f0")},
	};
	const struct weft_event event = {.type = WEFT_EVENT_MARK,
		.time_ns = context.time_ns,
		.task = 1,
		.text = TEXT("trace context"),
		.fields = fields,
		.field_count = context.is_child ? 3 : 2,
		.is_rundown = context.is_rundown};
	assert_int_equal(weft__input_sides_add(sides, &event, context.host), 0);
}

/* The first time at which the parent is known, and the first child, are a pair. A rundown repeats
 * what was before. */
static void a_span_comes_after_its_parent_in_another_host(void **unused)
{
	(void)unused;
	struct weft__input_sides sides = {0};
	struct weft__input_pair pair;
	add_context(&sides, (struct context){3000, 1, true, false});
	add_context(&sides, (struct context){2500, 1, true, false});
	add_context(&sides, (struct context){2000, 1, true, true});
	add_context(&sides, (struct context){2600, 0, false, false});
	add_context(&sides, (struct context){1000, 0, false, false});
	assert_int_equal(match(&sides, &pair), 1);
	assert_true(pair.is_context);
	assert_int_equal(pair.cause_ns, 1000);
	assert_int_equal(pair.effect_ns, 2500);
	assert_int_equal(pair.effect_host, 1);
}

/* The parent in two hosts, or children in two, are ambiguous. */
static void a_span_with_sides_in_three_hosts_is_no_pair(void **unused)
{
	(void)unused;
	for (uint32_t more = 0; more < 2; more++) {
		struct weft__input_sides sides = {0};
		struct weft__input_pair pair;
		add_context(&sides, (struct context){1000, 0, false, false});
		add_context(&sides, (struct context){2500, 1, true, false});
		add_context(&sides, (struct context){2500, 2, more, false});
		assert_int_equal(match(&sides, &pair), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_lies_within_the_error),
		cmocka_unit_test(many_messages_bound_drift_and_offset),
		cmocka_unit_test(one_message_each_way_halves_the_delay),
		cmocka_unit_test(one_way_traffic_bounds_one_side),
		cmocka_unit_test(contradictions_are_part_of_the_error),
		cmocka_unit_test(times_may_be_as_far_apart_as_numbers_are),
		cmocka_unit_test(a_message_has_two_sides_on_two_hosts),
		cmocka_unit_test(what_is_ambiguous_is_no_pair),
		cmocka_unit_test(a_span_comes_after_its_parent_in_another_host),
		cmocka_unit_test(a_span_with_sides_in_three_hosts_is_no_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
