/* SPDX-License-Identifier: ISC
 *
 * Runs `/lib64/ld-linux-x86-64.so.2 --list PROGRAM`, whose output has a line for each library:
 *
 *     libuv.so.1 => /lib/x86_64-linux-gnu/libuv.so.1 (0x00007f2c3a200000)
 */
#include "runs/program/libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Program headers that are examined, at most. */
#define HEADERS_MAX 256

/* The loader that a program of this machine names. False if it names none. */
static bool read_loader(const char *path, char ret_loader[PATH_MAX])
{
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;
	const char *slash = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is_read = fd >= 0 && pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header);
	for (unsigned i = 0; is_read && !slash && i < header.e_phnum && i < HEADERS_MAX; i++) {
		off_t at = (off_t)(header.e_phoff + (uint64_t)i * header.e_phentsize);
		is_read = pread(fd, &segment, sizeof(segment), at) == (ssize_t)sizeof(segment);
		if (!is_read || segment.p_type != PT_INTERP || segment.p_filesz >= PATH_MAX)
			continue;
		ssize_t size = pread(fd, ret_loader, segment.p_filesz, (off_t)segment.p_offset);
		ret_loader[size > 0 ? size : 0] = '\0';
		slash = strrchr(ret_loader, '/');
	}
	if (fd >= 0)
		close(fd);
	return slash != NULL;
}

/* The same; false if it is not glibc's. */
static bool find_loader(const char *path, char ret_loader[PATH_MAX])
{
	const char *slash = read_loader(path, ret_loader) ? strrchr(ret_loader, '/') : NULL;
	return slash && strncmp(slash, "/ld-linux", 9) == 0;
}

/* Machines name glibc's loader differently, but this program has it, too. */
bool weft__runs_libraries_is_foreign(const char *path)
{
	char own[PATH_MAX], its[PATH_MAX];
	return read_loader("/proc/self/exe", own) && read_loader(path, its) &&
		   strcmp(strrchr(own, '/'), strrchr(its, '/')) != 0;
}

static bool has_prefix(const char *name, const char *const prefixes[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Sanitizers whose runtime refuses to come after another library. */
static bool is_sanitizer(const char *name)
{
	static const char *const names[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so"};
	return has_prefix(name, names, sizeof(names) / sizeof(names[0]));
}

/* Libraries by which a program calls Xen. */
static bool is_of_xen(const char *name)
{
	static const char *const names[] = {
		"libxencall.so", "libxenforeignmemory.so", "libxengnttab.so", "libxenevtchn.so"};
	return has_prefix(name, names, sizeof(names) / sizeof(names[0]));
}

static void take_line(char *line, struct weft__runs_libraries *libraries)
{
	char *name = line + strspn(line, " \t");
	char *arrow = strstr(name, " => ");
	libraries->has_uv |= strncmp(name, "libuv.so", 8) == 0;
	libraries->has_glib |= strncmp(name, "libglib-2.0.so", 14) == 0;
	libraries->has_xen |= is_of_xen(name);
	libraries->has_weft |= strncmp(name, "libweft.so", 10) == 0;
	if (!arrow || libraries->sanitizer[0] || !is_sanitizer(name))
		return;
	arrow += 4;
	arrow[strcspn(arrow, " \n")] = '\0';
	if (arrow[0] == '/' && strlen(arrow) < PATH_MAX)
		strcpy(libraries->sanitizer, arrow);
}

/* Runs in the child. */
static void list(const char *loader, const char *path, int output)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(nowhere, STDIN_FILENO);
	dup2(nowhere, STDERR_FILENO);
	dup2(output, STDOUT_FILENO);
	execl(loader, loader, "--list", path, (char *)NULL);
	_exit(127);
}

void weft__runs_libraries_list(const char *path, struct weft__runs_libraries *ret_libraries)
{
	char loader[PATH_MAX], line[PATH_MAX + 256], program[PATH_MAX];
	int ends[2], status = 1;
	*ret_libraries = (struct weft__runs_libraries){0};
	/* As when the program runs, $ORIGIN is where the file is, not a link to it. */
	if (!realpath(path, program) || !find_loader(program, loader) || pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid_t child = fork();
	if (child == 0)
		list(loader, program, ends[1]);
	close(ends[1]);
	FILE *lines = fdopen(ends[0], "re");
	while (lines && fgets(line, sizeof(line), lines))
		take_line(line, ret_libraries);
	if (lines)
		fclose(lines);
	else
		close(ends[0]);
	ret_libraries->is_known = child > 0 && waitpid(child, &status, 0) == child &&
							  WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
