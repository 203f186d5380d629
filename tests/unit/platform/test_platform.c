/* SPDX-License-Identifier: ISC
 *
 * Linux: recording as the environment says, in child processes that execute this program again.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "abi/buffer_abi.h"
#include "abi/category_abi.h"
#include "platform/linux.h"
#include "record/recorder.h"
#include "run_directory.h"

/* ---- The child ---- */

static int exec_again(const char *task)
{
	execl("/proc/self/exe", "prog", task, (char *)NULL);
	return 90;
}

/* A child of the child, which gets a buffer at its first event. */
static int fork_once(void)
{
	int status;
	uint64_t task = weft_create(WEFT_KIND_TASK);
	pid_t child = fork();
	if (child == 0)
		_exit(weft_create(WEFT_KIND_TASK) <= task);
	return waitpid(child, &status, 0) == child ? status : 91;
}

/* Moves its run directory away, so that its child can make no ring, and cannot report that there.
 */
static int move_and_fork(const char *directory)
{
	char moved[PATH_MAX];
	snprintf(moved, sizeof(moved), "%.*s-moved", (int)strlen(directory) - 1, directory);
	return rename(directory, moved) ? 97 : fork_once();
}

/* Shortens its own ring, and goes on. */
static int lose_ring(const char *path)
{
	if (truncate(path, 4096))
		return 92;
	for (int i = 0; i < 10000; i++)
		weft_create(WEFT_KIND_TASK);
	return weft_is_recording();
}

/* A SIGBUS that has another cause ends the process, as without the guard. */
static int send_sigbus(void)
{
	struct sigaction guard;
	sigaction(SIGBUS, NULL, &guard);
	if (guard.sa_flags & SA_SIGINFO) /* else there is no guard */
		raise(SIGBUS);
	return 93;
}

static int act(const char *task, const char *path)
{
	if (strcmp(task, "exec") == 0)
		return exec_again("quiet");
	if (strcmp(task, "fork") == 0)
		return fork_once();
	if (strcmp(task, "move") == 0)
		return move_and_fork(path);
	if (strcmp(task, "lose") == 0)
		return lose_ring(path);
	if (strcmp(task, "sigbus") == 0)
		return send_sigbus();
	return 0;
}

/* ---- The parent ---- */

#define SETTINGS_MAX 8

struct child {
	const char *settings[SETTINGS_MAX]; /* NAME=VALUE */
	const char *task, *argument;        /* NULL: it does nothing */
	const char *directory;              /* where it begins; NULL: here */
	uint64_t file_bytes;                /* 0: no limit */
	pid_t pid;
};

static void become_child(const struct child *child)
{
	char *environment[SETTINGS_MAX + 2] = {(char *)"ASAN_OPTIONS=handle_sigbus=0:detect_leaks=0"};
	char *arguments[] = {(char *)"/a/path/prog", (char *)(child->task ? child->task : "quiet"),
		(char *)child->argument, NULL};
	struct rlimit limit = {child->file_bytes, child->file_bytes};
	for (unsigned i = 0; i < SETTINGS_MAX && child->settings[i]; i++)
		environment[i + 1] = (char *)child->settings[i];
	if (child->file_bytes)
		setrlimit(RLIMIT_FSIZE, &limit);
	if (child->directory && chdir(child->directory))
		_exit(95);
	execve("/proc/self/exe", arguments, environment);
	_exit(96);
}

/* Returns the child's status. */
static int run(struct child *child)
{
	int status;
	child->pid = fork();
	if (child->pid == 0)
		become_child(child);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	return status;
}

static const char *setting(const char *name, const char *value)
{
	static char texts[8][2 * PATH_MAX];
	static unsigned next;
	char *text = texts[next++ % 8];
	snprintf(text, 2 * PATH_MAX, "%s=%s", name, value);
	return text;
}

/* PROG-PID and a suffix; valid until the next call. */
static const char *named(const struct child *child, const char *suffix)
{
	static char name[64];
	snprintf(name, sizeof(name), "prog-%d%s", (int)child->pid, suffix);
	return name;
}

