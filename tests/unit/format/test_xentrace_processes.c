/* SPDX-License-Identifier: ISC
 *
 * The processes of dom0's Linux, by notes between the windows of a trace of Xen. A cycle is 1 ns,
 * and time counts from the first record, which each trace has at 1000. dom0's vCPU is task 1.1;
 * processes are in buffer 2, and cpu1 is their lane.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/xentrace.h>

#include "xentrace_events.h"

#define STACK_SWITCH 3
#define HVM_OP       34
#define UNKNOWN      WEFT_XENTRACE_PROCESS_UNKNOWN
#define ENDED        (UINT64_C(1) << 63)

/* ---- Notes ---- */

static void note(struct made_xentrace *t, uint32_t kind, uint64_t first, uint64_t second)
{
	const struct weft_xentrace_note note = {kind, {first, second}};
	if (t->size + WEFT_XENTRACE_NOTE_BYTES > sizeof(t->bytes))
		abort();
	weft_xentrace_write_note(&note, t->bytes + t->size);
	t->size += WEFT_XENTRACE_NOTE_BYTES;
}

static void switch_to(struct made_xentrace *t, uint64_t cycles, uint64_t pid, uint64_t before)
{
	note(t, WEFT_XENTRACE_NOTE_SWITCH, cycles, pid | before << 24);
}

static void switch_on(struct made_xentrace *t, uint64_t vcpu, uint64_t cycles, uint64_t pid)
{
	note(t, WEFT_XENTRACE_NOTE_SWITCH, cycles, pid | vcpu << 48);
}

static void fork_from(struct made_xentrace *t, uint64_t cycles, uint64_t parent, uint64_t child)
{
	note(t, WEFT_XENTRACE_NOTE_FORK, cycles, child | parent << 24);
}

static void name(struct made_xentrace *t, uint64_t pid, const char *text)
{
	uint64_t parts[2] = {0};
	memcpy(parts, text, strlen(text)); /* little-endian, as the file */
	note(t, WEFT_XENTRACE_NOTE_NAME, pid, parts[0]);
	if (parts[1])
		note(t, WEFT_XENTRACE_NOTE_NAME, pid | UINT64_C(1) << 32, parts[1]);
}

/* The records end, so that notes may follow. */
static struct made_xentrace *records(void)
{
	struct made_xentrace *t = start();
	call(t, 1150, XEN_VERSION);
	return t;
}

/* ---- Running ---- */

static void a_process_runs_while_its_vcpu_does(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	RECORD(t, 0x22215, 1300, 0, 0);
	xentrace_runstate(t, 1310, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1500, 0, 0, RUNNABLE, RUNNING);
	name(t, 7, "xenstored");
	switch_to(t, 1100, 7, 0);
	name(t, 8, "xl");
	switch_to(t, 1400, 8, 7);
	assert_events(t, 50,
		"100 alive 2.1 process xenstored 7\n"
		"100 switch cpu1 2.1\n"
		"300 alive 0.1 scheduler scheduler 0\n"
		"300 switch cpu1 -\n"
		"300 switch cpu0 0.1\n"
		"310 begin 1.1 runnable\n"
		"400 end 1.1\n"
		"500 switch cpu0 1.1\n"
		"500 alive 2.2 process xl 8\n"
		"500 switch cpu1 2.2\n");
}

/* The notes begin before Xen's records. */
static void what_ended_before_the_records_is_left_out(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	switch_to(t, 900, 6, 0);
	fork_from(t, 950, 6, 7);
	note(t, WEFT_XENTRACE_NOTE_SWITCH, 990, UINT64_C(7) | UINT64_C(6) << 24 | ENDED);
	assert_events(t, 0,
		"0 alive 1.1 vcpu d0v0\n"
		"0 switch cpu0 1.1\n"
		"0 alive 2.2 process pid 7\n"
		"0 switch cpu1 2.2\n"
		"150 begin 1.1 xen_version\n");
}

