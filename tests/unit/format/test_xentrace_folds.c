/* SPDX-License-Identifier: ISC
 *
 * Facts that are found before events are made: hypercalls that Xen preempts and continues, and
 * kicks of schedulers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/xentrace/ids.h"
#include "format/xentrace/kicks.h"
#include "xentrace_events.h"

static void the_time_in_between_is_a_span(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	schedule(t, 1150);
	call_count(t, 1200, MMU_UPDATE, 4 | PREEMPTED);
	schedule(t, 1250);
	call_count(t, 1300, MMU_UPDATE, 4 | PREEMPTED);
	schedule(t, 1350); /* it is not continued again */
	call(t, 1400, XEN_VERSION);
	assert_events(t, 1,
		"100 begin 1.1 mmu_update ×9\n"
		"100 tag 1.1 continuations 2\n"
		"150 begin 1.1 preempted\n"
		"150 alive 0.1 scheduler scheduler 0\n"
		"150 switch cpu0 0.1\n"
		"152 switch cpu0 1.1\n"
		"200 end 1.1\n"
		"250 begin 1.1 preempted\n"
		"250 switch cpu0 0.1\n"
		"252 switch cpu0 1.1\n"
		"300 end 1.1\n"
		"350 switch cpu0 0.1\n"
		"352 switch cpu0 1.1\n"
		"400 end 1.1\n"
		"400 begin 1.1 xen_version\n");
}

/* `op` twice: with this count before and after. */
static void assert_counts(uint32_t op, uint32_t before, uint32_t after, const char *expected)
{
	struct made_xentrace *t = start();
	call_count(t, 1100, op, before);
	call_count(t, 1200, op, after);
	assert_calls(t, expected);
}

static void the_flag_of_xen_continues_mmu_updates(void **state)
{
	(void)state;
	assert_counts(MMU_UPDATE, 9, 4 | PREEMPTED, "mmu_update ×9+1");
	assert_counts(MMU_UPDATE, 9 | PREEMPTED, 9 | PREEMPTED, "mmu_update ×9+1");
	assert_counts(MMU_UPDATE, 9, 4, "mmu_update ×9, mmu_update ×4");
	assert_counts(MMU_UPDATE, 9, 10 | PREEMPTED, "mmu_update ×9, mmu_update ×10");
	assert_counts(MMUEXT_OP, 2, 1 | PREEMPTED, "mmuext_op ×2+1");
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 3);
	call_count(t, 1200, MMUEXT_OP, 2 | PREEMPTED);
	assert_calls(t, "mmu_update ×3, mmuext_op ×2");
}

/* An mmu_update of which two records were continued, with records between them. */
static void assert_between(void (*between)(struct made_xentrace *), bool is_one)
{
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 3);
	between(t);
	call_count(t, 1900, MMU_UPDATE, 2 | PREEMPTED);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	bool is_tagged = false;
	while (weft_decoder_next(opened.decoder, &event) == WEFT_OK)
		is_tagged |= event.type == WEFT_EVENT_TAG;
	assert_int_equal(is_tagged, is_one);
	xentrace_finish(&opened);
	free(t);
}

static void upcall(struct made_xentrace *t)
{
	call(t, 1200, XEN_VERSION);
	call(t, 1300, IRET);
}
static void two_upcalls(struct made_xentrace *t)
{
	upcall(t);
	call(t, 1400, IRET);
}
static void upcall_without_iret(struct made_xentrace *t)
{
	call(t, 1200, XEN_VERSION);
}
static void call_after_iret(struct made_xentrace *t)
{
	upcall(t);
	call(t, 1400, XEN_VERSION);
}
static void fault_after_iret(struct made_xentrace *t)
{
	upcall(t);
	RECORD(t, 0x201104, 1400, 0, 0, 0, 0, 2);
}
static void fault(struct made_xentrace *t)
{
	RECORD(t, 0x201104, 1400, 0, 0, 0, 0, 2);
}
static void loss(struct made_xentrace *t)
{
	xentrace_lost(t, 1300, 5, 0, 0, 1200);
}
static void old_loss(struct made_xentrace *t)
{
	RECORD(t, 0x1f001, 1300, 5);
}
static void vm_exit(struct made_xentrace *t)
{
	RECORD(t, 0x81002, 1200, 0x78, 0);
}
static void vm_exit_of_svm(struct made_xentrace *t)
{
	RECORD(t, 0x81003, 1200, 0x78, 0);
}
static void wake(struct made_xentrace *t)
{
	RECORD(t, 0x28004, 1200, 0, 0);
}
static void scheduler(struct made_xentrace *t)
{
	schedule(t, 1200);
}
static void many_irets(struct made_xentrace *t)
{
	for (uint64_t i = 0; i < 257; i++)
		call(t, 1200 + i, IRET);
}
static void other_vcpu(struct made_xentrace *t)
{
	xentrace_runstate(t, 1200, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1201, 0, 1, RUNNABLE, RUNNING);
}
static void other_vcpu_and_back(struct made_xentrace *t)
{
	other_vcpu(t);
	call(t, 1300, XEN_VERSION);
	xentrace_runstate(t, 1400, 0, 1, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1401, 0, 0, RUNNABLE, RUNNING);
}

