/* SPDX-License-Identifier: ISC
 *
 * The rate of the counter in Xen's own trace, which is estimated from switches, and the other
 * results of a survey of a whole file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "decoded.h"
#include "format/xentrace/notes.h"
#include "format/xentrace/survey.h"
#include "made_xentrace.h"

#define SWITCH 0x2800eu /* domain, vCPU, ns that it ran */

/* ---- Cycles to ns ---- */

static void a_rate_is_that_of_xenalyze(void **state)
{
	(void)state;
	struct weft__xentrace_clock clock;
	weft__format_xentrace_clock_set(&clock, 100, 2596000000);
	assert_int_equal(clock.rate, 2658); /* of 2658.304 cycles in 1024 ns */
	assert_int_equal(weft__format_xentrace_ns(&clock, 100), 0);
	assert_int_equal(weft__format_xentrace_ns(&clock, 99), 0);
	assert_int_equal(weft__format_xentrace_ns(&clock, 100 + 2657), 1023);
	assert_int_equal(weft__format_xentrace_ns(&clock, 100 + 2658), 1024);
	weft__format_xentrace_clock_set(&clock, 0, 1);
	assert_int_equal(clock.rate, 1);
	assert_int_equal(weft__format_xentrace_ns(&clock, 5), 5120);
}

/* On both sides of where the short way to compute would overflow. */
static void long_times_are_as_exact_as_short_ones(void **state)
{
	(void)state;
	struct weft__xentrace_clock clock;
	uint64_t random = 3;
	weft__format_xentrace_clock_set(&clock, 0, 2596000000);
	for (int i = 0; i < 2000; i++) {
		uint64_t cycles = (uint64_t)next_random(&random) << 33 | next_random(&random) << 2;
		cycles >>= next_random(&random) % 20;
		uint64_t expected = (uint64_t)(((__uint128_t)cycles << 10) / 2658);
		assert_int_equal(weft__format_xentrace_ns(&clock, cycles), expected);
	}
	weft__format_xentrace_clock_set(&clock, 0, 10000000); /* 10 cycles in 1024 ns */
	assert_int_equal(clock.rate, 10);
	assert_int_equal(weft__format_xentrace_ns(&clock, UINT64_C(10) << 53), UINT64_C(1) << 63);
	assert_int_equal(weft__format_xentrace_ns(&clock, UINT64_C(10) << 54), UINT64_MAX);
	assert_int_equal(weft__format_xentrace_ns(&clock, UINT64_MAX), UINT64_MAX);
}

/* ---- The estimate ---- */

/* Switches on a pCPU: each 1000 ns after the one before it, by this rate. */
static void add_chain(
	struct weft__xentrace_samples *samples, uint32_t count, double start, double per_ns)
{
	for (uint32_t i = 0; i < count; i++)
		samples->list[samples->count++] =
			(struct weft__xentrace_sample){start + 1000.0 * per_ns * i, 1000.0 * i};
}

static void assert_rate(
	const struct weft__xentrace_rate *rate, double hz, double least_spread, double most_spread)
{
	assert_true(rate->hz > hz * 0.999999 && rate->hz < hz * 1.000001);
	assert_true(rate->spread >= least_spread && rate->spread <= most_spread);
}

static void the_rate_is_the_median_of_halves_of_chains(void **state)
{
	(void)state;
	struct weft__xentrace_samples *samples = calloc(1, sizeof(*samples));
	struct weft__xentrace_rate rate = {0};
	weft__format_xentrace_estimate(samples, &rate);
	assert_int_equal(rate.hz, 0); /* no switches */
	add_chain(samples, 1, 500, 1);
	weft__format_xentrace_estimate(samples, &rate);
	assert_int_equal(rate.hz, 0); /* one switch gives no rate */
	samples->count = 0;
	add_chain(samples, 2, 500, 2.5);
	weft__format_xentrace_estimate(samples, &rate);
	assert_rate(&rate, 2.5e9, 0.000999, 0.001001);
	/* Two chains: the longer one has more time. */
	samples->count = 0;
	rate = (struct weft__xentrace_rate){0};
	add_chain(samples, 20, 1e6, 3);
	add_chain(samples, 9, 1e9, 2);
	weft__format_xentrace_estimate(samples, &rate);
	assert_rate(&rate, 3e9, 0.0000666, 0.0000668); /* 1 / (1000 * (10 + 5)) */
	free(samples);
}

