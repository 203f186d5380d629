/* SPDX-License-Identifier: ISC
 *
 * Run directories and the rings in them: found by name, in order, alive or not, and removed after a
 * week.
 */
#include "run_directory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "runs/attach/attach.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/directory/rings.h"

#define SIZE ((size_t)64 << 10)

enum {
	DAY_S = 24 * 3600,
};

/* ---- Names of rings ---- */

static const struct weft__runs_ring *expect_ring(
	const struct weft__runs_rings *rings, size_t at, const char *name, pid_t pid, unsigned program)
{
	assert_true(at < rings->count);
	assert_string_equal(rings->list[at].name, name);
	assert_int_equal(rings->list[at].pid, pid);
	assert_int_equal(rings->list[at].program, program);
	return &rings->list[at];
}

/* No process has one of these numbers. */
#define PID_A 400000001
#define PID_B 400000002
#define PID_C 400000003

static void rings_come_in_the_order_of_their_processes(void **state)
{
	(void)state;
	struct place place = place_make();
	struct weft__runs_rings rings;
	place_put(&place, "late-400000001.weft", "x");
	place_put(&place, "main-400000002.2.weft", "x");
	place_put(&place, "main-400000002.10.weft", "x");
	place_put(&place, "main-400000002.weft", "x");
	place_put(&place, "b-child-400000003.weft", "x");
	place_put(&place, "a-child-400000003.weft", "x");
	assert_true(weft__runs_rings_find(place.path, PID_B, &rings));
	assert_int_equal(rings.count, 6);
	const struct weft__runs_ring *first = expect_ring(&rings, 0, "main-400000002.weft", PID_B, 1);
	assert_int_equal(first->stem_size, strlen("main-400000002"));
	assert_true(first->is_ours);
	assert_false(first->is_failure || first->is_link || first->is_running);
	expect_ring(&rings, 1, "main-400000002.2.weft", PID_B, 2);
	expect_ring(&rings, 2, "main-400000002.10.weft", PID_B, 10);
	expect_ring(&rings, 3, "a-child-400000003.weft", PID_C, 1);
	expect_ring(&rings, 4, "b-child-400000003.weft", PID_C, 1);
	expect_ring(&rings, 5, "late-400000001.weft", PID_A, 1);
	weft__runs_rings_finish(&rings);
	place_remove(&place);
}

static void names_of_no_ring_are_left_out(void **state)
{
	(void)state;
	static const char *const others[] = {"total", "orphaned", "a.weft", "a-.weft", "a-x.weft",
		"a-0.weft", "a-12x.weft", "a-12.x.weft", "a-12.2x.weft", "a-12.weft.zst", "a-12",
		"a-+12.weft", "a- 12.weft", "a-12..weft", "a-12.+2.weft", "a-12.2.3.weft",
		/* These wrap to 1. */
		"a-4294967297.weft", "a-18446744073709551617.weft", "a-12.4294967297.weft"};
	struct place place = place_make();
	struct weft__runs_rings rings;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		place_put(&place, others[i], "x");
	assert_int_equal(symlink("no memory", in_place(&place, "a-400000001.failed")), 0);
	assert_true(weft__runs_rings_find(place.path, 1, &rings));
	assert_int_equal(rings.count, 1);
	assert_true(expect_ring(&rings, 0, "a-400000001.failed", PID_A, 1)->is_failure);
	assert_int_equal(rings.refused_count, 0);
	weft__runs_rings_finish(&rings);
	assert_false(weft__runs_rings_find(in_place(&place, "no-such/"), 1, &rings));
	place_remove(&place);
}

static void entries_that_cannot_be_rings_are_reported(void **state)
{
	(void)state;
	struct place place = place_make();
	struct weft__runs_rings rings;
	char name[64];
	for (int i = 0; i < WEFT__RUNS_REFUSED_SHOWN + 2; i++) {
		snprintf(name, sizeof(name), "a-40000000%d.weft", i);
		assert_int_equal(mkfifo(in_place(&place, name), 0600), 0);
	}
	assert_true(weft__runs_rings_find(place.path, 1, &rings));
	assert_int_equal(rings.count, 0);
	assert_int_equal(rings.refused_count, WEFT__RUNS_REFUSED_SHOWN + 2);
	weft__runs_rings_report_refused(place.path, &rings);
	assert_non_null(strstr(reported, "FIFO"));
	assert_non_null(strstr(reported, "2 more"));
	weft__runs_rings_finish(&rings);
	place_remove(&place);
}