static struct weft_abi_buffer read_header(const struct place *place, const char *name)
{
	struct weft_abi_buffer header;
	FILE *file = fopen(in_place(place, name), "re");
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	fclose(file);
	return header;
}

static void assert_link(const struct place *place, const char *name, const char *target)
{
	char text[PATH_MAX] = "";
	assert_true(readlink(in_place(place, name), text, sizeof(text) - 1) > 0);
	assert_string_equal(text, target);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	return size == 0;
}

static bool has_steady_counter(void)
{
	char line[4096];
	bool is_found = false;
	FILE *file = fopen("/proc/cpuinfo", "re");
	assert_non_null(file);
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = strstr(line, " nonstop_tsc") != NULL;
	fclose(file);
	return is_found;
}

static void the_header_describes_the_process(void **state)
{
	struct place place = place_make();
	struct child child = {.settings = {setting("WEFT_OUT", place.path), "WEFT_SIZE=64K"}};
	char host[64] = "", boot[40] = "", hex[40] = "";
	size_t used = 0;
	(void)state;
	assert_int_equal(run(&child), 0);
	struct weft_abi_buffer h = read_header(&place, named(&child, ".weft"));
	assert_memory_equal(h.magic, WEFT_ABI_MAGIC, 8);
	assert_int_equal(h.pid, child.pid);
	assert_string_equal(h.program, "prog");
	assert_memory_equal(h.command, "/a/path/prog\0quiet\0", 20);
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(h.host, host);
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	assert_non_null(file);
	assert_non_null(fgets(boot, sizeof(boot), file));
	fclose(file);
	for (unsigned i = 0; i < 16; i++)
		used += (size_t)snprintf(hex + used, sizeof(hex) - used,
			i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", h.boot_id[i]);
	assert_memory_equal(hex, boot, 36);
	assert_false(is_zero(h.uuid, sizeof(h.uuid)));
	assert_true(h.second.monotonic_ns - h.start.monotonic_ns >= 500000);
	assert_true(h.second.ticks > h.start.ticks && h.end.ticks > h.second.ticks);
	assert_true(h.start.unix_ns > UINT64_C(1600000000000000000));
	assert_int_equal(h.buffer_bytes, 65536);
	if (has_steady_counter())
		assert_int_equal(h.clock, WEFT_ABI_CLOCK_TSC);
	assert_int_equal(h.clock == WEFT_ABI_CLOCK_MONOTONIC, h.start.ticks == h.start.monotonic_ns);
	place_remove(&place);
}

static void sizes_have_units(void **state)
{
	static const struct {
		const char *size;
		uint64_t bytes; /* 0: not a size */
	} cases[] = {{"WEFT_SIZE=65536", 65536}, {"WEFT_SIZE=65535", 0}, {"WEFT_SIZE=64K", 65536},
		{"WEFT_SIZE=65k", 66560}, {"WEFT_SIZE=1M", 1 << 20}, {"WEFT_SIZE=1m", 1 << 20},
		{"WEFT_SIZE=", 16 << 20}, {"WEFT_SIZE=64Q", 0}, {"WEFT_SIZE=64KK", 0}, {"WEFT_SIZE=-1", 0},
		{"WEFT_SIZE= 64K", 0}, {"WEFT_SIZE=K", 0}, {"WEFT_SIZE=17179869184G", 0},
		{"WEFT_SIZE=18446744073709551616", 0}};
	struct place place = place_make();
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct child child = {.settings = {setting("WEFT_OUT", place.path), cases[i].size}};
		struct stat status;
		assert_int_equal(run(&child), 0);
		if (cases[i].bytes == 0) {
			assert_link(&place, named(&child, ".failed"), "WEFT_SIZE: not a size of at least 64K");
			assert_false(place_has(&place, named(&child, ".weft")));
			continue;
		}
		assert_int_equal(stat(in_place(&place, named(&child, ".weft")), &status), 0);
		assert_int_equal(status.st_size, cases[i].bytes);
	}
	place_remove(&place);
}