/* Behind its end, the list may still hold samples of the former pCPU. */
static void a_chain_ends_with_its_list(void **state)
{
	(void)state;
	struct weft__xentrace_samples *samples = calloc(1, sizeof(*samples));
	struct weft__xentrace_rate rate = {0};
	add_chain(samples, 9, 0, 2);
	samples->count = 4;
	weft__format_xentrace_estimate(samples, &rate);
	assert_int_equal(samples->count, 2);
	assert_rate(&rate, 2e9, 0.000499, 0.000501);
	free(samples);
}

/* One point of 5 is late: the rates of the two pairs with it are wrong, the others agree. */
static void points_are_compared_half_a_chain_apart(void **state)
{
	(void)state;
	struct weft__xentrace_samples *samples = calloc(1, sizeof(*samples));
	struct weft__xentrace_rate rate = {0};
	add_chain(samples, 5, 0, 2);
	samples->list[2].cycles += 400;
	weft__format_xentrace_estimate(samples, &rate);
	assert_int_equal(samples->count, 3);
	assert_int_equal(samples->list[0].ns, 2000);
	assert_int_equal(samples->list[1].cycles, 4000);
	assert_rate(&rate, 2e9, 0.2003, 0.2004); /* (2.2 - 1.8) / 2 + 1 / 3000 */
	free(samples);
}

static void the_pcpu_counts_whose_rates_agree_best(void **state)
{
	(void)state;
	struct weft__xentrace_samples *samples = calloc(1, sizeof(*samples));
	struct weft__xentrace_rate rate = {0};
	static const double late[] = {0, 0, 0, 0, 40, -60, 80, 20, -30};
	add_chain(samples, 9, 0, 2);
	for (uint32_t i = 0; i < 9; i++)
		samples->list[i].cycles += late[i];
	weft__format_xentrace_estimate(samples, &rate);
	uint64_t worse = rate.hz;
	samples->count = 0;
	add_chain(samples, 9, 0, 3);
	weft__format_xentrace_estimate(samples, &rate);
	assert_rate(&rate, 3e9, 0, 0.00025);
	samples->count = 0;
	add_chain(samples, 3, 0, 2); /* so few agree by chance */
	weft__format_xentrace_estimate(samples, &rate);
	assert_rate(&rate, 3e9, 0, 0.00025);
	assert_int_not_equal(worse, rate.hz);
	/* Rates below 1 MHz and above 1 THz are refused. */
	for (double per_ns = 1e-4; per_ns < 1e5; per_ns *= 1e8) {
		rate = (struct weft__xentrace_rate){0};
		samples->count = 0;
		add_chain(samples, 9, 0, per_ns);
		weft__format_xentrace_estimate(samples, &rate);
		assert_int_equal(rate.hz, 0);
	}
	free(samples);
}

/* ---- The survey ---- */

static struct weft__xentrace_survey *survey(const struct made_xentrace *t, uint64_t most_bytes)
{
	struct weft__xentrace_survey *s = calloc(1, sizeof(*s));
	struct weft__xentrace_windows windows;
	struct weft_diagnostics diagnostics = {0};
	uint8_t *bytes = malloc(t->size);
	memcpy(bytes, t->bytes, t->size);
	assert_int_equal(weft__format_xentrace_windows_find(bytes, t->size, &diagnostics, &windows), 0);
	weft__format_xentrace_survey(bytes, &windows, most_bytes, s);
	weft__format_xentrace_windows_finish(&windows);
	free(bytes);
	return s;
}

