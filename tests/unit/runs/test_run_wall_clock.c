/* SPDX-License-Identifier: ISC
 *
 * Notes about the wall clock, for traces. The test answers adjtimex(2), since a machine's time
 * service cannot be told what to say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

#include <cmocka.h>

#include <weft/parse.h>

#include "abi/table_abi.h"
#include "runs/saving/wall_clock.h"

static long max_us, estimate_us;
static int answer;

int adjtimex(struct timex *timex)
{
	timex->maxerror = max_us;
	timex->esterror = estimate_us;
	return answer;
}

static void say(long max, long estimate)
{
	max_us = max;
	estimate_us = estimate;
	answer = TIME_OK;
}

static struct weft_abi_buffer header_of_now(void)
{
	struct weft_abi_buffer header;
	char text[64] = "";
	memset(&header, 0, sizeof(header));
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_true(weft_parse_uuid(text, strlen(text), header.boot_id));
	return header;
}

/* The rows of the table that a buffer gets. Returns their number; 0: it gets none. */
static uint32_t pack(
	const struct weft_abi_buffer *header, struct weft_abi_wall_clock_row ret_rows[2])
{
	struct weft_text text = {0};
	struct weft_abi_table table = {0};
	weft__runs_wall_clock_pack(header, &text);
	if (text.size) {
		memcpy(&table, text.bytes, sizeof(table));
		assert_int_equal(table.number, WEFT_ABI_TABLE_wall_clock);
		assert_int_equal(table.room, table.count);
		assert_int_equal(text.size, sizeof(table) + table.count * sizeof(*ret_rows));
		memcpy(ret_rows, text.bytes + sizeof(table), table.count * sizeof(*ret_rows));
	}
	weft_text_finish(&text);
	return table.count;
}

static void only_computed_errors_are_bounds(void **state)
{
	(void)state;
	assert_true(weft__runs_wall_clock_is_bounded(5000, 100));
	assert_true(weft__runs_wall_clock_is_bounded(1, 1));
	assert_true(weft__runs_wall_clock_is_bounded(15999999, 15999999));
	assert_false(weft__runs_wall_clock_is_bounded(16000000, 100));
	assert_false(weft__runs_wall_clock_is_bounded(5000, 0));
	assert_false(weft__runs_wall_clock_is_bounded(5000, 5001));
	assert_false(weft__runs_wall_clock_is_bounded(5000, 16000000));
	assert_false(weft__runs_wall_clock_is_bounded(0, 0));
	assert_false(weft__runs_wall_clock_is_bounded(-1, -1));
}

static void a_trace_has_the_errors_at_the_start_and_now(void **state)
{
	const struct weft_abi_buffer header = header_of_now();
	struct weft_abi_wall_clock_row rows[2];
	(void)state;
	say(5000, 100);
	assert_int_equal(pack(&header, rows), 1);
	weft__runs_wall_clock_begin();
	say(7000, 200);
	assert_int_equal(pack(&header, rows), 2);
	assert_true(rows[0].error_ns >= 5000000 && rows[0].error_ns < rows[1].error_ns);
	assert_true(rows[1].error_ns >= 7000000);
	assert_int_equal(rows[0].estimate_ns, 100000);
	assert_int_equal(rows[1].estimate_ns, 200000);
	assert_true(rows[0].monotonic_ns < rows[1].monotonic_ns && rows[0].wall_ns > 0);
	say(16000000, 16000000); /* the service has ended */
	assert_int_equal(pack(&header, rows), 1);
	assert_int_equal(rows[0].estimate_ns, 100000);
	say(7000, 200);
	answer = -1;
	assert_int_equal(pack(&header, rows), 1);
	weft__runs_wall_clock_begin();
	assert_int_equal(pack(&header, rows), 0);
}

static void other_clocks_than_this_boots_get_none(void **state)
{
	struct weft_abi_buffer header = header_of_now();
	struct weft_abi_wall_clock_row rows[2];
	(void)state;
	say(5000, 100);
	header.guest = 1;
	assert_int_equal(pack(&header, rows), 0);
	header.guest = 0;
	header.time_base = WEFT_ABI_TIME_XEN;
	assert_int_equal(pack(&header, rows), 0);
	header.time_base = WEFT_ABI_TIME_MONOTONIC;
	assert_int_equal(pack(&header, rows), 1);
	header.boot_id[15] ^= 1;
	assert_int_equal(pack(&header, rows), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_computed_errors_are_bounds),
		cmocka_unit_test(a_trace_has_the_errors_at_the_start_and_now),
		cmocka_unit_test(other_clocks_than_this_boots_get_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
