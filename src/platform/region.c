/* SPDX-License-Identifier: ISC
 *
 * The files for this process's counters and metrics in the folder of an agent (abi/counter_abi.h).
 * They have names, so an agent finds the last values however the process ended, and also if the
 * agent was not running then. Nothing is read back from the file.
 *
 * Every user can write to the system's folder. So the folder must be root's or ours, and nobody
 * else may be able to remove our file there; the file is made without a name, filled, and then gets
 * a name that cannot be guessed. No link is followed, and no file is opened that was there before.
 *
 * The file's pages are allocated at once: otherwise a full file system would end the program by
 * SIGBUS at some change of a counter. If anything fails, the counters stay in nameless memory.
 *
 * A program that is recorded has its counters in a file beside its ring, and its metrics if no
 * agent collects them. If one does, what saves the trace needs their last values as well, while the
 * agent may remove the file as soon as the program has ended. So the file has a second name, and a
 * header beside the ring has that name. Both are there before the first one is.
 *
 * All system calls are made at the program's start, with its first metric, and in the handler of
 * fork(): later the program may have installed a filter that kills. A forked child that executes
 * another program leaves a file without counters, which the agent removes; if no agent runs, such
 * files may take a bounded part of the folder only.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "abi/counter_abi.h"
#include "abi/metric_abi.h"
#include "kernel/call.h"
#include "kernel/clock.h"
#include "record/atomics.h"
#include "record/metrics.h"

/* The folder takes no more files if it has that many, or if its file system has less free room than
 * both of these. */
#define FILES_MAX      4096
#define FREE_PART      4
#define FREE_BYTES_MIN (UINT64_C(1) << 30)

#define TMPFS_MAGIC       0x01021994
#define TMPFS_ENTRY_BYTES 20 /* by which a folder's size grows there */

static char folder[WEFT__RUN_BYTES]; /* empty: there is none */

/* ---- The folder ---- */

/* True if others cannot remove our files there, nor replace the folder's owner's. */
static bool is_safe(const struct stat *status)
{
	return S_ISDIR(status->st_mode) && (status->st_uid == 0 || status->st_uid == geteuid()) &&
		   (!(status->st_mode & 022) || (status->st_mode & S_ISVTX));
}

/* A descriptor that gives no access to the folder, which others may not list; -1: there is none. */
static int open_folder(const char *path, struct stat *ret_status)
{
	int fd = weft__kernel_open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd >= 0 && weft__kernel_stat(fd, ret_status) == 0 && is_safe(ret_status))
		return fd;
	if (fd >= 0)
		weft__kernel_close(fd);
	return -1;
}

static bool try_folder(const char *before, const char *path)
{
	struct stat status;
	size_t length = strlen(before), rest = strlen(path);
	if (length + rest >= sizeof(folder))
		return false;
	memcpy(folder, before, length);
	memcpy(folder + length, path, rest + 1);
	int fd = folder[0] == '/' ? open_folder(folder, &status) : -1;
	if (fd < 0)
		folder[0] = '\0';
	else
		weft__kernel_close(fd);
	return fd >= 0;
}

void weft__platform_region_find(void)
{
	const char *wanted = secure_getenv(WEFT_ABI_AGENT_VARIABLE);
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	folder[0] = '\0';
	if (wanted && *wanted) {
		if (strcmp(wanted, "none") != 0 && !try_folder("", wanted))
			weft__platform_linux_report(
				WEFT_ABI_AGENT_VARIABLE, "must be none, or a folder of root or of this user");
	} else if (!try_folder("", WEFT_ABI_AGENT_FOLDER) && runtime) {
		try_folder(runtime, WEFT_ABI_AGENT_USER_FOLDER);
	}
}

