/* SPDX-License-Identifier: ISC
 *
 * Looks at the threads of a process. A thread that waits does not change its stack, so that is
 * copied without stopping it: if the thread is at the same call before and after, and has not run
 * meanwhile, the copy is the stack at that call.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <sys/uio.h>
#include <time.h>

#include <weft/parse.h>

#include "base/array.h"
#include "base/field.h"
#include "parts.h"

enum {
	STACK_BYTES = 256 << 10,     /* of one thread, at most */
	ALL_STACKS_BYTES = 64 << 20, /* of a process */
	PAGE = 4096,
	TRIES = 3,
	KERNEL_THREAD = 0x00200000, /* the kernel's PF_KTHREAD */
};

/* ---- Memory ---- */

bool weft__outside_read(pid_t pid, uint64_t address, void *ret_bytes, size_t size)
{
	struct iovec own = {ret_bytes, size}, theirs = {(void *)(uintptr_t)address, size};
	return process_vm_readv(pid, &own, 1, &theirs, 1, 0) == (ssize_t)size;
}

/* In pages: a part is read up to the first page that is not there. */
size_t weft__outside_read_up(pid_t pid, uint64_t address, unsigned char *ret_bytes, size_t size)
{
	size = size < STACK_BYTES ? size : STACK_BYTES;
	struct iovec own = {ret_bytes, size}, pages[STACK_BYTES / PAGE + 1];
	size_t count = 0;
	for (size_t at = 0; at < size;) {
		size_t part = PAGE - (address + at) % PAGE;
		part = part < size - at ? part : size - at;
		pages[count++] = (struct iovec){(void *)(uintptr_t)(address + at), part};
		at += part;
	}
	ssize_t got = process_vm_readv(pid, &own, 1, pages, count, 0);
	return got > 0 ? (size_t)got : 0;
}

uint64_t weft__outside_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Files of /proc ---- */

