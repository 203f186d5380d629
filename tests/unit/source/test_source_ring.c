/* SPDX-License-Identifier: ISC
 *
 * Which entries of a directory may be opened as a ring: their kind, their owner, and their holes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>

#include "nothing_left.h"
#include "waiting.h"

#define NO_PROCESS 400000001 /* above the largest process number */
#define OTHER_USER 12345u

static char directory[64];
static struct weft_ring_check check;

/* ---- What happens while a file is opened ---- */

static const char *replaced; /* a file, which another one replaces before it is opened */
static char replacement[128];
static bool has_no_proc;

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static int open_meanwhile(const char *path, int flags, mode_t mode)
{
	if (has_no_proc && strncmp(path, "/proc/self/fd/", 14) == 0) {
		errno = ENOENT;
		return -1;
	}
	/* Opening for writing comes after opening for reading. */
	if (replaced && strcmp(path, replaced) == 0 && (!has_no_proc || (flags & O_ACCMODE) == O_RDWR))
		assert_int_equal(rename(replacement, path), 0);
	return openat(AT_FDCWD, path, flags, mode);
}

#define OPEN_WRAPPER(name)                                             \
	int name(const char *path, int flags, ...)                         \
	{                                                                  \
		va_list arguments;                                             \
		va_start(arguments, flags);                                    \
		mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0; \
		va_end(arguments);                                             \
		return open_meanwhile(path, flags, mode);                      \
	}
OPEN_WRAPPER(__wrap_open)
OPEN_WRAPPER(__wrap_open64)

/* The path of an entry; valid until two more calls. */
static const char *entry(const char *name)
{
	static char paths[2][128];
	static unsigned next;
	char *path = paths[next++ % 2];
	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static int make_directory_in(const char *where)
{
	snprintf(directory, sizeof(directory), "%s/weft-test-ring-XXXXXX", where);
	return mkdtemp(directory) == NULL;
}

static int make_directory(void **state)
{
	(void)state;
	return make_directory_in("/tmp");
}

static int remove_directory(void **state)
{
	static const char *const names[] = {"file", "entry", "second", "other"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (unlink(entry(names[i])) != 0)
			rmdir(entry(names[i]));
	return rmdir(directory);
}

static void make_file(const char *name)
{
	int fd = open(entry(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "ring", 4), 4);
	close(fd);
}

static bool is_accepted(const char *name, pid_t pid)
{
	return weft_source_check_ring(entry(name), pid, &check);
}

/* Neither check nor open accepts the entry, and both give this reason. */
static void expect_refused(const char *path, pid_t pid, const char *reason)
{
	assert_false(weft_source_check_ring(path, pid, &check));
	assert_string_equal(check.reason, reason);
	assert_int_equal(weft_source_open_ring(path, pid, WEFT_RING_READ, &check), -1);
	assert_string_equal(check.reason, reason);
}

/* ---- Kinds ---- */

static void a_file_of_ours_is_opened(void **state)
{
	(void)state;
	char bytes[5];
	make_file("file");
	assert_true(is_accepted("file", NO_PROCESS));
	assert_true(check.is_ours && check.has_process);
	assert_string_equal(check.reason, "");
	int fd = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_READ, &check);
	assert_true(fd >= 0);
	assert_true(check.is_ours && check.has_process);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 4);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	fd = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_WRITE, &check);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void a_file_that_may_not_be_written_is_read(void **state)
{
	(void)state;
	uid_t user = geteuid() ? geteuid() : OTHER_USER; /* root may write to every file */
	make_file("file");
	assert_int_equal(chmod(directory, 0755), 0);
	assert_int_equal(chmod(entry("file"), 0400), 0);
	assert_int_equal(chown(entry("file"), user, (gid_t)-1), 0);
	uid_t before = geteuid();
	assert_int_equal(seteuid(user), 0);
	int fd = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_WRITE, &check);
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
	close(fd);
	bool is_closed = chmod(entry("file"), 0) == 0;
	int none = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_READ, &check);
	assert_int_equal(seteuid(before), 0);
	assert_true(fd >= 0 && is_closed);
	assert_int_equal(mode, O_RDONLY);
	assert_int_equal(none, -1);
	assert_string_equal(check.reason, "Permission denied");
}

static void entries_of_other_kinds_are_refused(void **state)
{
	(void)state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", entry("second"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(mkfifo(entry("entry"), 0600), 0);
	expect_refused(entry("entry"), NO_PROCESS, "it is a FIFO, not a regular file");
	expect_refused(entry("second"), NO_PROCESS, "it is a socket, not a regular file");
	expect_refused(directory, NO_PROCESS, "it is a directory, not a regular file");
	expect_refused("/dev/null", NO_PROCESS, "it is a device, not a regular file");
	expect_refused(entry("missing"), NO_PROCESS, "No such file or directory");
}

