/* SPDX-License-Identifier: ISC
 *
 * Trace contexts that programs write into Xen's trace: what is attributed to them, and what is not
 * because the trace does not prove it. A cycle is 1 ns, and time counts from the first record.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "xentrace_events.h"

enum {
	STACK_SWITCH = 3,
	SET_SEGMENT_BASE = 25,
	HVM_OP = 34,
};

#define CONTEXT 0x800f7ec
#define NAME    0x66657701u /* "wef", and the flag 1 */
#define TRACE   1, 0, 2, 0

/* The vCPU that runs on the window's pCPU writes a context, whose record has no time of its own. */
#define WRITE(t, cycles, ...)                       \
	do {                                            \
		call(t, cycles, HVM_OP);                    \
		RECORD(t, CONTEXT, NO_CYCLES, __VA_ARGS__); \
	} while (0)

#define CONTEXT_7 \
	" trace_id=00000000000000010000000000000002 span_id=0000000000000007 trace_flags=1\n"

/* dom0's kernel has told its stacks before. */
static struct made_xentrace *begin(void)
{
	struct made_xentrace *t = start();
	call(t, 1010, STACK_SWITCH);
	return t;
}

/* The spans "context" of all vCPUs as "begin-end", each with its parent's span. Of one vCPU at a
 * time there is one. */
static void assert_contexts_of(const struct opened_xentrace *opened, const char *expected)
{
	struct weft_event event, begin = {.type = 0};
	char got[512] = "", parent[20] = "";
	int depth = 0; /* of the vCPU's spans from the context on */
	size_t at = 0;
	while (weft_decoder_next(opened->decoder, &event) == WEFT_OK) {
		bool is_context = event.type == WEFT_EVENT_BEGIN && event.text.size == 7 &&
						  memcmp(event.text.bytes, "context", 7) == 0;
		if (is_context)
			begin = event;
		if (event.task != begin.task || event.buffer != begin.buffer || (!depth && !is_context))
			continue;
		depth += event.type == WEFT_EVENT_BEGIN;
		depth -= event.type == WEFT_EVENT_END;
		if (event.type == WEFT_EVENT_MARK && event.field_count == 4)
			snprintf(parent, sizeof(parent), "%.16s", event.fields[3].value.text.bytes);
		if (!depth)
			at += (size_t)snprintf(got + at, sizeof(got) - at, "%llu-%llu of %x\n",
				(unsigned long long)begin.time_ns, (unsigned long long)event.time_ns,
				(unsigned)strtoul(parent, NULL, 16));
	}
	assert_string_equal(got, expected);
}

/* Frees the trace. */
static void assert_contexts(struct made_xentrace *t, const char *expected)
{
	struct opened_xentrace opened = xentrace_open(t);
	assert_contexts_of(&opened, expected);
	xentrace_finish(&opened);
	free(t);
}

/* ---- What is proven ---- */

static void a_context_has_what_its_thread_asks_of_xen(void **state)
{
	(void)state;
	struct made_xentrace *t = begin();
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, IRET);
	call(t, 1300, DOMCTL);
	call(t, 1400, STACK_SWITCH);
	call(t, 1500, XEN_VERSION);
	assert_events(t, 100,
		"100 end 1.1\n"
		"100 begin 1.1 hvm_op\n"
		"100 mark 1.1 xen context" CONTEXT_7 "199 end 1.1\n"
		"199 begin 1.1 context\n"
		"199 mark 1.1 span context trace_id=00000000000000010000000000000002"
		" span_id=8c929d6f3cb1a2b8 trace_flags=1 parent_span_id=0000000000000007\n"
		"200 begin 1.1 iret\n"
		"200 end 1.1\n"
		"300 begin 1.1 domctl\n"
		"400 end 1.1\n"
		"400 end 1.1\n"
		"400 begin 1.1 stack_switch\n"
		"500 end 1.1\n"
		"500 begin 1.1 xen_version\n");
}

static void a_context_ends_with_the_next_one(void **state)
{
	(void)state;
	struct made_xentrace *t = begin();
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	WRITE(t, 1200, TRACE, 8, 0, NAME);
	call(t, 1300, XEN_VERSION);
	WRITE(t, 1400, TRACE, 0, 0, NAME); /* the thread works for none */
	call(t, 1500, XEN_VERSION);
	call(t, 1600, STACK_SWITCH);
	assert_contexts(t, "199-299 of 7\n299-499 of 8\n");
}

