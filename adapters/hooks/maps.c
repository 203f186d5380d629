/* SPDX-License-Identifier: ISC
 *
 * See maps.h.
 */
#include "hooks/maps.h"

#include <fcntl.h>
#include <string.h>

#include "kernel/call.h"

/* Reads the file through a small buffer: it has a line for each mapping. System calls are made
 * directly, since the functions of libc for these have hooks. */
struct lines {
	int fd;
	size_t at, size;
	int last; /* the byte after a decimal number */
	char bytes[1024];
};

static int next_byte(struct lines *lines)
{
	if (lines->at == lines->size) {
		long got = weft__kernel_read(lines->fd, lines->bytes, sizeof(lines->bytes));
		lines->size = got > 0 ? (size_t)got : 0;
		lines->at = 0;
	}
	return lines->at < lines->size ? (unsigned char)lines->bytes[lines->at++] : -1;
}

static int digit(int byte)
{
	return byte >= '0' && byte <= '9'   ? byte - '0'
		   : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
										: -1;
}

/* A hexadecimal number and the byte after it. */
static uintptr_t read_number(struct lines *lines)
{
	uintptr_t number = 0;
	for (int value; (value = digit(next_byte(lines))) >= 0;)
		number = number << 4 | (unsigned)value;
	return number;
}

static uint64_t read_decimal(struct lines *lines)
{
	uint64_t number = 0;
	for (int value; (value = digit(lines->last = next_byte(lines))) >= 0;)
		number = 10 * number + (unsigned)value;
	return number;
}

/* The rest of the line. True if it is an absolute path that fits. */
static bool read_path(struct lines *lines, char path[static WEFT__HOOKS_PATH_ROOM])
{
	size_t size = 0;
	int byte = lines->last;
	while (byte == ' ')
		byte = next_byte(lines);
	for (; byte >= 0 && byte != '\n'; byte = next_byte(lines))
		if (size < WEFT__HOOKS_PATH_ROOM)
			path[size++] = (char)byte;
	if (size == WEFT__HOOKS_PATH_ROOM || size == 0)
		return false;
	path[size] = '\0';
	return path[0] == '/';
}

static void skip_words(struct lines *lines, int count)
{
	while (count > 0) {
		int byte = next_byte(lines);
		if (byte < 0)
			return;
		count -= byte == ' ';
	}
}

/* BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH. A file's zeroed variables are in a mapping
 * without a path right after the file's last one. */
bool weft__hooks_find_mapping(uintptr_t address, struct weft__hooks_mapping *ret)
{
	struct lines lines = {.fd = weft__kernel_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0)};
	char path[WEFT__HOOKS_PATH_ROOM];
	uintptr_t before = 0;
	bool found = false;
	ret->path[0] = '\0';
	while (lines.fd >= 0 && !found) {
		uintptr_t begin = read_number(&lines), end = read_number(&lines);
		if (!end)
			break;
		skip_words(&lines, 1);
		uintptr_t offset = read_number(&lines);
		ret->device = (uint64_t)read_number(&lines) << 32;
		ret->device |= read_number(&lines);
		ret->inode = read_decimal(&lines);
		ret->offset = offset + (address - begin);
		if (read_path(&lines, path)) {
			if (offset == 0)
				ret->base = begin;
			memcpy(ret->path, path, sizeof(path));
		} else if (begin != before) {
			ret->path[0] = '\0';
		}
		before = end;
		found = address >= begin && address < end;
	}
	if (lines.fd >= 0)
		weft__kernel_close(lines.fd);
	return found;
}
