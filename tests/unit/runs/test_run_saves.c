/* SPDX-License-Identifier: ISC
 *
 * Saving the rings of a run: one ring, all of them, and the directories of traces that this makes.
 */
#include "run_ring.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <weft/input.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "nothing_left.h"
#include "runs/directory/rings.h"
#include "runs/directory/traces.h"
#include "runs/saving/save.h"

#define SIZE ((size_t)64 << 10)

enum {
	BLOCK = 4096,
	LARGE = 300 * BLOCK + 100, /* more than is copied at once */
};

#define NO_PROCESS 400000001 /* above the largest process number */

static struct place place, output;
static char path[PATH_MAX], file[PATH_MAX]; /* of the ring; of what is saved */
static struct weft__runs_saving saving;

static int begin(void **state)
{
	(void)state;
	place = place_make();
	output = place_make();
	snprintf(path, sizeof(path), "%s", in_place(&place, "a-400000001.weft"));
	snprintf(file, sizeof(file), "%s", in_place(&output, "out.weft"));
	saving = weft__runs_saving_begin();
	return 0;
}

static int end(void **state)
{
	(void)state;
	place_remove(&place);
	place_remove(&output);
	return 0;
}

static const struct weft__runs_ring ended = {.pid = NO_PROCESS, .is_ours = true};

static enum weft__runs_outcome save(const struct weft__runs_ring *ring)
{
	return weft__runs_save(&saving, path, ring, file);
}

static off_t size_of(const char *name)
{
	struct stat status;
	assert_int_equal(stat(name, &status), 0);
	return status.st_size;
}

/* A block of data at the beginning and in the middle, and a few bytes at the end. */
static void make_sparse(const char *name)
{
	char bytes[BLOCK];
	memset(bytes, 'x', sizeof(bytes));
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, LARGE), 0);
	assert_int_equal(pwrite(fd, bytes, BLOCK, 0), BLOCK);
	assert_int_equal(pwrite(fd, bytes, BLOCK, 100 * BLOCK), BLOCK);
	assert_int_equal(pwrite(fd, "end", 3, LARGE - 3), 3);
	close(fd);
}

static void expect_same(const char *one, const char *other)
{
	static char left[LARGE + 1], right[LARGE + 1];
	FILE *a = fopen(one, "re"), *b = fopen(other, "re");
	size_t size = fread(left, 1, sizeof(left), a);
	assert_int_equal(fread(right, 1, sizeof(right), b), size);
	assert_int_equal(size, LARGE);
	assert_memory_equal(left, right, size);
	fclose(a);
	fclose(b);
}

/* ---- One ring ---- */

static void a_saved_ring_has_the_bytes_and_the_holes(void **state)
{
	(void)state;
	struct stat before, after;
	make_sparse(path);
	assert_int_equal(save(&ended), WEFT__RUNS_SAVED);
	expect_same(path, file);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(stat(file, &after), 0);
	assert_true(after.st_blocks <= before.st_blocks);
	assert_string_equal(reported, "");
}

/* A process that starts when its run ends: the file has no size, and then no magic. */
static void a_ring_that_is_being_made_is_no_failure(void **state)
{
	(void)state;
	const struct weft__runs_ring ring = {.pid = getpid(), .is_ours = true, .is_running = true};
	static const off_t sizes[] = {0, LARGE};
	for (size_t i = 0; i < 2; i++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, sizes[i]), 0);
		close(fd);
		assert_int_equal(save(&ring), WEFT__RUNS_NEW);
		assert_int_equal(access(file, F_OK), -1);
	}
	assert_string_equal(reported, "");
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "something", 9), 9);
	close(fd);
	assert_int_equal(save(&ring), WEFT__RUNS_SKIPPED);
	assert_non_null(strstr(reported, "format"));
}

/* Most of a ring that was hardly used is zeros. */
static void blocks_of_zeros_become_holes(void **state)
{
	(void)state;
	static char bytes[LARGE];
	struct stat before, after;
	memset(bytes, 0, sizeof(bytes));
	bytes[0] = bytes[100 * BLOCK - 1] = bytes[200 * BLOCK + 7] = bytes[LARGE - 1] = 'x';
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, bytes, LARGE), LARGE);
	close(fd);
	assert_int_equal(save(&ended), WEFT__RUNS_SAVED);
	expect_same(path, file);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(stat(file, &after), 0);
	assert_true(after.st_blocks < before.st_blocks / 2);
}

