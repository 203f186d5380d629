/* SPDX-License-Identifier: ISC
 *
 * Xen's trace read while it grows: however its bytes come, and whenever records are asked for, the
 * records are those of the whole file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <weft/error.h>
#include <weft/xentrace.h>

#include "made_xentrace.h"

#define TURNS              200
#define RECORDS_PER_WINDOW 20
#define RECORDS            (2 * TURNS * RECORDS_PER_WINDOW)

/* Two pCPUs write a window each in a turn, one a cycle after the other. */
static struct made_xentrace *make_turns(void)
{
	struct made_xentrace *trace = xentrace_begin();
	for (uint32_t turn = 0; turn < TURNS; turn++)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			xentrace_window(trace, cpu);
			for (uint32_t i = 0; i < RECORDS_PER_WINDOW; i++) {
				uint32_t number = turn * RECORDS_PER_WINDOW + i;
				RECORD(trace, 0x28004, 1000 + 2 * number + cpu, number, cpu);
			}
		}
	return trace;
}

struct reading {
	struct weft_xentrace_growing *growing;
	uint32_t records;
};

/* Reads records until none is left, or so many. */
static void read_records(struct reading *r, uint32_t most)
{
	struct weft_xentrace_record record;
	for (; most > 0; most--) {
		int status = weft_xentrace_growing_next(r->growing, &record);
		if (status == WEFT_AGAIN)
			return;
		assert_int_equal(status, WEFT_OK);
		assert_int_equal(record.cpu, r->records % 2);
		assert_int_equal(record.args[0], r->records / 2);
		r->records++;
	}
}

/* Feeds pieces of `piece` bytes, and reads at most `most` records after each, so that bytes come
 * while a batch is read. They make the reader's memory larger, and it may move. */
static void expect_all(const struct made_xentrace *trace, size_t piece, uint32_t most)
{
	struct reading r = {0};
	assert_int_equal(weft_xentrace_growing_create(1000000000, &r.growing), 0);
	for (size_t at = 0; at < trace->size; at += piece) {
		size_t size = trace->size - at < piece ? trace->size - at : piece;
		assert_int_equal(weft_xentrace_growing_feed(r.growing, trace->bytes + at, size), 0);
		read_records(&r, most);
	}
	read_records(&r, UINT32_MAX);
	weft_xentrace_growing_flush(r.growing, true);
	read_records(&r, UINT32_MAX);
	assert_int_equal(r.records, RECORDS);
	weft_xentrace_growing_destroy(r.growing);
}

static void records_are_the_same_however_they_come(void **state)
{
	(void)state;
	struct made_xentrace *trace = make_turns();
	static const size_t pieces[] = {100, 333, 4096, 50001, MADE_XENTRACE_BYTES};
	static const uint32_t most[] = {1, 7, 500, UINT32_MAX};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		for (size_t k = 0; k < sizeof(most) / sizeof(*most); k++)
			expect_all(trace, pieces[i], most[k]);
	free(trace);
}

/* The trace is complete up to cycle 1500 at first, which is within the loss. */
static void a_loss_may_end_in_a_later_batch(void **state)
{
	(void)state;
	struct made_xentrace *trace = xentrace_begin();
	xentrace_window(trace, 0);
	RECORD(trace, 0x28004, 1500, 0);
	xentrace_window(trace, 1);
	xentrace_runstate(trace, 1000, 3, 7, RUNNABLE, RUNNING);
	xentrace_lost(trace, 1600, 9, 4, 2, 1400);
	xentrace_window(trace, 0);
	RECORD(trace, 0x28004, 1700, 0);
	RECORD(trace, 0x28004, 1800, 0);

	struct weft_xentrace_growing *growing;
	struct weft_xentrace_record record;
	assert_int_equal(weft_xentrace_growing_create(1000000000, &growing), 0);
	assert_int_equal(weft_xentrace_growing_feed(growing, trace->bytes, trace->size), 0);
	static const uint64_t before[] = {1000, 1500};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(weft_xentrace_growing_next(growing, &record), WEFT_OK);
		assert_int_equal(record.cycles, before[i]);
	}
	assert_int_equal(weft_xentrace_growing_next(growing, &record), WEFT_AGAIN);
	weft_xentrace_growing_flush(growing, true);
	assert_int_equal(weft_xentrace_growing_next(growing, &record), WEFT_OK);
	assert_int_equal(record.cycles, 1600);
	assert_int_equal(record.domain, 3); /* ran before the loss */
	assert_int_equal(record.vcpu, 7);
	weft_xentrace_growing_destroy(growing);
	free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_the_same_however_they_come),
		cmocka_unit_test(a_loss_may_end_in_a_later_batch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
