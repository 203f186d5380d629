/* SPDX-License-Identifier: ISC
 *
 * Opens a ring in a directory where others may create files: root's run directory is writable for
 * children that have dropped their privileges. An entry may be a FIFO that blocks its reader, a
 * link to another user's file, or a sparse file of any size. So an entry is checked before it is
 * opened, opened without following links or blocking, and checked again through its descriptor.
 */
#include <weft/source.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/export.h"
#include "base/field.h"
#include "source/process.h"
#include "source/ring.h"

#define TMPFS_TYPE 0x01021994 /* TMPFS_MAGIC of linux/magic.h */

/* On other file systems the blocks need not match the size: some compress. */
#define HOLES_MAX ((uint64_t)1 << 30)

/* Stores the reason for a refusal. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(
	struct weft_ring_check *check, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(check->reason, sizeof(check->reason), format, arguments);
	va_end(arguments);
	return false;
}

/* ---- The process that the entry is named after ---- */

/* The text of a small file in /proc; empty if the process has ended. */
static void read_process(pid_t pid, const char *name, char *ret_text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, ret_text, size - 1) : 0;
	if (fd >= 0)
		close(fd);
	ret_text[got > 0 ? got : 0] = '\0';
}

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* True if the file is older than the process, since process numbers are reused. Users cannot set a
 * file's change time back. */
static bool is_older(const struct stat *status, pid_t pid)
{
	char text[1024];
	uint64_t ticks;
	read_process(pid, "stat", text, sizeof(text));
	/* PID (NAME) STATE and 18 more fields come before the start time; NAME may hold anything. */
	const char *name_end = strrchr(text, ')');
	if (!name_end || !weft__field_number(name_end + 1, 19, UINT64_MAX, &ticks))
		return true; /* the process has ended meanwhile */
	double booted = seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME);
	double started = booted + (double)ticks / (double)sysconf(_SC_CLK_TCK);
	return (double)status->st_ctim.tv_sec + (double)status->st_ctim.tv_nsec / 1e9 < started;
}

/* Root alone accepts a file of another user: a child that dropped its privileges made it. If that
 * process still runs, the file must belong to its user. */
static bool check_owner(const struct stat *status, pid_t pid, struct weft_ring_check *check)
{
	uint64_t users[4];
	unsigned owner = (unsigned)status->st_uid;
	check->is_ours = check->has_process = status->st_uid == geteuid();
	if (check->is_ours)
		return true;
	if (geteuid() != 0)
		return refuse(check, "it belongs to user %u", owner);
	if (!weft__source_process_users(pid, users))
		return true;
	for (int i = 0; i < 4; i++)
		check->has_process |= users[i] == owner;
	if (check->has_process || is_older(status, pid))
		return true;
	return refuse(check, "it belongs to user %u, but process %d to user %u", owner, (int)pid,
		(unsigned)users[1]);
}

/* ---- The entry ---- */

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a FIFO";
	case S_IFDIR:
		return "a directory";
	case S_IFSOCK:
		return "a socket";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "a device";
	}
}

static bool check_kind(const struct stat *status, struct weft_ring_check *check)
{
	if (!S_ISREG(status->st_mode))
		return refuse(check, "it is %s, not a regular file", kind_of(status->st_mode));
	if (status->st_size < 0 || (uintmax_t)status->st_size > SIZE_MAX / 2)
		return refuse(check, "it is too large to be mapped");
	return true;
}

/* libweft allocates all blocks of a ring. Reading a hole of tmpfs through a mapping would allocate
 * it: a file without blocks could take all memory. */
static bool check_holes(const struct stat *status, bool is_tmpfs, struct weft_ring_check *check)
{
	uint64_t size = (uint64_t)status->st_size, allocated = (uint64_t)status->st_blocks * 512;
	if (allocated >= size || (!is_tmpfs && size - allocated <= HOLES_MAX))
		return true;
	return refuse(
		check, "it is sparse: %" PRIu64 " of its %" PRIu64 " bytes are allocated", allocated, size);
}

static bool check_file(const struct stat *status, pid_t pid, struct weft_ring_check *check)
{
	return check_kind(status, check) && check_owner(status, pid, check);
}