static void standard_output_gets_the_holes_as_zeros(void **state)
{
	(void)state;
	char copy[PATH_MAX];
	static char zeros[LARGE];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	memset(zeros, 'x', BLOCK);
	assert_int_equal(write(fd, zeros, LARGE), LARGE); /* allocated, as a ring is */
	close(fd);
	snprintf(copy, sizeof(copy), "%s", file);
	strcpy(file, "-");
	fflush(stdout);
	int saved = dup(STDOUT_FILENO), to = open(copy, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	dup2(to, STDOUT_FILENO);
	enum weft__runs_outcome outcome = save(&ended);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(to);
	assert_int_equal(outcome, WEFT__RUNS_SAVED);
	expect_same(path, copy);
}

static void a_ring_is_saved_while_it_is_recorded_into(void **state)
{
	(void)state;
	const struct weft__runs_ring running = {.pid = getpid(), .is_ours = true, .is_running = true};
	struct weft_input *input;
	struct weft_event event;
	int events = 0;
	void *ring = map_ring(path, SIZE);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	for (int i = 0; i < 100; i++)
		weft_tag("number");
	assert_int_equal(save(&running), WEFT__RUNS_SAVED);
	weft_tag("later");
	weft_stop();
	munmap(ring, SIZE);
	assert_int_equal(weft_input_open(file, NULL, &input), 0);
	while (weft_decoder_next(weft_input_decoder(input), &event) == WEFT_OK)
		events += event.type == WEFT_EVENT_TAG;
	weft_input_close(input);
	assert_int_equal(events, 100);
}

static void the_outcome_says_why_a_ring_is_not_saved(void **state)
{
	(void)state;
	const struct weft__runs_ring running = {.pid = getpid(), .is_ours = true, .is_running = true};
	struct weft_abi_buffer *ring = map_ring(path, SIZE);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_stop();
	ring->version++;
	assert_int_equal(save(&running), WEFT__RUNS_NOT_SAVED);
	assert_non_null(strstr(reported, weft_error_text(WEFT_ERROR_UNSUPPORTED)));
	ring->version--;
	ring->packet_bytes = 0;
	assert_int_equal(save(&running), WEFT__RUNS_NOT_SAVED);
	assert_non_null(strstr(reported, "because its header is damaged; the trace stays in"));
	ring->magic[0]++; /* not a ring */
	assert_int_equal(save(&running), WEFT__RUNS_SKIPPED);
	munmap(ring, SIZE);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(save(&running), WEFT__RUNS_NEW);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(save(&ended), WEFT__RUNS_SKIPPED);
	assert_non_null(strstr(reported, "FIFO"));
	place_put(&output, "out.weft", "Dear reader,");
	assert_int_equal(save(&ended), WEFT__RUNS_NOT_SAVED);
	assert_int_equal(size_of(file), 12);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	(void)state;
	struct rlimit limit, small;
	make_sparse(path);
	place_put(&output, "out.weft", "");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){50 * BLOCK, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	enum weft__runs_outcome outcome = save(&ended);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(outcome, WEFT__RUNS_NOT_SAVED);
	assert_non_null(strstr(reported, strerror(EFBIG)));
	assert_int_equal(size_of(file), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(output.path), 0); /* no other file is left */
	assert_int_equal(mkdir(output.path, 0700), 0);
}

/* A signal that came in the first second may have been meant for the program. */
static void a_signal_interrupts_saving_after_a_second(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
	(void)state;
	sigset_t set, before;
	make_sparse(path);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		saving = weft__runs_saving_begin();
		kill(getpid(), signals[i]);
		assert_false(weft__runs_saving_is_interrupted(&saving));
		unlink(file);
		assert_int_equal(save(&ended), WEFT__RUNS_SAVED);
		unlink(file);
		saving.since_s -= 3;
		bool ends = signals[i] != SIGUSR1;
		assert_int_equal(weft__runs_saving_is_interrupted(&saving), ends);
		assert_int_equal(save(&ended), ends ? WEFT__RUNS_INTERRUPTED : WEFT__RUNS_SAVED);
		sigemptyset(&set);
		sigaddset(&set, signals[i]);
		assert_int_equal(sigtimedwait(&set, NULL, &(struct timespec){0, 0}), signals[i]);
		assert_false(weft__runs_saving_is_interrupted(&saving));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void a_ring_says_what_it_is(void **state)
{
	(void)state;
	struct weft_buffer_summary summary;
	size_t size = 0;
	void *ring = map_ring(path, SIZE);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_stop();
	munmap(ring, SIZE);
	assert_true(weft__runs_ring_summarize(path, NO_PROCESS, &summary, &size));
	assert_int_equal(summary.pid, getpid());
	assert_int_equal(size, SIZE);
	int fd = weft__runs_ring_open(path, NO_PROCESS, WEFT_RING_READ);
	assert_true(fd >= 0);
	close(fd);
	place_put(&place, "a-400000001.weft", "text");
	assert_false(weft__runs_ring_summarize(path, NO_PROCESS, &summary, &size));
	assert_int_equal(unlink(path), 0);
	assert_false(weft__runs_ring_summarize(path, NO_PROCESS, &summary, &size));
	assert_string_equal(reported, "");
	assert_int_equal(weft__runs_ring_open(path, NO_PROCESS, WEFT_RING_READ), -1);
	assert_non_null(strstr(reported, "is skipped"));
}

/* ---- Where it may be saved ---- */

static void an_output_must_be_writable(void **state)
{
	(void)state;
	assert_true(weft__runs_can_save("-"));
	assert_true(weft__runs_can_save(output.path));
	assert_true(weft__runs_can_save(in_place(&output, "new.weft")));
	struct stat made;
	mode_t mask = umask(027);
	assert_true(weft__runs_can_save(in_place(&output, "made/")));
	umask(mask);
	assert_int_equal(stat(in_place(&output, "made"), &made), 0);
	assert_int_equal(made.st_mode & 07777, 0750);
	assert_int_equal(rmdir(in_place(&output, "made")), 0);
	assert_false(weft__runs_can_save(in_place(&output, "missing/other/")));
	assert_non_null(strstr(reported, strerror(ENOENT)));
	assert_false(weft__runs_can_save(in_place(&output, "missing/new.weft")));
	assert_int_equal(rmdir(output.path), 0); /* nothing was left there */
	assert_int_equal(mkdir(output.path, 0700), 0);
}

static void a_ring_in_place_replaces_an_old_file(void **state)
{
	(void)state;
	char full[PATH_MAX], before[PATH_MAX];
	place_put(&output, "old.weft", "");
	assert_true(weft__runs_make_way(in_place(&output, "old.weft"), full));
	assert_string_equal(full, in_place(&output, "old.weft"));
	assert_false(place_has(&output, "old.weft"));
	assert_true(weft__runs_make_way(in_place(&output, "new.weft"), full));
	assert_string_equal(full, in_place(&output, "new.weft"));
	/* A link stays. */
	place_put(&output, "old.weft", "");
	assert_int_equal(symlink("old.weft", in_place(&output, "link.weft")), 0);
	assert_true(weft__runs_make_way(in_place(&output, "link.weft"), full));
	assert_string_equal(full, in_place(&output, "old.weft"));
	assert_false(place_has(&output, "old.weft"));
	assert_int_equal(access(in_place(&output, "link.weft"), F_OK), -1); /* its target is gone */
	assert_int_equal(unlink(in_place(&output, "link.weft")), 0);
	/* A name alone is in the current directory. */
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(output.path), 0);
	bool is_made = weft__runs_make_way("here.weft", full);
	assert_int_equal(chdir(before), 0);
	assert_true(is_made);
	assert_string_equal(full, in_place(&output, "here.weft"));
	assert_string_equal(reported, "");
	assert_false(weft__runs_make_way(in_place(&output, "missing/new.weft"), full));
	assert_non_null(strstr(reported, strerror(ENOENT)));
}

/* ---- All rings ---- */

static void all_rings_of_a_run_are_saved(void **state)
{
	(void)state;
	struct weft__runs_saves saves;
	place_put(&place, "main-400000001.weft", "one");
	place_put(&place, "main-400000001.2.weft", "two");
	place_put(&place, "child-400000002.weft", "three");
	assert_int_equal(symlink("no memory", in_place(&place, "x-400000003.failed")), 0);
	assert_int_equal(mkfifo(in_place(&place, "y-400000004.weft"), 0600), 0);
	static const char *const files[] = {
		"out.weft", "out-main-400000001.weft", "out-400000002.weft"};
	assert_true(weft__runs_save_all(place.path, file, NO_PROCESS, true, &saves));
	assert_int_equal(saves.count, 3);
	assert_false(saves.has_failed || saves.is_interrupted);
	for (size_t i = 0; i < saves.count; i++) {
		assert_string_equal(saves.list[i].file, in_place(&output, files[i]));
		assert_string_equal(saves.list[i].path, in_place(&place, saves.list[i].ring->name));
		assert_ptr_equal(saves.list[i].ring, &saves.rings.list[i]);
		assert_null(saves.list[i].stream);
		assert_int_equal(size_of(saves.list[i].file), size_of(saves.list[i].path));
	}
	weft__runs_saves_finish(&saves);
	assert_false(weft__runs_save_all(in_place(&place, "missing/"), file, NO_PROCESS, true, &saves));
}

static void a_ring_that_is_not_saved_is_a_failure(void **state)
{
	(void)state;
	struct weft__runs_saves saves;
	place_put(&place, "main-400000001.weft", "one");
	place_put(&place, "child-400000002.weft", "three");
	place_put(&output, "out.weft", "Dear reader,");
	assert_true(weft__runs_save_all(place.path, file, NO_PROCESS, true, &saves));
	assert_true(saves.has_failed);
	assert_false(saves.is_interrupted);
	assert_int_equal(saves.count, 0); /* each of them would be the first */
	weft__runs_saves_finish(&saves);
	assert_int_equal(size_of(file), 12);
	assert_non_null(strstr(reported, "main-400000001.weft"));
}

/* `weft record --in-place`: the trace is already where it belongs. */
static void a_link_to_a_ring_needs_no_saving(void **state)
{
	(void)state;
	struct weft__runs_saves saves;
	char before[PATH_MAX];
	place_put(&output, "in-place.weft", "one");
	assert_int_equal(
		symlink(in_place(&output, "in-place.weft"), in_place(&place, "main-400000001.weft")), 0);
	assert_non_null(getcwd(before, sizeof(before)));
	for (int is_below = 0; is_below < 2; is_below++) {
		assert_int_equal(chdir(is_below ? output.path : "/"), 0);
		assert_true(weft__runs_save_all(place.path, file, NO_PROCESS, true, &saves));
		assert_int_equal(chdir(before), 0);
		assert_int_equal(saves.count, 1);
		assert_string_equal(
			saves.list[0].file, is_below ? "in-place.weft" : in_place(&output, "in-place.weft"));
		weft__runs_saves_finish(&saves);
	}
	assert_false(place_has(&output, "out.weft"));
}

static void saving_leaves_nothing(void **state)
{
	(void)state;
	struct weft__runs_saves saves;
	struct weft__runs_traces traces = {0};
	struct weft_buffer_summary summary;
	struct held before = {0};
	size_t size;
	place_put(&output, "in-place.weft", "one");
	assert_int_equal(
		symlink(in_place(&output, "in-place.weft"), in_place(&place, "main-400000001.weft")), 0);
	for (int i = 0; i < HELD_ROUNDS + 10; i++) {
		if (i == 10)
			before = held_now();
		assert_true(weft__runs_save_all(place.path, file, NO_PROCESS, true, &saves));
		assert_int_equal(saves.count, 1);
		weft__runs_saves_finish(&saves);
		weft__runs_ring_summarize(
			in_place(&place, "main-400000001.weft"), NO_PROCESS, &summary, &size);
		assert_true(weft__runs_traces_add(&traces, output.path));
		weft__runs_traces_finish(&traces);
	}
	held_expect(before);
	/* A file that is written takes longer. */
	place_put(&place, "child-400000002.weft", "two");
	before = held_now();
	for (int i = 0; i < 5; i++) {
		assert_true(weft__runs_save_all(place.path, file, NO_PROCESS, true, &saves));
		weft__runs_saves_finish(&saves);
	}
	held_expect(before);
}

/* ---- Directories of traces ---- */

static void the_traces_of_a_directory_come_by_name(void **state)
{
	static const char *const traces_there[] = {"b.weft", "a.weft.zst", "c.weft"};
	static const char *const others[] = {".weft", ".hidden.weft", "a.weft.txt", "weft", "a.zst"};
	(void)state;
	struct weft__runs_traces traces = {0};
	for (size_t i = 0; i < 3; i++)
		place_put(&place, traces_there[i], "");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		place_put(&place, others[i], "");
	assert_int_equal(mkfifo(in_place(&place, "d.weft"), 0600), 0);
	assert_int_equal(mkdir(in_place(&place, "e.weft"), 0700), 0);
	assert_true(weft__runs_traces_add(&traces, in_place(&place, "z")));
	assert_true(weft__runs_traces_add(&traces, place.path));
	assert_true(weft__runs_traces_add(&traces, "-"));
	assert_int_equal(traces.count, 5);
	assert_string_equal(traces.paths[0], in_place(&place, "z"));
	assert_string_equal(traces.paths[1], in_place(&place, "a.weft.zst"));
	assert_string_equal(traces.paths[2], in_place(&place, "b.weft"));
	assert_string_equal(traces.paths[3], in_place(&place, "c.weft"));
	assert_string_equal(traces.paths[4], "-");
	assert_string_equal(reported, "");
	weft__runs_traces_finish(&traces);
	assert_int_equal(traces.count, 0);
}

/* Root may read each directory, so another user tries. */
static void a_directory_that_cannot_be_read_is_an_error(void **state)
{
	(void)state;
	int status;
	struct weft__runs_traces traces = {0};
	assert_int_equal(chmod(place.path, 0), 0);
	pid_t child = fork();
	if (child == 0) {
		bool is_other = geteuid() != 0 || setuid(12345) == 0;
		bool good = weft__runs_traces_add(&traces, place.path);
		_exit(!is_other || good || !strstr(reported, strerror(EACCES)));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(place.path, 0700), 0);
}

static void a_directory_without_a_trace_is_an_error(void **state)
{
	(void)state;
	struct weft__runs_traces traces = {0};
	assert_false(weft__runs_traces_add(&traces, place.path));
	assert_non_null(strstr(reported, "no file in this directory"));
	assert_true(weft__runs_traces_is_directory(place.path));
	assert_false(weft__runs_traces_is_directory(in_place(&place, "missing")));
	assert_false(weft__runs_traces_is_directory("/dev/null"));
	char before[PATH_MAX];
	assert_int_equal(mkdir(in_place(&place, "-"), 0700), 0);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(place.path), 0);
	bool is_directory = weft__runs_traces_is_directory("-");
	assert_int_equal(chdir(before), 0);
	assert_false(is_directory); /* it stands for standard input */
	weft__runs_traces_finish(&traces);
}

