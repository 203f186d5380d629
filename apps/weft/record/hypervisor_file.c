/* SPDX-License-Identifier: ISC
 *
 * A note stands where a window may begin. Each window of xentrace has a header with its size:
 *
 *     u32 0x2001f003; u32 pCPU; u32 bytes that follow
 */
#include "hypervisor_file.h"

#include <stdio.h>
#include <string.h>

#include <weft/xentrace.h>

#include "cli/cli.h"
#include "runs/file.h"

bool hypervisor_file_put(void *context, const void *bytes, size_t size)
{
	struct hypervisor_file *file = context;
	file->size += size;
	return weft__runs_write_all(file->fd, bytes, size);
}

/* ---- Notes ---- */

static bool put_note(struct hypervisor_file *file, const struct weft_xentrace_note *note)
{
	unsigned char bytes[WEFT_XENTRACE_NOTE_BYTES];
	weft_xentrace_write_note(note, bytes);
	return hypervisor_file_put(file, bytes, sizeof(bytes));
}

static bool put_pair(struct hypervisor_file *file, uint32_t kind, uint64_t first, uint64_t second)
{
	return put_note(file, &(struct weft_xentrace_note){kind, {first, second}});
}

static bool put_boot(struct hypervisor_file *file)
{
	uint8_t id[16];
	uint64_t words[2];
	if (!cli_read_uuid("boot_id", id))
		return true;
	memcpy(words, id, sizeof(id));
	return put_pair(file, WEFT_XENTRACE_NOTE_BOOT, words[0], words[1]);
}

bool hypervisor_file_put_clocks(struct hypervisor_file *file, struct weft_host *host, bool is_begin)
{
	struct weft_host_clocks clocks;
	if (weft_host_read_clocks(host, &clocks) != 0)
		return true;
	return (!is_begin ||
			   (put_pair(file, WEFT_XENTRACE_NOTE_RATE, clocks.hz, 0) && put_boot(file))) &&
		   put_pair(file, WEFT_XENTRACE_NOTE_TIME, clocks.cycles, clocks.xen_ns) &&
		   put_pair(file, WEFT_XENTRACE_NOTE_HOST, clocks.xen_ns, clocks.monotonic_ns);
}

static bool put_collected(struct hypervisor_file *file)
{
	const size_t size = file->collected;
	file->collected = 0;
	return hypervisor_file_put(file, file->notes, size);
}

/* Notes are written together: a write for each would wake the reader of a pipe, whose switches make
 * more notes. */
static bool collect_note(void *context, const struct weft_xentrace_note *note)
{
	struct hypervisor_file *file = context;
	if (file->collected == sizeof(file->notes) && !put_collected(file))
		return false;
	weft_xentrace_write_note(note, file->notes + file->collected);
	file->collected += WEFT_XENTRACE_NOTE_BYTES;
	return true;
}

bool hypervisor_file_put_processes(struct hypervisor_file *file)
{
	return !file->processes ||
		   (weft__runs_processes_read(file->processes, collect_note, file) && put_collected(file));
}

/* ---- Windows ---- */

static uint32_t size_in(const unsigned char head[HYPERVISOR_HEADER_BYTES])
{
	return (uint32_t)head[8] | (uint32_t)head[9] << 8 | (uint32_t)head[10] << 16 |
		   (uint32_t)head[11] << 24;
}

static bool is_between(const struct hypervisor_file *file)
{
	return !file->window && !file->header;
}

/* The first offset in the bytes where a window may begin; SIZE_MAX: there is none. */
static size_t find_boundary(struct hypervisor_file *file, const unsigned char *bytes, size_t size)
{
	size_t boundary = is_between(file) ? 0 : SIZE_MAX, part;
	for (size_t at = 0; at < size; at += part) {
		if (file->window) {
			part = size - at < file->window ? size - at : (size_t)file->window;
			file->window -= part;
		} else {
			part = HYPERVISOR_HEADER_BYTES - file->header;
			part = size - at < part ? size - at : part;
			memcpy(file->head + file->header, bytes + at, part);
			file->header += part;
			if (file->header < HYPERVISOR_HEADER_BYTES)
				break;
			file->window = size_in(file->head);
			file->header = 0;
		}
		if (is_between(file) && boundary == SIZE_MAX)
			boundary = at + part;
	}
	return boundary;
}

/* The kernel is asked after Xen recorded these windows, so that its notes about their time stand
 * before them, and a reader of the growing file has both. */
bool hypervisor_file_put_windows(
	struct hypervisor_file *file, const unsigned char *bytes, size_t size)
{
	const size_t boundary = find_boundary(file, bytes, size);
	if (boundary == SIZE_MAX)
		return hypervisor_file_put(file, bytes, size);
	return hypervisor_file_put(file, bytes, boundary) && hypervisor_file_put_processes(file) &&
		   hypervisor_file_put(file, bytes + boundary, size - boundary);
}
