/* SPDX-License-Identifier: ISC
 *
 * Opens ELF files and their files of debug information.
 *
 * The names come from the program under trace: it names the ELF files, and an ELF file names its
 * debug information. Opening a device, a FIFO or a file of /proc has effects, even if nothing is
 * read. So a file is found without being opened (O_PATH), has to be a regular file in the folder
 * where we look for it, and then is opened through /proc/self/fd, where nothing else can take its
 * place.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lines.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* On these file systems a regular file is an interface of the kernel, or a process serves it. By
 * the kernel's magic numbers. */
static bool is_special(int fd)
{
	static const uint32_t types[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */,
		0x64626720 /* debugfs */, 0x74726163 /* tracefs */, 0x73636673 /* securityfs */,
		0x27e0eb /* cgroup */, 0x63677270 /* cgroup2 */, 0xcafe4a11 /* bpf */,
		0x6165676c /* pstore */, 0xde5e81e4 /* efivarfs */, 0x65735546 /* fuse */};
	struct statfs system;
	if (fstatfs(fd, &system) != 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)system.f_type == types[i])
			return true;
	return false;
}

/* The calls are made directly: the filter knows their exact flags. */
static int open_with(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags);
}

/* The path of an open file, without links. */
static bool read_path(int fd, char ret_path[PATH_MAX])
{
	char self[32];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t size = readlink(self, ret_path, PATH_MAX - 1);
	ret_path[size > 0 ? size : 0] = '\0';
	return ret_path[0] == '/';
}

/* True if the path is below the folder, or if `is_direct`, in it. */
static bool is_in(const char *path, const char *folder, bool is_direct)
{
	size_t size = strlen(folder);
	return !*folder || (strncmp(path, folder, size) == 0 && path[size] == '/' &&
						   (!is_direct || !strchr(path + size + 1, '/')));
}

static int open_in(const char *path, const char *folder, bool is_direct, char ret_real[PATH_MAX])
{
	char self[32];
	struct stat status;
	int fd = -1, found = open_with(path, DEBUG_FILES_FIND);
	if (found < 0)
		return -1;
	if (fstat(found, &status) == 0 && S_ISREG(status.st_mode) && !is_special(found) &&
		read_path(found, ret_real) && is_in(ret_real, folder, is_direct)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		fd = open_with(self, DEBUG_FILES_READ);
	}
	close(found);
	return fd;
}

int debug_files_open(const char *path, char ret_real[PATH_MAX])
{
	return open_in(path, "", false, ret_real);
}

/* ---- Debug information ---- */

static int open_by_build_id(const unsigned char *id, size_t size)
{
	char path[sizeof(DEBUG_FOLDER) + 256], real[PATH_MAX];
	if (size < 2 || size > 64)
		return -1;
	int at = snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < size; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return open_in(path, DEBUG_FOLDER, false, real);
}

/* The checksum of .gnu_debuglink, which is that of zlib. */
static uint32_t sum_up(int fd)
{
	static uint32_t table[256];
	static unsigned char bytes[1 << 16];
	uint32_t sum = UINT32_MAX;
	off_t at = 0;
	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (ssize_t size; (size = pread(fd, bytes, sizeof(bytes), at)) > 0; at += size)
		for (ssize_t i = 0; i < size; i++)
			sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
	return ~sum;
}

/* Opens FOLDER/NAME if its checksum is right. */
static int open_linked(const char *folder, const char *name, uint32_t checksum)
{
	char path[PATH_MAX + NAME_MAX], real[PATH_MAX];
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX)
		return -1;
	int fd = open_in(path, folder, true, real);
	if (fd >= 0 && sum_up(fd) != checksum) {
		close(fd);
		return -1;
	}
	return fd;
}

/* As debuggers do: beside the file, in .debug there, and in its folder below the global one. */
static int open_by_name(const char *file, const char *name, uint32_t checksum)
{
	char folder[PATH_MAX], other[PATH_MAX + sizeof(DEBUG_FOLDER)];
	const char *slash = strrchr(file, '/');
	if (!slash || strlen(name) > NAME_MAX)
		return -1;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - file), file);
	int fd = open_linked(folder, name, checksum);
	if (fd < 0) {
		snprintf(other, sizeof(other), "%s/.debug", folder);
		fd = open_linked(other, name, checksum);
	}
	if (fd < 0) {
		snprintf(other, sizeof(other), DEBUG_FOLDER "%s", folder);
		fd = open_linked(other, name, checksum);
	}
	return fd;
}

int debug_files_find(const struct debug_files_wanted *wanted)
{
	char real[PATH_MAX];
	const char *link = wanted->link;
	int fd = open_by_build_id(wanted->build_id, wanted->build_id_size);
	if (fd >= 0 || !link || !*link)
		return fd;
	/* The common part of several files' information (dwz) is named by its path. */
	if (strncmp(link, DEBUG_FOLDER "/", sizeof(DEBUG_FOLDER)) == 0)
		return open_in(link, DEBUG_FOLDER, false, real);
	if (strchr(link, '/'))
		return -1;
	return open_by_name(wanted->file, link, wanted->checksum);
}