static void a_context_ends_where_another_thread_may_run(void **state)
{
	static const uint32_t ops[] = {STACK_SWITCH, SET_SEGMENT_BASE, MULTICALL};
	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct made_xentrace *t = begin();
		WRITE(t, 1100, TRACE, 7, 0, NAME);
		call(t, 1200, XEN_VERSION);
		RECORD(t, 0x201104, 1250, 1, 0, 2, 0, 0); /* faults are the thread's own */
		call(t, 1260, MMU_UPDATE);
		call(t, 1270, IRET);
		call(t, 1300, ops[i]);
		call(t, 1400, IRET);
		assert_contexts(t, "199-300 of 7\n");
		/* It has not begun yet. */
		t = begin();
		WRITE(t, 1100, TRACE, 7, 0, NAME);
		call(t, 1200, ops[i]);
		call(t, 1300, XEN_VERSION);
		assert_contexts(t, "");
	}
}

static void a_context_goes_on_while_its_vcpu_waits(void **state)
{
	(void)state;
	struct made_xentrace *t = begin();
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, DOMCTL);
	xentrace_runstate(t, 1300, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1310, 1, 0, RUNNABLE, RUNNING);
	call(t, 1320, STACK_SWITCH); /* of the other domain */
	xentrace_runstate(t, 1390, 1, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1400, 0, 0, RUNNABLE, RUNNING);
	call(t, 1500, STACK_SWITCH);
	assert_contexts(t, "199-500 of 7\n");
}

/* ---- What is not ---- */