static void a_call_is_continued_if_the_program_has_not_run(void **state)
{
	(void)state;
	assert_between(wake, true);
	assert_between(scheduler, true);
	assert_between(upcall, true);
	assert_between(other_vcpu_and_back, true);
	assert_between(two_upcalls, false);
	assert_between(upcall_without_iret, false);
	assert_between(call_after_iret, false);
	assert_between(fault_after_iret, false);
	assert_between(fault, false);
	assert_between(loss, false);
	assert_between(old_loss, false);
	assert_between(vm_exit, false);
	assert_between(vm_exit_of_svm, false);
	assert_between(many_irets, false);
	assert_between(other_vcpu, false);
}

static void a_continuation_may_come_on_another_pcpu(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	xentrace_runstate(t, 1200, 0, 0, RUNNING, RUNNABLE);
	xentrace_window(t, 1);
	RECORD(t, 0x28004, 1010, 0, 0);
	xentrace_runstate(t, 1300, 0, 0, RUNNABLE, RUNNING);
	call_count(t, 1310, MMU_UPDATE, 2 | PREEMPTED);
	call(t, 1400, IRET);
	assert_events(t, 1,
		"100 begin 1.1 mmu_update ×9\n"
		"100 tag 1.1 continuations 1\n"
		"200 begin 1.1 runnable\n"
		"300 end 1.1\n"
		"300 switch cpu1 1.1\n"
		"400 end 1.1\n"
		"400 begin 1.1 iret\n"
		"400 end 1.1\n");
}

/* A multicall of 4, `made` sub-calls, and another of `rest`. */
static void assert_multicall(uint32_t made, uint32_t rest, bool is_one)
{
	struct made_xentrace *t = start();
	char expected[256] = "multicall ×4";
	call_count(t, 1100, MULTICALL, 4);
	subcalls(t, 1110, made);
	call_count(t, 1200, MULTICALL, rest);
	if (is_one)
		strcat(expected, "+1");
	for (uint32_t i = 0; i < made; i++)
		strcat(expected, ", xen_version");
	if (!is_one)
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			rest ? ", multicall ×%u" : ", multicall", rest);
	assert_calls(t, expected);
}

static void a_multicall_goes_on_with_the_rest_of_it(void **state)
{
	(void)state;
	assert_multicall(1, 3, true);
	assert_multicall(3, 1, true);
	assert_multicall(3, 2, false); /* its last sub-call is not known to be preempted */
	assert_multicall(1, 2, false);
	assert_multicall(4, 0, false);
	assert_multicall(0, 4, false);
}

/* The last sub-call was preempted itself: the multicall comes again with it, and it with Xen's
 * flag. */
static void a_subcall_that_was_preempted_comes_again(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MULTICALL, 3);
	subcalls(t, 1110, 2);
	schedule(t, 1150);
	call_count(t, 1200, MULTICALL, 2);
	subcalls(t, 1210, 2);
	assert_calls(
		t, "multicall ×3, xen_version, xen_version, multicall ×2, xen_version, xen_version");
}

