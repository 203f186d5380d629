/* SPDX-License-Identifier: ISC
 *
 * The events that records of Xen become: vCPUs and who wakes them, hypercalls, faults, exits,
 * interrupts, losses. A cycle is 1 ns, and time counts from the first record, which each trace has
 * at 1000.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/weft/identity.h"
#include "xentrace_events.h"

#define IDLE 32767u

/* ---- vCPUs ---- */

static void vcpus_run_wait_and_wake_each_other(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1100, EVENT_CHANNEL_OP);
	xentrace_runstate(t, 1120, 1, 0, BLOCKED, RUNNABLE);
	xentrace_runstate(t, 1130, 0, 1, BLOCKED, RUNNABLE);
	call_command(t, 1200, SCHED_OP, 1);
	RECORD(t, 0x22215, 1300, 0, 0);
	xentrace_runstate(t, 1310, 0, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1311, 1, 0, RUNNABLE, RUNNING);
	xentrace_runstate(t, 1500, 1, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1501, IDLE, 0, RUNNABLE, RUNNING);
	assert_events(t, 0,
		"0 alive 1.1 vcpu d0v0\n"
		"0 switch cpu0 1.1\n"
		"100 begin 1.1 event_channel_op\n"
		"120 alive 2.1 vcpu d1v0\n"
		"120 send 1.1 1\n"
		"120 receive 2.1 1\n"
		"120 begin 2.1 runnable\n"
		"130 alive 1.2 vcpu d0v1\n"
		"130 signal 1.2 1.1\n"
		"130 begin 1.2 runnable\n"
		"200 end 1.1\n"
		"200 begin 1.1 sched_op block\n"
		"300 alive 0.1 scheduler scheduler 0\n"
		"300 switch cpu0 0.1\n"
		"310 end 1.1\n"
		"311 end 2.1\n"
		"311 switch cpu0 2.1\n"
		"500 begin 2.1 runnable\n"
		"501 switch cpu0 -\n");
}

/* Only a trace whose clock is that of programs shows raises. */
static struct opened_xentrace open_with_clock(const struct made_xentrace *t)
{
	static struct weft__shared_readings readings;
	struct opened_xentrace opened = {.bytes = malloc(t->size)};
	assert_non_null(opened.bytes);
	memcpy(opened.bytes, t->bytes, t->size);
	weft__format_ticks_init(&readings.cycles, 0, 0, 1000000000, 1000000000);
	assert_int_equal(weft_decoder_create(&opened.decoder), 0);
	weft__format_decoder_share_readings(opened.decoder, &readings);
	assert_int_equal(weft_decoder_feed_borrowed(opened.decoder, opened.bytes, t->size), 0);
	opened.finished = weft_decoder_finish(opened.decoder);
	return opened;
}

/* The events that wake vCPU d1v0, while pCPU 1 is in a hypercall of d2v0. */
static void assert_raise(uint32_t other_call, const char *expected)
{
	struct made_xentrace *t = start();
	call(t, 1100, EVENT_CHANNEL_OP);
	xentrace_runstate(t, 1120, 1, 0, BLOCKED, RUNNABLE);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1050, 2, 0, RUNNABLE, RUNNING);
	call(t, 1060, other_call);
	struct opened_xentrace opened = open_with_clock(t);
	assert_events_of(&opened, 1120, expected);
	xentrace_finish(&opened);
	free(t);
}

/* If two pCPUs are in hypercalls that send, either of them may have woken the domain. */
static void a_raise_with_two_senders_is_not_told(void **state)
{
	(void)state;
	assert_raise(XEN_VERSION, "1120 alive 2.1 vcpu d1v0\n"
							  "1120 send 1.1 1\n"
							  "1120 receive 2.1 1\n"
							  "1120 send 1.1 6360490057320628223\n"
							  "1120 begin 2.1 runnable\n"
							  "1120 send - 6360490057320628223\n");
	assert_raise(EVENT_CHANNEL_OP, "1120 alive 2.1 vcpu d1v0\n"
								   "1120 send 1.1 1\n"
								   "1120 receive 2.1 1\n"
								   "1120 begin 2.1 runnable\n");
}

