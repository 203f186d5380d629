/* SPDX-License-Identifier: ISC
 *
 * How long vCPUs, domains and pCPUs stay in each state. A cycle is 1 ns, and time counts from the
 * first record, which each trace has at 1000.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <weft/text.h>
#include <weft/xentrace.h>

#include "made_xentrace.h"

#define IDLE 32767u

/* Writes "0-100 d1v0 running on 2", "0-100 d1 full run", "0-100 p2 idle". */
static int write_stay(void *context, const struct weft_xentrace_stay *stay)
{
	struct weft_text *text = context;
	char whose[32], line[128];
	if (stay->whose == WEFT_XENTRACE_OF_VCPU)
		snprintf(whose, sizeof(whose), "d%uv%u", stay->domain, stay->number);
	else if (stay->whose == WEFT_XENTRACE_OF_DOMAIN)
		snprintf(whose, sizeof(whose), "d%u", stay->domain);
	else
		snprintf(whose, sizeof(whose), "p%u", stay->number);
	snprintf(line, sizeof(line), "%u-%u %s %s", (unsigned)stay->start_ns, (unsigned)stay->end_ns,
		whose, weft_xentrace_state_name(stay->state));
	weft_text_add_string(text, line);
	if (stay->cpu != WEFT_XENTRACE_UNKNOWN) {
		snprintf(line, sizeof(line), " on %u", stay->cpu);
		weft_text_add_string(text, line);
	}
	weft_text_add_string(text, stay->is_open ? ", open\n" : "\n");
	return 0;
}

static int refuse_stay(void *context, const struct weft_xentrace_stay *stay)
{
	(void)context;
	(void)stay;
	return WEFT_ERROR_LIMIT;
}

static void expect_stays(struct made_xentrace *trace, const char *expected)
{
	struct opened_xentrace opened = xentrace_open(trace);
	struct weft_text text = {0};
	assert_int_equal(opened.finished, 0);
	assert_int_equal(weft_decoder_xentrace_stays(opened.decoder, write_stay, &text), 0);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, expected);
	weft_text_finish(&text);
	assert_int_equal(
		weft_decoder_xentrace_stays(opened.decoder, refuse_stay, NULL), WEFT_ERROR_LIMIT);
	xentrace_finish(&opened);
	free(trace);
}

static struct made_xentrace *start(void)
{
	struct made_xentrace *trace = xentrace_begin();
	xentrace_window(trace, 0);
	return trace;
}

static void a_vcpu_is_runnable_by_a_wake_or_by_preemption(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	xentrace_runstate(t, 1000, 1, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1100, 1, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1100, IDLE, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1200, 1, 0, BLOCKED, RUNNABLE);
	xentrace_runstate(t, 1300, IDLE, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1310, 1, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1500, 1, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1510, 2, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1600, 2, 0, RUNNING, OFFLINE);
	xentrace_runstate(t, 1700, 2, 0, OFFLINE, RUNNABLE);
	xentrace_runstate(t, 1800, 2, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 2000, IDLE, 0, RUNNABLE, RUNNING);
	expect_stays(t, "0-100 p0 running\n"
					"0-100 d1v0 running on 0\n"
					"0-100 d1 full run\n"
					"100-200 d1v0 blocked\n"
					"100-200 d1 blocked\n"
					"100-300 p0 idle\n"
					"200-310 d1v0 runnable, woken\n"
					"200-310 d1 full contention\n"
					"310-500 p0 running\n"
					"310-500 d1v0 running on 0\n"
					"310-500 d1 full run\n"
					"510-600 p0 running\n"
					"510-600 d2v0 running on 0\n"
					"510-600 d2 full run\n"
					"600-700 d2v0 offline\n"
					"600-700 d2 blocked\n"
					"700-800 d2v0 runnable, woken\n"
					"700-800 d2 full contention\n"
					"800-1000 p0 running\n"
					"800-1000 d2v0 running on 0\n"
					"800-1000 d2 full run\n"
					"500-1000 d1v0 runnable, preempted, open\n"
					"500-1000 d1 full contention, open\n");
}

/* It has run since the first record of its pCPU. */
static void a_vcpu_that_goes_on_has_run_since_the_beginning(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	RECORD(t, 0x22215, 1000, 0, 0);
	RECORD(t, 0x21002, 1100, 1 << 16);
	RECORD(t, 0x21002, 1200, 1 << 16);
	xentrace_runstate(t, 1300, 1, 0, RUNNING, RUNNABLE);
	RECORD(t, 0x22215, 1400, 0, 0);
	expect_stays(t, "0-200 d1v0 running on 0\n"
					"0-200 d1 full run\n"
					"0-300 p0 running\n"
					"200-300 d1v0 running on 0\n"
					"200-300 d1 full run\n"
					"300-400 d1v0 runnable, preempted, open\n"
					"300-400 d1 full contention, open\n");
}