static void each_vcpu_has_a_lane_and_an_idle_process(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1300, XEN_VERSION);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1050, 0, 1, RUNNABLE, RUNNING);
	switch_on(t, 1, 1200, 0);
	switch_on(t, 0, 1100, 0);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	assert_int_equal(weft_decoder_next(opened.decoder, &event), WEFT_OK);
	const struct weft_trace_description *d = weft_decoder_describe(opened.decoder);
	assert_int_equal(d->thread_count, 4);
	assert_string_equal(d->threads[2].name, "d0v0 processes");
	assert_string_equal(d->threads[3].name, "d0v1 processes");
	assert_int_equal(d->threads[3].tid, 1);
	assert_int_equal(d->threads[3].buffer, 2);
	assert_string_equal(d->buffers[2].process, "domain 0's processes");
	assert_events_of(&opened, 100,
		"100 alive 2.1 process idle\n"
		"100 switch cpu2 2.1\n"
		"200 alive 2.2 process idle\n"
		"200 switch cpu3 2.2\n"
		"300 begin 1.1 xen_version\n");
	xentrace_finish(&opened);
	free(t);
}

/* ---- Entries into Xen ---- */

static void entries_are_of_the_process_once_linux_has_its_stack(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1110, MMUEXT_OP);
	call(t, 1120, STACK_SWITCH);
	call(t, 1130, XEN_VERSION);
	call(t, 1160, MMUEXT_OP);
	name(t, 7, "xl");
	switch_to(t, 1105, 7, 0);
	switch_to(t, 1150, 0, 7);
	assert_events(t, 100,
		"105 alive 2.1 process xl 7\n"
		"105 switch cpu1 2.1\n"
		"110 begin 1.1 mmuext_op\n"
		"120 end 1.1\n"
		"120 begin 1.1 stack_switch\n"
		"130 end 1.1\n"
		"130 begin 2.1 xen_version\n"
		"150 end 2.1\n"
		"150 alive 2.2 process idle\n"
		"150 switch cpu1 2.2\n"
		"160 begin 1.1 mmuext_op\n");
}

/* The calls behind it in the same multicall are the vCPU's own, too. */
static void a_stack_may_change_inside_a_multicall(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1110, MULTICALL, 2);
	RECORD(t, 0x20200e, 1111, STACK_SWITCH);
	RECORD(t, 0x20200e, 1112, XEN_VERSION);
	call(t, 1120, XEN_VERSION);
	switch_to(t, 1105, 7, 0);
	assert_events(t, 100,
		"105 alive 2.1 process pid 7\n"
		"105 switch cpu1 2.1\n"
		"110 begin 1.1 multicall ×2\n"
		"111 begin 1.1 stack_switch\n"
		"112 end 1.1\n"
		"112 begin 1.1 xen_version\n"
		"120 end 1.1\n"
		"120 end 1.1\n"
		"120 begin 2.1 xen_version\n");
}

/* A process that waits in its page fault goes on with it, on another vCPU if need be. */
static void a_fault_stays_with_its_process(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	RECORD(t, 0x201104, 1110, 1, 2, 3, 4, 5);
	call(t, 1121, STACK_SWITCH);
	call(t, 1130, IRET);
	call(t, 1141, STACK_SWITCH);
	call(t, 1150, IRET);
	call(t, 1160, XEN_VERSION);
	switch_to(t, 1100, 7, 0);
	switch_to(t, 1120, 8, 7);
	switch_to(t, 1140, 7, 8);
	assert_events(t, 101,
		"101 begin 1.1 stack_switch\n"
		"110 end 1.1\n"
		"110 begin 2.1 page_fault\n"
		"120 alive 2.2 process pid 8\n"
		"120 switch cpu1 2.2\n"
		"121 begin 1.1 stack_switch\n"
		"130 end 1.1\n"
		"130 begin 2.2 iret\n"
		"130 end 2.2\n"
		"140 switch cpu1 2.1\n"
		"141 begin 1.1 stack_switch\n"
		"150 end 1.1\n"
		"150 begin 2.1 iret\n"
		"150 end 2.1\n"
		"150 end 2.1\n"
		"160 begin 2.1 xen_version\n");
}

static void a_process_wakes_a_guest(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	call(t, 1110, EVENT_CHANNEL_OP);
	xentrace_runstate(t, 1120, 1, 0, BLOCKED, RUNNABLE);
	RECORD(t, 0x10f001, 1130, 1);
	switch_to(t, 1100, 7, 0);
	assert_events(t, 110,
		"110 end 1.1\n"
		"110 begin 3.1 event_channel_op\n"
		"120 alive 2.1 vcpu d1v0\n"
		"120 send 3.1 1\n"
		"120 receive 2.1 1\n"
		"120 begin 2.1 runnable\n"
		"130 mark 3.1 grant_map d1\n");
}