static void more_rings_than_the_first_capacity_are_all_found(void **state)
{
	(void)state;
	struct place place = place_make();
	struct weft__runs_rings rings;
	char name[64];
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "a-%d.weft", PID_A + i);
		place_put(&place, name, "x");
	}
	assert_true(weft__runs_rings_find(place.path, PID_A, &rings));
	assert_int_equal(rings.count, 40);
	for (int i = 0; i < 40; i++)
		assert_int_equal(rings.list[i].pid, PID_A + i);
	weft__runs_rings_finish(&rings);
	place_remove(&place);
}

/* ---- A ring that is recorded into ---- */

static struct weft_abi_buffer *map_ring(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(bytes != MAP_FAILED);
	return bytes;
}

static void a_ring_runs_until_its_recorder_stops(void **state)
{
	(void)state;
	struct place place = place_make();
	struct weft__runs_rings rings;
	char name[64];
	snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	void *ring = map_ring(in_place(&place, name));
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	assert_true(weft__runs_rings_find(place.path, 1, &rings));
	assert_int_equal(rings.count, 1);
	assert_true(rings.list[0].is_running);
	assert_true(weft__runs_ring_is_running(place.path, &rings.list[0]));
	weft_stop();
	/* The process is still there, but its ring has ended. */
	assert_true(rings.list[0].is_running);
	assert_false(weft__runs_ring_is_running(place.path, &rings.list[0]));
	weft__runs_rings_finish(&rings);
	munmap(ring, SIZE);
	place_remove(&place);
}

/* Starts a process that records into a ring in that place until it is asked to stop, and then
 * pauses. */
static pid_t start_recorder(const struct place *place, char ret_name[64])
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		alarm(60); /* if the test fails before it kills this process */
		snprintf(ret_name, 64, "test-%d.weft", (int)getpid());
		void *ring = map_ring(in_place(place, ret_name));
		bool good = weft_start(ring, SIZE, NULL) == 0 && write(ready[1], "", 1) == 1;
		while (good && weft_is_recording())
			weft_tag("event");
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(ret_name, 64, "test-%d.weft", (int)child);
	return child;
}

/* Threads of the process may still look at the header and their slots. */
static void a_process_that_was_asked_to_stop_keeps_its_header_alone(void **state)
{
	(void)state;
	static uint8_t before[SIZE], after[SIZE];
	for (int is_saved = 0; is_saved < 2; is_saved++) {
		struct place place = place_make();
		char name[64];
		pid_t child = start_recorder(&place, name);
		struct weft__runs_detached *detached = weft__runs_detach(place.path);
		int fd = open(in_place(&place, name), O_RDONLY | O_CLOEXEC);
		assert_int_equal(pread(fd, before, SIZE, 0), SIZE);
		weft__runs_detached_finish(detached, is_saved);
		assert_int_equal(pread(fd, after, SIZE, 0), SIZE);
		size_t packets = ((const struct weft_abi_buffer *)before)->packets_offset;
		assert_in_range(packets, sizeof(struct weft_abi_buffer), SIZE - 4096);
		assert_memory_equal(after, before, packets);
		assert_true(memcmp(after + packets, before + packets, SIZE - packets) == 0 || is_saved);
		for (size_t i = packets; i < SIZE && is_saved; i++)
			assert_int_equal(after[i], 0);
		close(fd);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		place_remove(&place);
	}
	weft__runs_detached_finish(NULL, true);
}

/* ---- Run directories ---- */

/* Makes `place` the directory in which run directories are made and found. */
static struct place runtime_make(void)
{
	struct place place = place_make();
	assert_int_equal(setenv("XDG_RUNTIME_DIR", place.path, 1), 0);
	return place;
}

static size_t count_directories(void)
{
	struct weft__runs_directories directories;
	assert_true(weft__runs_directories_find(&directories));
	size_t count = directories.count;
	weft__runs_directories_finish(&directories);
	return count;
}

static void a_run_directory_is_private_locked_and_found(void **state)
{
	(void)state;
	struct place place = runtime_make();
	struct stat status;
	struct weft__runs_directories directories;
	char path[PATH_MAX];
	uint64_t total = 0;
	assert_int_equal(count_directories(), 0);
	assert_true(weft__runs_directory_make(12345, path));
	assert_memory_equal(path, place.path, strlen(place.path));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, geteuid() == 0 ? 01733 : 0700);
	assert_true(weft__runs_directories_find(&directories));
	assert_int_equal(directories.count, 1);
	/* XDG_RUNTIME_DIR ends in a slash here. */
	assert_string_equal(strstr(directories.list[0], "record-"), strstr(path, "record-"));
	weft__runs_directories_finish(&directories);
	assert_true(weft__runs_directory_is_ours(path));
	assert_true(weft__runs_directory_is_attended(path));
	assert_false(weft__runs_directory_attend(path));
	strcat(path, "total");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &total, sizeof(total)), sizeof(total));
	assert_int_equal(total, 12345);
	close(fd);
	assert_true(weft__runs_directory_make(0, path));
	strcat(path, "total");
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(count_directories(), 2);
	place_remove(&place);
}

