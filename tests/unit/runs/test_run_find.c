/* SPDX-License-Identifier: ISC
 *
 * Run directories of this user: where they are made, which of their entries are listed, and that
 * each entry that cannot be a ring is reported once.
 */
#include "run_directory.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <weft/weft.h>

#include "nothing_left.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/directory/rings.h"
#include "runs/file.h"
#include "runs/stream/compress.h"
#include "runs/stream/stream_file.h"

#define SIZE       ((size_t)64 << 10)
#define OTHER_USER 12345u

static struct place runtime, run; /* XDG_RUNTIME_DIR; a run directory in it */

static int begin(void **state)
{
	(void)state;
	runtime = place_make();
	snprintf(run.path, sizeof(run.path), "%s", in_place(&runtime, "weft/record-abcdef/"));
	return setenv("XDG_RUNTIME_DIR", runtime.path, 1) || mkdir(in_place(&runtime, "weft"), 0700) ||
		   mkdir(run.path, 0700);
}

static int end(void **state)
{
	(void)state;
	place_remove(&runtime);
	return 0;
}

static struct weft__runs_list list_runs(size_t expected)
{
	struct weft__runs_list list;
	assert_true(weft__runs_find(&list));
	assert_int_equal(list.count, expected);
	return list;
}

static size_t count_reports(const char *text)
{
	size_t count = 0;
	for (const char *at = reported; (at = strstr(at, text)); at++)
		count++;
	return count;
}

static const char *own_name(void)
{
	static char name[64];
	snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	return name;
}

/* ---- All runs ---- */

static void rings_are_listed_by_process(void **state)
{
	(void)state;
	static const char *const names[] = {
		"b-400000001.weft", "a-400000002.2.weft", "a-400000002.weft", "a-400000003.weft"};
	assert_int_equal(mkdir(in_place(&runtime, "weft/record-zzzzzz"), 0700), 0);
	place_put(&run, names[3], "x");
	place_put(&run, names[1], "x");
	place_put(&runtime, "weft/record-zzzzzz/b-400000001.weft", "x");
	place_put(&run, names[2], "x");
	struct weft__runs_list list = list_runs(4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(list.list[i].ring.name, names[i]);
		assert_string_equal(strrchr(list.list[i].path, '/') + 1, names[i]);
		assert_false(list.list[i].is_alive || list.list[i].ring.is_running);
	}
	weft__runs_list_finish(&list);
	assert_int_equal(list.count, 0);
}

static void a_run_is_attended_by_the_holder_of_its_lock(void **state)
{
	(void)state;
	char path[PATH_MAX];
	place_put(&run, "b-400000001.weft", "x");
	assert_true(weft__runs_directory_make(0, path));
	strcat(path, "a-400000002.weft");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	struct weft__runs_list list = list_runs(2);
	assert_false(list.list[0].is_attended);
	assert_true(list.list[1].is_attended);
	weft__runs_list_finish(&list);
}