static void a_context_needs_a_proof(void **state)
{
	(void)state;
	struct made_xentrace *t = start(); /* the guest may have another way to switch */
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	assert_contexts(t, "");
	t = begin(); /* the hypercall's own record is missing */
	WRITE(t, 1100, TRACE, 8, 0, NAME);
	call(t, 1150, XEN_VERSION);
	RECORD(t, CONTEXT, NO_CYCLES, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	assert_contexts(t, "149-199 of 8\n");
	t = begin(); /* another thread is told in the same multicall */
	call_count(t, 1100, MULTICALL, 2);
	RECORD(t, 0x20200e, 1101, HVM_OP);
	RECORD(t, CONTEXT, NO_CYCLES, TRACE, 7, 0, NAME);
	RECORD(t, 0x20200e, 1102, STACK_SWITCH);
	call(t, 1200, XEN_VERSION);
	assert_contexts(t, "");
	t = begin();
	call_count(t, 1100, MULTICALL, 1);
	RECORD(t, 0x20200e, 1101, HVM_OP);
	RECORD(t, CONTEXT, NO_CYCLES, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	call(t, 1300, STACK_SWITCH);
	assert_contexts(t, "199-300 of 7\n");
}

static void other_records_of_guests_are_words(void **state)
{
	static const uint32_t bad[][8] = {
		{CONTEXT - 1, TRACE, 7, 0, NAME},
		{CONTEXT, TRACE, 7, 0, 0x66657801},
		{CONTEXT, 0, 0, 0, 0, 7, 0, NAME},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct made_xentrace *t = begin();
		call(t, 1100, HVM_OP);
		xentrace_record(t, bad[i][0], NO_CYCLES, &bad[i][1], 7);
		call(t, 1200, XEN_VERSION);
		assert_contexts(t, "");
	}
	struct made_xentrace *t = begin();
	call(t, 1100, HVM_OP);
	RECORD(t, CONTEXT, NO_CYCLES, TRACE, 7, 0); /* too short */
	assert_events(t, 100,
		"100 end 1.1\n"
		"100 begin 1.1 hvm_op\n"
		"100 mark 1.1 guest 0x7ec words=0x00000001 0x00000000 0x00000002 0x00000000 0x00000007 "
		"0x00000000\n");
}

/* Any guest may write any ids. */
static void no_domain_continues_the_trace_of_another(void **state)
{
	(void)state;
	struct made_xentrace *t = begin();
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	xentrace_runstate(t, 1200, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1300, 7, 0, RUNNABLE, RUNNING);
	call(t, 1310, STACK_SWITCH);
	WRITE(t, 1320, TRACE, 9, 0, NAME);
	call(t, 1330, XEN_VERSION);
	WRITE(t, 1340, 1, 0, 3, 0, 9, 0, NAME); /* a trace of its own */
	call(t, 1350, XEN_VERSION);
	WRITE(t, 1360, TRACE, 7, 0, NAME);
	call(t, 1370, STACK_SWITCH);
	xentrace_runstate(t, 1400, 7, 0, RUNNING, BLOCKED);
	xentrace_runstate(t, 1410, 0, 0, RUNNABLE, RUNNING);
	WRITE(t, 1420, 1, 0, 3, 0, 9, 0, NAME);
	call(t, 1430, XEN_VERSION);
	WRITE(t, 1440, TRACE, 8, 0, NAME);
	call(t, 1450, XEN_VERSION);
	call(t, 1460, STACK_SWITCH);
	assert_contexts(t, "349-370 of 9\n419-429 of 7\n449-460 of 8\n");
}

/* A vCPU may have run where records were lost. */
static void a_loss_ends_the_contexts_of_vcpus_that_do_not_run_elsewhere(void **state)
{
	(void)state;
	struct made_xentrace *t = begin(); /* pCPU 0 */
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	xentrace_lost(t, 1500, 3, 0, 0, 1400);
	call(t, 1600, XEN_VERSION);
	assert_contexts(t, "199-400 of 7\n");
	t = begin(); /* another pCPU loses records while it runs, and while it waits */
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	xentrace_runstate(t, 1450, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1600, 0, 0, RUNNABLE, RUNNING);
	call(t, 1700, STACK_SWITCH);
	WRITE(t, 1800, TRACE, 8, 0, NAME);
	call(t, 1900, XEN_VERSION);
	call(t, 2300, XEN_VERSION);
	call(t, 2400, STACK_SWITCH);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1001, 32767, 1, RUNNABLE, RUNNING);
	xentrace_lost(t, 1500, 3, 32767, 1, 1400);
	xentrace_lost(t, 2200, 3, 32767, 1, 2100);
	assert_contexts(t, "199-450 of 7\n899-1400 of 8\n");
	t = begin();
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	xentrace_runstate(t, 1300, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1600, 0, 0, RUNNABLE, RUNNING);
	call(t, 1700, STACK_SWITCH);
	xentrace_window(t, 1);
	xentrace_runstate(t, 1001, 32767, 1, RUNNABLE, RUNNING);
	xentrace_lost(t, 1500, 3, 32767, 1, 1400);
	assert_contexts(t, "199-400 of 7\n");
}

static void a_context_does_not_outlast_its_domain(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	xentrace_runstate(t, 1010, 0, 0, RUNNING, RUNNABLE);
	xentrace_runstate(t, 1020, 7, 0, OFFLINE, RUNNING);
	call(t, 1030, STACK_SWITCH);
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	RECORD(t, 0x28002, 1200, 7);
	call(t, 1300, XEN_VERSION); /* of a new vCPU with this number */
	WRITE(t, 1400, TRACE, 8, 0, NAME);
	call(t, 1500, XEN_VERSION);
	assert_contexts(t, "");
}

static void nothing_is_proven_if_records_were_left_out(void **state)
{
	const struct weft_xentrace_note note = {.kind = WEFT_XENTRACE_NOTE_FILTERED};
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	weft_xentrace_write_note(&note, t->bytes);
	t->size = WEFT_XENTRACE_NOTE_BYTES;
	xentrace_window(t, 0);
	xentrace_runstate(t, 1000, 0, 0, RUNNABLE, RUNNING);
	call(t, 1010, STACK_SWITCH);
	WRITE(t, 1100, TRACE, 7, 0, NAME);
	call(t, 1200, XEN_VERSION);
	call(t, 1300, STACK_SWITCH);
	assert_contexts(t, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_has_what_its_thread_asks_of_xen),
		cmocka_unit_test(a_context_ends_with_the_next_one),
		cmocka_unit_test(a_context_ends_where_another_thread_may_run),
		cmocka_unit_test(a_context_goes_on_while_its_vcpu_waits),
		cmocka_unit_test(a_context_needs_a_proof),
		cmocka_unit_test(other_records_of_guests_are_words),
		cmocka_unit_test(no_domain_continues_the_trace_of_another),
		cmocka_unit_test(a_loss_ends_the_contexts_of_vcpus_that_do_not_run_elsewhere),
		cmocka_unit_test(a_context_does_not_outlast_its_domain),
		cmocka_unit_test(nothing_is_proven_if_records_were_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
