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
#include <sys/wait.h>
#include <unistd.h>

#include "record/lines.h"

/* Exit statuses of the child. */
enum {
	NO_LIBRARY = 2,
	UNCONFINED = 3,
	NO_MEMORY = 4,
};

/* libdw is loaded first: it may not open files later. */
static int run_child(const struct weft__outside_process *process, struct stack_files *files,
	struct stack_result *results)
{
	confine_limit();
	if (!stack_unwind_load())
		return NO_LIBRARY;
	confine_become(process->user);
	if (!stack_files_open(files, process->pid))
		confine_become(CONFINE_NOBODY);
	if (!confine())
		return UNCONFINED;
	if (!stack_unwind_begin(files, process))
		return NO_MEMORY;
	for (uint32_t i = 0; i < process->count; i++)
		if (process->threads[i].stack)
			stack_unwind(&process->threads[i], &results[i]);
	return 0;
}

static void end_string(char *string, size_t size)
{
	string[size - 1] = '\0';
}

/* The child may have been taken over: its results are checked. */
static void take(struct weft__outside_thread *thread, const struct stack_result *result)
{
	uint32_t count = *(const volatile uint32_t *)&result->frame_count;
	count = count < WEFT__OUTSIDE_FRAMES ? count : WEFT__OUTSIDE_FRAMES;
	thread->is_guessed = result->is_guessed != 0;
	memcpy(thread->object, result->object, sizeof(thread->object));
	end_string(thread->object, sizeof(thread->object));
	thread->object_offset = result->object_offset;
	thread->frames = count ? malloc(count * sizeof(*thread->frames)) : NULL;
	thread->frame_count = thread->frames ? count : 0;
	for (uint32_t i = 0; i < thread->frame_count; i++) {
		struct weft__outside_frame *frame = &thread->frames[i];
		*frame = result->frames[i];
		end_string(frame->function, sizeof(frame->function));
		end_string(frame->module, sizeof(frame->module));
		end_string(frame->file, sizeof(frame->file));
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

const char *why_stacks_find(struct weft__outside_process *process)
{
	const size_t size = process->count * sizeof(struct stack_result);
	struct stack_files *files = stack_files_read(process->pid);
	int status = 0;
	if (!files || !files->count) {
		free(files);
		return "its mappings cannot be read";
	}
	struct stack_result *results =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t child = results != MAP_FAILED ? fork() : -1;
	if (child == 0)
		_exit(run_child(process, files, results));
	free(files);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	for (uint32_t i = 0; child > 0 && i < process->count; i++)
		take(&process->threads[i], &results[i]);
	if (results != MAP_FAILED)
		munmap(results, size);
	return child > 0 ? explain(status) : "memory is short";
}