static void grants_go_on_if_those_that_are_done_make_up_the_difference(void **state)
{
	(void)state;
	static const struct {
		uint32_t command, done, next_command, rest;
		const char *calls;
	} cases[] = {
		{0, 5, 0, 3, "grant_table_op map_grant_ref ×8+1"},
		{1, 5, 1, 3, "grant_table_op unmap_grant_ref ×8+1"},
		{0, 8, 0, 3, "grant_table_op map_grant_ref ×8, grant_table_op map_grant_ref ×3"},
		{0, 5, 0, 4, "grant_table_op map_grant_ref ×8, grant_table_op map_grant_ref ×4"},
		{0, 8, 0, 0, "grant_table_op map_grant_ref ×8, grant_table_op map_grant_ref"},
		{0, 0, 0, 8, "grant_table_op map_grant_ref ×8, grant_table_op map_grant_ref ×8"},
		{0, 5, 1, 3, "grant_table_op map_grant_ref ×8, grant_table_op unmap_grant_ref ×3"},
		/* Xen's own bits: the number of those that are done, shifted. */
		{5, 0, 5 | 3 << 12, 8, "grant_table_op copy ×8+1"},
		{5, 0, 5 | 1 << 12, 8, "grant_table_op copy ×8+1"},
		{5, 0, 5, 8, "grant_table_op copy ×8, grant_table_op copy ×8"},
		{2, 5, 2, 3, "grant_table_op setup_table ×8, grant_table_op setup_table ×3"},
		{5, 0, 4 | 3 << 12, 8, "grant_table_op copy ×8, grant_table_op transfer ×8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_xentrace *t = start();
		call_grants(t, 1100, cases[i].command, 8, cases[i].done);
		schedule(t, 1150);
		call_grants(t, 1200, cases[i].next_command, cases[i].rest, 0);
		assert_calls(t, cases[i].calls);
	}
}

/* Hypercalls that are 16 cycles apart, the quickest that the kernel does: a continuation follows
 * within 64. */
static struct made_xentrace *start_with_pace(void)
{
	struct made_xentrace *t = start();
	for (uint64_t i = 0; i < 40; i++)
		call(t, 1001 + 16 * i, 19); /* physdev_op_compat */
	return t;
}

static void a_domctl_is_continued_where_no_program_could_have_made_it(void **state)
{
	(void)state;
	static const struct {
		uint64_t schedule, iret, again;
		const char *calls;
	} cases[] = {
		{3000, 0, 3066, "domctl+1"}, /* 64 cycles after the scheduler's last record */
		{3000, 0, 3067, "domctl, domctl"}, {0, 3000, 3064, "domctl+1"},
		{0, 3000, 3065, "domctl, domctl"}, {3000, 3100, 3160, "domctl+1"},
		{0, 0, 2010, "domctl, domctl"}, /* nothing interrupted it */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_xentrace *t = start_with_pace();
		call(t, 2000, DOMCTL);
		if (cases[i].schedule)
			schedule(t, cases[i].schedule);
		if (cases[i].iret)
			call(t, cases[i].iret, IRET);
		call(t, cases[i].again, DOMCTL);
		assert_calls(t, cases[i].calls);
	}
}

/* The limit is 64 cycles, and 320 for a call that was continued before. */
static void a_domctl_that_was_continued_may_be_late(void **state)
{
	(void)state;
	static const struct {
		uint32_t op, upcall;
		uint64_t again;
		bool is_continued, has_fault;
		const char *calls;
	} cases[] = {
		{DOMCTL, XEN_VERSION, 320, true, false, "domctl+2, xen_version"},
		{DOMCTL, XEN_VERSION, 321, true, false, "domctl+1, xen_version, domctl"},
		{DOMCTL, XEN_VERSION, 320, true, true, "domctl+1, xen_version, page_fault, domctl"},
		{DOMCTL, XEN_VERSION, 320, false, false, "domctl, xen_version, domctl"},
		{DOMCTL, 0, 320, true, false, "domctl+1, domctl"}, /* the program ran */
		{MEMORY_OP, XEN_VERSION, 320, true, false, "memory_op+1, xen_version, memory_op"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_xentrace *t = start_with_pace();
		if (cases[i].is_continued) {
			call(t, 2000, cases[i].op);
			schedule(t, 2100);
		}
		call(t, 2110, cases[i].op);
		if (cases[i].upcall)
			call(t, 2900, cases[i].upcall);
		if (cases[i].has_fault)
			RECORD(t, 0x201104, 2950, 0, 0, 0, 0, 2);
		call(t, 3000, IRET);
		call(t, 3000 + cases[i].again, cases[i].op);
		assert_calls(t, cases[i].calls);
	}
}

static void only_some_hypercalls_can_be_continued(void **state)
{
	(void)state;
	static const uint64_t preemptible = 1ull << 0 | 1ull << 7 | 1ull << 12 | 1ull << 18 |
										1ull << 34 | 1ull << 35 | 1ull << 36 | 1ull << 41;
	for (uint32_t op = 0; op < 50; op++) {
		if (op == IRET || op == 19)
			continue;
		struct made_xentrace *t = start_with_pace();
		call(t, 2000, op);
		schedule(t, 3000);
		call(t, 3010, op);
		struct opened_xentrace opened = xentrace_open(t);
		struct weft_event event;
		bool is_tagged = false;
		while (weft_decoder_next(opened.decoder, &event) == WEFT_OK)
			is_tagged |= event.type == WEFT_EVENT_TAG;
		assert_int_equal(is_tagged, preemptible >> op & 1);
		xentrace_finish(&opened);
		free(t);
	}
}

static void without_a_pace_nothing_is_quick(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 2000, DOMCTL);
	schedule(t, 3000);
	call(t, 3003, DOMCTL);
	assert_calls(t, "domctl, domctl");
}

static void each_continued_call_has_its_own_number(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	call_count(t, 1110, MMU_UPDATE, 5 | PREEMPTED);
	call_count(t, 1120, MMU_UPDATE, 2 | PREEMPTED);
	call_count(t, 1130, MMU_UPDATE, 9);
	call_count(t, 1140, MMUEXT_OP, 7);
	call_count(t, 1150, MMUEXT_OP, 2 | PREEMPTED);
	call_count(t, 1160, MMU_UPDATE, 8);
	call_count(t, 1170, MMU_UPDATE, 3 | PREEMPTED);
	assert_calls(t, "mmu_update ×9+2, mmu_update ×9, mmuext_op ×7+1, mmu_update ×8+1");
}

/* The windows of two pCPUs: the order of time is not that of the file. */
static void calls_of_two_vcpus_are_apart(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	xentrace_runstate(t, 1000, 0, 0, RUNNABLE, RUNNING);
	call_count(t, 1300, MMU_UPDATE, 7);
	call_count(t, 1410, MMU_UPDATE, 2 | PREEMPTED);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1001, 0, 1, RUNNABLE, RUNNING);
	call_count(t, 1100, MMU_UPDATE, 9);
	call_count(t, 1200, MMU_UPDATE, 5 | PREEMPTED);
	call_count(t, 1400, MMU_UPDATE, 1 | PREEMPTED);
	assert_calls(t, "mmu_update ×9+2, mmu_update ×7+1");
}

