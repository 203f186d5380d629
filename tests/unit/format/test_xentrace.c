/* SPDX-License-Identifier: ISC
 *
 * The records of Xen's own trace: windows, the order of pCPUs, losses, each kind of damage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "made_xentrace.h"

#define WAKE 0x28004u
#define IRET 23u

/* Each record as "cpu:ns", and the other members that a test names: v its vCPU, n its words. */
static void assert_records_of_part(
	const uint8_t *bytes, size_t size, const char *members, const char *expected)
{
	struct opened_xentrace opened = xentrace_open_part(bytes, size, 1000000000);
	struct weft_xentrace_record record;
	char got[2048] = "";
	size_t at = 0;
	assert_int_equal(opened.finished, 0);
	while (weft_decoder_next_xentrace(opened.decoder, &record) == WEFT_OK) {
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%u:%llu", at ? " " : "", record.cpu,
			(unsigned long long)record.time_ns);
		if (strchr(members, 'v') && record.domain != WEFT_XENTRACE_UNKNOWN)
			at +=
				(size_t)snprintf(got + at, sizeof(got) - at, "=d%uv%u", record.domain, record.vcpu);
		for (uint32_t i = 0; i < record.arg_count && strchr(members, 'n'); i++)
			at += (size_t)snprintf(got + at, sizeof(got) - at, ",%u", record.args[i]);
	}
	assert_string_equal(got, expected);
	xentrace_finish(&opened);
}

/* The diagnostics as "message at offset, times". */
static void assert_damage_of_part(const uint8_t *bytes, size_t size, const char *expected)
{
	struct opened_xentrace opened = xentrace_open_part(bytes, size, 1000000000);
	struct weft_xentrace_record record;
	char got[1024] = "";
	while (!opened.finished && weft_decoder_next_xentrace(opened.decoder, &record) == WEFT_OK) {
	}
	const struct weft_diagnostics *found = weft_decoder_diagnostics(opened.decoder);
	for (size_t i = 0, at = 0; i < found->count; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%s at %u, %u", i ? "\n" : "",
			found->list[i].message, (unsigned)found->list[i].offset,
			(unsigned)found->list[i].count);
	assert_string_equal(got, expected);
	xentrace_finish(&opened);
}

/* Frees the trace. */
static void assert_records(
	struct made_xentrace *trace, const char *members, const char *expected, const char *damage)
{
	assert_records_of_part(trace->bytes, trace->size, members, expected);
	assert_damage_of_part(trace->bytes, trace->size, damage);
	free(trace);
}

/* ---- Windows ---- */

static void windows_of_pcpus_are_merged(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 5);
	RECORD(t, WAKE, 1050);
	RECORD(t, WAKE, 1070);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, 1060);
	xentrace_window(t, 5);
	RECORD(t, WAKE, 1080);
	xentrace_window(t, 0); /* empty */
	xentrace_window(t, 16383);
	RECORD(t, WAKE, 1065);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1075);
	assert_records(t, "", "0:0 5:50 0:60 16383:65 5:70 0:75 5:80", "");
}

static void the_pcpu_of_the_last_record_goes_on(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, 1010);
	RECORD(t, WAKE, 1010);
	RECORD(t, WAKE, 1020);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 1005);
	RECORD(t, WAKE, 1010);
	RECORD(t, WAKE, 1010);
	RECORD(t, WAKE, 1020);
	assert_records(t, "", "0:0 1:5 1:10 1:10 0:10 0:10 0:20 1:20", "");
}

static void a_record_without_cycles_has_those_before(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, NO_CYCLES);
	RECORD(t, WAKE, 1030);
	/* Those before the pCPU's first cycles have these, whichever window has them. */
	xentrace_window(t, 1);
	RECORD(t, WAKE, NO_CYCLES);
	RECORD(t, WAKE, NO_CYCLES);
	xentrace_window(t, 1);
	RECORD(t, WAKE, NO_CYCLES);
	RECORD(t, WAKE, 1020);
	assert_records(t, "", "0:0 0:0 1:20 1:20 1:20 1:20 0:30", "");
	/* A pCPU without any comes first, and does not change from when times count. */
	t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, NO_CYCLES);
	assert_records(t, "", "0:0", "");
	t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, NO_CYCLES);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, 1010);
	assert_records(t, "", "0:0 1:0 1:10", "");
}

