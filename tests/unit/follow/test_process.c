/* SPDX-License-Identifier: ISC
 *
 * When the program that records into a file counts as ended: its process ended, or does not map
 * the file any more. The clock stands still until a test moves it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "follow/process.h"
#include "nothing_left.h"

#define SIZE     4096
#define CHECK_NS ((uint64_t)250000000) /* between two checks of the mapping */

static uint64_t now_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
	return 0;
}

static struct timespec slept; /* the last sleep, as it was asked for */

int __real_ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	slept = *timeout;
	return __real_ppoll(fds, count, timeout, mask);
}

static bool has_pidfd = true;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	va_list arguments;
	va_start(arguments, number);
	long first = va_arg(arguments, long), second = va_arg(arguments, long);
	va_end(arguments);
	if (has_pidfd)
		return __real_syscall(number, first, second);
	errno = ENOSYS;
	return -1;
}

/* The result of opening /proc/PID/maps: 0, an errno, or -1 for a file that cannot be read. */
static int maps_error;

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (maps_error > 0) {
		errno = maps_error;
		return NULL;
	}
	int fd = open(maps_error ? "/" : path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return __wrap_fopen(path, mode);
}

/* A file of one page, mapped. */
struct mapped {
	void *bytes;
	uint64_t inode;
	int fd;
};

static struct mapped map_file(void)
{
	char path[] = "/tmp/weft-test-process-XXXXXX";
	struct stat status;
	struct mapped m = {.fd = mkstemp(path)};
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(m.fd, SIZE), 0);
	assert_int_equal(fstat(m.fd, &status), 0);
	m.inode = status.st_ino;
	m.bytes = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, m.fd, 0);
	assert_true(m.bytes != MAP_FAILED);
	now_ns = (uint64_t)100900000000; /* the next check is in the next second */
	return m;
}

static void unmap_file(struct mapped *m)
{
	munmap(m->bytes, SIZE);
	close(m->fd);
}

/* A child process that waits until it is killed. */
static pid_t start_child(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_process_has_ended_when_it_does_not_map_the_file(void **state)
{
	(void)state;
	struct mapped m = map_file();
	struct weft__process process;
	weft__follow_process_open(&process, (uint32_t)getpid(), m.inode);
	assert_false(weft__follow_process_has_ended(&process));
	munmap(m.bytes, SIZE);
	/* It is noticed by the next check, so that not every look reads /proc. */
	now_ns += CHECK_NS - 1;
	assert_false(weft__follow_process_has_ended(&process));
	now_ns += 1;
	assert_true(weft__follow_process_has_ended(&process));
	assert_false(weft__follow_process_is_gone(&process));
	/* A mapping that comes later is another recording. */
	m.bytes = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, m.fd, 0);
	now_ns += CHECK_NS;
	assert_true(weft__follow_process_has_ended(&process));
	weft__follow_process_close(&process);
	unmap_file(&m);
}

static void a_mapping_is_checked_again_and_again(void **state)
{
	(void)state;
	struct mapped m = map_file();
	struct weft__process process;
	weft__follow_process_open(&process, (uint32_t)getpid(), m.inode);
	for (int i = 0; i < 3; i++) {
		assert_false(weft__follow_process_has_ended(&process));
		now_ns += CHECK_NS;
	}
	munmap(m.bytes, SIZE);
	assert_true(weft__follow_process_has_ended(&process));
	weft__follow_process_close(&process);
	close(m.fd);
}

static void a_process_that_is_killed_has_ended_at_once(void **state)
{
	(void)state;
	struct mapped m = map_file();
	struct weft__process process;
	pid_t child = start_child();
	weft__follow_process_open(&process, (uint32_t)child, m.inode);
	assert_false(weft__follow_process_has_ended(&process));
	assert_false(weft__follow_process_is_gone(&process));
	end_child(child);
	assert_true(weft__follow_process_is_gone(&process));
	assert_true(weft__follow_process_has_ended(&process));
	weft__follow_process_close(&process);
	unmap_file(&m);
}

/* Then the end of the process will be noticed. */
static void unknown_mappings_count_as_one_of_the_file(void **state)
{
	(void)state;
	static const struct {
		int error;
		bool has_ended;
	} cases[] = {{EACCES, false}, {-1, false}, {EMFILE, false}, {ENOENT, true}};
	struct mapped m = map_file();
	struct weft__process process;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		weft__follow_process_open(&process, (uint32_t)getpid(), m.inode + 1);
		maps_error = cases[i].error;
		assert_int_equal(weft__follow_process_has_ended(&process), cases[i].has_ended);
		maps_error = 0;
		weft__follow_process_close(&process);
	}
	unmap_file(&m);
}