/* Xen may schedule, or the vCPU wait for a pCPU, more than once before the call goes on. */
static void the_time_in_between_is_one_span(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	schedule(t, 1150);
	xentrace_runstate(t, 1160, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1170, 0, 0, RUNNABLE, RUNNING);
	schedule(t, 1180);
	call_count(t, 1200, MMU_UPDATE, 4 | PREEMPTED);
	assert_events(t, 150,
		"150 begin 1.1 preempted\n"
		"150 alive 0.1 scheduler scheduler 0\n"
		"150 switch cpu0 0.1\n"
		"152 switch cpu0 1.1\n"
		"160 begin 1.1 runnable\n"
		"170 end 1.1\n"
		"180 switch cpu0 0.1\n"
		"182 switch cpu0 1.1\n"
		"200 end 1.1\n");
}

/* Damaged records: without words, or without those that they say they have. */
static void arguments_that_are_missing_continue_nothing(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x20100d, 1100);
	RECORD(t, 0x20200e, 1110);
	RECORD(t, 0x20100d, 1200, GRANT_TABLE_OP | 1u << 20);
	RECORD(t, 0x20100d, 1300, MMU_UPDATE | 1u << 22);
	RECORD(t, 0x20100d, 1400, MMU_UPDATE | 0xfffu << 20, 1, 2, 3, 4, 5, 6);
	assert_calls(t, "set_trap_table, grant_table_op, mmu_update, mmu_update ×4");
}

