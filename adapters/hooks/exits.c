/* SPDX-License-Identifier: ISC
 *
 * Waits for the end of a process: which one it is, or which ones it may be. All children of a
 * process have its number in a tag, so a wait for any child leads to them. How many there are is
 * asked of the kernel, as some may not be recorded.
 *
 * And children for which nobody waits after they have ended. The kernel is asked for their number
 * when twice as many children as at the last time have begun and were not waited for, so that
 * a program with many children pays no more for each.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

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

/* ---- Children for which nobody waits ---- */

#define MANY 8 /* children: fewer are no leak yet */

/* A forked child begins anew. Threads may count at once; a lost count is no harm,
 * as the kernel has the numbers that are recorded. */
static struct {
	uint32_t epoch;
	int64_t left;   /* have begun, and were not waited for */
	int64_t asked;  /* `left` when the kernel was asked */
	int64_t ended;  /* the number in the tag */
	int64_t paused; /* `left` at the last look, if no child has begun since */
} children;

static void begin_children(void)
{
	const uint32_t epoch = weft__hooks_epoch();
	if (children.epoch == epoch)
		return;
	children.left = children.asked = children.ended = children.paused = 0;
	children.epoch = epoch;
}

/* True if the process has ended: the state follows its name, which is in parentheses. */
static bool has_ended(int64_t process)
{
	char bytes[ROOM];
	int file = open_of("/proc/", process, "/stat");
	long size = file < 0 ? 0 : weft__kernel_read(file, bytes, sizeof(bytes));
	if (file >= 0)
		weft__kernel_close(file);
	while (size > 0 && bytes[size - 1] != ')')
		size--;
	return size > 0 && size + 1 < (long)sizeof(bytes) && bytes[size + 1] == 'Z';
}

static void ask_for_ended(void *of)
{
	struct question *it = of;
	char bytes[ROOM];
	int64_t process = 0;
	int fd = open_of("/proc/self/task/", it->number, "/children");
	if (fd < 0)
		return;
	for (long size; (size = weft__kernel_read(fd, bytes, sizeof(bytes))) > 0;)
		for (long i = 0; i < size; i++)
			if (bytes[i] == ' ') {
				it->answer += has_ended(process);
				process = 0;
			} else {
				process = 10 * process + bytes[i] - '0';
			}
	weft__kernel_close(fd);
}

static void tag_ended(int64_t least)
{
	const int64_t ended = ask(ask_for_ended, weft__kernel_thread());
	children.asked = children.left;
	if (ended == children.ended || (ended < least && !children.ended))
		return;
	children.ended = ended;
	if (weft__hooks_main_task() != WEFT_TASK_NONE)
		weft_tag_value_as(weft__hooks_main_task(), WEFT_TAG_UNREAPED, ended);
}

void weft__hooks_child_begins(void)
{
	begin_children();
	children.left++;
	children.paused = 0; /* `left` may come back to that number with other children */
	if (children.left >= MANY && children.left >= 2 * children.asked)
		tag_ended(MANY);
}

void weft__hooks_child_reaped(void)
{
	begin_children();
	children.left -= children.left > 0;
	if (children.left < children.asked / 2)
		children.asked = children.left;
	if (children.ended && children.left <= children.ended / 2)
		tag_ended(MANY);
}

/* Does not wait for the child that has ended. */
static WEFT__OWN_FRAME bool has_any_ended(void)
{
	siginfo_t info = {0};
	long error =
		weft__kernel_call(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0, 0);
	return error == 0 && info.si_pid != 0;
}

void weft__hooks_look_at_children(void)
{
	begin_children();
	if (children.left && children.left != children.paused && has_any_ended()) {
		children.paused = children.left;
		tag_ended(1);
		if (weft__hooks_main_task() != WEFT_TASK_NONE)
			weft_tag_value_as(weft__hooks_main_task(), WEFT_TAG_CHILDREN, children.left);
	}
}

void weft__hooks_children_at_end(void)
{
	begin_children();
	if (children.ended)
		tag_ended(1);
}