static void switches_in_a_row_are_a_chain(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	uint64_t cycles = 5000;
	xentrace_window(t, 0);
	for (int i = 0; i < 3; i++, cycles += 2000)
		RECORD(t, SWITCH, cycles, 0, 0, 1000);
	RECORD(t, SWITCH, cycles, 0, 0, 0); /* it did not run */
	RECORD(t, SWITCH, cycles, 0, 0);    /* too short */
	RECORD(t, SWITCH, NO_CYCLES, 0, 0, 1000);
	RECORD(t, 0x1f002, cycles, 0, 0, 1000);
	RECORD(t, SWITCH, cycles, 0, 0, 1000, 4);
	xentrace_window(t, 0);
	RECORD(t, 0x1f001, cycles, 1);
	RECORD(t, SWITCH, cycles + 10000, 0, 0, 7);
	cycles += 10000 + (UINT64_C(1) << 32);
	RECORD(t, SWITCH, cycles - 1, 0, 0, 2);
	RECORD(t, SWITCH, cycles - 1 + (UINT64_C(1) << 32), 0, 0, 2);
	struct weft__xentrace_survey *s = survey(t, UINT64_MAX);
	/* Pairs: of the chain 0, 1000, 2000, 3000, two; of the chain 0, 2, one; of the last, none. */
	assert_int_equal(s->samples.count, 3);
	uint64_t last = 0;
	for (uint32_t i = 0; i < 3; i++)
		last += (uint64_t)s->samples.list[i].ns;
	assert_int_equal(last, 2000 + 2000 + 2);
	assert_rate(&s->rate, 2e9, 0, 1e9);
	free(s);
	free(t);
}

/* Each of four pCPUs gets a quarter of the bytes, rounded down to whole windows. */
static void a_short_survey_reads_the_first_windows(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			xentrace_window(t, cpu);
			RECORD(t, 0x21001, 1000, (16 * round + cpu) << 16);
		}
	static const struct {
		uint64_t bytes;
		uint8_t first, second;
	} cases[] = {{63, 0, 0}, {64, 15, 0}, {127, 15, 0}, {128, 15, 15}, {UINT64_MAX, 15, 15}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft__xentrace_survey *s = survey(t, cases[i].bytes);
		assert_int_equal(s->domains[0], cases[i].first);
		assert_int_equal(s->domains[2], cases[i].second);
		free(s);
	}
	free(t);
}

static void domains_are_those_that_run_or_ran_during_a_loss(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, 0x21001, 1000, 9u << 16 | 5);
	RECORD(t, 0x21002, 1000, 12u << 16 | 5);
	RECORD(t, 0x21001, 1000); /* no word */
	RECORD(t, 0x21001, 1000, 0x7fefu << 16);
	RECORD(t, 0x21001, 1000, 0x7ff0u << 16);
	RECORD(t, 0x1f001, 1000, 1, 17 | 3u << 16, 0, 0);
	RECORD(t, 0x1f001, 1000, 1, 20 | 3u << 16, 0);
	struct weft__xentrace_survey *s = survey(t, UINT64_MAX);
	unsigned count = 0;
	for (uint32_t i = 0; i < WEFT__XENTRACE_DOMAINS; i++)
		count += s->domains[i / 8] >> i % 8 & 1;
	assert_int_equal(count, 4);
	assert_int_equal(s->domains[1], 1 << (9 - 8) | 1 << (12 - 8));
	assert_int_equal(s->domains[2], 1 << (17 - 16));
	assert_int_equal(s->domains[WEFT__XENTRACE_DOMAINS / 8 - 1], 0x80);
	assert_false(s->is_svm); /* the member behind the domains */
	free(s);
	free(t);
}

