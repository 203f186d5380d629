/* SPDX-License-Identifier: ISC
 *
 * A child process unwinds the stacks: the process that is looked at may have written anything into
 * its files and its stacks. The child has no rights, little memory and time; what it has found when
 * it dies counts.
 */
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/lines.h"

/* Exit statuses of the child. */
enum {
	NO_LIBRARY = 2,
	UNCONFINED = 3,
	NO_MEMORY = 4,
};

/* Its variables are in the program or in its library. */
static void find_python(struct stack_results *results)
{
	static const char *const files[] = {"python", "libpython"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !results->python_version; i++) {
		results->python_runtime = stack_unwind_find_variable(files[i], "_PyRuntime");
		results->python_version = stack_unwind_find_variable(files[i], "Py_Version");
	}
}

/* libdw is loaded first: it may not open files later. */
static int run_child(const struct weft__outside_process *process, struct stack_files *files,
	struct stack_results *results)
{
	confine_limit();
	if (!stack_unwind_load())
		return NO_LIBRARY;
	stack_files_open_removed(files, process->alive);
	confine_become(process->user);
	if (!stack_files_open(files, process->alive, process->user))
		confine_become(CONFINE_NOBODY);
	if (!confine())
		return UNCONFINED;
	if (!stack_unwind_begin(files, process))
		return NO_MEMORY;
	find_python(results);
	for (uint32_t i = 0; i < process->count; i++)
		for (uint32_t k = 0; k < process->threads[i].stack_count; k++)
			stack_unwind(&process->threads[i], k, &results->stacks[i * WEFT__OUTSIDE_LOOKS + k]);
	return 0;
}

static void end_string(char *string, size_t size)
{
	string[size - 1] = '\0';
}

/* The child may have been taken over: its results are checked. */
static uint32_t count_of(const struct stack_result *result)
{
	const uint32_t count = *(const volatile uint32_t *)&result->frame_count;
	return count < WEFT__OUTSIDE_FRAMES ? count : WEFT__OUTSIDE_FRAMES;
}

static bool is_same_function(
	const struct weft__outside_frame *a, const struct weft__outside_frame *b)
{
	if (memcmp(a->module, b->module, sizeof(a->module)) != 0)
		return false;
	return a->function[0] ? memcmp(a->function, b->function, sizeof(a->function)) == 0
						  : a->code == b->code;
}

/* How many frames, from the outermost one on, two looks at a thread have in common. */
static uint32_t common_with(
	const struct stack_result *a, uint32_t a_count, const struct stack_result *b, uint32_t b_count)
{
	uint32_t same = 0;
	while (same < a_count && same < b_count &&
		   is_same_function(&a->frames[a_count - 1 - same], &b->frames[b_count - 1 - same]))
		same++;
	return same;
}

/* Takes the last look's frames, without those that the looks before do not have. */
static void take(struct weft__outside_thread *thread, const struct stack_result *results)
{
	if (!thread->stack_count)
		return;
	const struct stack_result *last = &results[thread->stack_count - 1];
	const uint32_t all = count_of(last);
	uint32_t count = all;
	for (uint32_t k = 0; k + 1 < thread->stack_count; k++) {
		const uint32_t same = common_with(last, all, &results[k], count_of(&results[k]));
		count = same < count ? same : count;
	}
	thread->is_guessed = last->is_guessed != 0;
	memcpy(thread->object, last->object, sizeof(thread->object));
	end_string(thread->object, sizeof(thread->object));
	thread->object_offset = last->object_offset;
	thread->frames = count ? malloc(count * sizeof(*thread->frames)) : NULL;
	thread->frame_count = thread->frames ? count : 0;
	for (uint32_t i = 0; i < thread->frame_count; i++) {
		struct weft__outside_frame *frame = &thread->frames[i];
		*frame = last->frames[all - count + i];
		end_string(frame->function, sizeof(frame->function));
		end_string(frame->module, sizeof(frame->module));
		end_string(frame->file, sizeof(frame->file));
	}
}

/* A program may be a link's target, as redis-server is one to redis-check-rdb: its frames get the
 * name that the user has started, if a file of that name is there and the same. */
static void name_program(struct weft__outside_process *process)
{
	char link[64], path[PATH_MAX], started[PATH_MAX + 64];
	struct stat file, other;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->alive);
	const ssize_t size = readlink(link, path, sizeof(path) - 1);
	path[size > 0 ? size : 0] = '\0';
	const char *slash = strrchr(path, '/');
	if (!slash || !process->name[0] || strchr(process->name, '/'))
		return;
	snprintf(started, sizeof(started), "/proc/%d/root%.*s/%s", (int)process->alive,
		(int)(slash - path), path, process->name);
	if (stat(link, &file) != 0 || stat(started, &other) != 0 || file.st_dev != other.st_dev ||
		file.st_ino != other.st_ino)
		return;
	for (uint32_t i = 0; i < process->count; i++)
		for (uint32_t k = 0; k < process->threads[i].frame_count; k++) {
			struct weft__outside_frame *frame = &process->threads[i].frames[k];
			if (strcmp(frame->module, slash + 1) == 0)
				snprintf(frame->module, sizeof(frame->module), "%s", process->name);
		}
}

static const char *explain(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM ||
					   WTERMSIG(status) == SIGKILL
				   ? "unwinding takes too long"
				   : "its files are damaged";
	if (WEXITSTATUS(status) == NO_LIBRARY)
		return "libdw is not installed";
	if (WEXITSTATUS(status) == UNCONFINED)
		return "this system has no filter of system calls, inside of which its files are read";
	return WEXITSTATUS(status) ? "memory is short" : NULL;
}

const char *why_stacks_find(struct weft__outside_process *process, struct stack_files *files)
{
	const size_t size = sizeof(struct stack_results) +
						(size_t)process->count * WEFT__OUTSIDE_LOOKS * sizeof(struct stack_result);
	int status = 0;
	if (!files || !files->count)
		return "its mappings cannot be read, or it has ended";
	struct stack_results *results =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const pid_t child = results != MAP_FAILED ? fork() : -1;
	if (child == 0)
		_exit(run_child(process, files, results));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	for (uint32_t i = 0; child > 0 && i < process->count; i++)
		take(&process->threads[i], &results->stacks[i * WEFT__OUTSIDE_LOOKS]);
	if (child > 0) {
		name_program(process);
		process->python_runtime = results->python_runtime;
		process->python_version = results->python_version;
	}
	if (results != MAP_FAILED)
		munmap(results, size);
	return child > 0 ? explain(status) : "memory is short";
}