/* Linux tells of the switch before it tells Xen of the new stack. */
static void a_context_is_of_a_process_until_it_is_switched_out(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	call(t, 1110, HVM_OP);
	RECORD(t, 0x800f7ec, NO_CYCLES, 1, 0, 2, 0, 7, 0, 0x66657701);
	call(t, 1200, XEN_VERSION);
	call(t, 1310, XEN_VERSION);
	switch_to(t, 1100, 7, 0);
	switch_to(t, 1300, 8, 7);
	assert_events(t, 110,
		"110 end 1.1\n"
		"110 begin 2.1 hvm_op\n"
		"110 mark 2.1 xen context trace_id=00000000000000010000000000000002"
		" span_id=0000000000000007 trace_flags=1\n"
		"199 end 2.1\n"
		"199 begin 2.1 context\n"
		"199 mark 2.1 span context trace_id=00000000000000010000000000000002"
		" span_id=8c929d6f3cb1a2b8 trace_flags=1 parent_span_id=0000000000000007\n"
		"200 begin 2.1 xen_version\n"
		"300 end 2.1\n"
		"300 end 2.1\n"
		"300 alive 2.2 process pid 8\n"
		"300 switch cpu1 2.2\n"
		"310 begin 1.1 xen_version\n");
}

/* ---- Lives and names ---- */

static void a_process_makes_another_one_which_executes_and_ends(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	call(t, 1900, XEN_VERSION);
	name(t, 7, "sh");
	switch_to(t, 1100, 7, 0);
	fork_from(t, 1200, 7, 9);
	name(t, 9, "sh");
	switch_to(t, 1300, 9, 7);
	name(t, 9, "a-name-of-15-by");
	note(t, WEFT_XENTRACE_NOTE_SWITCH, 1400, UINT64_C(7) | UINT64_C(9) << 24 | ENDED);
	fork_from(t, 1500, 7, 9);
	name(t, 9, "ls");
	switch_to(t, 1600, 9, 7);
	assert_events(t, 200,
		"200 create 2.1 2.2 process\n"
		"300 label 2.2 a-name-of-15-by 9\n"
		"300 end 1.1\n"
		"300 switch cpu1 2.2\n"
		"400 switch cpu1 2.1\n"
		"400 resolve - 2.2\n"
		"500 create 2.1 2.3 process\n"
		"600 label 2.3 ls 9\n"
		"600 switch cpu1 2.3\n"
		"900 begin 1.1 xen_version\n");
}

/* Its making was lost, or its end. */
static void a_pid_may_be_used_again(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	call(t, 1900, XEN_VERSION);
	switch_to(t, 1100, 7, 0);
	note(t, WEFT_XENTRACE_NOTE_SWITCH, 1200, UINT64_C(8) | UINT64_C(7) << 24 | ENDED);
	switch_to(t, 1300, 7, 8);
	fork_from(t, 1400, 7, 8);
	assert_events(t, 200,
		"200 end 1.1\n"
		"200 alive 2.2 process pid 8\n"
		"200 switch cpu1 2.2\n"
		"200 resolve - 2.1\n"
		"300 create - 2.3 process\n"
		"300 label 2.3 pid 7\n"
		"300 switch cpu1 2.3\n"
		"400 resolve - 2.2\n"
		"400 create 2.3 2.4 process\n"
		"900 begin 1.1 xen_version\n");
}

/* Process 7 was on a vCPU that had no pCPU yet. The next one has a name once it runs. */
static void a_process_that_was_not_seen_gives_its_pid_alone(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	call(t, 1900, XEN_VERSION);
	name(t, 7, "sh");
	switch_on(t, 1, 1100, 7);
	switch_to(t, 1200, 8, 0);
	fork_from(t, 1400, 8, 7);
	assert_events(t, 200,
		"200 end 1.1\n"
		"200 alive 2.2 process pid 8\n"
		"200 switch cpu2 2.2\n"
		"400 create 2.2 2.1 process\n"
		"900 begin 1.1 xen_version\n");
}

/* ---- Losses ---- */