static void a_gigabyte_has_thirty_bits(void **state)
{
	struct place place = place_make();
	struct child child = {
		.settings = {setting("WEFT_OUT", place.path), "WEFT_SIZE=4g"}, .file_bytes = 1 << 20};
	(void)state;
	assert_int_equal(run(&child), 0);
	assert_link(&place, named(&child, ".failed"), "allocate: File too large");
	assert_false(place_has(&place, named(&child, ".weft")));
	place_remove(&place);
}

static void a_file_is_recorded_into_unless_it_exists(void **state)
{
	struct place place = place_make();
	struct child child = {
		.settings = {"WEFT_OUT=ring.weft", "WEFT_SIZE=64K"}, .directory = place.path};
	(void)state;
	assert_int_equal(run(&child), 0);
	assert_int_equal(read_header(&place, "ring.weft").pid, child.pid);
	assert_int_equal(run(&child), 0);
	assert_int_not_equal(read_header(&place, "ring.weft").pid, child.pid);
	place_remove(&place);
}

/* A directory needs no slash if it exists. */
static void each_program_of_a_process_has_a_ring(void **state)
{
	struct place place = place_make();
	struct child child = {
		.settings = {"WEFT_OUT=.", "WEFT_SIZE=64K"}, .directory = place.path, .task = "exec"};
	(void)state;
	assert_int_equal(run(&child), 0);
	assert_int_equal(read_header(&place, named(&child, ".weft")).pid, child.pid);
	struct weft_abi_buffer second = read_header(&place, named(&child, ".2.weft"));
	assert_int_equal(second.pid, child.pid);
	assert_memory_equal(second.command, "prog\0quiet", 11);
	assert_false(place_has(&place, named(&child, ".3.weft")));
	place_remove(&place);
}

/* Counts the entries with a suffix; finds one that is not of the child itself. */
static unsigned count_entries(
	const struct place *place, const char *suffix, const char *except, char *ret_other)
{
	char command[PATH_MAX + 64];
	unsigned count = 0;
	char line[PATH_MAX];
	snprintf(command, sizeof(command), "ls %s", place->path);
	FILE *list = popen(command, "re");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		size_t length = strlen(line);
		if (length < strlen(suffix) || strcmp(line + length - strlen(suffix), suffix) != 0)
			continue;
		count++;
		if (strcmp(line, except) != 0)
			strcpy(ret_other, line);
	}
	pclose(list);
	return count;
}

static void a_forked_child_has_a_ring_and_other_ids(void **state)
{
	struct place place = place_make();
	struct child child = {
		.settings = {setting("WEFT_OUT", place.path), "WEFT_SIZE=64K"}, .task = "fork"};
	char other[PATH_MAX] = "";
	(void)state;
	assert_int_equal(run(&child), 0);
	assert_int_equal(count_entries(&place, ".weft", named(&child, ".weft"), other), 2);
	struct weft_abi_buffer header = read_header(&place, other);
	assert_int_not_equal(header.pid, child.pid);
	assert_true(header.hand > 0);
	assert_true(header.next_task > read_header(&place, named(&child, ".weft")).next_task);
	place_remove(&place);
}

static void a_child_without_a_ring_is_reported_to_its_parent(void **state)
{
	struct place place = place_make(), moved;
	struct child child = {.task = "move", .argument = place.path};
	(void)state;
	child.settings[0] = setting("WEFT_OUT", place.path);
	child.settings[1] = "WEFT_SIZE=64K";
	assert_int_equal(run(&child), 0);
	snprintf(
		moved.path, sizeof(moved.path), "%.*s-moved/", (int)strlen(place.path) - 1, place.path);
	struct weft_abi_buffer header = read_header(&moved, named(&child, ".weft"));
	assert_int_equal(header.refused_count, 1);
	assert_true((uint32_t)header.refused[0] > 0);
	assert_int_not_equal((uint32_t)header.refused[0], child.pid);
	assert_int_equal(header.refused[0] >> 32 & 0xffff, ENOENT);
	assert_int_equal(header.refused[0] >> 48, WEFT_ABI_STEP_CREATE);
	place_remove(&moved);
}

