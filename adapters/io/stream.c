/* SPDX-License-Identifier: ISC
 *
 * Streams: libc reads, writes and closes their descriptors by functions of its own, which no hook
 * can stand in front of. It finds them in tables, one for each sort of stream:
 *
 *     jumps of files    | ... | read | write | ... | close | ...
 *     jumps of popen    | ... | read | write | ... | close | ...
 *
 * So their addresses are replaced there. Buffered reads and writes, such as putc, cost nothing
 * more. The tables are in the part of libc that the dynamic linker has made read-only; it becomes
 * so again. If the system refuses that, streams are not recorded.
 */
#include "io/plain.h"

#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/record_lock.h"
#include "io/transfer.h"

static ssize_t (*next_read)(FILE *stream, void *bytes, ssize_t size);
static ssize_t (*next_write)(FILE *stream, const void *bytes, ssize_t size);
static int (*next_close)(FILE *stream);
static int (*next_close_process)(FILE *stream);

/* ---- In place of libc's functions ---- */

/* libc writes the rest of all streams when the process has ended for its tasks. */
#define STREAMS_RECORD (HOOKS_RECORD && !weft__hooks_has_ended())

static ssize_t read_stream(FILE *stream, void *bytes, ssize_t size)
{
	if (!STREAMS_RECORD)
		return next_read(stream, bytes, size);
	struct weft__io_call call;
	weft__io_read_begin(&call, stream->_fileno, 0, "read");
	ssize_t got = next_read(stream, bytes, size);
	weft__io_read_end(&call, got, (size_t)size, 0);
	return got;
}

/* Returns how much was written, which is less than `size` after an error. */
static ssize_t write_stream(FILE *stream, const void *bytes, ssize_t size)
{
	if (!STREAMS_RECORD)
		return next_write(stream, bytes, size);
	struct weft__io_call call;
	weft__io_write_begin(&call, stream->_fileno, 0, (size_t)size, "write");
	ssize_t put = next_write(stream, bytes, size);
	weft__io_write_end(&call, put, 0);
	return put;
}

static int close_stream(FILE *stream)
{
	weft__io_record_lock_close(stream->_fileno);
	weft__io_closed(stream->_fileno);
	return next_close(stream);
}

static int close_process(FILE *stream)
{
	weft__io_closed(stream->_fileno);
	return next_close_process(stream);
}

/* ---- Replacement ---- */

struct replacement {
	const char *name;
	void **next;
	const void *function;
};

static const struct replacement replacements[] = {
	{"_IO_file_read", (void **)&next_read, (const void *)read_stream},
	{"_IO_file_write", (void **)&next_write, (const void *)write_stream},
	{"_IO_file_close", (void **)&next_close, (const void *)close_stream},
	{"_IO_proc_close", (void **)&next_close_process, (const void *)close_process},
};
enum {
	REPLACEMENTS = sizeof(replacements) / sizeof(replacements[0])
};

static void replace_in(const void **words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (int at = 0; at < REPLACEMENTS; at++)
			if (words[i] && words[i] == *replacements[at].next)
				words[i] = replacements[at].function;
}

/* The part of an object that is read-only after its relocation, in whole pages, as the dynamic
 * linker protects it. */
static int replace_in_object(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	uintptr_t page = (uintptr_t)getpagesize(), code = (uintptr_t)next_write;
	uintptr_t begin = 0, end = 0;
	bool is_libc = false;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
		is_libc |= part->p_type == PT_LOAD && from <= code && code < to;
		if (part->p_type != PT_GNU_RELRO)
			continue;
		begin = from & -page;
		end = to & -page;
	}
	if (!is_libc || begin >= end)
		return is_libc;
	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) == 0) {
		replace_in((const void **)begin, (end - begin) / sizeof(void *));
		mprotect((void *)begin, end - begin, PROT_READ);
	}
	return 1;
}

/* In a process that adapters record (start.c). */
__attribute__((constructor(112))) static void begin(void)
{
	if (weft__hooks_main_task() == WEFT_TASK_NONE)
		return;
	for (int i = 0; i < REPLACEMENTS; i++)
		*replacements[i].next = weft__hooks_find_next(replacements[i].name, NULL);
	if (next_write)
		dl_iterate_phdr(replace_in_object, NULL);
}
