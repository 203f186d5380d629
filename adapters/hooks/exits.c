/* SPDX-License-Identifier: ISC
 *
 * Waits for the end of a process: which one it is, or which ones it may be. All children of a
 * process have its number in a tag, so a wait for any child leads to them. How many there are is
 * asked of the kernel, as some may not be recorded.
 */
#include <fcntl.h>
#include <string.h>

#define WEFT_CATEGORY always
#include <weft/ends.h>

#include "hooks/hooks.h"
#include "kernel/call.h"

#define ROOM 256

/* Opens "/proc/FOLDER/NUMBER" and the rest of the path. */
static WEFT__OWN_FRAME int open_of(const char *folder, int64_t number, const char *rest)
{
	struct weft__hooks_text path = {0};
	weft__hooks_append(&path, folder);
	weft__hooks_append_number(&path, number);
	weft__hooks_append(&path, rest);
	path.bytes[path.size] = '\0';
	return weft__kernel_open(path.bytes, O_RDONLY | O_CLOEXEC, 0);
}

struct question {
	int64_t number;
	int64_t answer;
};

/* The children of the calling thread: "17 18 ". */
static void ask_for_children(void *of)
{
	struct question *it = of;
	char bytes[ROOM];
	int fd = open_of("/proc/self/task/", it->number, "/children");
	if (fd < 0)
		return;
	for (long size; (size = weft__kernel_read(fd, bytes, sizeof(bytes))) > 0;)
		for (long i = 0; i < size; i++)
			it->answer += bytes[i] == ' ';
	weft__kernel_close(fd);
}

/* The line "Pid:\t17", or "Pid:\t-1" of a process that has ended. */
pid_t weft__hooks_read_process(int fd)
{
	static const char key[] = "\nPid:\t";
	char bytes[ROOM];
	int file = open_of("/proc/self/fdinfo/", fd, "");
	long size = file < 0 ? 0 : weft__kernel_read(file, bytes, sizeof(bytes) - 1);
	pid_t process = 0;
	if (file >= 0)
		weft__kernel_close(file);
	bytes[size > 0 ? size : 0] = '\0';
	const char *digit = strstr(bytes, key);
	for (digit = digit ? digit + sizeof(key) - 1 : ""; *digit >= '0' && *digit <= '9'; digit++)
		process = 10 * process + *digit - '0';
	return process;
}

static void ask_for_process(void *of)
{
	struct question *it = of;
	it->answer = weft__hooks_read_process((int)it->number);
}

static int64_t ask(void (*work)(void *of), int64_t number)
{
	struct question it = {.number = number};
	if (weft__hooks_system_begin()) {
		weft__hooks_aside(work, &it);
		weft__hooks_system_end();
	}
	return it.answer;
}

pid_t weft__hooks_process_of(int fd)
{
	return (pid_t)ask(ask_for_process, fd);
}

void weft__hooks_mark_exit(uint64_t task, pid_t process)
{
	if (task != WEFT_TASK_NONE && process > 0)
		weft_tag_value_as(
			task, WEFT_TAG_READS, (int64_t)weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)process));
}

void weft__hooks_mark_exits(uint64_t task, bool is_any)
{
	if (task == WEFT_TASK_NONE)
		return;
	const int64_t children = ask(ask_for_children, weft__kernel_thread());
	const uint64_t own = (uint64_t)weft__kernel_process();
	if (children)
		weft_tag_value_as(task, WEFT_TAG_CHILDREN, children);
	if (is_any || children == 1)
		weft_tag_value_as(
			task, WEFT_TAG_READS, (int64_t)weft__hooks_key(WEFT__HOOKS_CHILD_EXITS, own));
}
