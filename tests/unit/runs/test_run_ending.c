/* SPDX-License-Identifier: ISC
 *
 * How a process ended is noted in its rings, and why a process has no ring.
 */
#include "run_ring.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <weft/watch.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "runs/directory/find.h"
#include "runs/saving/ending.h"

#define SIZE ((size_t)64 << 10)

/* A ring in `place` that a killed process has left; returns its bytes, which the caller unmaps. */
static struct weft_abi_buffer *left_ring(const struct place *place, pid_t *ret_pid)
{
	int ready[2], status;
	char byte;
	assert_int_equal(pipe(ready), 0);
	void *bytes = map_ring(in_place(place, "new"), SIZE);
	pid_t pid = fork();
	if (pid == 0)
		_exit(weft_start(bytes, SIZE, NULL) || write(ready[1], "", 1) != 1 || pause());
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	*ret_pid = pid;
	return bytes;
}

static struct weft_abi_buffer *copied_ring(
	const struct place *place, const char *name, const void *bytes)
{
	void *copy = map_ring(in_place(place, name), SIZE);
	memcpy(copy, bytes, SIZE);
	return copy;
}

static void the_status_is_noted_in_the_last_program_of_the_process(void **state)
{
	struct place place = place_make();
	pid_t pid;
	char name[4][64];
	struct weft_abi_buffer *left = left_ring(&place, &pid), *rings[3];
	(void)state;
	snprintf(name[0], sizeof(name[0]), "test-%d.weft", (int)pid);
	snprintf(name[1], sizeof(name[1]), "test-%d.2.weft", (int)pid);
	snprintf(name[2], sizeof(name[2]), "test-%d.3.weft", (int)pid + 1);
	for (size_t i = 0; i < 3; i++)
		rings[i] = copied_ring(&place, name[i], left);
	assert_int_equal(unlink(in_place(&place, "new")), 0);
	weft__runs_note_end(place.path, pid, SIGKILL);
	assert_int_equal(rings[0]->ending, WEFT_ENDING_GONE);
	assert_int_equal(rings[0]->wait_status, 0);
	assert_int_equal(rings[1]->ending, WEFT_ENDING_GONE);
	assert_int_equal(rings[1]->wait_status, WEFT_WAIT_KNOWN | SIGKILL);
	assert_int_equal(rings[2]->ending, left->ending); /* of another process */
	assert_int_equal(rings[2]->wait_status, 0);
	for (size_t i = 0; i < 3; i++)
		munmap(rings[i], SIZE);
	munmap(left, SIZE);
	place_remove(&place);
}

static void no_ring_and_no_directory_are_borne(void **state)
{
	struct place place = place_make();
	(void)state;
	place_put(&place, "test-400000001.weft", "no ring");
	weft__runs_note_end(place.path, 400000001, 0);
	weft__runs_note_end(in_place(&place, "missing/"), 400000001, 0);
	place_remove(&place);
}

/* The kernel lets posix_spawn return a moment before the new program has its environment. */
static void wait_for_environment(pid_t pid)
{
	char path[64], byte;
	ssize_t size = 0;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	while (size == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		size = read(fd, &byte, 1);
		close(fd);
	}
}

/* Runs a process with this environment; returns the report about its missing ring. */
static const char *explained(const char *const environment[])
{
	const char *const command[] = {"sleep", "60", NULL};
	int status;
	pid_t pid;
	reported[0] = '\0';
	assert_int_equal(posix_spawn(&pid, "/bin/sleep", NULL, NULL, (char **)(uintptr_t)command,
						 (char **)(uintptr_t)environment),
		0);
	wait_for_environment(pid);
	weft__runs_report_unfound(pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return reported;
}

static void assert_text(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in: %s", words, text);
}

static void why_a_process_has_no_ring_is_explained(void **state)
{
	struct place place = place_make();
	char own[PATH_MAX];
	(void)state;
	assert_int_equal(setenv("XDG_RUNTIME_DIR", place.path, 1), 0);
	snprintf(own, sizeof(own), "WEFT_OUT=%s/weft/record-abcdef/", place.path);
	assert_text(explained((const char *[]){"A=b", own, "B=c", NULL}), "runs under `weft record`");
	assert_text(explained((const char *[]){"A=b", "WEFT_OUT=/elsewhere/t.weft", NULL}),
		"was started with WEFT_OUT=/elsewhere/t.weft;");
	assert_text(explained((const char *[]){"WEFT_OUT=/first", "WEFT_OUT=/second", NULL}),
		"was started with WEFT_OUT=/first;"); /* as getenv() sees it */
	assert_text(explained((const char *[]){"WEFT_OUT=", NULL}), "without WEFT_OUT");
	assert_text(explained((const char *[]){"NOT_WEFT_OUT=x", NULL}), "without WEFT_OUT");
	reported[0] = '\0';
	weft__runs_report_unfound(400000001);
	assert_text(reported, "there is no process 400000001, and no ring of it in ");
	assert_text(reported, place.path);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_is_noted_in_the_last_program_of_the_process),
		cmocka_unit_test(no_ring_and_no_directory_are_borne),
		cmocka_unit_test(why_a_process_has_no_ring_is_explained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
