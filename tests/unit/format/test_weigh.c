/* SPDX-License-Identifier: ISC
 *
 * Where a trace's bytes are, and how a range is widened up to a number of bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include <weft/density.h>

#include "decoded.h"
#include "made_stream.h"

enum {
	THREADS = 3,
	PACKETS = 100,
};

/* ---- Weighing ---- */

static struct made_stream stream;
static struct made_packet packets[PACKETS];
static uint64_t last_ticks;

/* Threads' packets, some of which begin at one time, and some of which are empty. */
static void make_stream(uint64_t seed)
{
	const struct weft_abi_buffer header = made_header();
	uint64_t now = 1000;
	made_begin(&stream, &header);
	last_ticks = 0;
	for (uint32_t i = 0; i < PACKETS; i++) {
		const uint64_t events = next_random(&seed) % 9;
		packets[i] = made_packet(1 + next_random(&seed) % THREADS, i + 1);
		now += next_random(&seed) % 3 * (next_random(&seed) % 5000);
		packets[i].header.opened_ticks = now;
		for (uint64_t k = 0; k < events; k++)
			made_switch(&packets[i], (uint32_t)now, k + 1);
		last_ticks = events ? now : last_ticks;
		made_add_packet(&stream, &packets[i], 0);
	}
}

static struct weft_density weigh(const void *bytes, size_t size, int expected)
{
	struct weft_decoder *decoder;
	struct weft_density density = {0};
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_weigh(decoder, &density), expected);
	weft_decoder_destroy(decoder);
	return density;
}

static double all_of(const struct weft_density *density)
{
	return weft_density_weigh(density, density->start_ns, density->end_ns + 1);
}

static bool are_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-6;
}

/* The bytes of a packet are spread from its begin to the begin of its thread's next one. */
static double bytes_before(uint64_t time, const struct weft_density *density)
{
	double sum = 0;
	for (uint32_t i = 0; i < PACKETS; i++) {
		const uint64_t start = packets[i].header.opened_ticks;
		uint64_t end = density->end_ns + 1;
		for (uint32_t k = PACKETS; k-- > i + 1;)
			if (packets[k].header.thread == packets[i].header.thread)
				end = packets[k].header.opened_ticks;
		const double bytes = sizeof(packets[i].header) + 8.0 * packets[i].count;
		const double length = (double)(end - start);
		if (time >= end)
			sum += bytes;
		else if (time > start)
			sum += bytes * (double)(time - start) / length;
	}
	return sum;
}

static void bytes_are_where_the_packets_are(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		make_stream(seed);
		const struct weft_density density = weigh(stream.bytes, stream.size, 0);
		assert_int_equal(density.end_ns, last_ticks);
		const double all = bytes_before(last_ticks + 1, &density);
		assert_true(are_near(all_of(&density), all));
		/* The columns are exact at their edges only. */
		const double column =
			(double)(density.end_ns - density.start_ns + 1) / WEFT_DENSITY_COLUMNS;
		for (unsigned i = 0; i < 20; i++) {
			const uint64_t time =
				density.start_ns + next_random(&seed) % (last_ticks - density.start_ns);
			const uint64_t before =
				time - (uint64_t)fmin(column + 1, (double)(time - density.start_ns));
			const double weight = weft_density_weigh(&density, density.start_ns, time);
			assert_true(weight >= bytes_before(before, &density) - 1 &&
						weight <= bytes_before(time + (uint64_t)column + 2, &density) + 1);
		}
	}
}

static void other_formats_have_no_packets_that_are_read_apart(void **state)
{
	(void)state;
	static const char form[] = "((time 1413637708.834171)(op(Creates 0 1 Task)))\n";
	weigh(form, sizeof(form) - 1, WEFT_ERROR_UNSUPPORTED);
}

static void a_trace_without_events_has_no_length(void **state)
{
	(void)state;
	const struct weft_abi_buffer header = made_header();
	made_begin(&stream, &header);
	const struct weft_density density = weigh(stream.bytes, stream.size, 0);
	uint64_t start = 5, end = 9;
	assert_int_equal(density.end_ns, 0);
	assert_true(weft_density_widen(&density, 100, &start, &end));
}

/* ---- Widening ---- */

static struct weft_density make_density(uint64_t *seed)
{
	struct weft_density density = {.start_ns = 1000000 + next_random(seed) % 1000};
	density.end_ns = density.start_ns + 5000 + next_random(seed) % 10000000;
	for (unsigned i = 0; i < WEFT_DENSITY_COLUMNS; i++)
		density.bytes[i] = next_random(seed) % 4 ? (double)(next_random(seed) % 1000) : 0;
	return density;
}

static void check_widening(const struct weft_density *d, double most, uint64_t start, uint64_t end)
{
	const double before = weft_density_weigh(d, start, end), all = all_of(d);
	uint64_t from = start, to = end;
	const bool fits = weft_density_widen(d, most, &from, &to);
	if (!fits) {
		assert_true(before > most - 1e-6);
		assert_true(from == start && to == end);
		return;
	}
	const double column = (double)(d->end_ns - d->start_ns + 1) / WEFT_DENSITY_COLUMNS;
	const double inexact = 2000 / column + 1e-6; /* times are whole ns */
	const double now = weft_density_weigh(d, from, to);
	assert_true(from <= start + 1 && to + 1 >= end);
	assert_true(now <= most + inexact);
	assert_true(now >= fmin(most, all) - inexact);
	if (most > 1.001 * all)
		assert_true(from == d->start_ns && to == d->end_ns + 1);
}

static void a_range_is_widened_as_far_as_it_fits(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint64_t random = seed;
		const struct weft_density density = make_density(&random);
		const uint64_t length = density.end_ns - density.start_ns + 1;
		const double all = all_of(&density);
		for (unsigned i = 0; i < 10; i++) {
			const uint64_t start = density.start_ns + next_random(&random) % length;
			const uint64_t end = start + next_random(&random) % (density.end_ns + 2 - start);
			check_widening(&density, all * (double)(next_random(&random) % 120) / 100, start, end);
		}
		check_widening(&density, all / 20, density.start_ns, density.start_ns);
		check_widening(&density, all / 20, density.end_ns + 1, density.end_ns + 1);
	}
}

/* Both sides get the same share. */
static void a_range_is_widened_on_both_sides(void **state)
{
	(void)state;
	struct weft_density density = {.start_ns = 0, .end_ns = 1024 * 100 - 1};
	uint64_t start = 51200, end = 51200;
	for (unsigned i = 0; i < WEFT_DENSITY_COLUMNS; i++)
		density.bytes[i] = 10;
	assert_true(weft_density_widen(&density, 100, &start, &end));
	assert_in_range(start, 50699, 50701);
	assert_in_range(end, 51699, 51701);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_where_the_packets_are),
		cmocka_unit_test(other_formats_have_no_packets_that_are_read_apart),
		cmocka_unit_test(a_trace_without_events_has_no_length),
		cmocka_unit_test(a_range_is_widened_as_far_as_it_fits),
		cmocka_unit_test(a_range_is_widened_on_both_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