/* A record that was left out may have been another sender's. */
static void a_filtered_trace_tells_no_raise(void **state)
{
	const struct weft_xentrace_note note = {.kind = WEFT_XENTRACE_NOTE_FILTERED};
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1100, EVENT_CHANNEL_OP);
	xentrace_runstate(t, 1120, 1, 0, BLOCKED, RUNNABLE);
	weft_xentrace_write_note(&note, t->bytes + t->size);
	t->size += WEFT_XENTRACE_NOTE_BYTES;
	struct opened_xentrace opened = open_with_clock(t);
	assert_events_of(&opened, 1120,
		"1120 alive 2.1 vcpu d1v0\n"
		"1120 send 1.1 1\n"
		"1120 receive 2.1 1\n"
		"1120 begin 2.1 runnable\n");
	xentrace_finish(&opened);
	free(t);
}

/* A wake has an edge only if the entry of the vCPU that runs here is one that can wake. */
static void only_some_entries_wake(void **state)
{
	(void)state;
	static const uint64_t wakers = 1ull << 13 | 1ull << 16 | 1ull << 20 | 1ull << 24 | 1ull << 29 |
								   1ull << 32 | 1ull << 33 | 1ull << 34 | 1ull << 36 | 1ull << 41;
	for (uint32_t op = 0; op < 130; op++) {
		struct made_xentrace *t = start();
		call(t, 1100, op);
		xentrace_runstate(t, 1120, 0, 0, BLOCKED, RUNNABLE);
		xentrace_runstate(t, 1130, 0, 1, BLOCKED, RUNNABLE);
		bool wakes = op < 64 && wakers >> op & 1;
		assert_events(t, 130,
			wakes ? "130 alive 1.2 vcpu d0v1\n130 signal 1.2 1.1\n130 begin 1.2 runnable\n"
				  : "130 alive 1.2 vcpu d0v1\n130 begin 1.2 runnable\n");
	}
}

static void assert_wake_after(struct made_xentrace *t, const char *edge)
{
	char expected[200];
	xentrace_runstate(t, 1930, 0, 1, BLOCKED, RUNNABLE);
	snprintf(
		expected, sizeof(expected), "930 alive 1.2 vcpu d0v1\n%s930 begin 1.2 runnable\n", edge);
	assert_events(t, 930, expected);
}

static void the_last_entry_decides_who_wakes(void **state)
{
	(void)state;
	static const char edge[] = "930 signal 1.2 1.1\n";
	struct made_xentrace *t = start();
	call(t, 1100, SCHED_OP);
	call(t, 1200, XEN_VERSION);
	assert_wake_after(t, "");
	/* A sub-call can wake, and the multicall itself. */
	t = start();
	call_count(t, 1100, MULTICALL, 2);
	subcalls(t, 1200, 1);
	assert_wake_after(t, edge);
	/* The scheduler runs; a fault; an emulation. */
	t = start();
	call(t, 1100, SCHED_OP);
	schedule(t, 1200);
	assert_wake_after(t, "");
	t = start();
	call(t, 1100, SCHED_OP);
	RECORD(t, 0x201104, 1200, 0, 0, 0, 0, 2);
	assert_wake_after(t, "");
	t = start();
	call(t, 1100, SCHED_OP);
	RECORD(t, 0x201006, 1200, 0);
	assert_wake_after(t, "");
	/* Each exit of a virtual machine can. */
	t = start();
	RECORD(t, 0x81002, 1200, 0x78, 0);
	assert_wake_after(t, edge);
	/* A vCPU that was not blocked does not wake, nor one that becomes something else. */
	t = start();
	call(t, 1100, SCHED_OP);
	xentrace_runstate(t, 1200, 0, 1, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1210, 0, 1, BLOCKED, OFFLINE);
	assert_events(t, 200, "200 alive 1.2 vcpu d0v1\n200 begin 1.2 runnable\n210 end 1.2\n");
}