/* Follows our own link to a ring elsewhere (--in-place), once. `path` has PATH_MAX bytes. */
static bool resolve(char *path, struct stat *status, struct weft_ring_check *check)
{
	char target[PATH_MAX];
	if (lstat(path, status) != 0)
		return refuse(check, "%s", strerror(errno));
	check->is_ours = status->st_uid == geteuid();
	if (!S_ISLNK(status->st_mode) || !check->is_ours)
		return true;
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	if (size <= 0 || target[0] != '/')
		return refuse(check, "it is a symbolic link without an absolute target");
	target[size] = '\0';
	if (lstat(target, status) != 0)
		return refuse(check, "it is a symbolic link whose target is missing");
	memcpy(path, target, (size_t)size + 1);
	return true;
}

static bool copy_path(const char *path, char ret_path[PATH_MAX], struct weft_ring_check *check)
{
	size_t length = strlen(path);
	if (length >= PATH_MAX)
		return refuse(check, "%s", strerror(ENAMETOOLONG));
	memcpy(ret_path, path, length + 1);
	return true;
}

WEFT__EXPORT bool weft_source_check_ring(
	const char *path, pid_t pid, struct weft_ring_check *ret_check)
{
	char target[PATH_MAX];
	struct stat status;
	*ret_check = (struct weft_ring_check){.has_process = false};
	return copy_path(path, target, ret_check) && resolve(target, &status, ret_check) &&
		   check_file(&status, pid, ret_check);
}

/* ---- Opening ---- */

/* Opens the same file again for reading and writing. -1: not permitted. */
static int open_writable(int fd, const char *path, const struct stat *expected)
{
	char self[32];
	struct stat status;
	const int flags = O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	int other = open(self, flags);
	if (other < 0 && errno == ENOENT) /* /proc is not mounted */
		other = open(path, flags | O_NOFOLLOW);
	if (other >= 0 && (fstat(other, &status) != 0 || status.st_dev != expected->st_dev ||
						  status.st_ino != expected->st_ino)) {
		close(other);
		other = -1;
	}
	return other;
}

/* True if the opened file is the one that was checked before, and all of it may be read. */
static bool check_opened(int fd, const struct stat *expected, pid_t pid, unsigned access,
	struct stat *ret_status, struct weft_ring_check *check)
{
	struct statfs system;
	if (fstat(fd, ret_status) != 0)
		return refuse(check, "%s", strerror(errno));
	if (ret_status->st_dev != expected->st_dev || ret_status->st_ino != expected->st_ino)
		return refuse(check, "it was replaced while it was opened");
	bool is_tmpfs = fstatfs(fd, &system) == 0 && system.f_type == TMPFS_TYPE;
	return check_file(ret_status, pid, check) &&
		   ((access & WEFT_RING_SPARSE) || check_holes(ret_status, is_tmpfs, check));
}

WEFT__EXPORT int weft_source_open_ring(
	const char *path, pid_t pid, unsigned access, struct weft_ring_check *ret_check)
{
	char target[PATH_MAX];
	struct stat expected, status;
	struct weft_ring_check *check = ret_check;
	*check = (struct weft_ring_check){.has_process = false};
	if (!copy_path(path, target, check) || !resolve(target, &expected, check) ||
		!check_file(&expected, pid, check))
		return -1;
	int fd = open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		refuse(check, "%s", strerror(errno));
		return -1;
	}
	if (!check_opened(fd, &expected, pid, access, &status, check)) {
		close(fd);
		return -1;
	}
	int writable = access & WEFT_RING_WRITE ? open_writable(fd, target, &status) : -1;
	if (writable < 0)
		return fd;
	close(fd);
	return writable;
}

int weft__source_ring_open_found(
	int found, pid_t pid, unsigned access, struct weft_ring_check *ret_check)
{
	struct stat expected, status;
	char self[32];
	struct weft_ring_check *check = ret_check;
	*check = (struct weft_ring_check){.has_process = false};
	if (fstat(found, &expected) != 0 || !check_file(&expected, pid, check))
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
	const int how = access & WEFT_RING_WRITE ? O_RDWR : O_RDONLY;
	/* A lease of a process would let its opener wait. */
	int fd = open(self, how | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 && !check_opened(fd, &expected, pid, access, &status, check)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