static void lost_switches_are_a_loss_of_the_lane(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	call(t, 1110, XEN_VERSION);
	call(t, 1201, STACK_SWITCH);
	call(t, 1210, XEN_VERSION);
	call(t, 1310, XEN_VERSION);
	switch_to(t, 1100, 7, 0);
	switch_to(t, 1200, UNKNOWN, 55);
	switch_to(t, 1300, 8, 9);
	struct opened_xentrace opened = xentrace_open(t);
	assert_events_of(&opened, 110,
		"110 end 1.1\n"
		"110 begin 2.1 xen_version\n"
		"200 end 2.1\n"
		"200 switch cpu1 -\n"
		"201 begin 1.1 stack_switch\n"
		"210 end 1.1\n"
		"210 begin 1.1 xen_version\n"
		"300 end 1.1\n"
		"300 alive 2.2 process pid 8\n"
		"300 switch cpu1 2.2\n"
		"310 begin 1.1 xen_version\n");
	const struct weft_trace_description *d = weft_decoder_describe(opened.decoder);
	assert_int_equal(d->loss_period_count, 1);
	assert_int_equal(d->loss_periods[0].start, 200);
	assert_int_equal(d->loss_periods[0].end, 300);
	assert_int_equal(d->loss_periods[0].count, 55);
	assert_int_equal(d->loss_periods[0].thread, 1);
	assert_int_equal(d->losses[WEFT_LOSS_FULL], 55);
	xentrace_finish(&opened);
	free(t);
}

/* There are more threads than pCPUs. */
static void records_may_be_lost_beside_lanes(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	xentrace_lost(t, 1400, 5, 0, 0, 1300);
	call(t, 1500, XEN_VERSION);
	for (uint64_t vcpu = 0; vcpu < 4; vcpu++)
		switch_on(t, vcpu, 1100, 7 + vcpu);
	assert_events(t, 300,
		"300 end 1.1\n"
		"300 switch cpu1 -\n"
		"300 switch cpu0 -\n"
		"400 switch cpu0 1.1\n"
		"400 switch cpu1 2.1\n"
		"500 begin 1.1 xen_version\n");
}

/* Process 7 goes on with its fault while records are lost, at 320 as at 520. */
static void a_fault_may_end_in_a_loss(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	RECORD(t, 0x201104, 1110, 1, 2, 3, 4, 5);
	call(t, 1201, STACK_SWITCH);
	call(t, 1210, IRET);
	xentrace_lost(t, 1400, 5, 0, 0, 1300);
	call(t, 1421, STACK_SWITCH);
	RECORD(t, 0x201104, 1430, 1, 2, 3, 4, 5);
	call(t, 1441, STACK_SWITCH);
	call(t, 1511, STACK_SWITCH);
	xentrace_lost(t, 1600, 5, 0, 0, 1520);
	call(t, 1610, XEN_VERSION);
	switch_to(t, 1100, 7, 0);
	switch_to(t, 1200, 8, 7);
	switch_to(t, 1310, 7, 8);
	switch_to(t, 1350, 8, 7);
	switch_to(t, 1420, 7, 8);
	switch_to(t, 1440, 8, 7);
	switch_to(t, 1510, 7, 8);
	assert_events(t, 300,
		"300 switch cpu1 -\n"
		"300 switch cpu0 -\n"
		"350 end 2.1\n"
		"400 switch cpu0 1.1\n"
		"400 switch cpu1 2.2\n"
		"420 switch cpu1 2.1\n"
		"421 begin 1.1 stack_switch\n"
		"430 end 1.1\n"
		"430 begin 2.1 page_fault\n"
		"440 switch cpu1 2.2\n"
		"441 begin 1.1 stack_switch\n"
		"510 end 1.1\n"
		"510 switch cpu1 2.1\n"
		"511 begin 1.1 stack_switch\n"
		"520 end 1.1\n"
		"520 end 2.1\n"
		"520 switch cpu1 -\n"
		"520 switch cpu0 -\n"
		"600 switch cpu0 1.1\n"
		"600 switch cpu1 2.1\n"
		"610 begin 2.1 xen_version\n");
}

static void a_loss_may_last_until_the_end(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	switch_to(t, 1100, UNKNOWN, 0);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	while (weft_decoder_next(opened.decoder, &event) == WEFT_OK)
		;
	const struct weft_trace_description *d = weft_decoder_describe(opened.decoder);
	assert_int_equal(d->loss_period_count, 1);
	assert_int_equal(d->loss_periods[0].start, 100);
	assert_int_equal(d->loss_periods[0].end, 150);
	assert_int_equal(d->loss_periods[0].count, 1);
	xentrace_finish(&opened);
	free(t);
}

/* ---- A file that grows ---- */

