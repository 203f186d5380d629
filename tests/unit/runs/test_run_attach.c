/* SPDX-License-Identifier: ISC
 *
 * Requests to a linked process, which is this one: it maps a page and answers in it. The page is
 * found by its name, size and kind of file, each reason not to record is reported, and the run
 * directory that it names is used only if it is one.
 */
#include "run_directory.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "abi/attach_abi.h"
#include "abi/counter_abi.h"
#include "nothing_left.h"
#include "runs/attach/answered.h"
#include "runs/attach/attach.h"
#include "runs/attach/page.h"

#define FILE_BYTES (WEFT_ABI_ATTACH_BYTES + WEFT_ABI_COUNTERS_BYTES)

#define LEASE_NS 2000000000u

static struct place place;
static struct weft_abi_attach *page;
static int page_fd;

/* ---- The page ---- */

static void make_page(const char *name, size_t size)
{
	page_fd = memfd_create(name, MFD_CLOEXEC);
	assert_return_code(page_fd, errno);
	assert_return_code(ftruncate(page_fd, (off_t)size), errno);
	page = mmap(NULL, WEFT_ABI_ATTACH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	assert_true(page != MAP_FAILED);
}

static void make_good_page(void)
{
	make_page(WEFT_ABI_ATTACH_NAME, FILE_BYTES);
	memcpy(page->magic, WEFT_ABI_ATTACH_MAGIC, sizeof(page->magic));
	page->version = WEFT_ABI_ATTACH_VERSION;
	page->owner = (uint32_t)getpid();
	page->number = page->answered = 41;
}

static int begin(void **state)
{
	(void)state;
	place = place_make();
	page = NULL;
	page_fd = -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (page)
		munmap(page, WEFT_ABI_ATTACH_BYTES);
	if (page_fd >= 0)
		close(page_fd);
	place_remove(&place);
	return 0;
}

static void a_process_without_a_page(void **state)
{
	(void)state;
	assert_false(weft__runs_has_page(getpid()));
	assert_int_equal(weft__runs_page_open(getpid()), -1);
	assert_int_equal(errno, ENOENT);
	make_page(WEFT_ABI_ATTACH_NAME "2", FILE_BYTES);
	assert_false(weft__runs_has_page(getpid()));
}

static void the_page_that_is_opened_is_the_mapped_one(void **state)
{
	(void)state;
	/* Another file of this name, which is opened earlier and is not mapped. */
	int other = memfd_create(WEFT_ABI_ATTACH_NAME, MFD_CLOEXEC);
	assert_return_code(ftruncate(other, FILE_BYTES), errno);
	make_good_page();
	assert_true(weft__runs_has_page(getpid()));
	int fd = weft__runs_page_open(getpid());
	assert_return_code(fd, errno);
	char byte = 7;
	assert_int_equal(pwrite(fd, &byte, 1, offsetof(struct weft_abi_attach, level)), 1);
	assert_int_equal(page->level, 7);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	close(other);
}

static void a_page_of_another_size_is_refused(void **state)
{
	(void)state;
	make_page(WEFT_ABI_ATTACH_NAME, FILE_BYTES + 1);
	assert_true(weft__runs_has_page(getpid()));
	assert_int_equal(weft__runs_page_open(getpid()), -1);
	assert_int_equal(errno, ENOENT);
}

/* A process without root's privileges cannot open mappings, only descriptors. */
static void a_page_without_privileges(void **state)
{
	(void)state;
	int status;
	make_good_page();
	pid_t child = fork();
	if (child == 0) {
		bool is_other = (geteuid() != 0 || setuid(12345) == 0) && prctl(PR_SET_DUMPABLE, 1) == 0;
		int fd = weft__runs_page_open(getpid());
		close(fd);
		close(page_fd);
		_exit(!is_other || fd < 0 || weft__runs_page_open(getpid()) >= 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void opening_leaves_nothing_behind(void **state)
{
	(void)state;
	struct held before = {0};
	make_good_page();
	for (int round = 0; round <= HELD_ROUNDS; round++) {
		if (round == 1)
			before = held_now();
		close(weft__runs_page_open(getpid()));
	}
	held_expect(before);
}

/* Only root may open a process's mappings. */
static void a_page_without_a_descriptor(void **state)
{
	(void)state;
	make_good_page();
	close(page_fd);
	page_fd = -1;
	int fd = weft__runs_page_open(getpid());
	if (geteuid() == 0)
		assert_return_code(fd, errno);
	else
		assert_int_equal(fd, -1);
	if (fd >= 0)
		close(fd);
}

static void processes_with_a_page_are_listed_by_number(void **state)
{
	(void)state;
	int ready[2];
	char byte;
	make_good_page();
	assert_return_code(pipe(ready), errno);
	pid_t child = fork();
	if (child == 0) { /* it has the page, too, as long as nobody closes the pipe */
		close(ready[1]);
		_exit(read(ready[0], &byte, 1) != 0);
	}
	struct weft__runs_linked_list linked;
	struct held before = held_now();
	assert_true(weft__runs_linked_find(&linked));
	assert_int_equal(held_now().file, before.file);
	const struct weft__runs_linked *own = NULL, *childs = NULL;
	for (size_t i = 0; i < linked.count; i++) {
		own = linked.list[i].pid == getpid() ? &linked.list[i] : own;
		childs = linked.list[i].pid == child ? &linked.list[i] : childs;
		assert_true(i == 0 || linked.list[i - 1].pid < linked.list[i].pid);
	}
	assert_true(own && childs);
	assert_string_equal(own->program, "test_run_attach");
	uint64_t now = (uint64_t)time(NULL) * 1000000000;
	assert_in_range(childs->started_unix_ns, now - 60000000000, now + 2000000000);
	weft__runs_linked_finish(&linked);
	assert_int_equal(linked.count, 0);
	close(ready[1]);
	close(ready[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* ---- Requests ---- */

static const char *answer;      /* the reason; NULL: none for now */
static char answered[1024];     /* the run directory */
static char attached[PATH_MAX]; /* the path by which the library reaches it */
static unsigned asked;          /* how often the caller was asked whether it goes on */
static unsigned gives_up;       /* the turn at which it does not; 0: never */

static bool goes_on(void *context)
{
	assert_ptr_equal(context, &asked);
	if (asked++ == 0)
		assert_true(page->until_unix_ns > (uint64_t)time(NULL) * 1000000000);
	if (answer) {
		memcpy(page->reason, answer, strlen(answer) + 1);
		memcpy(page->directory, answered, sizeof(answered));
		page->answered = page->number;
	}
	return asked != gives_up;
}

/* Makes a run directory in a folder called `folder`. */
static void make_run(const char *folder)
{
	char path[sizeof(place.path) + 16];
	snprintf(path, sizeof(path), "%s%s", place.path, folder);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	snprintf(answered, sizeof(answered), "%.900s%s/record-abcdef/", place.path, folder);
	assert_true(mkdir(answered, 0700) == 0 || errno == EEXIST);
}

static bool attach(pid_t *ret_pid)
{
	const struct weft__runs_attach_options options = {
		.pid = getpid(), .size_bytes = 123456, .goes_on = goes_on, .context = &asked};
	asked = 0;
	attached[0] = '\0';
	return weft__runs_attach(&options, attached, ret_pid);
}

static void fails_with(const char *reason)
{
	pid_t pid = -5;
	reported[0] = '\0';
	assert_false(attach(&pid));
	assert_int_equal(pid, -5);
	if (!strstr(reported, reason))
		fail_msg("%s is not in %s", reason, reported);
}

static void an_answered_request(void **state)
{
	(void)state;
	pid_t pid = 0;
	make_good_page();
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	page->reserved4[0] = 0x5a;
	answer = "";
	gives_up = 0;
	make_run("weft");
	struct held before = held_now();
	assert_true(attach(&pid));
	assert_int_equal(held_now().file, before.file + 1); /* the directory's lock */
	assert_int_equal(pid, getpid());
	assert_int_equal(asked, 1);
	assert_string_equal(reported, "");
	assert_int_equal(page->number, 42);
	assert_int_equal(page->ring_bytes, 123456);
	assert_string_equal(attached, answered);
	assert_int_equal(page->level, 0);
	assert_int_equal(page->reserved4[0], 0x5a);
	uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	assert_in_range(page->until_unix_ns, ns + LEASE_NS, ns + LEASE_NS + 60000000000);
	/* The lock is free again. */
	assert_return_code(flock(page_fd, LOCK_EX | LOCK_NB), errno);
}

static void a_refused_request(void **state)
{
	(void)state;
	make_good_page();
	answer = "the disk is full";
	gives_up = 0;
	fails_with("does not record: \"the disk is full\"");
	assert_int_equal(page->level, 0);
	/* Its last byte may lack a NUL. */
	static char reason[sizeof(page->reason) + 1];
	memset(reason, 'x', sizeof(reason) - 1);
	answer = reason;
	fails_with("does not record: xxx");
	assert_int_equal(strlen(strstr(reported, "xxx")), sizeof(page->reason) - 1 + strlen("\n"));
}

static void a_caller_that_gives_up(void **state)
{
	(void)state;
	make_good_page();
	answer = NULL;
	gives_up = 3;
	fails_with("has made no recording call yet; nothing is recorded");
	assert_int_equal(asked, 3);
	assert_int_equal(page->level, 0);
	assert_null(strstr(reported, "Ctrl-C"));
	gives_up = 100;
	fails_with("has made no recording call yet");
	assert_null(strstr(reported, "Ctrl-C"));
	gives_up = 102;
	fails_with("waiting for the next recording call");
	assert_null(strstr(strstr(reported, "Ctrl-C") + 1, "Ctrl-C"));
}

/* Asked for as long as the caller waits, not for two seconds after the first turn. */
static void a_request_is_renewed(void **state)
{
	(void)state;
	make_good_page();
	page->until_unix_ns = 0;
	answer = NULL;
	gives_up = 30;
	struct timespec now;
	fails_with("nothing is recorded");
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	assert_true(page->until_unix_ns > ns + LEASE_NS - 250000000);
}

static void pages_that_take_no_request(void **state)
{
	(void)state;
	gives_up = 1;
	fails_with("is this weft itself");
	make_good_page();
	page->version++;
	fails_with("another version of libweft");
	page->version--;
	page->magic[7] ^= 1;
	fails_with("the page for requests is damaged");
	page->magic[7] ^= 1;
	page->owner++;
	fails_with("has no page for requests of its own");
	page->owner--;
	int other = weft__runs_page_open(getpid());
	assert_return_code(flock(other, LOCK_EX | LOCK_NB), errno);
	fails_with("is asked by another weft just now");
	close(other);
	assert_int_equal(page->number, 41);
	assert_int_equal(asked, 0);
}

/* ---- The run directory ---- */

static void directories_that_are_none(void **state)
{
	(void)state;
	static const char *const names[] = {"", "/", "//", "/record-a/", "weft/record-a/",
		"/weft/record-a", "/weft/record-/", "/weft/records-a/", "/left/record-a/",
		"/weft-/record-a/", "/x/record-a/weft/", "/weft/record-a/../../etc/"};
	char directory[PATH_MAX] = "as before";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		reported[0] = '\0';
		assert_false(weft__runs_answered_open(getpid(), geteuid(), names[i], directory));
		assert_non_null(strstr(reported, "is not a run directory"));
	}
	make_good_page();
	answer = "";
	gives_up = 0;
	memset(answered, 'd', sizeof(answered)); /* without a NUL */
	fails_with("is not a run directory");
	assert_string_equal(directory, "as before");
}

static void opens(const char *named)
{
	char directory[PATH_MAX];
	reported[0] = '\0';
	if (!weft__runs_answered_open(getpid(), geteuid(), named, directory))
		fail_msg("%s: %s", named, reported);
	assert_string_equal(directory, named);
}

static void refuses(const char *named, const char *reason)
{
	char directory[PATH_MAX] = "as before";
	reported[0] = '\0';
	struct held before = held_now();
	assert_false(weft__runs_answered_open(getpid(), geteuid(), named, directory));
	assert_string_equal(directory, "as before");
	assert_int_equal(held_now().file, before.file);
	if (!strstr(reported, reason))
		fail_msg("%s is not in %s", reason, reported);
}

static void a_run_directory_is_the_users_alone(void **state)
{
	(void)state;
	char folder[PATH_MAX], missing[PATH_MAX];
	make_run("weft-7");
	opens(answered);
	make_run("weft");
	opens(answered);
	snprintf(folder, sizeof(folder), "%sweft", place.path);
	chmod(folder, 0770);
	refuses(answered, "does not belong to its user");
	chmod(folder, 0702);
	refuses(answered, "does not belong to its user");
	chmod(folder, 0711);
	opens(answered);
	chmod(answered, 0777);
	refuses(answered, "does not belong to its user");
	chmod(answered, 01733); /* as root's are */
	if (geteuid() == 0)
		opens(answered);
	else
		refuses(answered, "does not belong to its user");
	snprintf(missing, sizeof(missing), "%sweft/record-missing/", place.path);
	refuses(missing, "No such file or directory");
}

static void links_are_not_followed(void **state)
{
	(void)state;
	char link[PATH_MAX], path[PATH_MAX];
	make_run("weft");
	snprintf(link, sizeof(link), "%sweft-1", place.path);
	assert_return_code(symlink("weft", link), errno);
	snprintf(path, sizeof(path), "%sweft-1/record-abcdef/", place.path);
	refuses(path, "links are not followed");
	snprintf(link, sizeof(link), "%sweft/record-link", place.path);
	assert_return_code(symlink("record-abcdef", link), errno);
	snprintf(path, sizeof(path), "%sweft/record-link/", place.path);
	refuses(path, "links are not followed");
	/* A link further up is the user's own. */
	snprintf(link, sizeof(link), "%slinked", place.path);
	assert_return_code(symlink(".", link), errno);
	snprintf(path, sizeof(path), "%slinked/weft/record-abcdef/", place.path);
	opens(path);
}

/* Entries are reached and removed in the directory that was opened, whatever takes its place. */
static void the_directory_of_another_user_stays_the_same(void **state)
{
	(void)state;
	char directory[PATH_MAX], path[PATH_MAX + 16], moved[PATH_MAX];
	struct stat status;
	if (geteuid() != 0) {
		skip();
		return;
	}
	make_run("weft");
	snprintf(path, sizeof(path), "%sweft", place.path);
	assert_return_code(chown(path, 65534, 65534), errno);
	assert_false(weft__runs_answered_open(getpid(), 65534, answered, directory));
	assert_return_code(chown(answered, 65534, 65534), errno);
	assert_false(weft__runs_answered_open(getpid(), 0, answered, directory));
	assert_true(weft__runs_answered_open(getpid(), 65534, answered, directory));
	assert_string_not_equal(directory, answered);
	snprintf(moved, sizeof(moved), "%sweft/record-moved", place.path);
	answered[strlen(answered) - 1] = '\0';
	assert_return_code(rename(answered, moved), errno);
	assert_return_code(symlink("/", answered), errno);
	snprintf(path, sizeof(path), "%sfile", directory);
	assert_return_code(close(open(path, O_CREAT | O_WRONLY, 0600)), errno);
	snprintf(path, sizeof(path), "%s/file", moved);
	assert_return_code(stat(path, &status), errno);
	assert_return_code(unlink(path), errno);
	weft__runs_answered_remove(directory);
	assert_return_code(lstat(answered, &status), errno); /* the link is no directory */
	assert_return_code(unlink(answered), errno);
	assert_return_code(rename(moved, answered), errno);
	weft__runs_answered_remove(directory);
	assert_int_equal(lstat(answered, &status), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_without_a_page, begin, end),
		cmocka_unit_test_setup_teardown(the_page_that_is_opened_is_the_mapped_one, begin, end),
		cmocka_unit_test_setup_teardown(a_page_of_another_size_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(a_page_without_a_descriptor, begin, end),
		cmocka_unit_test_setup_teardown(a_page_without_privileges, begin, end),
		cmocka_unit_test_setup_teardown(opening_leaves_nothing_behind, begin, end),
		cmocka_unit_test_setup_teardown(processes_with_a_page_are_listed_by_number, begin, end),
		cmocka_unit_test_setup_teardown(an_answered_request, begin, end),
		cmocka_unit_test_setup_teardown(a_refused_request, begin, end),
		cmocka_unit_test_setup_teardown(a_caller_that_gives_up, begin, end),
		cmocka_unit_test_setup_teardown(a_request_is_renewed, begin, end),
		cmocka_unit_test_setup_teardown(pages_that_take_no_request, begin, end),
		cmocka_unit_test_setup_teardown(directories_that_are_none, begin, end),
		cmocka_unit_test_setup_teardown(a_run_directory_is_the_users_alone, begin, end),
		cmocka_unit_test_setup_teardown(links_are_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(the_directory_of_another_user_stays_the_same, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