/* As many children of the next ring have no ring: those are others. */
static void a_second_ring_is_told_of_its_own_children(void **state)
{
	const size_t size = 64 << 10;
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;
	assert_true(ring != MAP_FAILED);
	for (uint64_t round = 1; round <= 2; round++) {
		struct weft_abi_buffer header = {.refused_count = 0};
		weft__platform_children_keep_off(ring, size);
		weft__platform_children_refuse(100 * round);
		weft__platform_children_collect(&header);
		assert_int_equal(header.refused_count, 1);
		assert_int_equal(header.refused[0], 100 * round);
	}
	weft__platform_children_keep_off(NULL, 0);
	munmap(ring, size);
}

/* The first ring of a file is the file; later ones have the process in their names. The directory
 * has links to them. */
static void rings_in_place_are_linked(void **state)
{
	struct place place = place_make(), files = place_make();
	char file[PATH_MAX], target[PATH_MAX], other[64];
	struct child child = {.task = "exec"};
	(void)state;
	snprintf(file, sizeof(file), "%sout.x.weft", files.path);
	child.settings[0] = setting("WEFT_OUT", place.path);
	child.settings[1] = setting("WEFT_IN_PLACE", file);
	child.settings[2] = "WEFT_SIZE=64K";
	assert_int_equal(run(&child), 0);
	assert_link(&place, named(&child, ".weft"), file);
	snprintf(target, sizeof(target), "%sout.x-%d.weft", files.path, (int)child.pid);
	snprintf(other, sizeof(other), "out.x-%d.weft", (int)child.pid);
	assert_link(&place, named(&child, ".2.weft"), target);
	assert_int_equal(read_header(&files, "out.x.weft").pid, child.pid);
	assert_int_equal(read_header(&files, other).pid, child.pid);
	child.settings[1] = setting("WEFT_IN_PLACE", files.path);
	assert_int_equal(run(&child), 0);
	snprintf(target, sizeof(target), "%sprog-%d.2.weft", files.path, (int)child.pid);
	assert_link(&place, named(&child, ".2.weft"), target);
	assert_int_equal(read_header(&files, named(&child, ".weft")).pid, child.pid);
	place_remove(&place);
	place_remove(&files);
}

static void a_shortened_ring_does_not_end_the_program(void **state)
{
	struct place place = place_make(), files = place_make();
	char file[PATH_MAX], reason[2 * PATH_MAX];
	struct child child = {.task = "lose", .argument = file};
	(void)state;
	snprintf(file, sizeof(file), "%sring", files.path);
	child.settings[0] = setting("WEFT_OUT", place.path);
	child.settings[1] = setting("WEFT_IN_PLACE", file);
	child.settings[2] = "WEFT_SIZE=64K";
	assert_int_equal(run(&child), 0);
	snprintf(reason, sizeof(reason), "%s: the file was shortened", file);
	assert_link(&place, named(&child, ".failed"), reason);
	struct weft_abi_buffer header = read_header(&files, "ring");
	assert_int_equal(header.stop_reason, EIO);
	assert_int_equal(header.stopped, 1);
	child.task = "sigbus";
	unlink(file);
	int status = run(&child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	place_remove(&place);
	place_remove(&files);
}

static void put_words(const struct place *place, const uint64_t *words, size_t count)
{
	FILE *file = fopen(in_place(place, "total"), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(words, sizeof(*words), count, file), count);
	fclose(file);
}

/* Rings that did not fit take nothing from the limit. */
static void rings_of_a_run_have_a_common_limit(void **state)
{
	static const struct {
		uint64_t limit;
		bool fits;
	} cases[] = {{200000, true}, {65536 + 65536, true}, {65536 + 65535, false}, {65536, false}};
	struct place place = place_make();
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t words[] = {cases[i].limit, 65536, 1 << 20};
		struct child child = {.settings = {setting("WEFT_OUT", place.path), "WEFT_SIZE=64K"}};
		put_words(&place, words, 3);
		assert_int_equal(run(&child), 0);
		assert_int_equal(place_has(&place, named(&child, ".weft")), cases[i].fits);
		if (!cases[i].fits)
			assert_link(&place, named(&child, ".failed"),
				"--total: the run's other processes use all of it");
	}
	place_remove(&place);
}