static bool has_room(int fd, const struct stat *status)
{
	struct statfs room;
	if (fstatfs(fd, &room) != 0)
		return false;
	if (room.f_type == TMPFS_MAGIC && status->st_size >= FILES_MAX * TMPFS_ENTRY_BYTES)
		return false;
	const uint64_t all = (uint64_t)room.f_blocks, left = (uint64_t)room.f_bavail;
	return left >= all / FREE_PART || left * (uint64_t)room.f_bsize >= FREE_BYTES_MIN;
}

/* ---- The file ---- */

/* A limit on the size of files would end the program by SIGXFSZ. */
static bool may_grow(size_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

/* A file without a name, which has all its pages; -1 if that fails. */
static int make_file(int in, size_t bytes)
{
	int fd = openat(in, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 && fchmod(fd, 0600) == 0 && fallocate(fd, 0, 0, (off_t)bytes) == 0)
		return fd;
	if (fd >= 0)
		weft__kernel_close(fd);
	return -1;
}

static void compose_name(
	const uint8_t region[16], const char *suffix, char ret_name[WEFT_ABI_AGENT_NAME_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	for (unsigned i = 0; i < 16; i++) {
		*ret_name++ = digits[region[i] >> 4];
		*ret_name++ = digits[region[i] & 15];
	}
	memcpy(ret_name, suffix, strlen(suffix) + 1);
}

/* Gives the file its name. */
static bool name_file(int fd, int in, const uint8_t region[16], const char *suffix)
{
	char from[WEFT__DESCRIPTOR_PATH_BYTES], name[WEFT_ABI_AGENT_NAME_BYTES];
	weft__platform_memory_path(fd, from);
	compose_name(region, suffix, name);
	return linkat(AT_FDCWD, from, in, name, AT_SYMLINK_FOLLOW) == 0;
}

/* While a process has the rights of two users, a file of one would hold what belongs to the other.
 */
static bool has_one_user(void)
{
	uid_t real, effective, saved;
	return getresuid(&real, &effective, &saved) == 0 && real == effective && effective == saved;
}

static void put_program(char *to, size_t size)
{
	const char *program = weft__platform_linux_program();
	memcpy(to, program, strnlen(program, size - 1));
}

void weft__platform_region_begin(struct weft_abi_counters *counters)
{
	counters->version = WEFT_ABI_COUNTERS_VERSION;
	counters->owner = (uint32_t)weft__kernel_process();
	counters->born_unix_ns = weft__kernel_clock_ns(CLOCK_REALTIME);
	put_program(counters->program, sizeof(counters->program));
	weft__fence_release();
	memcpy(counters->magic, WEFT_ABI_COUNTERS_MAGIC, sizeof(counters->magic));
}

void weft__platform_region_begin_metrics(struct weft_abi_metrics *metrics)
{
	metrics->born_unix_ns = weft__kernel_clock_ns(CLOCK_REALTIME);
	metrics->born_monotonic_ns = weft__kernel_clock_ns(CLOCK_MONOTONIC);
	put_program(metrics->program, sizeof(metrics->program));
	weft__record_metrics_begin_memory(metrics, (uint32_t)weft__kernel_process());
}

static void begin_counters(void *memory, const uint8_t region[16])
{
	struct weft_abi_counters *counters = memory;
	memcpy(counters->region, region, sizeof(counters->region));
	weft__platform_region_begin(counters);
}

static void begin_metrics(void *memory, const uint8_t region[16])
{
	struct weft_abi_metrics *metrics = memory;
	memcpy(metrics->region, region, sizeof(metrics->region));
	weft__platform_region_begin_metrics(metrics);
}

struct kind {
	const char *suffix;
	size_t bytes;
	void (*begin)(void *memory, const uint8_t region[16]);
	bool is_kept; /* the file has a second name */
};

static void unname(int in, const uint8_t region[16], const char *suffix)
{
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	compose_name(region, suffix, name);
	unlinkat(in, name, 0);
}

static bool name_all(int fd, int in, const struct kind *kind, const uint8_t region[16])
{
	if (kind->is_kept && !name_file(fd, in, region, WEFT_ABI_AGENT_KEPT_SUFFIX))
		return false;
	if (name_file(fd, in, region, kind->suffix))
		return true;
	if (kind->is_kept)
		unname(in, region, WEFT_ABI_AGENT_KEPT_SUFFIX);
	return false;
}

/* The file is complete before it has a name. */
static void *make_in(int in, const struct kind *kind, const uint8_t region[16])
{
	int fd = make_file(in, kind->bytes);
	void *memory = fd >= 0 ? weft__platform_memory_map(fd, kind->bytes) : NULL;
	if (memory) {
		kind->begin(memory, region);
		if (!name_all(fd, in, kind, region)) {
			weft__platform_memory_unmap(memory, kind->bytes);
			memory = NULL;
		}
	}
	if (fd >= 0)
		weft__kernel_close(fd);
	return memory;
}

static void *make(const struct kind *kind, const uint8_t region[16])
{
	int saved = errno;
	struct stat status;
	void *memory = NULL;
	int in =
		folder[0] && may_grow(kind->bytes) && has_one_user() ? open_folder(folder, &status) : -1;
	if (in >= 0 && has_room(in, &status))
		memory = make_in(in, kind, region);
	if (in >= 0)
		weft__kernel_close(in);
	errno = saved;
	return memory;
}

void *weft__platform_region_make_at(const char *path, size_t bytes)
{
	const struct stat folder_of_run = {.st_size = 0};
	void *memory = NULL;
	int saved = errno;
	int fd = may_grow(bytes)
				 ? weft__kernel_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
				 : -1;
	if (fd >= 0 && has_room(fd, &folder_of_run) && fallocate(fd, 0, 0, (off_t)bytes) == 0)
		memory = weft__platform_memory_map(fd, bytes);
	if (fd >= 0 && !memory)
		weft__kernel_unlink(path);
	if (fd >= 0)
		weft__kernel_close(fd);
	errno = saved;
	return memory;
}

struct weft_abi_counters *weft__platform_region_make(const uint8_t region[16])
{
	static const struct kind kind = {
		WEFT_ABI_AGENT_SUFFIX, WEFT_ABI_COUNTERS_BYTES, begin_counters, false};
	return make(&kind, region);
}

/* The header beside the ring. */
static bool refer(const char *beside, const uint8_t region[16])
{
	struct weft_abi_metrics header = {.is_elsewhere = 1};
	int fd = weft__kernel_open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	begin_metrics(&header, region);
	bool good = fd >= 0 && weft__kernel_write(fd, &header, sizeof(header)) == sizeof(header);
	if (fd >= 0 && !good)
		weft__kernel_unlink(beside);
	if (fd >= 0)
		weft__kernel_close(fd);
	return good;
}

void weft__platform_region_keep(const uint8_t region[16], const char *beside)
{
	int saved = errno;
	char name[WEFT_ABI_AGENT_NAME_BYTES], kept[WEFT_ABI_AGENT_NAME_BYTES];
	struct stat status;
	int in = open_folder(folder, &status);
	compose_name(region, WEFT_ABI_AGENT_METRICS_SUFFIX, name);
	compose_name(region, WEFT_ABI_AGENT_KEPT_SUFFIX, kept);
	if (in >= 0 && may_grow(WEFT_ABI_METRICS_BYTES) && refer(beside, region) &&
		linkat(in, name, in, kept, 0) != 0)
		weft__kernel_unlink(beside);
	if (in >= 0)
		weft__kernel_close(in);
	errno = saved;
}

struct weft_abi_metrics *weft__platform_region_make_metrics(
	const uint8_t region[16], const char *beside)
{
	struct kind kind = {WEFT_ABI_AGENT_METRICS_SUFFIX, WEFT_ABI_METRICS_BYTES, begin_metrics,
		folder[0] && beside && may_grow(WEFT_ABI_METRICS_BYTES) && refer(beside, region)};
	struct weft_abi_metrics *memory = make(&kind, region);
	if (!memory && kind.is_kept)
		weft__kernel_unlink(beside);
	return memory;
}