static struct place make_orphan(const struct place *place)
{
	struct place run;
	assert_int_equal(mkdir(in_place(place, "weft"), 0700), 0);
	assert_int_equal(mkdir(in_place(place, "weft/record-abcdef"), 0700), 0);
	assert_int_equal(mkdir(in_place(place, "weft/else"), 0700), 0);
	snprintf(run.path, sizeof(run.path), "%s", in_place(place, "weft/record-abcdef/"));
	return run;
}

static void set_age(const char *path, time_t age_s)
{
	const struct utimbuf times = {time(NULL) - age_s, time(NULL) - age_s};
	assert_int_equal(utime(path, &times), 0);
}

static void a_run_knows_the_directory_in_which_it_saves(void **state)
{
	(void)state;
	struct place place = place_make();
	char run[PATH_MAX];
	strcpy(run, in_place(&place, "run/"));
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			mkdir(in_place(&place, (const char *[]){"run", "output", "other"}[i]), 0700), 0);
	assert_int_equal(symlink("output", in_place(&place, "link")), 0);
	place_put(&place, "file.weft", "x");
	assert_false(weft__runs_directory_saves_in(run, place.path));
	weft__runs_directory_note_output(run, in_place(&place, "missing"));
	assert_false(weft__runs_directory_saves_in(run, place.path));
	weft__runs_directory_note_output(run, in_place(&place, "link/"));
	assert_true(weft__runs_directory_saves_in(run, in_place(&place, "output")));
	assert_true(weft__runs_directory_saves_in(run, in_place(&place, "link")));
	assert_false(weft__runs_directory_saves_in(run, in_place(&place, "other")));
	assert_false(weft__runs_directory_saves_in(run, in_place(&place, "missing")));
	assert_false(weft__runs_directory_saves_in(run, place.path));
	assert_int_equal(unlink(in_place(&place, "run/output")), 0);
	weft__runs_directory_note_output(run, in_place(&place, "file.weft"));
	assert_false(weft__runs_directory_saves_in(run, in_place(&place, "file.weft")));
	place_remove(&place);
}

static void an_orphaned_run_is_removed_after_a_week(void **state)
{
	(void)state;
	struct place place = runtime_make(), run = make_orphan(&place);
	weft__runs_expire();
	assert_false(place_has(&run, "orphaned")); /* a program may be about to start in it */
	place_put(&run, "a-400000001.weft", "x");
	set_age(in_place(&run, "a-400000001.weft"), (time_t)30 * DAY_S);
	weft__runs_expire();
	assert_true(place_has(&run, "orphaned"));
	set_age(in_place(&run, "orphaned"), (time_t)7 * DAY_S - 60);
	weft__runs_expire();
	assert_true(place_has(&run, "a-400000001.weft"));
	assert_string_equal(reported, "");
	set_age(in_place(&run, "orphaned"), (time_t)7 * DAY_S + 60);
	weft__runs_expire();
	assert_false(place_has(&place, "weft/record-abcdef"));
	assert_non_null(strstr(reported, "record-abcdef"));
	place_remove(&place);
}

static void a_run_that_is_attended_or_alive_does_not_age(void **state)
{
	(void)state;
	struct place place = runtime_make(), run = make_orphan(&place);
	char name[64];
	snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	void *ring = map_ring(in_place(&run, name));
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	place_put(&run, "orphaned", "");
	set_age(in_place(&run, "orphaned"), (time_t)8 * DAY_S);
	weft__runs_expire();
	assert_true(place_has(&run, name));
	assert_false(place_has(&run, "orphaned")); /* counted again from when it ends */
	weft_stop();
	weft__runs_expire();
	assert_true(place_has(&run, "orphaned"));
	assert_true(weft__runs_directory_attend(run.path));
	set_age(in_place(&run, "orphaned"), (time_t)8 * DAY_S);
	weft__runs_expire();
	assert_true(place_has(&run, name));
	munmap(ring, SIZE);
	place_remove(&place);
}