/* The limit counts beyond the entries that are read at once. */
static void many_rings_have_a_common_limit(void **state)
{
	struct place place = place_make();
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		uint64_t words[200] = {199 * 65536 + 65535 + more};
		struct child child = {.settings = {setting("WEFT_OUT", place.path), "WEFT_SIZE=64K"}};
		for (unsigned i = 1; i < 200; i++)
			words[i] = 65536;
		put_words(&place, words, 200);
		assert_int_equal(run(&child), 0);
		assert_int_equal(place_has(&place, named(&child, ".weft")), more);
	}
	place_remove(&place);
}

static struct weft_abi_buffer header_with(
	const struct place *place, struct child *child, const char *level, const char *categories)
{
	*child = (struct child){
		.settings = {setting("WEFT_OUT", place->path), "WEFT_SIZE=64K", level, categories}};
	assert_int_equal(run(child), 0);
	return read_header(place, named(child, ".weft"));
}

static void the_environment_sets_levels(void **state)
{
	struct place place = place_make();
	struct child child;
	(void)state;
	assert_int_equal(header_with(&place, &child, NULL, NULL).levels[0], WEFT_LEVEL_INFO);
	assert_int_equal(header_with(&place, &child, "WEFT_LEVEL=", NULL).levels[0], WEFT_LEVEL_INFO);
	assert_int_equal(
		header_with(&place, &child, "WEFT_LEVEL=trace", NULL).levels[0], WEFT_LEVEL_TRACE);
	assert_int_equal(header_with(&place, &child, "WEFT_LEVEL=off", NULL).levels[0], WEFT_LEVEL_OFF);
	assert_false(place_has(&place, named(&child, ".failed")));
	assert_int_equal(
		header_with(&place, &child, "WEFT_LEVEL=tracer", NULL).levels[0], WEFT_LEVEL_INFO);
	assert_link(&place, named(&child, ".failed"),
		"WEFT_LEVEL: not a level: off, error, warning, info, debug, trace or count");
	place_remove(&place);
}

