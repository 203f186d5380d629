/* SPDX-License-Identifier: ISC
 *
 * Which programs of a run are short helpers, and whose trace gets the file.
 */
#include "run_directory.h"

#include <sys/mman.h>
#include <time.h>

#include <weft/ends.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "runs/saving/early.h"
#include "runs/saving/left_out.h"

#define SIZE ((size_t)64 << 10)

/* As an adapter's, before which a program has none of its own. */
WEFT_CATEGORY_DEFINE(thread, "thread", "as in the adapters");

static struct place place, output;
static char file[PATH_MAX];

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void nothing(struct weft_abi_buffer *ring)
{
	(void)ring;
}

/* A ring with a task that an adapter has created. False if the machine has interrupted it, so that
 * the program was no short one. */
static bool try_ring(const char *name, void (*also)(struct weft_abi_buffer *ring))
{
	int fd = open(in_place(&place, name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(ring != MAP_FAILED);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	const int64_t start = now_ms();
	weft_ffi_create(&weft_category_thread, WEFT_LEVEL_INFO, WEFT_TASK_CURRENT, WEFT_KIND_THREAD);
	also(ring);
	weft_stop();
	munmap(ring, SIZE);
	return now_ms() - start < 100;
}

static void leave_ring(const char *name, void (*also)(struct weft_abi_buffer *ring))
{
	while (!try_ring(name, also))
		;
}

/* As if its process had stored no end, but perhaps one who watched it. */
static void replace_end(const char *name, const uint32_t ending)
{
	int fd = open(in_place(&place, name), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &ending, sizeof(ending), offsetof(struct weft_abi_buffer, ending)),
		sizeof(ending));
	close(fd);
}

static bool is_left_helper(bool is_lead)
{
	struct weft__runs_rings rings;
	assert_true(weft__runs_rings_find(place.path, 400000001, &rings));
	assert_int_equal(rings.count, 1);
	bool is = weft__runs_is_helper(in_place(&place, "a-400000002.weft"), &rings.list[0], is_lead);
	weft__runs_rings_finish(&rings);
	return is;
}

static bool is_helper(void (*also)(struct weft_abi_buffer *ring), bool is_lead)
{
	leave_ring("a-400000002.weft", also);
	return is_left_helper(is_lead);
}

static bool is_helper_without_end(void (*also)(struct weft_abi_buffer *ring))
{
	leave_ring("a-400000002.weft", also);
	replace_end("a-400000002.weft", WEFT_ABI_ENDING_UNKNOWN);
	bool is_unwatched = is_left_helper(false);
	replace_end("a-400000002.weft", WEFT_ABI_ENDING_GONE);
	assert_int_equal(is_left_helper(false), is_unwatched);
	return is_unwatched;
}

static void count(struct weft_abi_buffer *ring)
{
	(void)ring;
	weft_counter_add("requests", 1);
}

static void create(struct weft_abi_buffer *ring)
{
	(void)ring;
	weft_create(WEFT_KIND_TASK);
}

static void be_killed(struct weft_abi_buffer *ring)
{
	ring->wait_status = WEFT_WAIT_KNOWN | 9;
}

static void end_with_status(struct weft_abi_buffer *ring)
{
	ring->wait_status = WEFT_WAIT_KNOWN | 1 << 8;
}

static void say_exit(struct weft_abi_buffer *ring)
{
	(void)ring;
	weft_send((uint64_t)WEFT_KEY_EXITS << 56 | 7);
}

static void say_exit_and_more(struct weft_abi_buffer *ring)
{
	say_exit(ring);
	weft_send((uint64_t)WEFT_KEY_STREAM_FIRST << 56 | 7);
}

static void say_exec(struct weft_abi_buffer *ring)
{
	(void)ring;
	weft_send((uint64_t)WEFT_KEY_EXECS << 56 | 7);
	weft_switch(WEFT_TASK_NONE);
}

static void fail_to_exec(struct weft_abi_buffer *ring)
{
	say_exec(ring);
	weft_switch(weft_ffi_create(
		&weft_category_thread, WEFT_LEVEL_INFO, WEFT_TASK_CURRENT, WEFT_KIND_THREAD));
}

static void go_on(struct weft_abi_buffer *ring)
{
	(void)ring;
	for (unsigned i = 0; i < 5000; i++)
		weft_ffi_note(&weft_category_thread, WEFT_LEVEL_INFO, WEFT_TASK_CURRENT, "read", 4, NULL);
}

static void a_short_program_without_calls_is_a_helper(void **state)
{
	(void)state;
	assert_true(is_helper(nothing, false));
	assert_true(is_helper(nothing, true));
	assert_true(is_helper(end_with_status, false)); /* as grep that finds nothing */
}

static void a_program_that_does_more_is_none(void **state)
{
	(void)state;
	assert_false(is_helper(count, false));
	assert_false(is_helper(create, false));
	assert_false(is_helper(be_killed, false));
	assert_false(is_helper(go_on, false));
	place_put(&place, "a-400000002.metrics", "what it counted");
	assert_false(is_helper(nothing, false));
}

/* A process that ends by _exit or exec stores no end, but says it. */
static void a_killed_program_is_none(void **state)
{
	(void)state;
	assert_false(is_helper_without_end(nothing));
	assert_true(is_helper_without_end(say_exit));
	assert_true(is_helper_without_end(say_exit_and_more));
	assert_true(is_helper_without_end(say_exec));
	assert_false(is_helper_without_end(fail_to_exec));
}

static void what_cannot_be_read_is_none(void **state)
{
	(void)state;
	struct weft__runs_ring ring = {.pid = 400000002, .is_ours = true};
	assert_false(weft__runs_is_helper(in_place(&place, "missing.weft"), &ring, false));
	place_put(&place, "a-400000002.weft", "no ring");
	assert_false(weft__runs_is_helper(in_place(&place, "a-400000002.weft"), &ring, false));
	leave_ring("a-400000002.weft", nothing);
	ring.is_running = true;
	assert_false(weft__runs_is_helper(in_place(&place, "a-400000002.weft"), &ring, false));
}

/* Programs that the process became one after the other; this process has one time for all of them.
 */
static void later(struct weft_abi_buffer *ring)
{
	static uint64_t programs;
	ring->start.monotonic_ns += ++programs;
}

/* `sh`, `env` and a server in one process, a command of the shell, and a daemon. */
static void leave_run(void)
{
	leave_ring("sh-400000001.weft", later);
	leave_ring("env-400000001.weft", later);
	leave_ring("server-400000001.weft", later);
	leave_ring("ls-400000002.weft", nothing);
	leave_ring("daemon-400000003.weft", count);
}

static void the_last_program_of_the_process_gets_the_file(void **state)
{
	(void)state;
	struct weft__runs_saves saves;
	leave_run();
	assert_true(weft__runs_save_all(place.path, file, 400000001, false, &saves));
	assert_int_equal(saves.count, 2);
	assert_int_equal(saves.left_out, 3);
	assert_false(saves.has_failed);
	assert_string_equal(saves.list[0].ring->name, "server-400000001.weft");
	assert_string_equal(saves.list[0].file, file);
	assert_string_equal(saves.list[1].file, in_place(&output, "out-400000003.weft"));
	weft__runs_saves_finish(&saves);
	assert_true(weft__runs_save_all(place.path, file, 400000001, true, &saves));
	assert_int_equal(saves.count, 5);
	assert_int_equal(saves.left_out, 0);
	assert_string_equal(saves.list[1].file, in_place(&output, "out-sh-400000001.weft"));
	weft__runs_saves_finish(&saves);
}

static void helpers_go_while_the_run_goes_on(void **state)
{
	(void)state;
	struct weft__runs_saves saves = {0};
	struct weft__runs_rings rings;
	struct weft__runs_early *early = weft__runs_early_create(place.path, file, false);
	leave_run();
	assert_true(weft__runs_rings_find(place.path, 400000001, &rings));
	assert_true(weft__runs_early_save(early, &rings));
	weft__runs_rings_finish(&rings);
	assert_false(place_has(&place, "ls-400000002.weft"));
	assert_false(place_has(&output, "out-400000002.weft"));
	assert_false(place_has(&place, "daemon-400000003.weft"));
	assert_true(place_has(&output, "out-400000003.weft"));
	assert_true(place_has(&place, "sh-400000001.weft"));
	assert_true(place_has(&place, "server-400000001.weft"));
	weft__runs_early_report(early, &saves);
	assert_int_equal(saves.count, 1);
	assert_int_equal(saves.left_out, 1);
	weft__runs_saves_finish(&saves);
	weft__runs_early_destroy(early);
}

static int begin(void **state)
{
	(void)state;
	place = place_make();
	output = place_make();
	snprintf(file, sizeof(file), "%s", in_place(&output, "out.weft"));
	return 0;
}

static int end(void **state)
{
	(void)state;
	place_remove(&place);
	place_remove(&output);
	return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(a_short_program_without_calls_is_a_helper),
		CASE(a_program_that_does_more_is_none),
		CASE(a_killed_program_is_none),
		CASE(what_cannot_be_read_is_none),
		CASE(the_last_program_of_the_process_gets_the_file),
		CASE(helpers_go_while_the_run_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
