/* SPDX-License-Identifier: ISC
 *
 * The files with code that a process has mapped. Its names for them may lead to other files by now:
 * a file is used only if it begins as the memory does. The build id is in that part.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "code_map.h"
#include "record/lines.h"
#include "runs/directory/rings.h"
#include "stacks.h"

struct mapping {
	uint64_t start, end, offset;
	bool is_code;
	const char *path;
};

/* "7f00-7f80 r-xp 00001000 08:01 4711    /usr/lib/libc.so.6" */
static bool parse(char *line, struct mapping *ret)
{
	char *dash = strchr(line, '-'), *space = strchr(line, ' '), *path = strchr(line, '/');
	if (!dash || !space || !path || dash > space || strlen(space) < 7 || path < space)
		return false;
	const char *offset = space + 6;
	line[strcspn(line, "\n")] = '\0';
	ret->path = path;
	ret->is_code = space[3] == 'x';
	return weft_parse_hexadecimal(line, (size_t)(dash - line), &ret->start) == WEFT_PARSE_OK &&
		   weft_parse_hexadecimal(dash + 1, (size_t)(space - dash - 1), &ret->end) ==
			   WEFT_PARSE_OK &&
		   weft_parse_hexadecimal(offset, strcspn(offset, " "), &ret->offset) == WEFT_PARSE_OK &&
		   strlen(path) < PATH_MAX;
}

/* The mappings of a file lie one after the other. */
static void take(struct stack_files *files, const struct mapping *mapping)
{
	struct stack_file *last = files->count ? &files->files[files->count - 1] : NULL;
	if (last && strcmp(last->path, mapping->path) == 0) {
		last->end = mapping->end;
	} else {
		/* Only a file that is mapped from its beginning, and has code, is of use. */
		if (last && !last->code)
			files->count--;
		if (mapping->offset || files->count == STACK_FILES_MAX)
			return;
		last = &files->files[files->count++];
		memset(last, 0, sizeof(*last));
		snprintf(last->path, sizeof(last->path), "%s", mapping->path);
		last->start = mapping->start;
		last->first_end = last->end = mapping->end;
		last->fd = -1;
	}
	if (mapping->is_code && !last->code) {
		last->code = mapping->start;
		last->code_end = mapping->end;
		last->offset = mapping->offset;
	}
}

struct stack_files *stack_files_read(pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	struct mapping mapping;
	struct stack_files *files = malloc(sizeof(*files));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = files ? fopen(path, "re") : NULL;
	if (!file) {
		free(files);
		return NULL;
	}
	files->count = 0;
	files->code_map = -1;
	while (getline(&line, &room, file) > 0)
		if (parse(line, &mapping))
			take(files, &mapping);
	free(line);
	fclose(file);
	if (files->count && !files->files[files->count - 1].code)
		files->count--;
	for (uint32_t i = 0; i < files->count; i++)
		if (!weft__outside_read(
				pid, files->files[i].start, files->files[i].header, STACK_HEADER_SIZE))
			memset(files->files[i].header, 0, STACK_HEADER_SIZE);
	return files;
}

static int open_checked(const struct stack_file *file, const char *path)
{
	unsigned char header[STACK_HEADER_SIZE];
	char real[PATH_MAX];
	int fd = debug_files_open(path, real);
	if (fd >= 0 && (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
					   memcmp(header, file->header, sizeof(header)) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_removed(const struct stack_file *file)
{
	static const char mark[] = " (deleted)";
	const size_t size = strlen(file->path);
	return size > strlen(mark) && strcmp(file->path + size - strlen(mark), mark) == 0;
}

void stack_files_open_removed(struct stack_files *files, pid_t pid)
{
	char path[96];
	for (uint32_t i = 0; i < files->count; i++) {
		struct stack_file *file = &files->files[i];
		if (!is_removed(file))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
			file->start, file->first_end);
		file->fd = open_checked(file, path);
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
		if (file->fd < 0)
			file->fd = open_checked(file, path);
	}
}

bool stack_files_open(struct stack_files *files, pid_t pid, uid_t user)
{
	char path[PATH_MAX + 32];
	struct stat status;
	bool is_ours = true;
	files->code_map = code_map_open(pid, user, weft__runs_process_start(pid));
	for (uint32_t i = 0; i < files->count; i++) {
		struct stack_file *file = &files->files[i];
		/* In a container, the name is of its own root. */
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, file->path);
		if (file->fd < 0)
			file->fd = open_checked(file, path);
		if (file->fd < 0)
			file->fd = open_checked(file, file->path);
		is_ours =
			is_ours && (file->fd < 0 || (fstat(file->fd, &status) == 0 &&
											status.st_uid == geteuid() && !(status.st_mode & 022)));
	}
	return is_ours;
}

bool stack_files_is_return(const struct stack_files *files, uint64_t address, uint64_t *ret_called)
{
	unsigned char code[7];
	int32_t distance;
	*ret_called = 0;
	for (uint32_t i = 0; i < files->count; i++) {
		const struct stack_file *file = &files->files[i];
		if (file->fd < 0 || address < file->code + sizeof(code) || address > file->code_end)
			continue;
		const uint64_t at = address - sizeof(code) - file->code + file->offset;
		if (pread(file->fd, code, sizeof(code), (off_t)at) != (ssize_t)sizeof(code))
			return false;
		/* x86: a call to a distance; or 0xff by a register or memory, in 2 to 7 bytes. */
		if (code[2] == 0xe8) {
			memcpy(&distance, code + 3, sizeof(distance));
			*ret_called = address + (uint64_t)(int64_t)distance;
			return true;
		}
		for (unsigned k = 0; k < 6; k++)
			if (code[k] == 0xff && (code[k + 1] >> 3 & 7) == 2)
				return true;
		return false;
	}
	return false;
}