static void one_link_of_ours_is_followed(void **state)
{
	(void)state;
	char name[64];
	make_file("file");
	assert_int_equal(symlink(entry("file"), entry("entry")), 0);
	assert_int_equal(symlink(entry("entry"), entry("second")), 0);
	assert_true(is_accepted("entry", NO_PROCESS));
	assert_true(check.is_ours);
	int fd = weft_source_open_ring(entry("entry"), NO_PROCESS, WEFT_RING_WRITE, &check);
	assert_int_equal(read(fd, name, sizeof(name)), 4);
	close(fd);
	expect_refused(entry("second"), NO_PROCESS, "it is a symbolic link, not a regular file");
	assert_int_equal(symlink("file", entry("other")), 0);
	expect_refused(entry("other"), NO_PROCESS, "it is a symbolic link without an absolute target");
	assert_int_equal(unlink(entry("file")), 0);
	expect_refused(entry("entry"), NO_PROCESS, "it is a symbolic link whose target is missing");
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	(void)state;
	char path[PATH_MAX + 1];
	make_file("file");
	memset(path, '/', sizeof(path));
	memcpy(path, directory, strlen(directory));
	strcpy(path + PATH_MAX - 5, "file"); /* PATH_MAX with the final zero */
	assert_true(weft_source_check_ring(path, NO_PROCESS, &check));
	strcpy(path + PATH_MAX - 5, "/file");
	expect_refused(path, NO_PROCESS, "File name too long");
}

/* The file that is opened is the one that was checked. */
static void a_file_that_is_replaced_meanwhile_is_not_opened(void **state)
{
	(void)state;
	char path[128];
	make_file("file");
	make_file("other");
	strcpy(path, entry("file"));
	strcpy(replacement, entry("other"));
	struct held before = held_now();
	replaced = path;
	int fd = weft_source_open_ring(path, NO_PROCESS, WEFT_RING_READ, &check);
	replaced = NULL;
	assert_int_equal(fd, -1);
	assert_string_equal(check.reason, "it was replaced while it was opened");
	held_expect(before);
}

/* Without /proc the file is opened again by its path: for writing, or not at all. */
static void without_proc_the_same_file_is_opened_for_writing(void **state)
{
	(void)state;
	char path[128];
	make_file("file");
	make_file("other");
	strcpy(path, entry("file"));
	strcpy(replacement, entry("other"));
	struct held before = held_now();
	has_no_proc = true;
	int fd = weft_source_open_ring(path, NO_PROCESS, WEFT_RING_WRITE, &check);
	replaced = path;
	int first = weft_source_open_ring(path, NO_PROCESS, WEFT_RING_WRITE, &check);
	replaced = NULL;
	has_no_proc = false;
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fcntl(first, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	close(first);
	held_expect(before);
}

/* ---- Holes ---- */

/* A mapping of a file on tmpfs would allocate its holes. Other file systems may compress, so there
 * 1 GiB may be missing. */
static void sparse_files_are_refused(const char *where)
{
	struct statfs system;
	if (make_directory_in(where) != 0 || statfs(directory, &system) != 0) {
		print_message("# not tried: %s cannot be written\n", where);
		return;
	}
	struct stat status;
	make_file("file");
	assert_int_equal(stat(entry("file"), &status), 0);
	off_t most = status.st_blocks * 512 + (system.f_type == 0x01021994 ? 0 : (off_t)1 << 30);
	assert_int_equal(truncate(entry("file"), most), 0);
	int fd = weft_source_open_ring(entry("file"), NO_PROCESS, 0, &check);
	bool is_full = fd >= 0;
	close(fd);
	assert_int_equal(truncate(entry("file"), most + 1), 0);
	bool is_checked = is_accepted("file", NO_PROCESS);
	fd = weft_source_open_ring(entry("file"), NO_PROCESS, 0, &check);
	close(fd);
	bool is_sparse = fd < 0 && strncmp(check.reason, "it is sparse: ", 14) == 0;
	fd = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_SPARSE, &check);
	close(fd);
	remove_directory(NULL);
	assert_true(is_full && is_checked && is_sparse && fd >= 0);
}

static void no_holes_in_memory(void **state)
{
	(void)state;
	sparse_files_are_refused("/dev/shm");
}

static void few_holes_on_a_disk(void **state)
{
	(void)state;
	sparse_files_are_refused("/var/tmp");
}

/* ---- Descriptors ---- */

