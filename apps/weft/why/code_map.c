/* SPDX-License-Identifier: ISC
 *
 * See code_map.h. Names are shown as those of other functions, where the runtime is known: node
 * writes "JS:*inner /srv/app.js:12:8", where the mark says how it was compiled; Python
 * "py::inner:/srv/app.py".
 */
#include "code_map.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#define TEXT_MAX_BYTES ((size_t)64 << 20)
#define CLOCK_ERROR_S  2 /* of times at which processes begin and files change */

/* ---- The file ---- */

/* The pid in the process's own container, which is the last in the list; 0: unknown. */
static unsigned inner_pid(pid_t pid)
{
	char path[64], *line = NULL;
	unsigned found = 0;
	size_t room = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		uint64_t number;
		const char *last = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) != 0 || !last)
			continue;
		if (weft_parse_number(last + 1, strcspn(last + 1, "\n"), &number) == WEFT_PARSE_OK)
			found = (unsigned)number;
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* Every user may make files in /tmp, so the list has to be the process's user's; and it must not be
 * one that an earlier process with the pid has left. */
static bool is_of(int fd, uid_t user, double since)
{
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == user &&
		   (double)status.st_mtime + CLOCK_ERROR_S >= since;
}

#define CODE_MAP "/tmp/perf-%u.map" /* where perf(1) looks for it */

static int open_of(const char *path, uid_t user, double since)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !is_of(fd, user, since)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int code_map_open(pid_t pid, uid_t user, double since)
{
	char path[96];
	const unsigned inner = inner_pid(pid);
	int fd = -1;
	if (inner) {
		snprintf(path, sizeof(path), "/proc/%d/root" CODE_MAP, (int)pid, inner);
		fd = open_of(path, user, since);
	}
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), CODE_MAP, (unsigned)pid);
	return open_of(path, user, since);
}

/* ---- Names ---- */

struct span {
	const char *start, *end;
};

static const char *find_last(struct span in, char byte)
{
	const char *at = in.end;
	while (at > in.start)
		if (*--at == byte)
			return at;
	return NULL;
}

/* Takes ":12" from the end. False if there is none. */
static bool take_number(struct span *text, uint64_t *ret_number)
{
	const char *colon = find_last(*text, ':');
	if (!colon ||
		weft_parse_number(colon + 1, (size_t)(text->end - colon - 1), ret_number) != WEFT_PARSE_OK)
		return false;
	text->end = colon;
	return true;
}

/* Names must not contain what a terminal takes for a command. */
static void copy(char *to, size_t room, struct span from)
{
	size_t size = 0;
	for (const char *at = from.start; at < from.end && size + 1 < room; at++)
		to[size++] = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
	to[size] = '\0';
}

static struct span base_of(struct span path)
{
	const char *slash = find_last(path, '/');
	return (struct span){slash ? slash + 1 : path.start, path.end};
}

/* "KIND:*NAME PATH:LINE:COLUMN", of node. */
static bool take_script(struct span name, struct code_map_function *to)
{
	const char *begin = memchr(name.start, ':', (size_t)(name.end - name.start));
	struct span rest = {begin ? begin + 1 : name.start, name.end};
	uint64_t column, line;
	if (!begin || rest.start == rest.end || !take_number(&rest, &column) ||
		!take_number(&rest, &line) || !line || line > UINT32_MAX)
		return false;
	rest.start += strchr("*~^+-", *rest.start) ? 1 : 0;
	const char *space = find_last(rest, ' ');
	if (!space)
		return false;
	copy(to->function, sizeof(to->function), (struct span){rest.start, space});
	if (!to->function[0])
		strcpy(to->function, "(anonymous)");
	copy(to->file, sizeof(to->file), base_of((struct span){space + 1, rest.end}));
	to->line = (uint32_t)line;
	return true;
}