static void padding_is_skipped(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, 0x1f002, 5000); /* its cycles are not a time */
	RECORD(t, 0x1f002, NO_CYCLES, 0x2001f003, 0, UINT32_MAX);
	RECORD(t, WAKE, NO_CYCLES);
	RECORD(t, WAKE, 1001);
	assert_records(t, "", "0:0 0:0 0:1", "");
}

static void words_that_a_record_does_not_have_are_zero(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000, 1, 2, 3, 4, 5, 6, 7);
	RECORD(t, WAKE, 1001, 8);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_xentrace_record record;
	assert_int_equal(weft_decoder_next_xentrace(opened.decoder, &record), WEFT_OK);
	assert_int_equal(record.arg_count, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(record.args[i], i + 1);
	assert_int_equal(weft_decoder_next_xentrace(opened.decoder, &record), WEFT_OK);
	assert_int_equal(record.arg_count, 1);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(record.args[i], i ? 0 : 8);
	xentrace_finish(&opened);
	free(t);
}

static void a_time_counts_from_the_first_record_of_all(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, (UINT64_C(1) << 60) + 7);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 7);
	assert_records(t, "", "1:0 0:1152921504606846976", "");
	/* The counter may begin at 0. */
	t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 5);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 0);
	RECORD(t, WAKE, 9);
	assert_records(t, "", "1:0 0:5 1:9", "");
}

/* ---- Which vCPU runs ---- */

static void the_vcpu_is_the_one_that_runs(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 3);
	RECORD(t, WAKE, 10);
	xentrace_runstate(t, 20, 7, 1, RUNNABLE, RUNNING);
	RECORD(t, WAKE, 30);
	xentrace_runstate(t, 40, 7, 2, BLOCKED, RUNNABLE); /* another one, which does not run */
	xentrace_runstate(t, 50, 7, 1, RUNNING, BLOCKED);
	RECORD(t, WAKE, 60);
	RECORD(t, 0x21002, 70, 3 | 4 << 16); /* goes on */
	RECORD(t, WAKE, 80);
	assert_records(t, "v", "3:0 3:10 3:20=d7v1 3:30=d7v1 3:40=d7v1 3:50 3:60 3:70=d4v3", "");
}

static void a_loss_names_the_vcpu_that_runs_behind_it(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	xentrace_runstate(t, 10, 7, 1, RUNNABLE, RUNNING);
	RECORD(t, WAKE, 20);
	xentrace_lost(t, 90, 5, 2, 3, 30);
	RECORD(t, WAKE, 95);
	RECORD(t, 0x1f001, 97, 5); /* an older Xen's, which says no more */
	RECORD(t, WAKE, 98);
	assert_records(t, "vn",
		"0:0,458753 0:10=d7v1 0:80=d7v1,5,196610,30,0 0:85=d2v3 0:87=d2v3,5 0:88=d2v3", "");
}

/* A loss may begin before the record before it, or behind its own end, if the file is damaged. */
static void a_loss_ends_in_its_own_place(void **state)
{
	(void)state;
	static const uint64_t begins[] = {5, 20, 29, 30, 31, UINT64_MAX};
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		struct made_xentrace *t = xentrace_begin();
		xentrace_window(t, 0);
		RECORD(t, WAKE, 10);
		xentrace_lost(t, 30, 5, 2, 3, begins[i]);
		RECORD(t, WAKE, NO_CYCLES);
		xentrace_window(t, 1);
		RECORD(t, WAKE, 25);
		RECORD(t, WAKE, 35);
		assert_records(t, "", "0:0 1:15 0:20 0:20 1:25", "");
	}
}

/* ---- Names ---- */