static void removal_leaves_the_rings_that_it_does_not_know(void **state)
{
	(void)state;
	struct place place = runtime_make(), run = make_orphan(&place);
	struct weft__runs_rings rings;
	place_put(&run, "a-400000001.weft", "x");
	assert_true(weft__runs_rings_find(run.path, 1, &rings));
	place_put(&run, "b-400000002.weft", "x");
	place_put(&run, "total", "x");
	place_put(&run, "orphaned", "x");
	assert_int_equal(mkfifo(in_place(&run, "fifo"), 0600), 0);
	assert_int_equal(mkdir(in_place(&run, "directory"), 0700), 0);
	weft__runs_directory_remove(run.path, &rings, false);
	assert_true(place_has(&run, "b-400000002.weft"));
	assert_false(place_has(&run, "a-400000001.weft") || place_has(&run, "total"));
	assert_false(place_has(&run, "orphaned") || place_has(&run, "fifo"));
	assert_false(place_has(&run, "directory"));
	weft__runs_directory_remove(run.path, &rings, true);
	assert_false(place_has(&place, "weft/record-abcdef"));
	weft__runs_rings_finish(&rings);
	place_remove(&place);
}

/* ---- All runs ---- */

static void a_process_is_found_by_its_number(void **state)
{
	(void)state;
	struct place place = runtime_make(), run = make_orphan(&place);
	struct weft__runs_list list;
	struct weft__runs_found found;
	char file[] = "trace.weft", number[] = "400000002", long_number[] = "4000000020";
	place_put(&run, "b-400000002.2.weft", "x");
	place_put(&run, "b-400000002.weft", "x");
	place_put(&run, "a-400000001.weft", "x");
	assert_int_equal(symlink("no memory", in_place(&run, "a-400000003.failed")), 0);
	assert_true(weft__runs_find(&list));
	assert_int_equal(list.count, 3);
	assert_int_equal(list.list[0].ring.pid, PID_A);
	assert_false(list.list[0].is_alive || list.list[0].is_attended);
	weft__runs_list_finish(&list);
	assert_true(weft__runs_find_process(PID_B, &found));
	assert_int_equal(found.ring.program, 2);
	assert_false(weft__runs_find_process(PID_C, &found));
	assert_non_null(strstr(reported, "400000003"));
	assert_ptr_equal(weft__runs_path(file, &found), file);
	assert_int_equal(found.ring.pid, 0);
	assert_ptr_equal(weft__runs_path(number, &found), found.path);
	assert_string_equal(strstr(found.path, "b-"), "b-400000002.2.weft");
	assert_ptr_equal(weft__runs_path(long_number, &found), long_number);
	place_remove(&place);
}

static void a_number_is_a_process_unless_a_file_has_that_name(void **state)
{
	(void)state;
	static const char *const others[] = {
		"", "0", "-3", "+3", " 3", "3 ", "3x", "2147483648", "4294967299"};
	struct place place = place_make();
	assert_int_equal(chdir(place.path), 0);
	assert_int_equal(weft__runs_parse_pid("3"), 3);
	assert_int_equal(weft__runs_parse_pid("2147483647"), INT_MAX);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(weft__runs_parse_pid(others[i]), 0);
	place_put(&place, "3", "x");
	assert_int_equal(weft__runs_parse_pid("3"), 0);
	assert_int_equal(chdir("/"), 0);
	place_remove(&place);
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The kernel counts in hundredths of a second. */
static void the_start_of_a_process_is_known(void **state)
{
	(void)state;
	double before = now_s();
	pid_t child = fork();
	if (child == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	double after = now_s(), start = weft__runs_process_start(child);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(start > before - 0.1 && start < after + 0.1);
	assert_true(weft__runs_process_start(child) > after); /* unknown: not before anything */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_come_in_the_order_of_their_processes),
		cmocka_unit_test(names_of_no_ring_are_left_out),
		cmocka_unit_test(entries_that_cannot_be_rings_are_reported),
		cmocka_unit_test(more_rings_than_the_first_capacity_are_all_found),
		cmocka_unit_test(a_ring_runs_until_its_recorder_stops),
		cmocka_unit_test(a_process_that_was_asked_to_stop_keeps_its_header_alone),
		cmocka_unit_test(a_run_directory_is_private_locked_and_found),
		cmocka_unit_test(a_run_knows_the_directory_in_which_it_saves),
		cmocka_unit_test(an_orphaned_run_is_removed_after_a_week),
		cmocka_unit_test(a_run_that_is_attended_or_alive_does_not_age),
		cmocka_unit_test(removal_leaves_the_rings_that_it_does_not_know),
		cmocka_unit_test(a_process_is_found_by_its_number),
		cmocka_unit_test(a_number_is_a_process_unless_a_file_has_that_name),
		cmocka_unit_test(the_start_of_a_process_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