static void domains_come_and_go(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x41001, 1100, 5);
	xentrace_runstate(t, 1110, 5, 0, OFFLINE, RUNNABLE);
	xentrace_runstate(t, 1120, 5, 1, OFFLINE, BLOCKED);
	RECORD(t, 0x10f001, 1150, 5);
	RECORD(t, 0x28007, 1160, 5, 0, 3);
	RECORD(t, 0x28002, 1200, 5);
	RECORD(t, 0x41002, 1210, 5);
	xentrace_runstate(t, 1300, 5, 0, OFFLINE, RUNNABLE);
	RECORD(t, 0x28002, 1400, 5);
	RECORD(t, 0x28002, 1410, 5);       /* no vCPU is left */
	RECORD(t, 0x28002, 1420, 0x10000); /* no domain's number */
	assert_events(t, 1,
		"100 mark 1.1 domain_create d5\n"
		"100 create - 2.281474976710657 domain\n"
		"100 label 2.281474976710657 d5 is being built\n"
		"110 resolve - 2.281474976710657\n"
		"110 create - 2.1 vcpu\n"
		"110 label 2.1 d5v0\n"
		"110 begin 2.1 runnable\n"
		"120 create - 2.2 vcpu\n"
		"120 label 2.2 d5v1\n"
		"150 mark 1.1 grant_map d5\n"
		"160 mark 1.1 sched_shutdown d5v0 reason 3\n"
		"200 mark 1.1 sched_destroy_domain d5\n"
		"200 resolve - 2.2\n"
		"200 resolve - 2.1\n"
		"210 mark 1.1 domain_destroy d5\n"
		"300 create - 2.65537 vcpu\n"
		"300 label 2.65537 d5v0\n"
		"300 begin 2.65537 runnable\n"
		"400 mark 1.1 sched_destroy_domain d5\n"
		"400 resolve - 2.65537\n"
		"410 mark 1.1 sched_destroy_domain d5\n"
		"420 mark 1.1 sched_destroy_domain d65536\n");
}

/* ---- Entries ---- */

static void hypercalls_are_spans_with_their_counts(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 3);
	call_count(t, 1200, MMUEXT_OP, PREEMPTED);
	call_count(t, 1300, MULTICALL, 0x80000001);
	call_grants(t, 1400, 0, 8, 0);
	call_command(t, 1500, VCPU_OP, 8);
	call_command(t, 1510, VCPU_OP, 14);
	call_command(t, 1520, GRANT_TABLE_OP, 12);
	call_command(t, 1530, GRANT_TABLE_OP, 13);
	call_command(t, 1540, SCHED_OP, 7);
	call_command(t, 1550, SCHED_OP, 8);
	call_command(t, 1560, XEN_VERSION, 1);
	call_command(t, 1570, SCHED_OP, 0x1001);
	call(t, 1600, 70);
	RECORD(t, 0x20100d, 1700, MMUEXT_OP | 2u << 20 | 1u << 22, 1, 2, 5); /* 64 bits before it */
	RECORD(t, 0x20100d, 1800, MMUEXT_OP | 2u << 20 | 1u << 22, 1, 2);    /* it is not there */
	assert_calls(t,
		"mmu_update ×3, mmuext_op, multicall ×2147483649, grant_table_op map_grant_ref ×8, "
		"vcpu_op set_singleshot_timer, vcpu_op, grant_table_op cache_flush, grant_table_op, "
		"sched_op pin_override, sched_op, xen_version, sched_op block, hypercall 70, mmuext_op ×5, "
		"mmuext_op");
}

static void subcalls_are_inside_their_multicall(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MULTICALL, 2);
	subcalls(t, 1110, 2);
	call(t, 1200, IRET);
	assert_events(t, 1,
		"100 begin 1.1 multicall ×2\n"
		"110 begin 1.1 xen_version\n"
		"111 end 1.1\n"
		"111 begin 1.1 xen_version\n"
		"200 end 1.1\n"
		"200 end 1.1\n"
		"200 begin 1.1 iret\n"
		"200 end 1.1\n");
}