static void exits_tell_whose_processor_it_is(void **state)
{
	(void)state;
	static const struct {
		uint32_t id, reason;
		bool is_svm;
	} cases[] = {{0x81002, 0x5f, false}, {0x81002, 0x60, true}, {0x81102, 0x403, true},
		{0x81002, 0x404, false}, {0x82002, 0x60, false}, {0x81003, 0x78, true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_xentrace *t = xentrace_begin();
		xentrace_window(t, 0);
		RECORD(t, cases[i].id, 1000, cases[i].reason);
		struct weft__xentrace_survey *s = survey(t, UINT64_MAX);
		assert_int_equal(s->is_svm, cases[i].is_svm);
		free(s);
		free(t);
	}
}

/* The quick time of a trace of hypercalls with these cycles between them. */
static uint64_t quick(const uint64_t *gaps, size_t count, size_t times)
{
	struct made_xentrace *t = xentrace_begin();
	uint64_t cycles = 1000;
	xentrace_window(t, 0);
	RECORD(t, 0x20100d, cycles, 17);
	for (size_t i = 0; i < times; i++)
		RECORD(t, 0x20100d, cycles += gaps[i % count], 17);
	struct weft__xentrace_survey *s = survey(t, UINT64_MAX);
	uint64_t found = weft__format_xentrace_quick_cycles(s);
	free(s);
	free(t);
	return found;
}

static void quick_is_four_times_the_quickest_twentieth(void **state)
{
	(void)state;
	const uint64_t one[] = {1000};
	assert_int_equal(quick(one, 1, 19), 0);
	assert_int_equal(quick(one, 1, 20), 4 * 960); /* classes of an eighth: 960 to 1023 */
	const uint64_t exact[] = {8, 9, 15, 16, 20, 64};
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		assert_int_equal(quick(exact + i, 1, 40), 4 * exact[i]);
	/* The twentieth of 60 is 3: 2 quicker ones do not count. */
	uint64_t mixed[60];
	for (int i = 0; i < 60; i++)
		mixed[i] = i < 2 ? 16 : i < 3 ? 32 : 64;
	assert_int_equal(quick(mixed, 60, 60), 4 * 32);
	mixed[2] = 64;
	assert_int_equal(quick(mixed, 60, 60), 4 * 64);
}

static void only_hypercalls_in_a_row_have_a_pace(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	for (uint64_t i = 0; i < 40; i++) {
		RECORD(t, 0x20100d, 1000 + 100 * i, 17);
		RECORD(t, 0x28004, 1050 + 100 * i, 0, 0);
	}
	for (uint64_t i = 0; i < 30; i++) /* padding is not a record */ {
		RECORD(t, 0x20100d, 10000, 17);
		RECORD(t, 0x1f002, NO_CYCLES, 17);
	}
	struct weft__xentrace_survey *s = survey(t, UINT64_MAX);
	assert_int_equal(s->gap_count, 0);
	free(s);
	for (uint64_t i = 1; i <= 20; i++)
		RECORD(t, 0x20100d, 10000 + 64 * i, 17);
	s = survey(t, UINT64_MAX);
	assert_int_equal(s->gap_count, 20);
	assert_int_equal(weft__format_xentrace_quick_cycles(s), 256);
	free(s);
	free(t);
}

/* ---- What the decoder makes of it ---- */

static struct weft_clock clock_of(const struct made_xentrace *t, uint64_t hz)
{
	struct opened_xentrace opened = xentrace_open_part(t->bytes, t->size, hz);
	struct weft_clock clock = weft_decoder_describe(opened.decoder)->clock;
	xentrace_finish(&opened);
	return clock;
}

static void the_rate_is_given_estimated_or_assumed(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, SWITCH, 5000, 0, 0, 1000);
	struct weft_clock clock = clock_of(t, 0);
	assert_string_equal(clock.name, "tsc");
	assert_int_equal(clock.rate, WEFT_RATE_ASSUMED);
	assert_int_equal(clock.hz, 2400000000);
	for (uint64_t i = 1; i < 100; i++)
		RECORD(t, SWITCH, 5000 + 3000 * i, 0, 0, 1000);
	clock = clock_of(t, 0);
	assert_int_equal(clock.rate, WEFT_RATE_ESTIMATED);
	assert_int_equal(clock.hz, 3000000000);
	clock = clock_of(t, 1000000000);
	assert_int_equal(clock.rate, WEFT_RATE_GIVEN);
	assert_int_equal(clock.hz, 1000000000);
	free(t);
}