static void a_domain_is_as_its_vcpus(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	xentrace_runstate(t, 1000, 1, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1100, 1, 1, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1200, 1, 1, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1210, 2, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 0);
	xentrace_runstate(t, 1300, 1, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1310, 3, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1400, 2, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1410, 1, 1, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1500, 1, 1, RUNNING, BLOCKED);
	xentrace_runstate(t, 1510, IDLE, 1, RUNNABLE, RUNNING);
	xentrace_window(t, 0);
	xentrace_runstate(t, 1600, 3, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1610, 1, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1700, 1, 0, RUNNING, OFFLINE);
	xentrace_runstate(t, 1710, IDLE, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 1);
	RECORD(t, 0x22215, 1800, 0, 0);
	expect_stays(t, "0-100 d1 full run\n"
					"100-200 p1 running\n"
					"100-200 d1v1 running on 1\n"
					"100-200 d1 full run\n"
					"0-300 p0 running\n"
					"0-300 d1v0 running on 0\n"
					"200-300 d1 concurrency hazard\n"
					"210-400 p1 running\n"
					"210-400 d2v0 running on 1\n"
					"210-400 d2 full run\n"
					"200-410 d1v1 runnable, preempted\n"
					"300-410 d1 full contention\n"
					"410-500 p1 running\n"
					"410-500 d1v1 running on 1\n"
					"410-500 d1 concurrency hazard\n"
					"310-600 p0 running\n"
					"310-600 d3v0 running on 0\n"
					"310-600 d3 full run\n"
					"300-610 d1v0 runnable, preempted\n"
					"500-610 d1 partial contention\n"
					"610-700 p0 running\n"
					"610-700 d1v0 running on 0\n"
					"610-700 d1 partial run\n"
					"510-800 p1 idle\n"
					"700-800 d1v0 offline, open\n"
					"500-800 d1v1 blocked, open\n"
					"400-800 d2v0 blocked, open\n"
					"600-800 d3v0 blocked, open\n"
					"700-800 d1 blocked, open\n"
					"400-800 d2 blocked, open\n"
					"600-800 d3 blocked, open\n");
}

/* The counters of two pCPUs differ, so it is not known how long it ran on the first. */
static void a_vcpu_that_runs_twice_at_once_has_no_end_on_the_first(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	xentrace_runstate(t, 1000, 1, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1100, 1, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 0);
	xentrace_runstate(t, 1150, 1, 0, RUNNING, RUNNABLE);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1200, 1, 0, RUNNING, BLOCKED);
	RECORD(t, 0x22215, 1300, 0, 0);
	expect_stays(t, "0-100 d1 full run\n"
					"0-150 p0 running\n"
					"100-150 d1v0 running on 1\n"
					"100-150 d1 full run\n"
					"100-200 p1 running\n"
					"150-200 d1v0 runnable, preempted\n"
					"150-200 d1 full contention\n"
					"200-300 d1v0 blocked, open\n"
					"200-300 d1 blocked, open\n");
}

/* Each vCPU that does not run elsewhere may have run where records are lost. */
static void nothing_is_known_while_records_are_lost(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	xentrace_runstate(t, 1000, 1, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1050, 1, 1, BLOCKED, RUNNABLE);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1060, 2, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 0);
	xentrace_lost(t, 1300, 7, 1, 0, 1100);
	xentrace_runstate(t, 1400, 1, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1410, IDLE, 0, RUNNABLE, RUNNING);
	xentrace_lost(t, 1600, 7, IDLE, 0, 1500);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1250, 2, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1260, IDLE, 1, RUNNABLE, RUNNING);
	RECORD(t, 0x22215, 1700, 0, 0);
	expect_stays(t, "0-100 p0 running\n"
					"0-100 d1v0 running on 0\n"
					"0-100 d1 full run\n"
					"60-250 p1 running\n"
					"60-250 d2v0 running on 1\n"
					"60-250 d2 full run\n"
					"100-300 p0 lost\n"
					"100-300 d1v0 lost\n"
					"100-300 d1 lost\n"
					"300-400 p0 running\n"
					"300-400 d1v0 running on 0\n"
					"300-400 d1 full run\n"
					"410-500 p0 idle\n"
					"400-500 d1v0 blocked\n"
					"100-500 d1v1 lost\n"
					"250-500 d2v0 lost\n"
					"400-500 d1 blocked\n"
					"250-500 d2 lost\n"
					"500-600 p0 lost\n"
					"260-700 p1 idle\n"
					"500-700 d1v0 lost, open\n"
					"500-700 d1v1 lost, open\n"
					"500-700 d2v0 lost, open\n"
					"500-700 d1 lost, open\n"
					"500-700 d2 lost, open\n");
}

/* A loss before the first record says nothing about when a pCPU began. */
static void a_trace_may_begin_with_a_loss(void **state)
{
	struct made_xentrace *t = start();
	(void)state;
	xentrace_runstate(t, 1000, 2, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 1);
	xentrace_lost(t, 1200, 7, 1, 0, 1100);
	RECORD(t, 0x21002, 1300, 1 << 16);
	xentrace_runstate(t, 1400, 1, 0, RUNNING, BLOCKED);
	RECORD(t, 0x22215, 1500, 0, 0);
	expect_stays(t, "0-100 d2v0 lost\n"
					"0-100 d2 lost\n"
					"100-200 p1 lost\n"
					"200-300 d1v0 running on 1\n"
					"200-300 d1 full run\n"
					"200-400 p1 running\n"
					"300-400 d1v0 running on 1\n"
					"300-400 d1 full run\n"
					"100-500 d2v0 lost, open\n"
					"400-500 d1v0 blocked, open\n"
					"400-500 d1 blocked, open\n"
					"100-500 d2 lost, open\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vcpu_is_runnable_by_a_wake_or_by_preemption),
		cmocka_unit_test(a_vcpu_that_goes_on_has_run_since_the_beginning),
		cmocka_unit_test(a_domain_is_as_its_vcpus),
		cmocka_unit_test(a_vcpu_that_runs_twice_at_once_has_no_end_on_the_first),
		cmocka_unit_test(nothing_is_known_while_records_are_lost),
		cmocka_unit_test(a_trace_may_begin_with_a_loss),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
