/* SPDX-License-Identifier: ISC
 *
 * A child shares the buffer's memory, but must not record into it. The kernel ensures that
 * (MADV_WIPEONFORK). qemu's user mode accepts that flag without effect, so the test is skipped
 * there.
 */
#include "record_trace.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

static bool child_says(bool (*what)(void *), void *argument)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(what(argument));
	assert_int_equal(waitpid(child, &status, 0), child);
	return status != 0;
}

static bool is_wiped(void *page)
{
	return *(volatile char *)page == 0;
}

static bool system_wipes(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	*page = 1;
	bool wipes = madvise(page, size, MADV_WIPEONFORK) != 0 || child_says(is_wiped, page);
	munmap(page, size);
	return wipes;
}

/* The linker prefers it to libc's. */
static bool refuses_to_wipe;
int __real_madvise(void *memory, size_t size, int advice);
int __wrap_madvise(void *memory, size_t size, int advice);

int __wrap_madvise(void *memory, size_t size, int advice)
{
	bool is_refused = refuses_to_wipe && advice == MADV_WIPEONFORK;
	return is_refused ? -1 : __real_madvise(memory, size, advice);
}

/* A child would write into its parent's buffer. */
static void nothing_is_recorded_without_wiping(void **state)
{
	void *buffer = trace_buffer(SIZE);
	(void)state;
	refuses_to_wipe = true;
	int error = weft_start(buffer, SIZE, NULL);
	refuses_to_wipe = false;
	assert_int_equal(error, WEFT_ERROR_UNSUPPORTED);
	assert_false(weft_is_recording());
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	weft_stop();
	free(buffer);
}

static bool records(void *unused)
{
	(void)unused;
	weft_tag_value("child", 1);
	return weft_is_recording() ||
		   weft_create(WEFT_KIND_TASK) == 0; /* tasks have ids nevertheless */
}

static void a_child_does_not_write_into_its_parents_buffer(void **state)
{
	struct trace t;
	void *buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)state;
	assert_true(buffer != MAP_FAILED);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	weft_tag_value("parent", 1);
	assert_false(child_says(records, NULL));
	weft_tag_value("parent", 2);
	weft_stop();
	trace_open(&t, buffer, SIZE);
	for (int64_t i = 1; i <= 2; i++) {
		trace_text(trace_expect(&t, WEFT_EVENT_TAG, WEFT_TASK_NONE, 0)->text, "parent");
		assert_int_equal(t.event.value, i);
	}
	assert_false(trace_next(&t));
	trace_close(&t);
	munmap(buffer, SIZE);
}

static bool records_in_a_moment(void *unused)
{
	(void)unused;
	weft_note("nowhere");
	weft_moment_end();
	return weft_is_recording();
}

/* The parent's moment does not go on in the child. */
static void a_child_is_in_no_moment(void **state)
{
	void *buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)state;
	assert_true(buffer != MAP_FAILED);
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
	weft_moment_begin();
	assert_false(child_says(records_in_a_moment, NULL));
	weft_moment_end();
	weft_stop();
	munmap(buffer, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_does_not_write_into_its_parents_buffer),
		cmocka_unit_test(a_child_is_in_no_moment),
		cmocka_unit_test(nothing_is_recorded_without_wiping),
	};
	if (!system_wipes()) {
		puts("1..0 # SKIP this system ignores MADV_WIPEONFORK");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