#define WITH_PLACES(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLACES(a_saved_ring_has_the_bytes_and_the_holes),
		WITH_PLACES(a_ring_that_is_being_made_is_no_failure),
		WITH_PLACES(blocks_of_zeros_become_holes),
		WITH_PLACES(standard_output_gets_the_holes_as_zeros),
		WITH_PLACES(a_ring_is_saved_while_it_is_recorded_into),
		WITH_PLACES(the_outcome_says_why_a_ring_is_not_saved),
		WITH_PLACES(a_full_disk_leaves_the_old_file),
		WITH_PLACES(a_signal_interrupts_saving_after_a_second),
		WITH_PLACES(a_ring_says_what_it_is),
		WITH_PLACES(an_output_must_be_writable),
		WITH_PLACES(a_ring_in_place_replaces_an_old_file),
		WITH_PLACES(all_rings_of_a_run_are_saved),
		WITH_PLACES(a_ring_that_is_not_saved_is_a_failure),
		WITH_PLACES(a_link_to_a_ring_needs_no_saving),
		WITH_PLACES(saving_leaves_nothing),
		WITH_PLACES(the_traces_of_a_directory_come_by_name),
		WITH_PLACES(a_directory_that_cannot_be_read_is_an_error),
		WITH_PLACES(a_directory_without_a_trace_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