FILE *weft__outside_open(pid_t pid, pid_t tid, const char *name)
{
	char path[96];
	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

pid_t weft__outside_status(pid_t pid, const char *key)
{
	FILE *file = weft__outside_open(pid, 0, "status");
	char line[256];
	uint64_t number = 0;
	while (file && !number && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			weft__field_number(line, 1, INT32_MAX, &number);
	if (file)
		fclose(file);
	return (pid_t)number;
}

void weft__outside_name(pid_t pid, char ret_name[static 32])
{
	FILE *file = weft__outside_open(pid, 0, "comm");
	ret_name[0] = '\0';
	if (!file)
		return;
	const size_t size = fread(ret_name, 1, 31, file);
	ret_name[size] = '\0';
	ret_name[strcspn(ret_name, "\n")] = '\0';
	fclose(file);
}

/* The last number of a line: in NSpid that of the innermost namespace. */
static uint64_t last_number(const char *line)
{
	uint64_t number = 0;
	for (unsigned i = 1; weft__field_number(line, i, INT32_MAX, &number); i++)
		continue;
	return number;
}

/* Reads from the thread's status what stat lacks. False if the thread has ended. */
static bool read_status(pid_t pid, struct weft__outside_thread *thread, uid_t *ret_user)
{
	FILE *file = weft__outside_open(pid, thread->tid, "status");
	char line[256];
	uint64_t number;
	size_t size;
	thread->switches = 0;
	while (file && fgets(line, sizeof(line), file)) {
		const char *field = weft__field(line, 1, &size);
		if (strncmp(line, "SigCgt:", 7) == 0)
			(void)weft_parse_hexadecimal(field, size, &thread->caught);
		else if (strncmp(line, "NSpid:", 6) == 0)
			thread->inner = (pid_t)last_number(line);
		else if (strncmp(line, "Uid:", 4) == 0 && weft__field_number(line, 1, UINT32_MAX, &number))
			*ret_user = (uid_t)number;
		else if (strstr(line, "_ctxt_switches:") &&
				 weft__field_number(line, 1, UINT64_MAX, &number))
			thread->switches += number;
	}
	if (!file)
		return false;
	fclose(file);
	return true;
}

/* Reads the title. One that a process has written over its arguments is a single one. */
static void read_title(struct weft__outside_process *process)
{
	FILE *file = weft__outside_open(process->pid, 0, "cmdline");
	char text[4096];
	const size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	size_t end = strnlen(text, size), used = end;
	if (file)
		fclose(file);
	text[size] = '\0';
	while (used < size && !text[used])
		used++;
	while (end && text[end - 1] == ' ')
		text[--end] = '\0';
	if (used == size && strstr(text, ": "))
		snprintf(process->title, sizeof(process->title), "%s", text);
}

/* Reads the parent, and whether it is a thread of the kernel. */
static void read_stat(struct weft__outside_process *process)
{
	FILE *file = weft__outside_open(process->pid, 0, "stat");
	char text[1024];
	uint64_t number;
	if (!file)
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	const char *end = strrchr(text, ')');
	if (!end)
		return;
	process->has_ended = end[1] == ' ' && end[2] == 'Z' && process->alive == process->pid;
	if (weft__field_number(end + 1, 1, INT32_MAX, &number))
		process->parent = (pid_t)number;
	if (weft__field_number(end + 1, 6, UINT32_MAX, &number))
		process->is_kernel = number & KERNEL_THREAD;
}

/* Reads the kind of machine from the header of the program that runs. */
static bool read_machine(const char *pid, unsigned char ret_machine[static 3])
{
	char path[64];
	unsigned char header[20];
	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	FILE *file = fopen(path, "re");
	const bool is_read = file && fread(header, sizeof(header), 1, file) == 1;
	if (file)
		fclose(file);
	if (!is_read)
		return false;
	ret_machine[0] = header[EI_CLASS];
	memcpy(ret_machine + 1, header + offsetof(Elf32_Ehdr, e_machine), 2);
	return true;
}

/* A 32-bit program on a 64-bit machine, for example. */
static bool is_foreign(pid_t pid)
{
	char number[16];
	unsigned char own[3], theirs[3];
	snprintf(number, sizeof(number), "%d", (int)pid);
	return read_machine("self", own) && read_machine(number, theirs) &&
		   memcmp(own, theirs, sizeof(own)) != 0;
}

/* ---- Threads ---- */

static bool has_ended(pid_t pid, pid_t tid)
{
	FILE *file = weft__outside_open(pid, tid, "stat");
	char text[256];
	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	const char *end = strrchr(text, ')');
	return !end || end[1] != ' ' || end[2] == 'Z' || end[2] == 'X';
}

pid_t weft__outside_alive(pid_t pid)
{
	char path[64];
	uint64_t tid;
	pid_t alive = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = has_ended(pid, pid) ? opendir(path) : NULL;
	for (struct dirent *entry; threads && alive == pid && (entry = readdir(threads));)
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &tid) == WEFT_PARSE_OK &&
			!has_ended(pid, (pid_t)tid))
			alive = (pid_t)tid;
	if (threads)
		closedir(threads);
	return alive;
}

static bool is_same_call(const struct weft__runs_kernel *a, const struct weft__runs_kernel *b)
{
	return a->state == b->state && a->has_call == b->has_call && a->number == b->number &&
		   a->stack == b->stack && a->code == b->code &&
		   memcmp(a->arguments, b->arguments, sizeof(a->arguments)) == 0;
}

bool weft__outside_has_stayed(pid_t pid, const struct weft__outside_thread *thread)
{
	struct weft__outside_thread now = {.tid = thread->tid};
	uid_t user;
	return read_status(pid, &now, &user) && now.switches == thread->switches &&
		   weft__runs_kernel_look(pid, (uint64_t)thread->tid, &now.kernel) &&
		   is_same_call(&now.kernel, &thread->kernel);
}

/* Copies the stack of a thread that waits. */
static void copy_stack(pid_t pid, struct weft__outside_thread *thread, unsigned char *room)
{
	struct weft__outside_stack *stack = &thread->stacks[0];
	const size_t size = weft__outside_read_up(pid, thread->kernel.stack, room, STACK_BYTES);
	stack->bytes = size ? malloc(size) : NULL;
	if (!stack->bytes)
		return;
	memcpy(stack->bytes, room, size);
	stack->size = size;
	stack->has_argument = thread->kernel.has_call;
	stack->registers[WEFT__OUTSIDE_ARGUMENT] = thread->kernel.arguments[0];
	stack->registers[WEFT__OUTSIDE_STACK] = thread->kernel.stack;
	stack->registers[WEFT__OUTSIDE_CODE] = thread->kernel.code;
	thread->stack_count = 1;
}

static void drop_stacks(struct weft__outside_thread *thread)
{
	for (uint32_t i = 0; i < thread->stack_count; i++)
		free(thread->stacks[i].bytes);
	thread->stack_count = 0;
}