/* A record of each line: id, words, name, detail. */
static const struct named {
	uint32_t id, words[3];
	const char *name, *detail;
} named[] = {
	{0x20100d, {IRET | 5u << 20}, "hypercall", "iret"},
	{0x20110d, {49}, "hypercall", "paging_domctl"},
	{0x20100d, {50}, "hypercall", NULL},
	{0x20100d, {11}, "hypercall", NULL},
	{0x20200e, {0}, "subcall", "set_trap_table"},
	{0x201001, {IRET, 1, 2}, "hypercall", "mmu_update"},
	{0x201101, {IRET, 2, 1}, "hypercall", "mmu_update"},
	{0x082012, {29, IRET}, "vmmcall", "sched_op"},
	{0x201003, {1, 0x8000, 2}, "trap", "divide_error"},
	{0x201103, {1, 2, 14}, "trap", "page_fault"},
	{0x201003, {1, 21}, "trap", "control_protection"},
	{0x201003, {1, 22}, "trap", NULL},
	{0x021231, {0}, "runstate_change", NULL},
	{0x023231, {0}, "unknown", NULL},
	{0x40f301, {0}, "shadow_not_shadow", NULL},
	{0x802008, {0}, "irq_handled", NULL},
	{0x802108, {0}, "unknown", NULL},
	{0x01f003, {0}, "cpu_change", NULL},
	{0x01f004, {0}, "unknown", NULL},
	{0x01f000, {0}, "unknown", NULL},
	{0x800f123, {0}, "guest", NULL},
};

/* The reasons of exits with the id of Xen 4.19 for AMD. */
static const struct named exits_of_amd[] = {
	{0x81003, {0}, "vmexit", "cr_read"},
	{0x81003, {0x0f}, "vmexit", "cr_read"},
	{0x81003, {0x10}, "vmexit", "cr_write"},
	{0x81003, {0x1f}, "vmexit", "cr_write"},
	{0x81003, {0x20}, "vmexit", "dr_read"},
	{0x81003, {0x2f}, "vmexit", "dr_read"},
	{0x81003, {0x30}, "vmexit", "dr_write"},
	{0x81003, {0x3f}, "vmexit", "dr_write"},
	{0x81003, {0x40}, "vmexit", "divide_error"},
	{0x81003, {0x55}, "vmexit", "control_protection"},
	{0x81003, {0x56}, "vmexit", NULL},
	{0x81003, {0x5f}, "vmexit", NULL},
	{0x81003, {0x60}, "vmexit", "intr"},
	{0x81003, {0x8e}, "vmexit", "rdpru"},
	{0x81003, {0x8f}, "vmexit", NULL},
	{0x81003, {0x400}, "vmexit", "npf"},
	{0x81003, {0x401}, "vmexit", NULL},
};

/* With the older id, they are Intel's if none is one that only AMD has. */
static const struct named exits_of_intel[] = {
	{0x81002, {0x00}, "vmexit", "exception_nmi"},
	{0x81102, {0x12}, "vmexit", "vmcall"},
	{0x81002, {0x80000021}, "vmexit", "invalid_guest_state"},
	{0x81002, {0x4b}, "vmexit", "notify"},
	{0x81002, {0x4c}, "vmexit", NULL},
	{0x81003, {0x12}, "vmexit", "cr_write"},
	{0x81001, {0}, "vmentry", NULL},
};

static void assert_names(const struct named *list, size_t count)
{
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	for (size_t i = 0; i < count; i++)
		xentrace_record(t, list[i].id, 1000, list[i].words, 3);
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_xentrace_record record;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(weft_decoder_next_xentrace(opened.decoder, &record), WEFT_OK);
		assert_int_equal(record.id, list[i].id);
		assert_string_equal(record.name, list[i].name);
		assert_string_equal(
			record.detail ? record.detail : "", list[i].detail ? list[i].detail : "");
	}
	xentrace_finish(&opened);
	free(t);
}

static void records_have_names(void **state)
{
	(void)state;
	assert_names(named, sizeof(named) / sizeof(named[0]));
	assert_names(exits_of_amd, sizeof(exits_of_amd) / sizeof(exits_of_amd[0]));
	assert_names(exits_of_intel, sizeof(exits_of_intel) / sizeof(exits_of_intel[0]));
}

/* ---- Damage ---- */