/* The events of a file that comes in pieces. */
static void assert_growing_events(struct made_xentrace *t, size_t piece, const char *expected)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	char got[4096] = "";
	size_t size = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	weft_decoder_set_hz(decoder, 1000000000);
	for (size_t at = 0; at <= t->size; at += piece) {
		if (at + piece > t->size)
			assert_int_equal(weft_decoder_feed(decoder, t->bytes + at, t->size - at), 0);
		else
			assert_int_equal(weft_decoder_feed(decoder, t->bytes + at, piece), 0);
		if (at + piece > t->size)
			assert_int_equal(weft_decoder_finish(decoder), 0);
		while (weft_decoder_next(decoder, &event) == WEFT_OK)
			if (!is_of_pcpu(&event))
				size += print_event(got + size, sizeof(got) - size, &event);
	}
	assert_string_equal(got, expected);
	weft_decoder_destroy(decoder);
}

/* The first name stays, and later ones are remarks. The lane is the thread after the pCPUs that
 * have come before. */
static void a_growing_file_has_the_same_processes(void **state)
{
	(void)state;
	static const char expected[] = "0 alive 1.1 vcpu d0v0\n"
								   "0 switch cpu0 1.1\n"
								   "101 begin 1.1 stack_switch\n"
								   "200 end 1.1\n"
								   "200 alive 2.1 process sh 7\n"
								   "200 switch cpu1 2.1\n"
								   "201 begin 1.1 stack_switch\n"
								   "210 end 1.1\n"
								   "210 begin 2.1 xen_version\n"
								   "300 label 2.1 xl 7\n"
								   "300 end 2.1\n"
								   "300 alive 2.2 process idle\n"
								   "300 switch cpu1 2.2\n"
								   "301 begin 1.1 stack_switch\n"
								   "310 end 1.1\n"
								   "310 begin 2.2 xen_version\n";
	struct made_xentrace *t = start();
	call(t, 1101, STACK_SWITCH);
	xentrace_window(t, 0);
	call(t, 1201, STACK_SWITCH);
	name(t, 7, "sh");
	switch_to(t, 1200, 7, 0);
	xentrace_window(t, 0);
	call(t, 1210, XEN_VERSION);
	call(t, 1301, STACK_SWITCH);
	call(t, 1310, XEN_VERSION);
	name(t, 7, "xl");
	switch_to(t, 1300, 0, 7);
	for (size_t piece = 1; piece <= t->size; piece += 13)
		assert_growing_events(t, piece, expected);
	free(t);
}

/* ---- Notes that mean nothing ---- */

static void odd_notes_do_no_harm(void **state)
{
	(void)state;
	struct made_xentrace *t = records();
	name(t, 0, "swapper");
	note(t, WEFT_XENTRACE_NOTE_NAME, UINT64_C(7) | UINT64_C(1) << 32, 0x41); /* no first half */
	note(t, WEFT_XENTRACE_NOTE_NAME, UINT64_C(7) | UINT64_C(2) << 32, 0x41);
	note(t, WEFT_XENTRACE_NOTE_NAME, UINT32_MAX, 0x41);
	note(t, WEFT_XENTRACE_NOTE_SWITCH, UINT64_MAX, 7);
	fork_from(t, 1100, 7, 7);
	fork_from(t, 1100, 7, 0);
	name(t, 9, "waits");
	assert_events(t, 10, "150 begin 1.1 xen_version\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_runs_while_its_vcpu_does),
		cmocka_unit_test(what_ended_before_the_records_is_left_out),
		cmocka_unit_test(each_vcpu_has_a_lane_and_an_idle_process),
		cmocka_unit_test(entries_are_of_the_process_once_linux_has_its_stack),
		cmocka_unit_test(a_stack_may_change_inside_a_multicall),
		cmocka_unit_test(a_fault_stays_with_its_process),
		cmocka_unit_test(a_process_wakes_a_guest),
		cmocka_unit_test(a_context_is_of_a_process_until_it_is_switched_out),
		cmocka_unit_test(a_process_makes_another_one_which_executes_and_ends),
		cmocka_unit_test(a_pid_may_be_used_again),
		cmocka_unit_test(a_process_that_was_not_seen_gives_its_pid_alone),
		cmocka_unit_test(lost_switches_are_a_loss_of_the_lane),
		cmocka_unit_test(records_may_be_lost_beside_lanes),
		cmocka_unit_test(a_fault_may_end_in_a_loss),
		cmocka_unit_test(a_loss_may_last_until_the_end),
		cmocka_unit_test(a_growing_file_has_the_same_processes),
		cmocka_unit_test(odd_notes_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