/* False if it has ended. */
static bool look_at_thread(
	struct weft__outside_process *process, struct weft__outside_thread *thread, unsigned char *room)
{
	bool has_stayed = false;
	for (int i = 0; i < TRIES && !has_stayed; i++) {
		drop_stacks(thread);
		if (!read_status(process->alive, thread, &process->user) ||
			!weft__runs_kernel_look(process->alive, (uint64_t)thread->tid, &thread->kernel))
			return false;
		if (thread->kernel.stack && room)
			copy_stack(process->alive, thread, room);
		has_stayed = weft__outside_has_stayed(process->alive, thread);
	}
	/* The stack may have changed while it was copied. */
	if (!has_stayed)
		drop_stacks(thread);
	/* Without rights, /proc/PID/task/TID/syscall cannot be read at all. */
	thread->is_readable = weft__runs_kernel_is_readable(process->alive, (uint64_t)thread->tid);
	return true;
}

static int compare_threads(const void *a, const void *b)
{
	const struct weft__outside_thread *left = a, *right = b;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

/* Lists them before it looks, so that new ones cannot keep it from ending. */
static bool look_at_threads(struct weft__outside_process *process, bool may_stop)
{
	static uint64_t tids[WEFT__OUTSIDE_THREADS + 1];
	size_t count = weft__runs_kernel_threads(process->pid, tids, WEFT__OUTSIDE_THREADS + 1);
	size_t copied = 0;
	unsigned char *room = malloc(STACK_BYTES);
	process->is_cut = count > WEFT__OUTSIDE_THREADS;
	count = process->is_cut ? WEFT__OUTSIDE_THREADS : count;
	process->threads = calloc(count ? count : 1, sizeof(*process->threads));
	for (size_t i = 0; process->threads && i < count; i++) {
		struct weft__outside_thread *thread = &process->threads[process->count];
		thread->tid = (pid_t)tids[i];
		if (!look_at_thread(process, thread, copied < ALL_STACKS_BYTES ? room : NULL)) {
			memset(thread, 0, sizeof(*thread));
			continue;
		}
		if (process->is_foreign) {
			drop_stacks(thread);
			thread->kernel.has_call = false;
		}
		weft__outside_look_at_context(process, thread);
		copied += thread->stack_count ? thread->stacks[0].size : 0;
		process->count++;
		process->denied += !thread->is_readable && !process->is_kernel && !process->has_ended;
	}
	free(room);
	if (process->threads && may_stop && !process->is_foreign)
		weft__outside_look_at_running(process);
	if (process->threads)
		qsort(process->threads, process->count, sizeof(*process->threads), compare_threads);
	return process->threads && process->count;
}

/* ---- Processes ---- */

struct weft__outside_process *weft__outside_find(
	const struct weft__outside_host *outside, pid_t pid)
{
	for (uint32_t i = 0; i < outside->count; i++)
		if (outside->processes[i].pid == pid)
			return &outside->processes[i];
	return NULL;
}

static void finish_process(struct weft__outside_process *process)
{
	for (uint32_t i = 0; i < process->count; i++) {
		drop_stacks(&process->threads[i]);
		free(process->threads[i].frames);
		free(process->threads[i].script);
	}
	free(process->threads);
}

struct weft__outside_process *weft__outside_look(
	struct weft__outside_host *outside, pid_t pid, bool may_stop)
{
	struct weft__outside_process *process = weft__outside_find(outside, pid);
	if (process)
		return process;
	if (outside->count == outside->capacity) {
		const size_t more = weft__array_next_capacity(outside->capacity, outside->count + 1);
		if (weft__array_resize(&outside->processes, more, sizeof(*process)))
			return NULL;
		outside->capacity = (uint32_t)more;
	}
	process = &outside->processes[outside->count];
	*process = (struct weft__outside_process){.pid = pid, .alive = weft__outside_alive(pid)};
	weft__outside_name(pid, process->name);
	read_stat(process);
	read_title(process);
	process->is_foreign = is_foreign(process->alive);
	weft__outside_find_contexts(process);
	if (!look_at_threads(process, may_stop)) {
		finish_process(process);
		return NULL;
	}
	outside->count++;
	return process;
}

void weft__outside_finish(struct weft__outside_host *outside)
{
	for (uint32_t i = 0; i < outside->count; i++)
		finish_process(&outside->processes[i]);
	free(outside->processes);
	weft__outside_files_destroy(outside->files);
	*outside = (struct weft__outside_host){0};
}