static void a_truncated_file_is_read_to_its_end(void **state)
{
	(void)state;
	static const char *const expected[] = {"0:0", "0:0 1:1", "0:0 1:1 1:2", "0:0 1:1 1:2 1:3"};
	static const size_t ends[] = {24, 56, 76, 92, SIZE_MAX};
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 1001, 1, 2);
	RECORD(t, WAKE, 1002, 1, 2);
	RECORD(t, WAKE, 1003, 1);
	assert_int_equal(t->size, 92);
	for (size_t size = 24, whole = 0; size <= t->size; size++) {
		whole += size == ends[whole + 1];
		assert_records_of_part(t->bytes, size, "", expected[whole]);
		char damage[128] = "";
		if (size > 24 && size < 36)
			snprintf(
				damage, sizeof(damage), "the file ends within the header of a window at 24, 1");
		else if (size >= 36 && size < 92)
			snprintf(damage, sizeof(damage), "the file ends within a window at 24, 1");
		bool is_cut = size >= 40 && size != ends[whole];
		if (is_cut && size - ends[whole] >= (whole ? 4 : 16))
			snprintf(damage + strlen(damage), sizeof(damage) - strlen(damage),
				"\na record is longer than the rest of its window at %u, 1",
				(unsigned)(whole ? ends[whole] : 36));
		assert_damage_of_part(t->bytes, size, damage);
	}
	free(t);
}

/* A window whose header is changed by `word` and `value`, with whole ones around it. */
static void damage_window(size_t word, uint32_t value, const char *records, const char *damage)
{
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1001);
	RECORD(t, WAKE, 1002);
	xentrace_put(t, t->window + 4 * word, value);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 1003);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1004);
	assert_records(t, "", records, damage);
}

static void a_damaged_header_costs_one_window(void **state)
{
	(void)state;
	static const char without[] = "0:0 1:3 0:4";
	static const char no_window[] =
		"the size of a window is wrong at 0, 1\n"
		"no window begins here; bytes up to the next window are left out at 24, 1";
	static const char wrong_size[] = "the size of a window is wrong at 24, 1";
	damage_window(0, 0x2001f004, without, no_window);
	damage_window(1, 16384, without, no_window);
	damage_window(2, 23, without, no_window);
	damage_window(2, 8000, "0:0 0:1 0:2 1:3 0:4", wrong_size);
	damage_window(2, UINT32_MAX - 3, "0:0 0:1 0:2 1:3 0:4", wrong_size);
	damage_window(2, 0, "0:0 1:3 0:4",
		"the size of a window is wrong at 24, 1\n"
		"no window begins here; bytes up to the next window are left out at 36, 1");
	damage_window(2, 12, "0:0 0:1 1:3 0:4",
		"the size of a window is wrong at 24, 1\n"
		"no window begins here; bytes up to the next window are left out at 48, 1");
	/* It reaches to the end of the next window, whose header is a record in it. */
	damage_window(2, 48, "0:0 0:1 0:2 0:2 0:3 0:4", "");
}

static void a_header_that_leads_nowhere_is_not_found(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	xentrace_word(t, 0x12345678);
	/* It looks like a header, but its window ends in the middle of another one. */
	RECORD(t, 0x1f003, NO_CYCLES, 4, 20);
	xentrace_put(t, 8, 12);
	xentrace_window(t, 1);
	RECORD(t, WAKE, 1001);
	RECORD(t, WAKE, 1002);
	assert_records(t, "", "0:0 1:1 1:2",
		"the size of a window is wrong at 0, 1\n"
		"no window begins here; bytes up to the next window are left out at 24, 1");
}

static void a_record_that_crosses_its_window_is_damage(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	xentrace_word(t, 0xf0000000 | WAKE);
	xentrace_fit(t);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1001);
	xentrace_word(t, WAKE); /* just fits */
	xentrace_fit(t);
	assert_records(t, "", "0:0 0:1 0:1", "a record is longer than the rest of its window at 24, 1");
}