static void a_fault_lasts_until_its_iret(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x201104, 1100, 0, 0, 0, 0, 2);
	call_count(t, 1110, MMU_UPDATE, 1);
	call(t, 1120, IRET);
	RECORD(t, 0x201103, 1200, 0x1000, 0, 14 | 1 << 15); /* an address of 64 bits */
	RECORD(t, 0x201003, 1210, 0x1000, 13 | 1 << 15);    /* without an iret of the one before */
	RECORD(t, 0x201003, 1220, 0x1000, 99);
	RECORD(t, 0x201101, 1230, 0, 0, XEN_VERSION);
	RECORD(t, 0x201001, 1240, 0, 99);
	RECORD(t, 0x201006, 1250, 0);
	call(t, 1260, IRET);
	call(t, 1270, IRET);
	assert_events(t, 1,
		"100 begin 1.1 page_fault\n"
		"110 begin 1.1 mmu_update ×1\n"
		"120 end 1.1\n"
		"120 begin 1.1 iret\n"
		"120 end 1.1\n"
		"120 end 1.1\n"
		"200 begin 1.1 page_fault\n"
		"210 end 1.1\n"
		"210 begin 1.1 gp_fault\n"
		"220 end 1.1\n"
		"220 begin 1.1 trap 99\n"
		"230 begin 1.1 xen_version\n"
		"240 end 1.1\n"
		"240 begin 1.1 hypercall\n"
		"250 end 1.1\n"
		"250 begin 1.1 emulate_privop\n"
		"260 end 1.1\n"
		"260 begin 1.1 iret\n"
		"260 end 1.1\n"
		"260 end 1.1\n"
		"270 begin 1.1 iret\n"
		"270 end 1.1\n");
}

static void exits_of_virtual_machines_have_both_ends(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x81002, 1100, 0x81, 0x1000);
	RECORD(t, 0x82012, NO_CYCLES, SCHED_OP);
	RECORD(t, 0x82012, 1110, 70);
	RECORD(t, 0x81001, 1180);
	RECORD(t, 0x81003, 1300, 0x10, 0x1000);
	RECORD(t, 0x81002, 1310, 0x3ff, 0x1000); /* without an entry */
	RECORD(t, 0x81001, 1340);
	RECORD(t, 0x81001, 1350);
	assert_events(t, 1,
		"100 begin 1.1 vmmcall\n"
		"100 begin 1.1 sched_op\n"
		"110 begin 1.1 vmmcall\n"
		"180 end 1.1\n"
		"180 end 1.1\n"
		"180 end 1.1\n"
		"300 begin 1.1 cr_write\n"
		"310 end 1.1\n"
		"310 begin 1.1 vmexit 0x3ff\n"
		"340 end 1.1\n");
}

static void exits_are_named_by_the_processor(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x81002, 1100, 10, 0x1000);
	RECORD(t, 0x81001, 1110);
	RECORD(t, 0x81003, 1120, 10, 0x1000);
	assert_events(t, 1, "100 begin 1.1 cpuid\n110 end 1.1\n120 begin 1.1 cr_read\n");
}

/* A guest cannot open more spans than the reader remembers. */
static void spans_are_not_deeper_than_the_limit(void **state)
{
	(void)state;
	char expected[1024] = "100 begin 1.1 vmmcall\n";
	struct made_xentrace *t = start();
	RECORD(t, 0x81002, 1100, 0x81, 0x1000);
	for (int i = 0; i < 20; i++)
		RECORD(t, 0x82012, 1101, SCHED_OP);
	RECORD(t, 0x81001, 1180);
	for (int i = 0; i < 7; i++)
		strcat(expected, "101 begin 1.1 sched_op\n");
	for (int i = 0; i < 8; i++)
		strcat(expected, "180 end 1.1\n");
	assert_events(t, 1, expected);
}

/* ---- Interrupts ---- */