/* "py::NAME:PATH" */
static bool take_python(struct span name, struct code_map_function *to)
{
	char function[sizeof(to->function)], file[sizeof(to->file)];
	if (name.end - name.start < 4 || memcmp(name.start, "py::", 4) != 0)
		return false;
	name.start += 4;
	const char *colon = find_last(name, ':');
	if (!colon)
		return false;
	copy(function, sizeof(function), (struct span){name.start, colon});
	copy(file, sizeof(file), base_of((struct span){colon + 1, name.end}));
	(void)!snprintf(to->function, sizeof(to->function), "%.*s (%s)",
		(int)(sizeof(to->function) - sizeof(file) - 4), function, file);
	return true;
}

static void take_name(struct span name, struct code_map_function *to)
{
	*to = (struct code_map_function){.line = 0};
	if (!take_python(name, to) && !take_script(name, to)) {
		*to = (struct code_map_function){.line = 0};
		copy(to->function, sizeof(to->function), name);
	}
}

/* ---- Lines ---- */

struct function {
	uint64_t start, size;
	size_t name, name_size; /* in the text */
};

struct code_map {
	char *text;
	size_t size;
	struct function *list; /* in the order of the text */
	size_t count, room;
};

/* Takes a number and the space behind it. */
static bool take_hexadecimal(struct span *line, uint64_t *ret_number)
{
	const char *space = memchr(line->start, ' ', (size_t)(line->end - line->start));
	if (!space || weft_parse_hexadecimal(line->start, (size_t)(space - line->start), ret_number) !=
					  WEFT_PARSE_OK)
		return false;
	line->start = space + 1;
	return true;
}

static bool add(struct code_map *map, struct function function)
{
	if (map->count == map->room) {
		const size_t room = map->room ? 2 * map->room : 1024;
		struct function *more = realloc(map->list, room * sizeof(*more));
		if (!more)
			return false;
		map->list = more;
		map->room = room;
	}
	map->list[map->count++] = function;
	return true;
}

/* A line that is still being written has no end. */
static void find_lines(struct code_map *map, bool is_cut)
{
	const char *at = map->text, *end = map->text + map->size, *newline;
	if (is_cut)
		at = (newline = memchr(at, '\n', map->size)) ? newline + 1 : end;
	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		struct span line = {at, newline};
		struct function it;
		at = newline + 1;
		if (!take_hexadecimal(&line, &it.start) || !take_hexadecimal(&line, &it.size) ||
			line.start == line.end)
			continue;
		it.name = (size_t)(line.start - map->text);
		it.name_size = (size_t)(line.end - line.start);
		if (!add(map, it))
			return;
	}
}

static struct code_map *create(size_t size)
{
	struct code_map *map = calloc(1, sizeof(*map));
	if (map && !(map->text = malloc(size + 1))) {
		free(map);
		return NULL;
	}
	return map;
}

struct code_map *code_map_make(const char *text, size_t size)
{
	struct code_map *map = create(size);
	if (!map)
		return NULL;
	if (size)
		memcpy(map->text, text, size);
	map->size = size;
	find_lines(map, false);
	return map;
}

/* Runtimes append functions, so those that are in memory now are at the end. The first line that is
 * read may lack its beginning. */
struct code_map *code_map_read(int fd)
{
	struct stat status = {.st_size = 0};
	if (fstat(fd, &status) != 0 || status.st_size < 0)
		return NULL;
	const size_t all = (size_t)status.st_size;
	const size_t wanted = all < TEXT_MAX_BYTES ? all : TEXT_MAX_BYTES, from = all - wanted;
	struct code_map *map = create(wanted);
	for (ssize_t more = 1; map && map->size < wanted && more > 0;) {
		more = pread(fd, map->text + map->size, wanted - map->size, (off_t)(from + map->size));
		map->size += more > 0 ? (size_t)more : 0;
	}
	if (map)
		find_lines(map, from > 0);
	return map;
}

void code_map_destroy(struct code_map *map)
{
	if (!map)
		return;
	free(map->text);
	free(map->list);
	free(map);
}

bool code_map_find(const struct code_map *map, uint64_t address, struct code_map_function *ret)
{
	for (size_t i = map->count; i > 0; i--) {
		const struct function *it = &map->list[i - 1];
		const char *name = map->text + it->name;
		if (address < it->start || address - it->start >= it->size)
			continue;
		take_name((struct span){name, name + it->name_size}, ret);
		return true;
	}
	return false;
}