/* Neither a refusal nor a check leaves a descriptor open. */
static void only_an_accepted_file_stays_open(void **state)
{
	(void)state;
	make_file("file");
	struct held before = held_now();
	for (int i = 0; i < 3; i++) {
		is_accepted("file", NO_PROCESS);
		int fd = weft_source_open_ring(entry("file"), NO_PROCESS, WEFT_RING_WRITE, &check);
		assert_int_equal(fd, before.file == fd ? fd : before.file + 1); /* the second of two */
		close(fd);
	}
	held_expect(before);
}

/* ---- Owners ---- */

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("# not tried: only root can make files of other users\n");
	return false;
}

static void make_others_file(uid_t owner)
{
	make_file("file");
	assert_int_equal(chown(entry("file"), owner, (gid_t)-1), 0);
}

/* A process with these user ids, which waits until it is killed. */
static pid_t start_process(uid_t real, uid_t effective, uid_t saved, uid_t file_system)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		bool is_set = setresuid(real, effective, saved) == 0;
		setfsuid(file_system);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
		if (is_set && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void users_refuse_files_of_others(void **state)
{
	(void)state;
	if (!is_root())
		return;
	make_file("file");
	assert_int_equal(chmod(directory, 0755), 0);
	assert_int_equal(symlink(entry("file"), entry("entry")), 0);
	assert_int_equal(seteuid(OTHER_USER), 0);
	bool is_file = is_accepted("file", NO_PROCESS);
	char reason[sizeof(check.reason)];
	strcpy(reason, check.reason);
	bool is_link = is_accepted("entry", NO_PROCESS);
	assert_int_equal(seteuid(0), 0);
	assert_false(is_file || is_link || check.is_ours);
	assert_string_equal(reason, "it belongs to user 0");
	assert_string_equal(check.reason, "it is a symbolic link, not a regular file");
}

static void root_accepts_files_of_a_process_that_has_ended(void **state)
{
	(void)state;
	if (!is_root())
		return;
	make_others_file(OTHER_USER);
	assert_true(is_accepted("file", NO_PROCESS));
	assert_false(check.is_ours || check.has_process);
}

/* A set-user-id program has several user ids, and each may own the file. */
static void root_accepts_files_of_the_user_of_a_running_process(void **state)
{
	(void)state;
	if (!is_root())
		return;
	pid_t pid = start_process(OTHER_USER, 0, OTHER_USER + 1, OTHER_USER + 2);
	make_file("file");
	for (uid_t user = OTHER_USER; user < OTHER_USER + 3; user++) {
		assert_int_equal(chown(entry("file"), user, (gid_t)-1), 0);
		assert_true(is_accepted("file", pid));
		assert_true(check.has_process);
		assert_false(check.is_ours);
	}
	assert_int_equal(chown(entry("file"), OTHER_USER + 3, (gid_t)-1), 0);
	assert_false(is_accepted("file", pid));
	end_process(pid);
}

/* Process numbers are reused: the file may be that of an earlier process. */
static void root_accepts_files_that_are_older_than_the_process(void **state)
{
	(void)state;
	if (!is_root())
		return;
	char reason[128];
	pid_t before = start_process(0, 1, 0, 1);
	let_pass_us(50000); /* the kernel counts starts in ticks */
	make_others_file(OTHER_USER);
	let_pass_us(50000); /* the kernel counts starts in ticks */
	pid_t after = start_process(0, 1, 0, 1);
	struct held before_check = held_now();
	bool is_older = is_accepted("file", after);
	held_expect(before_check);
	assert_false(check.has_process);
	end_process(after);
	snprintf(
		reason, sizeof(reason), "it belongs to user 12345, but process %d to user 1", (int)before);
	expect_refused(entry("file"), before, reason);
	end_process(before);
	assert_true(is_older);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(a_file_of_ours_is_opened),
		WITH_DIRECTORY(a_file_that_may_not_be_written_is_read),
		WITH_DIRECTORY(entries_of_other_kinds_are_refused),
		WITH_DIRECTORY(one_link_of_ours_is_followed),
		WITH_DIRECTORY(a_path_that_is_too_long_is_refused),
		WITH_DIRECTORY(a_file_that_is_replaced_meanwhile_is_not_opened),
		WITH_DIRECTORY(without_proc_the_same_file_is_opened_for_writing),
		cmocka_unit_test(no_holes_in_memory),
		cmocka_unit_test(few_holes_on_a_disk),
		WITH_DIRECTORY(only_an_accepted_file_stays_open),
		WITH_DIRECTORY(users_refuse_files_of_others),
		WITH_DIRECTORY(root_accepts_files_of_a_process_that_has_ended),
		WITH_DIRECTORY(root_accepts_files_of_the_user_of_a_running_process),
		WITH_DIRECTORY(root_accepts_files_that_are_older_than_the_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
