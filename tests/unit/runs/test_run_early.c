/* SPDX-License-Identifier: ISC
 *
 * Rings that are saved and removed while the run goes on, and those that stay until its end.
 */
#include "run_directory.h"

#include <errno.h>
#include <sys/mman.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/run_abi.h"
#include "runs/directory/directory.h"
#include "runs/saving/early.h"

#define SIZE ((size_t)64 << 10)

/* Processes above the largest number. */
#define FIRST  "a-400000001.weft"
#define SECOND "a-400000002.weft"
#define THIRD  "a-400000003.weft"

static struct place place, output;
static char file[PATH_MAX];
static struct weft__runs_early *early;

static struct weft_abi_buffer *make_ring(const char *name)
{
	int fd = open(in_place(&place, name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(ring != MAP_FAILED);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_tag("one");
	weft_stop();
	return ring;
}

static void leave_ring(const char *name)
{
	munmap(make_ring(name), SIZE);
}

static int begin(void **state)
{
	(void)state;
	place = place_make();
	output = place_make();
	snprintf(file, sizeof(file), "%s", in_place(&output, "out.weft"));
	early = weft__runs_early_create(place.path, file, false);
	assert_non_null(early);
	leave_ring(FIRST);
	return 0;
}

static int end(void **state)
{
	(void)state;
	weft__runs_early_destroy(early);
	place_remove(&place);
	place_remove(&output);
	return 0;
}

static void save(void)
{
	struct weft__runs_rings rings;
	assert_true(weft__runs_rings_find(place.path, 400000001, &rings));
	weft__runs_early_save(early, &rings);
	assert_false(weft__runs_early_save(early, &rings)); /* what was saved is gone */
	weft__runs_rings_finish(&rings);
}

static void expect_saved(const char *ring, const char *trace, int is_saved)
{
	assert_int_equal(place_has(&place, ring), !is_saved);
	assert_int_equal(place_has(&output, trace), is_saved);
}

static void all_but_the_first_are_saved(void **state)
{
	(void)state;
	struct weft__runs_saves saves = {0};
	leave_ring(SECOND);
	leave_ring(THIRD);
	save();
	expect_saved(FIRST, "out.weft", 0);
	expect_saved(SECOND, "out-400000002.weft", 1);
	expect_saved(THIRD, "out-400000003.weft", 1);
	weft__runs_early_report(early, &saves);
	assert_int_equal(saves.count, 2);
	assert_string_equal(saves.list[1].file, in_place(&output, "out-400000003.weft"));
	weft__runs_saves_finish(&saves);
	assert_string_equal(reported, "");
}

/* The process may be one of another pid namespace. */
static void a_ring_that_is_mapped_stays(void **state)
{
	(void)state;
	void *ring = make_ring(SECOND);
	save();
	expect_saved(SECOND, "out-400000002.weft", 0);
	munmap(ring, SIZE);
	save();
	expect_saved(SECOND, "out-400000002.weft", 1);
}

static void a_ring_that_lists_others_stays(void **state)
{
	(void)state;
	struct weft_abi_buffer *ring = make_ring(SECOND);
	ring->refused_count = 1;
	ring->refused[0] = 4711 | (uint64_t)ENOMEM << 32;
	munmap(ring, SIZE);
	save();
	expect_saved(SECOND, "out-400000002.weft", 0);
}

/* Nor is a directory made for it, which would be left without a trace. */
static void a_link_stays(void **state)
{
	(void)state;
	char elsewhere[PATH_MAX], before[PATH_MAX];
	snprintf(elsewhere, sizeof(elsewhere), "%s", in_place(&output, "elsewhere"));
	leave_ring(SECOND);
	assert_int_equal(rename(in_place(&place, SECOND), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, in_place(&place, SECOND)), 0);
	save();
	expect_saved(SECOND, "out-400000002.weft", 0);
	weft__runs_early_destroy(early);
	early = weft__runs_early_create(place.path, NULL, false);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(output.path), 0);
	save();
	assert_int_equal(chdir(before), 0);
	assert_null(weft__runs_early_directory(early));
	assert_true(place_has(&place, SECOND));
}

static void programs_of_one_process(void **state)
{
	(void)state;
	leave_ring(SECOND);
	leave_ring("a-400000002.2.weft");
	save();
	expect_saved(SECOND, "out-400000002.weft", 1);
	expect_saved("a-400000002.2.weft", "out-a-400000002.2.weft", 1);
	leave_ring("b-400000002.weft"); /* a new process with the old number */
	save();
	expect_saved("b-400000002.weft", "out-b-400000002.weft", 1);
}

/* A program of the process could not be recorded: that is no trace beside which there is another.
 */
static void a_failure_is_no_other_program_of_the_process(void **state)
{
	(void)state;
	assert_int_equal(symlink("create: no room", in_place(&place, "a-400000002.failed")), 0);
	leave_ring("a-400000002.2.weft");
	save();
	expect_saved("a-400000002.2.weft", "out-400000002.weft", 1);
}

static void after_a_failure_all_stay(void **state)
{
	(void)state;
	leave_ring(SECOND);
	place_remove(&output);
	save();
	assert_true(place_has(&place, SECOND));
	assert_non_null(strstr(reported, "the trace stays in"));
	reported[0] = '\0';
	save();
	assert_string_equal(reported, "");
	assert_int_equal(mkdir(output.path, 0700), 0);
}

static void the_room_is_free_again(void **state)
{
	(void)state;
	uint64_t words[3] = {1 << 20};
	int fd = open(in_place(&place, "total"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, words, 8), 8);
	leave_ring(SECOND);
	save();
	assert_int_equal(pread(fd, words, sizeof(words), 0), 16);
	assert_int_equal(words[1], SIZE | WEFT_ABI_RUN_RELEASED);
	close(fd);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(all_but_the_first_are_saved),
		CASE(a_ring_that_is_mapped_stays),
		CASE(a_ring_that_lists_others_stays),
		CASE(a_link_stays),
		CASE(programs_of_one_process),
		CASE(a_failure_is_no_other_program_of_the_process),
		CASE(after_a_failure_all_stay),
		CASE(the_room_is_free_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