static void a_process_may_live_longer_than_its_ring(void **state)
{
	(void)state;
	int fd = open(in_place(&run, own_name()), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	for (int step = 0; step < 3; step++) { /* it is being made, is recorded into, has ended */
		if (step == 1)
			assert_int_equal(weft_start(ring, SIZE, NULL), 0);
		else if (step == 2)
			weft_stop();
		struct weft__runs_list list = list_runs(1);
		assert_true(list.list[0].is_alive);
		assert_int_equal(list.list[0].ring.is_running, step < 2);
		weft__runs_list_finish(&list);
	}
	munmap(ring, SIZE);
}

/* A server lists the rings again and again. */
static void a_refused_entry_is_reported_once(void **state)
{
	(void)state;
	struct weft__runs_list list;
	place_put(&run, "b-400000001.weft", "x");
	assert_int_equal(symlink("no memory", in_place(&run, "x-400000003.failed")), 0);
	assert_int_equal(mkfifo(in_place(&run, "a-400000002.weft"), 0600), 0);
	for (int i = 0; i < 3; i++) {
		list = list_runs(1);
		weft__runs_list_finish(&list);
	}
	assert_int_equal(count_reports("a-400000002.weft is skipped: it is a FIFO"), 1);
	assert_null(strstr(reported, "more entr"));
	/* The ring is only found to have holes when it is opened. */
	place_put(&run, "c-400000004.weft", "x");
	assert_int_equal(truncate(in_place(&run, "c-400000004.weft"), (off_t)2 << 30), 0);
	for (int i = 0; i < 2; i++) {
		list = list_runs(1);
		weft__runs_list_finish(&list);
	}
	assert_int_equal(count_reports("c-400000004.weft is skipped: it is sparse"), 1);
	assert_int_equal(count_reports("skipped"), 2);
}

static void an_operand_is_opened_for_writing(void **state)
{
	(void)state;
	struct weft__runs_found found;
	char operand[] = "400000001";
	place_put(&run, "b-400000001.weft", "x");
	place_put(&runtime, "file", "x");
	const char *path = weft__runs_path(operand, &found);
	assert_non_null(path);
	int fd = weft__runs_open_operand(path, &found);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	close(fd);
	assert_int_equal(unlink(found.path), 0);
	assert_int_equal(weft__runs_open_operand(path, &found), -1);
	assert_non_null(strstr(reported, "is skipped"));
	found.ring.pid = 0;
	fd = weft__runs_open_operand(in_place(&runtime, "file"), &found);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(weft__runs_open_operand(in_place(&runtime, "missing"), &found), -1);
	assert_non_null(strstr(reported, "missing: No such file"));
}

static void listing_leaves_nothing_open(void **state)
{
	(void)state;
	struct held before = {0};
	place_put(&run, own_name(), "x");
	place_put(&run, "b-400000001.weft", "x");
	for (int i = 0; i < HELD_ROUNDS + 10; i++) {
		if (i == 10)
			before = held_now();
		struct weft__runs_list list = list_runs(2);
		weft__runs_list_finish(&list);
		weft__runs_expire();
	}
	held_expect(before);
}

/* A process that has called exec has a ring for each of its programs. */
static void the_latest_program_of_a_process_is_found(void **state)
{
	(void)state;
	struct weft__runs_found found;
	static const char *const names[] = {
		"a-400000002.3.weft", "a-400000002.2.weft", "a-400000002.weft", "a-400000002.10.weft"};
	for (size_t i = 0; i < 4; i += 3) {
		place_put(&run, names[i], "x");
		if (i == 0) {
			place_put(&run, names[1], "x");
			place_put(&run, names[2], "x");
		}
		assert_true(weft__runs_find_process(400000002, &found));
		assert_string_equal(reported, "");
		assert_string_equal(found.ring.name, names[i]);
	}
	assert_false(weft__runs_find_process(400000003, &found));
}

/* ---- Rings ---- */

/* The child is a zombie until its parent waits for it. */
static void a_process_that_has_exited_records_no_more(void **state)
{
	(void)state;
	struct weft__runs_rings rings;
	siginfo_t info;
	char name[64];
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	snprintf(name, sizeof(name), "a) R (-%d.weft", (int)child);
	place_put(&run, name, "x");
	place_put(&run, own_name(), "x");
	assert_true(weft__runs_rings_find(run.path, child, &rings));
	waitpid(child, NULL, 0);
	assert_int_equal(rings.count, 2);
	assert_false(rings.list[0].is_running);
	assert_true(rings.list[1].is_running);
	weft__runs_rings_finish(&rings);
}

static void links_and_failures_are_ours(void **state)
{
	(void)state;
	struct weft__runs_rings rings;
	place_put(&runtime, "ring", "x");
	assert_int_equal(symlink(in_place(&runtime, "ring"), in_place(&run, "a-400000001.weft")), 0);
	assert_int_equal(symlink("no memory", in_place(&run, "b-400000002.failed")), 0);
	place_put(&run, "c-400000003.weft", "x");
	assert_true(weft__runs_rings_find(run.path, 400000001, &rings));
	assert_int_equal(rings.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(rings.list[i].is_ours);
		assert_int_equal(rings.list[i].is_link, i == 0);
		assert_int_equal(rings.list[i].is_failure, i == 1);
	}
	assert_int_equal(rings.others_count, 0);
	weft__runs_rings_finish(&rings);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(in_place(&run, "c-400000003.weft"), OTHER_USER, (gid_t)-1), 0);
	assert_true(weft__runs_rings_find(run.path, 400000003, &rings));
	assert_int_equal(rings.others_count, 1);
	assert_false(rings.list[2].is_ours); /* they come last */
	assert_string_equal(rings.list[2].name, "c-400000003.weft");
	weft__runs_rings_finish(&rings);
}