/* Behind a record at 500, three more; those with the given cycles are at the offsets 36 and 48. */
static void assert_times(uint64_t second, uint64_t third, const char *records, const char *damage)
{
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 500);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, second);
	RECORD(t, WAKE, third);
	assert_records(t, "", records, damage);
}

static void times_that_are_wrong_are_limited(void **state)
{
	(void)state;
	const uint64_t step = UINT64_C(1) << 32;
	static const char far[] = "a time far after that of the next record; it is limited at 36, 1";
	static const char back[] = "a time before that of the record before; it is limited at 48, 1";
	assert_times(1000, 1000, "0:0 0:500 0:500 0:500", "");
	assert_times(1001 + step, 1001 + step, "0:0 0:500 0:4294967797 0:4294967797", "");
	assert_times(1001 + step, 1000 + step, "0:0 0:500 0:500 0:4294967796", far);
	assert_times(1001 + step, 1000, "0:0 0:500 0:500 0:500", far);
	assert_times(1001 + step, 999, "0:0 0:500 0:4294967797 0:4294967797", back);
	assert_times(1000 + step, 1000, "0:0 0:500 0:4294967796 0:4294967796", back);
	assert_times(999, 1005, "0:0 0:500 0:500 0:505",
		"a time before that of the record before; it is limited at 36, 1");
}

/* The time by which a far one is judged is that of the next record in the window that has one. */
static void a_far_time_is_judged_by_the_next_one(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, UINT64_C(1) << 60, 1, 2, 3);
	RECORD(t, WAKE, NO_CYCLES, 1);
	RECORD(t, WAKE, 1020);
	assert_records(t, "", "0:0 0:0 0:0 0:20",
		"a time far after that of the next record; it is limited at 24, 1");
	t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, (UINT64_C(1) << 32) + 1010);
	RECORD(t, WAKE, NO_CYCLES, 1);
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1020);
	assert_records(t, "", "0:0 0:4294967306 0:4294967306 0:4294967306",
		"a time before that of the record before; it is limited at 56, 1");
	/* The next one is not whole: it does not say. */
	t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	RECORD(t, WAKE, UINT64_C(1) << 60);
	xentrace_word(t, 0xf0000000 | WAKE);
	xentrace_word(t, 1020);
	xentrace_word(t, 0);
	xentrace_fit(t);
	assert_records(t, "", "0:0 0:1152921504606845976",
		"a record is longer than the rest of its window at 36, 1");
}

static void other_bytes_are_another_format(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	RECORD(t, WAKE, 1000);
	for (size_t size = 12; size <= t->size; size += 12) {
		struct opened_xentrace opened = xentrace_open_part(t->bytes, size, 0);
		assert_int_equal(opened.finished, 0);
		assert_true(weft_decoder_has_xentrace(opened.decoder));
		xentrace_finish(&opened);
	}
	struct opened_xentrace opened = xentrace_open_part(t->bytes, 11, 0);
	assert_int_not_equal(opened.finished, 0);
	xentrace_finish(&opened);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_of_pcpus_are_merged),
		cmocka_unit_test(the_pcpu_of_the_last_record_goes_on),
		cmocka_unit_test(a_record_without_cycles_has_those_before),
		cmocka_unit_test(padding_is_skipped),
		cmocka_unit_test(words_that_a_record_does_not_have_are_zero),
		cmocka_unit_test(a_time_counts_from_the_first_record_of_all),
		cmocka_unit_test(the_vcpu_is_the_one_that_runs),
		cmocka_unit_test(a_loss_names_the_vcpu_that_runs_behind_it),
		cmocka_unit_test(a_loss_ends_in_its_own_place),
		cmocka_unit_test(records_have_names),
		cmocka_unit_test(a_truncated_file_is_read_to_its_end),
		cmocka_unit_test(a_damaged_header_costs_one_window),
		cmocka_unit_test(a_header_that_leads_nowhere_is_not_found),
		cmocka_unit_test(a_record_that_crosses_its_window_is_damage),
		cmocka_unit_test(times_that_are_wrong_are_limited),
		cmocka_unit_test(a_far_time_is_judged_by_the_next_one),
		cmocka_unit_test(other_bytes_are_another_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