static void an_interrupt_is_an_activation_of_its_own(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1100, EVENT_CHANNEL_OP);
	xentrace_runstate(t, 1160, 1, 0, BLOCKED, RUNNABLE);
	RECORD(t, 0x802008, 1200, 4, 1150, 1190);
	RECORD(t, 0x802008, 1300, 4, 1300, 1300);
	RECORD(t, 0x802008, 1400, 9); /* too short: its begin is not known */
	assert_events(t, 100,
		"100 begin 1.1 event_channel_op\n"
		"150 alive 0.65540 irq irq 4\n"
		"150 switch cpu0 0.65540\n"
		"160 alive 2.1 vcpu d1v0\n"
		"160 send 0.65540 1\n"
		"160 receive 2.1 1\n"
		"160 begin 2.1 runnable\n"
		"200 switch cpu0 1.1\n"
		"300 switch cpu0 0.65540\n"
		"300 switch cpu0 1.1\n");
}

/* The record has 32 bits of the cycles. */
static void an_interrupt_may_begin_before_the_count_wraps(void **state)
{
	(void)state;
	const uint64_t wrap = UINT64_C(1) << 32;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	xentrace_runstate(t, wrap - 1000, 0, 0, RUNNABLE, RUNNING);
	RECORD(t, 0x802008, wrap + 200, 5000, (uint32_t)(wrap - 100), 190);
	assert_events(t, 1,
		"900 switch cpu0 0.70536\n"
		"1200 switch cpu0 1.1\n");
}

static void interrupts_inside_each_other_end_with_the_last(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x802008, 1200, 5, 1150, 1190);
	RECORD(t, 0x802008, 1300, 4, 1100, 1290);
	xentrace_window(t, 1);
	RECORD(t, 0x28004, 1010, 0, 0);
	RECORD(t, 0x802008, 1180, 5, 1150, 1170);
	assert_events(t, 20,
		"100 alive 0.65540 irq irq 4\n"
		"100 switch cpu0 0.65540\n"
		"150 alive 0.65541 irq irq 5\n"
		"150 switch cpu0 0.65541\n"
		"150 switch cpu1 0.65541\n"
		"180 switch cpu1 -\n"
		"300 switch cpu0 1.1\n");
}

/* ---- Losses ---- */

static void a_loss_ends_all_that_was_open(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x201104, 1100, 0, 0, 0, 0, 2);
	call(t, 1110, XEN_VERSION);
	RECORD(t, 0x802008, 1190, 4, 1150, 1190);
	xentrace_lost(t, 1500, 77, 0, 1, 1200);
	call(t, 1600, XEN_VERSION);
	xentrace_lost(t, 1700, 5, 0, 1, 1650);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	while (weft_decoder_next(opened.decoder, &event) == WEFT_OK) {
	}
	const struct weft_trace_description *d = weft_decoder_describe(opened.decoder);
	assert_int_equal(d->losses[WEFT_LOSS_FULL], 82);
	assert_int_equal(d->loss_period_count, 2);
	assert_int_equal(d->loss_periods[0].start, 200);
	assert_int_equal(d->loss_periods[0].end, 500);
	assert_int_equal(d->loss_periods[0].count, 77);
	assert_int_equal(d->loss_periods[0].thread, 0);
	assert_int_equal(d->loss_periods[0].cause, WEFT_LOSS_FULL);
	assert_int_equal(d->loss_periods[1].start, 650);
	xentrace_finish(&opened);
	assert_events(t, 190,
		"190 switch cpu0 1.1\n"
		"200 end 1.1\n"
		"200 end 1.1\n"
		"200 switch cpu0 -\n"
		"500 alive 1.2 vcpu d0v1\n"
		"500 switch cpu0 1.2\n"
		"600 begin 1.2 xen_version\n"
		"650 end 1.2\n"
		"650 switch cpu0 -\n"
		"700 switch cpu0 1.2\n");
}

/* Its end was lost, or it would go on behind the loss. */
static void an_interrupt_does_not_outlast_a_loss(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	xentrace_lost(t, 1500, 77, 0, 0, 1200);
	RECORD(t, 0x802008, 1600, 4, 1300, 1590); /* it began within the loss */
	call(t, 1610, SCHED_OP);
	xentrace_runstate(t, 1620, 0, 1, BLOCKED, RUNNABLE);
	assert_events(t, 300,
		"300 alive 0.65540 irq irq 4\n"
		"300 switch cpu0 0.65540\n"
		"500 switch cpu0 1.1\n"
		"610 begin 1.1 sched_op\n"
		"620 alive 1.2 vcpu d0v1\n"
		"620 signal 1.2 1.1\n"
		"620 begin 1.2 runnable\n");
}