/* ---- Where runs are ---- */

static mode_t mode_of(const char *path)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

static void other_users_cannot_write_to_a_runs_parent(void **state)
{
	(void)state;
	struct weft__runs_directories directories;
	char path[PATH_MAX];
	assert_int_equal(chmod(in_place(&runtime, "weft"), 0720), 0);
	assert_true(weft__runs_directories_find(&directories));
	assert_int_equal(directories.count, 0);
	weft__runs_directories_finish(&directories);
	assert_true(weft__runs_directory_make(0, path));
	assert_int_equal(mode_of(in_place(&runtime, "weft")), geteuid() ? 0700 : 0711);
	assert_true(weft__runs_directories_find(&directories));
	assert_int_equal(directories.count, 2);
	weft__runs_directories_finish(&directories);
	assert_int_equal(directories.count, 0);
}

static void a_parent_that_is_no_directory_is_refused(void **state)
{
	(void)state;
	char path[PATH_MAX];
	assert_int_equal(rmdir(run.path), 0);
	assert_int_equal(rmdir(in_place(&runtime, "weft")), 0);
	assert_int_equal(symlink("/tmp", in_place(&runtime, "weft")), 0);
	assert_false(weft__runs_directory_make(0, path));
	assert_non_null(strstr(reported, strerror(ENOTDIR)));
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	(void)state;
	char path[PATH_MAX], longest[PATH_MAX];
	struct weft__runs_directories directories;
	memset(longest, '/', sizeof(longest));
	memcpy(longest, runtime.path, strlen(runtime.path));
	longest[PATH_MAX - 64] = '\0';
	assert_int_equal(setenv("XDG_RUNTIME_DIR", longest, 1), 0);
	assert_false(weft__runs_directory_make(0, path));
	assert_non_null(strstr(reported, strerror(ENAMETOOLONG)));
	assert_true(weft__runs_directories_find(&directories));
	assert_int_equal(directories.count, 0);
	longest[PATH_MAX - 65] = '\0';
	assert_int_equal(setenv("XDG_RUNTIME_DIR", longest, 1), 0);
	assert_true(weft__runs_directories_find(&directories));
	assert_int_equal(directories.count, 1);
	weft__runs_directories_finish(&directories);
}

/* Without a runtime directory of ours, a run is in /dev/shm; another user may have created an entry
 * with our name there. */
static void without_a_runtime_directory_runs_are_in_memory(void **state)
{
	(void)state;
	static const char usual[] = "/dev/shm/weft-12345";
	struct weft__runs_directories directories;
	char paths[3][PATH_MAX];
	size_t counts[2] = {0, 0};
	if (geteuid() != 0 || access("/dev/shm", W_OK) != 0 || access(usual, F_OK) == 0) {
		print_message("# not tried: only root can act for another user\n");
		return;
	}
	assert_int_equal(seteuid(OTHER_USER), 0); /* does not own XDG_RUNTIME_DIR */
	bool good = weft__runs_directory_make(0, paths[0]);
	good = good && weft__runs_directories_find(&directories);
	if (good) {
		counts[0] = directories.count;
		weft__runs_directories_finish(&directories);
	}
	assert_int_equal(seteuid(0), 0);
	mode_t mode = mode_of(usual), inner = mode_of(paths[0]);
	rmdir(paths[0]);
	rmdir(usual);
	assert_int_equal(mkdir(usual, 0777), 0); /* root's */
	assert_int_equal(seteuid(OTHER_USER), 0);
	good = good && weft__runs_directory_make(0, paths[1]) &&
		   weft__runs_directory_make(0, paths[2]) && weft__runs_directories_find(&directories);
	if (good) {
		counts[1] = directories.count;
		weft__runs_directories_finish(&directories);
	}
	assert_int_equal(seteuid(0), 0);
	rmdir(usual);
	for (int i = 1; i < 3; i++)
		rmdir(paths[i]);
	size_t base = (size_t)(strstr(paths[1], "/record-") - paths[1]);
	bool is_shared = strncmp(paths[1], paths[2], base) == 0;
	paths[1][base] = '\0';
	rmdir(paths[1]);
	assert_true(good && is_shared);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 2);
	assert_int_equal(mode, 0700);
	assert_int_equal(inner, 0700);
	assert_int_equal(strncmp(paths[0], "/dev/shm/weft-12345/record-", 27), 0);
	assert_int_equal(strncmp(paths[1], "/dev/shm/weft-12345-", 20), 0);
}