/* ---- Notes ---- */

static void a_note_is_bytes_as_documented(void **state)
{
	(void)state;
	const struct weft_xentrace_note note = {
		WEFT_XENTRACE_NOTE_TIME, {0x0102030405060708, 0x1112131415161718}};
	static const uint8_t expected[] = {3, 0xf0, 1, 0x70, 0, 0, 0, 0, 0, 0, 0, 0, 'w', 'e', 'f', 2,
		8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
	uint8_t bytes[WEFT_XENTRACE_NOTE_BYTES];
	weft_xentrace_write_note(&note, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_true(weft__format_xentrace_has_note(bytes, sizeof(bytes)));
	assert_false(weft__format_xentrace_has_note(bytes, sizeof(bytes) - 1));
	struct weft_xentrace_note read = weft__format_xentrace_read_note(bytes);
	assert_int_equal(read.kind, note.kind);
	assert_memory_equal(read.values, note.values, sizeof(note.values));
	for (size_t i = 0; i < 15; i++) {
		bool is_cpu = i / 4 == 1;
		bytes[i] ^= 0x10;
		assert_int_equal(weft__format_xentrace_has_note(bytes, sizeof(bytes)), is_cpu);
		bytes[i] ^= 0x10;
	}
}

static void put_rate(struct made_xentrace *t, uint64_t hz)
{
	const struct weft_xentrace_note note = {WEFT_XENTRACE_NOTE_RATE, {hz, 0}};
	weft_xentrace_write_note(&note, t->bytes + t->size);
	t->size += WEFT_XENTRACE_NOTE_BYTES;
}

/* The first note with a rate from 1 MHz to 1 THz counts, unless --cpu-hz gives one. */
static void a_note_has_the_rate(void **state)
{
	(void)state;
	static const struct {
		uint64_t first, second, given, hz;
	} cases[] = {
		{1000000, 5000000000, 0, 1000000},
		{999999, 5000000000, 0, 5000000000},
		{1000000000000, 5000000000, 0, 1000000000000},
		{1000000000001, 5000000000, 0, 5000000000},
		{5000000000, 6000000000, 3000000000, 3000000000},
		{0, 1, 0, 2400000000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_xentrace *t = xentrace_begin();
		put_rate(t, cases[i].first);
		xentrace_window(t, 0);
		RECORD(t, 0x28004, 1000, 0, 0);
		put_rate(t, cases[i].second);
		assert_int_equal(clock_of(t, cases[i].given).hz, cases[i].hz);
		free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_that_of_xenalyze),
		cmocka_unit_test(long_times_are_as_exact_as_short_ones),
		cmocka_unit_test(the_rate_is_the_median_of_halves_of_chains),
		cmocka_unit_test(a_chain_ends_with_its_list),
		cmocka_unit_test(points_are_compared_half_a_chain_apart),
		cmocka_unit_test(the_pcpu_counts_whose_rates_agree_best),
		cmocka_unit_test(switches_in_a_row_are_a_chain),
		cmocka_unit_test(a_short_survey_reads_the_first_windows),
		cmocka_unit_test(domains_are_those_that_run_or_ran_during_a_loss),
		cmocka_unit_test(exits_tell_whose_processor_it_is),
		cmocka_unit_test(quick_is_four_times_the_quickest_twentieth),
		cmocka_unit_test(only_hypercalls_in_a_row_have_a_pace),
		cmocka_unit_test(a_note_is_bytes_as_documented),
		cmocka_unit_test(a_note_has_the_rate),
		cmocka_unit_test(the_rate_is_given_estimated_or_assumed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