/* ---- The description ---- */

static void domains_are_buffers_and_pcpus_threads(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 7);
	xentrace_runstate(t, 1000, 32751, 0, RUNNABLE, RUNNING);
	xentrace_window(t, 2);
	RECORD(t, 0x28004, 1010, 0, 0);
	xentrace_lost(t, 1020, 1, 9, 0, 1015);
	RECORD(t, 0x21002, 1030, 9 << 16);
	xentrace_runstate(t, 1040, 32752, 0, RUNNABLE, RUNNING); /* not a guest */
	RECORD(t, 0x20100d, 1040, XEN_VERSION);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	const struct weft_trace_description *d = weft_decoder_describe(opened.decoder);
	assert_int_equal(weft_decoder_next(opened.decoder, &event), WEFT_OK);
	assert_int_equal(d->thread_count, 2);
	assert_string_equal(d->threads[0].name, "pCPU 2");
	assert_string_equal(d->threads[1].name, "pCPU 7");
	assert_int_equal(d->threads[1].tid, 7);
	assert_int_equal(d->buffer_count, 3);
	assert_string_equal(d->buffers[0].process, "Xen");
	assert_string_equal(d->buffers[1].process, "domain");
	assert_int_equal(d->buffers[1].pid, 9);
	assert_int_equal(d->buffers[2].pid, 32751);
	for (int i = 0; i < 3; i++)
		assert_int_equal(d->buffers[i].end_ns, 40);
	int status;
	while ((status = weft_decoder_next(opened.decoder, &event)) == WEFT_OK)
		assert_true(event.type != WEFT_EVENT_BEGIN || is_of_pcpu(&event));
	assert_int_equal(status, WEFT_END);
	xentrace_finish(&opened);
	free(t);
}

/* Damage is counted once, though the records are read several times. */
static void damage_is_counted_once(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x28004, 900);
	xentrace_word(t, 0x70028004);
	xentrace_fit(t);
	call(t, 1100, XEN_VERSION);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	while (weft_decoder_next(opened.decoder, &event) == WEFT_OK) {
	}
	const struct weft_diagnostics *found = weft_decoder_diagnostics(opened.decoder);
	assert_true(found->count > 0);
	for (size_t i = 0; i < found->count; i++)
		assert_int_equal(found->list[i].count, 1);
	xentrace_finish(&opened);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_run_wait_and_wake_each_other),
		cmocka_unit_test(a_raise_with_two_senders_is_not_told),
		cmocka_unit_test(a_filtered_trace_tells_no_raise),
		cmocka_unit_test(only_some_entries_wake),
		cmocka_unit_test(the_last_entry_decides_who_wakes),
		cmocka_unit_test(domains_come_and_go),
		cmocka_unit_test(hypercalls_are_spans_with_their_counts),
		cmocka_unit_test(subcalls_are_inside_their_multicall),
		cmocka_unit_test(a_fault_lasts_until_its_iret),
		cmocka_unit_test(exits_of_virtual_machines_have_both_ends),
		cmocka_unit_test(exits_are_named_by_the_processor),
		cmocka_unit_test(spans_are_not_deeper_than_the_limit),
		cmocka_unit_test(an_interrupt_is_an_activation_of_its_own),
		cmocka_unit_test(an_interrupt_may_begin_before_the_count_wraps),
		cmocka_unit_test(interrupts_inside_each_other_end_with_the_last),
		cmocka_unit_test(a_loss_ends_all_that_was_open),
		cmocka_unit_test(an_interrupt_does_not_outlast_a_loss),
		cmocka_unit_test(damage_is_counted_once),
		cmocka_unit_test(domains_are_buffers_and_pcpus_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
