/* SPDX-License-Identifier: ISC
 *
 * The memory of a process, live or stopped: what /proc/PID/maps lists. Reading may not harm it, so
 * memory of devices is left out: there, a read may have an effect.
 */
#include "runs/memory/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/parse.h>

#include "source/process.h"

/* Larger mappings are addresses that a program has reserved, such as the shadow of
 * AddressSanitizer. To look for their pages would take minutes. */
#define MAPPING_MAX ((uint64_t)256 << 30)

static bool take_hexadecimal(const char **at, char end, uint64_t *ret_number)
{
	size_t digits = strcspn(*at, "- ");
	if ((*at)[digits] != end || weft_parse_hexadecimal(*at, digits, ret_number) != WEFT_PARSE_OK)
		return false;
	*at += digits + 1;
	return true;
}

/* True for a file of /dev that is no memory. */
static bool is_device(const char *line)
{
	static const char *const memory[] = {"/dev/shm/", "/dev/hugepages", "/dev/zero"};
	const char *path = strchr(line, '/');
	if (!path || strncmp(path, "/dev/", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (strncmp(path, memory[i], strlen(memory[i])) == 0)
			return false;
	return true;
}

/* A line is RANGE RIGHTS OFFSET DEVICE INODE PATH. */
static bool add_line(struct weft__runs_image *memory, const char *line)
{
	uint64_t start, end;
	const char *at = line;
	if (!take_hexadecimal(&at, '-', &start) || !take_hexadecimal(&at, ' ', &end) || *at != 'r' ||
		end < start || end - start > MAPPING_MAX || end > INT64_MAX || is_device(line) ||
		strstr(at, "[vvar"))
		return true;
	return weft__runs_image_add(memory,
		(struct weft__runs_image_part){.address = start, .size = end - start, .offset = start});
}

static int open_own(pid_t thread, const char *name, int flags)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)thread, name);
	return open(path, flags | O_CLOEXEC);
}

/* Adds all mappings. False with errno. */
static bool read_maps(struct weft__runs_image *memory, pid_t thread)
{
	char *line = NULL;
	size_t capacity = 0;
	bool good = true;
	int fd = open_own(thread, "maps", O_RDONLY);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (good && getline(&line, &capacity, file) > 0)
		good = add_line(memory, line);
	if (!good)
		errno = ENOMEM;
	good = good && !ferror(file);
	int saved = errno;
	free(line);
	fclose(file);
	errno = saved;
	return good;
}

static void explain(pid_t pid, int error, char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	const size_t size = WEFT__RUNS_IMAGE_REASON_BYTES;
	if (error == ENOENT || error == ESRCH)
		snprintf(reason, size, "there is no process %d", (int)pid);
	else if (error == EACCES || error == EPERM)
		snprintf(reason, size, "%s",
			geteuid() == 0
				? "this system does not let root read its memory, as in a container without "
				  "CAP_SYS_PTRACE"
				: "its memory may be read by root alone, or by its user if the system lets a "
				  "debugger attach");
	else
		snprintf(reason, size, "%s", strerror(error));
}

bool weft__runs_image_open_process(
	pid_t pid, struct weft__runs_image *ret_memory, char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	const pid_t thread = weft__source_process_thread(pid);
	struct weft__runs_image memory = {.pages = -1};
	memory.process = open_own(thread, "mem", O_RDONLY);
	bool good = memory.process >= 0 && read_maps(&memory, thread);
	if (!good) {
		explain(pid, errno, reason);
	} else if (!memory.count) {
		snprintf(reason, WEFT__RUNS_IMAGE_REASON_BYTES, "%s",
			"it has no memory: it has ended, or is a thread of the kernel");
		good = false;
	}
	if (!good) {
		weft__runs_image_close(&memory);
		return false;
	}
	memory.pages = open_own(thread, "pagemap", O_RDONLY);
	weft__runs_image_sort(&memory);
	*ret_memory = memory;
	return true;
}
