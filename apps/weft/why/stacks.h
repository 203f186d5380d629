/* SPDX-License-Identifier: ISC
 *
 * The stacks of threads of another process: from copies of their memory, by the unwind tables and
 * names in the files that the process has mapped.
 */
#ifndef WEFT_APPS_WHY_STACKS_H
#define WEFT_APPS_WHY_STACKS_H

#include <limits.h>

#include "outside/outside.h"

/* Which registers /proc shows, and what a return address looks like, is known on one machine only.
 */
#if WEFT_HAS_LINES && defined(__x86_64__)
#define WHY_HAS_STACKS 1
#else
#define WHY_HAS_STACKS 0
#endif
#define WHY_NO_STACKS "this weft unwinds no stacks"

/* ---- Files (stack_files.c) ---- */

#define STACK_FILES_MAX   256
#define STACK_HEADER_SIZE 1024

/* A file that a process has mapped, with code in it. */
struct stack_file {
	char path[PATH_MAX];
	uint64_t start, end, first_end;          /* of its mappings, and of the first of them */
	uint64_t code, code_end, offset;         /* of its code, in memory and in the file */
	unsigned char header[STACK_HEADER_SIZE]; /* its beginning, as mapped */
	int fd;
};

struct stack_files {
	int code_map; /* a list of functions that the process has made (code_map.h); -1: none */
	uint32_t count;
	struct stack_file files[STACK_FILES_MAX];
};

/* The files that a process has mapped. NULL: they cannot be read, or memory is short. */
struct stack_files *stack_files_read(pid_t pid);

/* Finds the frames of all threads whose stacks were copied, and the names of the variables in which
 * their futexes are; and the addresses of Python's. The process may have ended since the files were
 * read. Returns NULL, or why there are no frames. */
const char *why_stacks_find(struct weft__outside_process *process, struct stack_files *files);

/* Opens those that have been removed since, as a program that was upgraded: the kernel still has
 * them. Only root gets those of libraries. */
void stack_files_open_removed(struct stack_files *files, pid_t pid);

/* Opens each of the others, unless another file is there now; and the list of functions, if it
 * belongs to the process's user. True if all files belong to ours. */
bool stack_files_open(struct stack_files *files, pid_t pid, uid_t user);

/* True if a function can return to the address: the code before it is a call. `ret_called` is the
 * function that it calls; 0: the code does not say. */
bool stack_files_is_return(const struct stack_files *files, uint64_t address, uint64_t *ret_called);

/* ---- Unwinding (unwind.c), in the child ---- */

/* Where the child writes the frames of a thread. */
struct stack_result {
	uint32_t frame_count, is_guessed;
	uint32_t is_whole; /* to the outermost frame; only known if all registers are */
	char object[96];
	uint64_t object_offset;
	struct weft__outside_frame frames[WEFT__OUTSIDE_FRAMES];
};

/* All that the child finds. */
struct stack_results {
	uint64_t python_runtime, python_version; /* addresses; 0: there is no Python */
	struct stack_result stacks[];            /* WEFT__OUTSIDE_LOOKS for each thread */
};

/* False if libdw is not installed. */
bool stack_unwind_load(void);

/* After stack_files_open(). False if memory is short. */
bool stack_unwind_begin(
	const struct stack_files *files, const struct weft__outside_process *process);

/* The address of a variable of the program or library whose file name begins so; 0: there is none.
 */
uint64_t stack_unwind_find_variable(const char *file, const char *name);

/* Unwinds one of a thread's stacks. */
void stack_unwind(
	const struct weft__outside_thread *thread, uint32_t index, struct stack_result *ret_result);

#endif