/* ---- Files ---- */

static void a_file_that_cannot_be_replaced_leaves_nothing(void **state)
{
	(void)state;
	struct weft__runs_file file;
	struct held before = held_now();
	char path[PATH_MAX + 1];
	assert_true(weft__runs_file_create(in_place(&runtime, "weft"), &file)); /* a directory */
	errno = 0;
	assert_false(weft__runs_file_commit(&file));
	assert_int_equal(errno, EISDIR);
	assert_int_equal(access(file.temporary, F_OK), -1);
	assert_true(place_has(&runtime, "weft"));
	assert_true(weft__runs_file_create(in_place(&runtime, "new"), &file));
	weft__runs_file_abandon(&file);
	memset(path, 'x', sizeof(path));
	path[PATH_MAX] = '\0';
	assert_false(weft__runs_file_create(path, &file));
	assert_int_equal(errno, ENAMETOOLONG);
	assert_false(weft__runs_file_create(in_place(&runtime, "missing/new"), &file));
	assert_int_equal(errno, ENOENT);
	held_expect(before);
}

static void a_link_to_a_file_stays(void **state)
{
	(void)state;
	struct weft__runs_file file;
	struct stat status;
	place_put(&runtime, "old", "old");
	assert_int_equal(symlink("old", in_place(&runtime, "link")), 0);
	assert_true(weft__runs_file_create(in_place(&runtime, "link"), &file));
	assert_true(weft__runs_write_all(file.fd, "newer", 5));
	assert_true(weft__runs_file_commit(&file));
	assert_int_equal(lstat(in_place(&runtime, "link"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(in_place(&runtime, "old"), &status), 0);
	assert_int_equal(status.st_size, 5);
}

/* A pipe has nothing to be synced; that is not an error. */
static void files_and_directories_are_synced(void **state)
{
	(void)state;
	int ends[2];
	struct held before = held_now();
	assert_int_equal(pipe(ends), 0);
	assert_true(weft__runs_sync(ends[1]));
	close(ends[0]);
	close(ends[1]);
	assert_false(weft__runs_sync(-1));
	assert_true(weft__runs_sync_directory_of("file"));
	assert_true(weft__runs_sync_directory_of("/file"));
	assert_true(weft__runs_sync_directory_of("/tmp/file"));
	assert_false(weft__runs_sync_directory_of("/missing/file"));
	assert_int_equal(errno, ENOENT);
	held_expect(before);
}

/* ---- Rings by mapping ---- */

/* With WEFT_OUT a ring has any name. */
static void a_ring_is_found_by_its_mapping(void **state)
{
	(void)state;
	struct weft__runs_found found;
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", in_place(&runtime, "any.name"));
	assert_false(weft__runs_find_mapped(getpid(), &found));
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	struct held before = held_now();
	assert_true(weft__runs_find_mapped(getpid(), &found));
	assert_int_equal(held_now().file, before.file);
	assert_string_equal(found.path, path);
	assert_string_equal(found.ring.name, "any.name");
	assert_int_equal(found.ring.stem_size, strlen("any"));
	assert_int_equal(found.ring.pid, getpid());
	assert_true(found.ring.is_running && found.ring.is_ours);
	assert_true(found.is_alive && found.is_attended);
	assert_int_equal(rename(path, in_place(&runtime, "plain")), 0);
	assert_true(weft__runs_find_mapped(getpid(), &found));
	assert_int_equal(found.ring.stem_size, strlen("plain"));
	/* Another ring has the name that the kernel gives to the mapped one. */
	assert_int_equal(unlink(in_place(&runtime, "plain")), 0);
	fd = open(in_place(&runtime, "plain (deleted)"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, ring, SIZE), SIZE);
	close(fd);
	assert_false(weft__runs_find_mapped(getpid(), &found));
	weft_stop();
	munmap(ring, SIZE);
}

static void a_ring_that_has_stopped_is_not_found_by_its_mapping(void **state)
{
	(void)state;
	struct weft__runs_found found;
	int fd = open(in_place(&run, "any"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	void *ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_stop();
	assert_false(weft__runs_find_mapped(getpid(), &found));
	munmap(ring, SIZE);
}

/* ---- Standard output ---- */

static void standard_output_stays_open(void **state)
{
	(void)state;
	struct weft__runs_stream_options options = {.output = "-", .rotate_bytes = 10};
	struct weft__stream_file file;
	weft__runs_stream_file_init(&file, &options, strdup("-"));
	assert_true(weft__runs_stream_file_begin(&file));
	assert_string_equal(file.path, "-");
	assert_int_equal(file.fd, STDOUT_FILENO);
	file.total = 100;
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 0);
	options.has_max = true; /* then it counts */
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 100);
	assert_true(weft__runs_stream_file_sync(&file));
	assert_false(weft__runs_stream_file_is_rewritable(&file));
	assert_false(weft__runs_stream_file_is_full(&file, 1000));
	weft__runs_stream_file_finish(&file);
	assert_int_equal(file.fd, -1);
	assert_int_not_equal(fcntl(STDOUT_FILENO, F_GETFD), -1);
}

static void a_series_of_files_leaves_nothing_open(void **state)
{
	(void)state;
	const struct weft__runs_stream_options options = {
		.rotate_bytes = 10, .keep = 2, .compress = weft__runs_compressor_is_there()};
	struct weft__stream_file file;
	struct held before = {0};
	for (int i = 0; i < HELD_ROUNDS + 10; i++) {
		if (i == 10)
			before = held_now();
		weft__runs_stream_file_init(&file, &options, strdup(in_place(&runtime, ".weft")));
		assert_true(weft__runs_stream_file_begin(&file));
		if (i == 0)
			assert_string_equal(file.path, in_place(&runtime, ".weft.0001"));
		assert_true(weft__runs_stream_file_begin(&file));
		weft__runs_stream_file_finish(&file);
	}
	held_expect(before);
}

static void a_reader_that_is_gone_ends_a_stream(void **state)
{
	(void)state;
	const struct weft__runs_stream_options options = {0};
	struct weft__stream_file file;
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	weft__runs_stream_file_init(&file, &options, strdup("-"));
	file.fd = ends[1];
	assert_true(weft__runs_stream_file_put(&file, "x", 1));
	assert_false(weft__runs_stream_file_is_broken(&file));
	assert_false(weft__runs_stream_file_flush(&file));
	assert_true(weft__runs_stream_file_is_broken(&file));
	file.error = EBADF;
	assert_true(weft__runs_stream_file_is_broken(&file));
	file.error = ENOSPC; /* there may be room later */
	assert_false(weft__runs_stream_file_is_broken(&file));
	weft__runs_stream_file_finish(&file);
	close(ends[1]);
}

#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RUN(rings_are_listed_by_process),
		WITH_RUN(a_run_is_attended_by_the_holder_of_its_lock),
		WITH_RUN(a_process_may_live_longer_than_its_ring),
		WITH_RUN(a_refused_entry_is_reported_once),
		WITH_RUN(a_ring_is_found_by_its_mapping),
		WITH_RUN(a_ring_that_has_stopped_is_not_found_by_its_mapping),
		WITH_RUN(an_operand_is_opened_for_writing),
		WITH_RUN(the_latest_program_of_a_process_is_found),
		WITH_RUN(listing_leaves_nothing_open),
		WITH_RUN(a_process_that_has_exited_records_no_more),
		WITH_RUN(links_and_failures_are_ours),
		WITH_RUN(other_users_cannot_write_to_a_runs_parent),
		WITH_RUN(a_parent_that_is_no_directory_is_refused),
		WITH_RUN(a_path_that_is_too_long_is_refused),
		WITH_RUN(without_a_runtime_directory_runs_are_in_memory),
		WITH_RUN(a_file_that_cannot_be_replaced_leaves_nothing),
		WITH_RUN(a_link_to_a_file_stays),
		WITH_RUN(files_and_directories_are_synced),
		WITH_RUN(standard_output_stays_open),
		WITH_RUN(a_series_of_files_leaves_nothing_open),
		WITH_RUN(a_reader_that_is_gone_ends_a_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