/* Old kernels have no descriptors of processes. */
static void a_process_without_a_descriptor_is_found_by_its_number(void **state)
{
	(void)state;
	struct mapped m = map_file();
	struct weft__process process;
	pid_t child = start_child();
	has_pidfd = false;
	weft__follow_process_open(&process, (uint32_t)child, m.inode);
	has_pidfd = true;
	assert_int_equal(process.fd, -1);
	assert_false(weft__follow_process_is_gone(&process));
	assert_false(weft__follow_process_has_ended(&process));
	end_child(child);
	assert_true(weft__follow_process_is_gone(&process));
	assert_true(weft__follow_process_has_ended(&process));
	unmap_file(&m);
}

/* kill() fails then, though the process runs. */
static void another_users_process_without_a_descriptor_runs(void **state)
{
	(void)state;
	struct weft__process process;
	sigset_t hangup, pending;
	bool is_root = geteuid() == 0;
	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	sigprocmask(SIG_BLOCK, &hangup, NULL);
	has_pidfd = false;
	weft__follow_process_open(&process, 1, 1);
	has_pidfd = true;
	assert_false(process.has_ended);
	assert_true(!is_root || setresuid(12345, 12345, 0) == 0);
	bool is_gone = weft__follow_process_is_gone(&process);
	assert_true(!is_root || setresuid(0, 0, 0) == 0);
	assert_false(is_gone);
	process.pid = getpid();
	errno = ESRCH; /* of an earlier call */
	assert_false(weft__follow_process_is_gone(&process));
	assert_int_equal(sigpending(&pending), 0);
	assert_int_equal(sigismember(&pending, SIGHUP), 0); /* asking sends no signal */
}

static void a_closed_process_holds_no_file(void **state)
{
	(void)state;
	struct mapped m = map_file();
	struct weft__process process;
	errno = ESRCH; /* of an earlier call */
	weft__follow_process_open(&process, (uint32_t)getpid(), m.inode);
	assert_false(process.has_ended);
	struct held before = held_now();
	for (int i = 0; i < HELD_ROUNDS; i++, now_ns += CHECK_NS)
		assert_false(weft__follow_process_has_ended(&process));
	held_expect(before);
	int fd = process.fd;
	weft__follow_process_close(&process);
	assert_int_equal(process.fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	weft__follow_process_close(&process);
	unmap_file(&m);
}

static void impossible_numbers_are_of_ended_processes(void **state)
{
	(void)state;
	static const uint32_t numbers[] = {0, 400000001, 0x80000000, UINT32_MAX};
	struct weft__process process;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		errno = 0;
		weft__follow_process_open(&process, numbers[i], 1);
		assert_int_equal(process.fd, -1);
		assert_true(process.has_ended);
		assert_true(weft__follow_process_has_ended(&process));
	}
}

/* ---- Sleeping ---- */

static void ignore_signal(int signal)
{
	(void)signal;
}

static void a_sleep_ends_after_its_time(void **state)
{
	(void)state;
	struct weft__process process;
	weft__follow_process_open(&process, (uint32_t)getpid(), 1);
	assert_true(weft__follow_process_sleep(&process, 1000000));
	assert_int_equal(slept.tv_sec, 0);
	assert_int_equal(slept.tv_nsec, 1000000);
	weft__follow_process_close(&process);
}

static void a_sleep_ends_with_the_process(void **state)
{
	(void)state;
	struct weft__process process;
	pid_t child = start_child();
	weft__follow_process_open(&process, (uint32_t)child, 1);
	end_child(child);
	assert_true(weft__follow_process_sleep(&process, (uint64_t)5999999999));
	assert_int_equal(slept.tv_sec, 5);
	assert_int_equal(slept.tv_nsec, 999999999);
	weft__follow_process_close(&process);
}

static void a_signal_ends_a_sleep(void **state)
{
	(void)state;
	const struct sigaction action = {.sa_handler = ignore_signal};
	const struct itimerval moment = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
	struct weft__process process;
	weft__follow_process_open(&process, (uint32_t)getpid(), 1);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &moment, NULL), 0);
	assert_false(weft__follow_process_sleep(&process, (uint64_t)100 * 1000000000));
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	weft__follow_process_close(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_ended_when_it_does_not_map_the_file),
		cmocka_unit_test(a_mapping_is_checked_again_and_again),
		cmocka_unit_test(a_process_that_is_killed_has_ended_at_once),
		cmocka_unit_test(unknown_mappings_count_as_one_of_the_file),
		cmocka_unit_test(a_process_without_a_descriptor_is_found_by_its_number),
		cmocka_unit_test(another_users_process_without_a_descriptor_runs),
		cmocka_unit_test(a_closed_process_holds_no_file),
		cmocka_unit_test(impossible_numbers_are_of_ended_processes),
		cmocka_unit_test(a_sleep_ends_after_its_time),
		cmocka_unit_test(a_sleep_ends_with_the_process),
		cmocka_unit_test(a_signal_ends_a_sleep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
