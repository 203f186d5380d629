/* SPDX-License-Identifier: ISC
 *
 * See ran_parts.h. A child unwinds the stacks, as for `weft why`: the processes may have written
 * anything into their files and stacks. It has no rights, little memory and time; what it has found
 * when it dies counts.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines.h"
#include "ran_parts.h"
#include "why/code_map.h"
#include "why/stacks.h"

#define PAGE_MASK  UINT64_C(4095)
#define CODE_BYTES sizeof(((struct weft_buffer_code *)NULL)->function)

/* ---- Files, in the child ---- */

/* Where the file's first segment is in memory, given one with code; 0: unknown. */
static uint64_t find_start(int fd, const struct ran_mapping *mapping)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint64_t first = UINT64_MAX;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const off_t at = (off_t)(header.e_phoff + i * sizeof(segment));
		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return 0;
		if (segment.p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX)
			first = segment.p_vaddr & ~PAGE_MASK;
		if ((segment.p_flags & PF_X) && (segment.p_offset & ~PAGE_MASK) == mapping->offset)
			return mapping->start - (segment.p_vaddr & ~PAGE_MASK) + first;
	}
	return 0;
}

/* Another file may have the name by now. */
static int open_mapped(const struct ran_mapping *mapping, const char *path)
{
	char real[PATH_MAX];
	struct stat status;
	int fd = debug_files_open(path, real);
	if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_ino != mapping->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_ours(int fd)
{
	struct stat status;
	return fd < 0 ||
		   (fstat(fd, &status) == 0 && status.st_uid == geteuid() && !(status.st_mode & 022));
}

/* A file may have several segments with code. */
static bool is_listed(const struct stack_files *files, uint64_t start)
{
	for (uint32_t i = 0; i < files->count; i++)
		if (files->files[i].start == start)
			return true;
	return false;
}

static bool open_files(const struct ran_batch *batch, struct stack_files *files)
{
	char path[PATH_MAX + 32];
	bool are_ours = true;
	files->count = 0;
	files->code_map = code_map_open(batch->pid, batch->user, batch->since);
	for (uint32_t i = 0; i < batch->mapping_count && files->count < STACK_FILES_MAX; i++) {
		const struct ran_mapping *mapping = &batch->mappings[i];
		struct stack_file *file = &files->files[files->count];
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)batch->pid, mapping->path);
		file->fd = open_mapped(mapping, path);
		if (file->fd < 0)
			file->fd = open_mapped(mapping, mapping->path);
		file->start = file->fd >= 0 ? find_start(file->fd, mapping) : 0;
		if (!file->start || is_listed(files, file->start)) {
			if (file->fd >= 0)
				close(file->fd);
			continue;
		}
		snprintf(file->path, sizeof(file->path), "%s", mapping->path);
		file->end = file->code_end = mapping->end;
		file->code = mapping->start;
		file->offset = mapping->offset;
		are_ours = are_ours && is_ours(file->fd);
		files->count++;
	}
	return are_ours;
}

/* ---- The child ---- */

/* libdw is loaded first: it may not open files later. */
static int run_child(const struct ran_batch *batch)
{
	const struct weft__outside_process process = {.pid = batch->pid};
	struct stack_files *files = malloc(sizeof(*files));
	confine_limit();
	if (!files || !stack_unwind_load())
		return 1;
	confine_become(batch->user);
	if (!open_files(batch, files))
		confine_become(CONFINE_NOBODY);
	if (!confine() || !stack_unwind_begin(files, &process))
		return 1;
	for (uint32_t i = 0; i < batch->count; i++) {
		struct ran_event *sample = batch->samples[i];
		struct weft__outside_thread thread = {.tid = sample->tid, .stack_count = 1};
		struct weft__outside_stack *stack = &thread.stacks[0];
		if (!sample->has_registers)
			continue;
		memcpy(stack->registers, sample->registers, sizeof(stack->registers));
		stack->has_all = true;
		stack->bytes = sample->bytes;
		stack->size = sample->size;
		stack_unwind(&thread, 0, &batch->results->stacks[i]);
	}
	return 0;
}