/* ---- Kicks ---- */

static uint64_t take(struct weft__xentrace_kicks *kicks, uint32_t kind, uint32_t cpu,
	uint64_t number, uint32_t first, uint32_t second)
{
	const struct weft__xentrace_record record = {
		.number = number, .cpu = cpu, .words = {first, second}, .count = 2};
	return weft__format_xentrace_kicks_take(kicks, kind, &record);
}

/* `target` is a pCPU's number, not its index. */
static void tickle(
	struct weft__xentrace_kicks *kicks, uint32_t by, uint64_t number, uint32_t target)
{
	assert_int_equal(
		take(kicks, WEFT__XENTRACE_CREDIT2_TICKLE, by, number, target | 0x70000, 0), 0);
}

/* Returns the number of the tickle that led to the decision. */
static uint64_t decide(struct weft__xentrace_kicks *kicks, uint32_t cpu, uint64_t number, bool was)
{
	return take(
		kicks, WEFT__XENTRACE_CREDIT2_SCHEDULE, cpu, number, 0, was ? 0x01000000 : 0x00ffffff);
}

static void a_kick_is_a_tickle_and_the_decision_after_it(void **state)
{
	(void)state;
	struct weft__xentrace_kicks kicks;
	assert_int_equal(weft__format_xentrace_kicks_init(&kicks, 2), 0);
	weft__format_xentrace_kicks_know(&kicks, 0, 1);
	weft__format_xentrace_kicks_know(&kicks, 1, 3);
	tickle(&kicks, 0, 900, 3);
	tickle(&kicks, 0, 910, 3); /* again: the first one counts */
	assert_int_equal(decide(&kicks, 1, 920, true), 900);
	assert_int_equal(decide(&kicks, 1, 930, true), 0); /* no tickle is open */
	tickle(&kicks, 1, 940, 1);
	assert_int_equal(decide(&kicks, 0, 950, false), 0); /* it decided for another reason */
	assert_int_equal(decide(&kicks, 0, 960, true), 0);
	tickle(&kicks, 0, 970, 1); /* itself */
	assert_int_equal(decide(&kicks, 0, 980, true), 0);
	tickle(&kicks, 0, 990, 2); /* a pCPU that the trace does not have */
	tickle(&kicks, 0, 1000, 0xffff);
	tickle(&kicks, 0, 1010, 3);
	assert_int_equal(take(&kicks, WEFT__XENTRACE_LOST, 0, 1020, 0, 0), 0); /* of the other pCPU */
	assert_int_equal(decide(&kicks, 1, 1030, true), 1010);
	tickle(&kicks, 0, 1040, 3);
	assert_int_equal(take(&kicks, WEFT__XENTRACE_LOST, 1, 1050, 0, 0), 0);
	assert_int_equal(decide(&kicks, 1, 1060, true), 0);
	weft__format_xentrace_kicks_finish(&kicks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_in_between_is_a_span),
		cmocka_unit_test(the_flag_of_xen_continues_mmu_updates),
		cmocka_unit_test(a_call_is_continued_if_the_program_has_not_run),
		cmocka_unit_test(a_continuation_may_come_on_another_pcpu),
		cmocka_unit_test(a_multicall_goes_on_with_the_rest_of_it),
		cmocka_unit_test(a_subcall_that_was_preempted_comes_again),
		cmocka_unit_test(grants_go_on_if_those_that_are_done_make_up_the_difference),
		cmocka_unit_test(a_domctl_is_continued_where_no_program_could_have_made_it),
		cmocka_unit_test(a_domctl_that_was_continued_may_be_late),
		cmocka_unit_test(only_some_hypercalls_can_be_continued),
		cmocka_unit_test(without_a_pace_nothing_is_quick),
		cmocka_unit_test(each_continued_call_has_its_own_number),
		cmocka_unit_test(calls_of_two_vcpus_are_apart),
		cmocka_unit_test(the_time_in_between_is_one_span),
		cmocka_unit_test(arguments_that_are_missing_continue_nothing),
		cmocka_unit_test(a_kick_is_a_tickle_and_the_decision_after_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
