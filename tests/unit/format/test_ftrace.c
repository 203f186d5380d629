/* SPDX-License-Identifier: ISC
 *
 * Pages of the kernel's ring buffer, as the kernel's texts describe them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/ftrace/page.h"

#define DATA         16 /* the offset of a page's events */
#define PAGE_BYTES   512
#define SWITCH_WORDS 16
#define SWITCH       372
#define FORK         369

static const char page_text[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
								"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
								"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
								"\tfield: char data;\toffset:16;\tsize:496;\tsigned:0;\n";
static const char switch_text[] =
	"name: sched_switch\nID: 372\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";
static const char fork_text[] =
	"name: sched_process_fork\nID: 369\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n";

static struct weft__ftrace_formats learn(void)
{
	struct weft__ftrace_formats f = {0};
	assert_true(weft__format_ftrace_learn_page(&f, page_text, sizeof(page_text) - 1));
	assert_true(weft__format_ftrace_learn_event(&f, switch_text, sizeof(switch_text) - 1));
	assert_true(weft__format_ftrace_learn_event(&f, fork_text, sizeof(fork_text) - 1));
	return f;
}

/* ---- Made pages ---- */

struct made_page {
	uint8_t bytes[PAGE_BYTES];
	size_t size;
};

static void put(struct made_page *p, size_t at, uint64_t number, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p->bytes[at + i] = (uint8_t)(number >> 8 * i);
}

static struct made_page begin(uint64_t time)
{
	struct made_page p = {.size = DATA};
	put(&p, 0, time, 8);
	return p;
}

static void word(struct made_page *p, uint32_t number)
{
	put(p, p->size, number, 4);
	p->size += 4;
	put(p, 8, p->size - DATA, 8);
}

static void header(struct made_page *p, uint32_t type, uint32_t delta)
{
	word(p, type | delta << 5);
}

/* Writes the data of a switch behind its header. */
static void switch_data(struct made_page *p, const char *from, uint32_t from_pid, uint64_t state,
	const char *to, uint32_t to_pid)
{
	const size_t at = p->size;
	for (int i = 0; i < SWITCH_WORDS; i++)
		word(p, 0);
	put(p, at, SWITCH, 2);
	memcpy(p->bytes + at + 8, from, strlen(from));
	put(p, at + 24, from_pid, 4);
	put(p, at + 32, state, 8);
	memcpy(p->bytes + at + 40, to, strlen(to));
	put(p, at + 56, to_pid, 4);
}

static void switch_at(struct made_page *p, uint32_t delta, uint32_t from_pid, uint32_t to_pid)
{
	header(p, SWITCH_WORDS, delta);
	switch_data(p, "from", from_pid, 1, "to", to_pid);
}

static void lose(struct made_page *p, bool has_count, uint64_t count)
{
	put(p, 8, (p->size - DATA) | 0x80000000u | (has_count ? 0x40000000u : 0), 8);
	put(p, p->size, count, 8);
}

static struct weft__ftrace_page read_page(const struct made_page *p)
{
	const struct weft__ftrace_formats f = learn();
	struct weft__ftrace_page page;
	assert_true(weft__format_ftrace_begin(&f, p->bytes, sizeof(p->bytes), &page));
	return page;
}

static struct weft__ftrace_event next(struct weft__ftrace_page *page)
{
	const struct weft__ftrace_formats f = learn();
	struct weft__ftrace_event event;
	assert_true(weft__format_ftrace_next(&f, page, &event));
	return event;
}

static void assert_end(struct weft__ftrace_page *page)
{
	const struct weft__ftrace_formats f = learn();
	struct weft__ftrace_event event;
	assert_false(weft__format_ftrace_next(&f, page, &event));
	assert_false(weft__format_ftrace_next(&f, page, &event));
}

/* ---- Events ---- */

static void a_switch_has_both_processes(void **state)
{
	(void)state;
	struct made_page made = begin(5000);
	header(&made, SWITCH_WORDS, 7);
	switch_data(&made, "xl", 12, 0x20, "fifteen-letters", 4194303);
	struct weft__ftrace_page page = read_page(&made);
	struct weft__ftrace_event event = next(&page);
	assert_int_equal(event.time, 5007);
	assert_int_equal(event.kind, WEFT__FTRACE_SWITCH);
	assert_int_equal(event.pid, 4194303);
	assert_int_equal(event.other, 12);
	assert_string_equal(event.name, "fifteen-letters");
	assert_string_equal(event.other_name, "xl");
	assert_true(event.has_ended);
	assert_end(&page);
}

static void a_thread_ends_as_a_zombie_or_dead(void **state)
{
	(void)state;
	static const struct {
		uint64_t state;
		bool has_ended;
	} cases[] = {{0, false}, {1, false}, {2, false}, {0x10, true}, {0x20, true}, {0x40, false},
		{0x80, false}, {0x100, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_page made = begin(0);
		header(&made, SWITCH_WORDS, 0);
		switch_data(&made, "a", 1, cases[i].state, "b", 2);
		struct weft__ftrace_page page = read_page(&made);
		assert_int_equal(next(&page).has_ended, cases[i].has_ended);
	}
}

static void a_fork_has_parent_and_child(void **state)
{
	(void)state;
	struct made_page made = begin(100);
	header(&made, 0, 5);
	word(&made, 28); /* a long event: 24 bytes, and this word */
	put(&made, made.size, FORK, 2);
	put(&made, made.size + 12, 30, 4);
	put(&made, made.size + 20, 31, 4);
	made.size += 20;
	word(&made, 31);
	switch_at(&made, 1, 30, 31);
	struct weft__ftrace_page page = read_page(&made);
	struct weft__ftrace_event event = next(&page);
	assert_int_equal(event.kind, WEFT__FTRACE_FORK);
	assert_int_equal(event.time, 105);
	assert_int_equal(event.other, 30);
	assert_int_equal(event.pid, 31);
	assert_int_equal(next(&page).time, 106);
	assert_end(&page);
}

/* Their time counts. */
static void other_events_are_left_out(void **state)
{
	(void)state;
	struct made_page made = begin(100);
	header(&made, 2, 10);
	word(&made, 999);
	word(&made, 0);
	header(&made, 1, 10);
	word(&made, SWITCH); /* too short for one */
	switch_at(&made, 10, 1, 2);
	struct weft__ftrace_page page = read_page(&made);
	assert_int_equal(next(&page).time, 130);
	assert_end(&page);
}

static void times_are_extended_and_set(void **state)
{
	(void)state;
	struct made_page made = begin(UINT64_C(0xf800000000000064));
	header(&made, 30, 3);
	word(&made, 2); /* 2 * 2^27 */
	switch_at(&made, 1, 1, 2);
	header(&made, 31, 9);
	word(&made, 0x10); /* 16 * 2^27, below the highest bits of before */
	switch_at(&made, 1, 2, 1);
	struct weft__ftrace_page page = read_page(&made);
	assert_true(next(&page).time == UINT64_C(0xf800000000000064) + (2 << 27) + 4);
	assert_true(next(&page).time == UINT64_C(0xf800000000000000) + (UINT64_C(16) << 27) + 10);
	assert_end(&page);
}

static void padding_is_skipped(void **state)
{
	(void)state;
	struct made_page made = begin(100);
	header(&made, 29, 1);
	word(&made, 8); /* this word and one more */
	word(&made, 0xffffffff);
	switch_at(&made, 1, 1, 2);
	header(&made, 29, 0); /* the rest is empty */
	word(&made, 0);
	switch_at(&made, 1, 2, 1);
	struct weft__ftrace_page page = read_page(&made);
	assert_int_equal(next(&page).time, 101);
	assert_end(&page);
}

/* ---- Losses ---- */

static void a_page_tells_what_was_lost_before_it(void **state)
{
	(void)state;
	struct made_page made = begin(100);
	switch_at(&made, 1, 1, 2);
	assert_false(read_page(&made).has_lost);
	lose(&made, true, 77);
	struct weft__ftrace_page page = read_page(&made);
	assert_true(page.has_lost);
	assert_int_equal(page.lost, 77);
	assert_int_equal(next(&page).pid, 2);
	assert_end(&page);
	lose(&made, false, 77);
	page = read_page(&made);
	assert_true(page.has_lost);
	assert_int_equal(page.lost, 0);
}

/* ---- Damage ---- */

static void a_damaged_page_ends_early(void **state)
{
	(void)state;
	const struct weft__ftrace_formats f = learn();
	struct weft__ftrace_page page;
	struct made_page made = begin(100);
	switch_at(&made, 1, 1, 2);
	assert_false(weft__format_ftrace_begin(&f, made.bytes, DATA - 1, &page));
	assert_false(weft__format_ftrace_begin(&f, made.bytes, made.size - 1, &page));
	assert_true(weft__format_ftrace_begin(&f, made.bytes, made.size, &page));
	header(&made, SWITCH_WORDS, 1); /* without its data */
	page = read_page(&made);
	assert_int_equal(next(&page).pid, 2);
	assert_end(&page);
	made = begin(100);
	header(&made, 0, 1);
	word(&made, 3); /* less than the word itself */
	switch_data(&made, "a", 1, 0, "b", 2);
	page = read_page(&made);
	assert_end(&page);
	made = begin(100);
	header(&made, 30, 1); /* without its second word */
	page = read_page(&made);
	assert_end(&page);
}

static void a_text_must_describe_all_fields(void **state)
{
	(void)state;
	struct weft__ftrace_formats f = {0};
	for (size_t size = 0; size < sizeof(page_text) - 1; size++) {
		bool is_whole = size > (size_t)(strstr(page_text, "size:496") - page_text) + 5;
		assert_int_equal(weft__format_ftrace_learn_page(&f, page_text, size), is_whole);
	}
	for (size_t size = 0; size < sizeof(switch_text) - 1; size++) {
		bool is_whole = size > (size_t)(strstr(switch_text, "next_pid") - switch_text) + 26;
		assert_int_equal(weft__format_ftrace_learn_event(&f, switch_text, size), is_whole);
	}
	for (size_t size = 0; size < sizeof(fork_text) - 1; size++) {
		bool is_whole = size > (size_t)(strstr(fork_text, "child_pid") - fork_text) + 27;
		assert_int_equal(weft__format_ftrace_learn_event(&f, fork_text, size), is_whole);
	}
}

static void a_number_in_a_text_has_a_limit(void **state)
{
	(void)state;
	static const char text[] = "field: u64 timestamp;\toffset:4294967296;\tsize:8;\n"
							   "field: local_t commit;\toffset:8;\tsize:8;\n"
							   "field: char data;\toffset:16;\tsize:496;\n";
	struct weft__ftrace_formats f = {0};
	assert_false(weft__format_ftrace_learn_page(&f, text, sizeof(text) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_has_both_processes),
		cmocka_unit_test(a_thread_ends_as_a_zombie_or_dead),
		cmocka_unit_test(a_fork_has_parent_and_child),
		cmocka_unit_test(other_events_are_left_out),
		cmocka_unit_test(times_are_extended_and_set),
		cmocka_unit_test(padding_is_skipped),
		cmocka_unit_test(a_page_tells_what_was_lost_before_it),
		cmocka_unit_test(a_damaged_page_ends_early),
		cmocka_unit_test(a_text_must_describe_all_fields),
		cmocka_unit_test(a_number_in_a_text_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