static void the_environment_sets_levels_of_categories(void **state)
{
	struct place place = place_make();
	struct child child;
	char longest[300] = "WEFT_CATEGORIES=";
	(void)state;
	assert_int_equal(
		header_with(&place, &child, "WEFT_LEVEL=error", "WEFT_CATEGORIES=net=trace,,prog*=debug")
			.levels[0],
		WEFT_LEVEL_DEBUG);
	assert_false(place_has(&place, named(&child, ".failed")));
	assert_int_equal(
		header_with(&place, &child, "WEFT_LEVEL=error", "WEFT_CATEGORIES=program,program=info")
			.levels[0],
		WEFT_LEVEL_INFO);
	assert_link(
		&place, named(&child, ".failed"), "WEFT_CATEGORIES: \"program\": not CATEGORY=LEVEL");
	header_with(&place, &child, "WEFT_LEVEL=error", "WEFT_CATEGORIES==info,a=b=inf");
	assert_link(&place, named(&child, ".failed"), "WEFT_CATEGORIES: \"=info\": not CATEGORY=LEVEL");
	assert_link(&place, named(&child, ".2.failed"),
		"WEFT_CATEGORIES: \"a=b=inf\": not a level: off, error, warning, info, debug, trace or count");
	assert_int_equal(
		header_with(&place, &child, "WEFT_LEVEL=error", "WEFT_CATEGORIES=program=off").levels[0],
		WEFT_LEVEL_OFF);
	assert_false(place_has(&place, named(&child, ".failed")));
	memset(longest + strlen(longest), 'x', 255);
	strcat(longest, "=info");
	header_with(&place, &child, "WEFT_LEVEL=error", longest);
	char target[200] = "", shown[128];
	assert_true(readlink(in_place(&place, named(&child, ".failed")), target, sizeof(target)) > 0);
	memset(shown, 'x', sizeof(shown));
	assert_memory_equal(target, "WEFT_CATEGORIES: \"xxx", 21);
	assert_int_equal(strlen(target), strlen("WEFT_CATEGORIES: ") + 127);
	assert_non_null(strstr(target, "x\": too many settings, or too long a name"));
	longest[strlen(longest) - strlen("=info")] = 'x';
	memcpy(longest + strlen("WEFT_CATEGORIES=") + 256, "=info", 6);
	header_with(&place, &child, "WEFT_LEVEL=error", longest);
	memset(target, 0, sizeof(target));
	assert_true(readlink(in_place(&place, named(&child, ".failed")), target, sizeof(target)) > 0);
	assert_non_null(strstr(target, "x\": too long a name"));
	place_remove(&place);
}

static void nothing_is_recorded_unless_requested(void **state)
{
	struct place place = place_make();
	struct child child = {.settings = {"WEFT_OUT="}, .directory = place.path};
	char other[PATH_MAX];
	(void)state;
	assert_int_equal(run(&child), 0);
	child.settings[0] = NULL;
	assert_int_equal(run(&child), 0);
	assert_int_equal(count_entries(&place, "", "", other), 0);
	place_remove(&place);
}

/* ---- The platform's functions ---- */

static void *tell_id(void *id)
{
	*(uint32_t *)id = (uint32_t)syscall(SYS_gettid);
	return NULL;
}

static void ended_threads_are_known(void **state)
{
	const struct weft_platform *platform = weft__platform_default();
	static unsigned char buffer[65536] __attribute__((aligned(4096)));
	uint32_t ended = 0, own = (uint32_t)syscall(SYS_gettid);
	char name[16];
	pthread_t thread;
	(void)state;
	assert_int_equal(weft_start(buffer, sizeof(buffer), NULL), 0); /* stores the process */
	assert_int_equal(platform->self(platform->context, name), own);
	assert_int_equal(pthread_create(&thread, NULL, tell_id, &ended), 0);
	pthread_join(thread, NULL);
	errno = ENOENT;
	assert_true(platform->has_ended(platform->context, ended));
	assert_false(platform->has_ended(platform->context, own));
	if (platform->barrier)
		assert_true(platform->barrier(platform->context));
	assert_int_equal(errno, ENOENT);
	weft_stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_describes_the_process),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(a_gigabyte_has_thirty_bits),
		cmocka_unit_test(a_file_is_recorded_into_unless_it_exists),
		cmocka_unit_test(each_program_of_a_process_has_a_ring),
		cmocka_unit_test(a_forked_child_has_a_ring_and_other_ids),
		cmocka_unit_test(a_child_without_a_ring_is_reported_to_its_parent),
		cmocka_unit_test(a_second_ring_is_told_of_its_own_children),
		cmocka_unit_test(rings_in_place_are_linked),
		cmocka_unit_test(a_shortened_ring_does_not_end_the_program),
		cmocka_unit_test(rings_of_a_run_have_a_common_limit),
		cmocka_unit_test(many_rings_have_a_common_limit),
		cmocka_unit_test(the_environment_sets_levels),
		cmocka_unit_test(the_environment_sets_levels_of_categories),
		cmocka_unit_test(nothing_is_recorded_unless_requested),
		cmocka_unit_test(ended_threads_are_known),
	};
	if (argc > 1)
		return act(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