bool ran_batch_start(struct ran_batch *batch)
{
	batch->results_bytes =
		sizeof(struct stack_results) + (size_t)batch->count * sizeof(struct stack_result);
	void *results = mmap(NULL, batch->results_bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (results == MAP_FAILED)
		return false;
	batch->results = results;
	batch->child = fork();
	if (batch->child == 0)
		_exit(run_child(batch));
	return batch->child > 0;
}

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

bool ran_batch_has_ended(struct ran_batch *batch, bool must_wait)
{
	struct rusage used = {.ru_utime = {0, 0}};
	int status;
	pid_t ended;
	if (batch->child <= 0)
		return true;
	do
		ended = wait4(batch->child, &status, must_wait ? 0 : WNOHANG, &used);
	while (ended < 0 && errno == EINTR);
	if (ended == 0)
		return false;
	batch->used_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
	batch->child = 0;
	return true;
}

/* ---- Results ---- */

static bool is_of(const struct weft__outside_frame *frame, const char *module)
{
	return strncmp(frame->module, module, strlen(module)) == 0;
}

/* Leaves out what calls main, or a thread's function: libc, the program's first code, and the
 * function by which adapters begin a thread. */
static uint32_t leave_out_begin(const struct weft__outside_frame *frames, uint32_t count)
{
	if (count > 1 && !is_of(&frames[count - 1], "libc.so") && is_of(&frames[count - 2], "libc.so"))
		count--;
	while (count > 1 && is_of(&frames[count - 1], "libc.so"))
		count--;
	while (count > 1 && is_of(&frames[count - 1], "libweft-"))
		count--;
	return count;
}

/* The child may have been taken over: its results are checked. */
static void show_frame(const struct weft__outside_frame *from, char *ret_text, size_t room)
{
	struct weft__outside_frame frame = *from;
	frame.function[sizeof(frame.function) - 1] = '\0';
	frame.module[sizeof(frame.module) - 1] = '\0';
	frame.file[sizeof(frame.file) - 1] = '\0';
	const size_t line_bytes = sizeof(" (:4294967295)") + strlen(frame.file);
	if (frame.function[0] && frame.file[0] && strlen(frame.function) + line_bytes <= CODE_BYTES)
		snprintf(ret_text, room, "%s (%s:%u)", frame.function, frame.file, frame.line);
	else if (frame.function[0])
		snprintf(ret_text, room, "%s", frame.function);
	else if (frame.module[0])
		snprintf(ret_text, room, "%s+0x%llx", frame.module, (unsigned long long)frame.offset);
	else
		snprintf(ret_text, room, "?");
}

uint32_t ran_batch_functions(
	const struct ran_batch *batch, uint32_t sample, struct ran_functions *functions)
{
	const struct stack_result *result = &batch->results->stacks[sample];
	const uint32_t found = *(const volatile uint32_t *)&result->frame_count;
	char text[2 * CODE_BYTES];
	uint32_t count = found < WEFT__OUTSIDE_FRAMES ? found : WEFT__OUTSIDE_FRAMES, code = 0;
	if (!count)
		return 0;
	const bool is_whole = result->is_whole && found < WEFT__OUTSIDE_FRAMES;
	if (is_whole)
		count = leave_out_begin(result->frames, count);
	if (!is_whole && !(code = ran_functions_find(functions, 0, "\xe2\x80\xa6")))
		return 0;
	for (uint32_t i = count; i > 0; i--) {
		show_frame(&result->frames[i - 1], text, sizeof(text));
		if (!(code = ran_functions_find(functions, code, text)))
			return 0;
	}
	return batch->samples[sample]->is_in_kernel ? ran_functions_find(functions, code, "[kernel]")
												: code;
}

void ran_batch_finish(struct ran_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++)
		free(batch->samples[i]);
	for (uint32_t i = 0; i < batch->mapping_count; i++)
		free(batch->mappings[i].path);
	free(batch->samples);
	free(batch->mappings);
	if (batch->results)
		munmap(batch->results, batch->results_bytes);
	*batch = (struct ran_batch){0};
}
