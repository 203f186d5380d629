/* SPDX-License-Identifier: ISC
 *
 * See regions.h. A program has its file mapped from a descriptor for writing. While that is so, the
 * kernel grants nobody a lease for reading (fcntl(2)). So a granted lease shows that no process can
 * change the file any more: whatever PID namespace its program was in, whichever descriptors it
 * closed, and however it ended. The lease is given back at once.
 */
#include "agent/regions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/attach_abi.h"
#include "agent/kept.h"
#include <weft/guest.h>

#include "runs/attach/metrics.h"
#include "runs/attach/page.h"
#include "runs/attach/region.h"
#include "runs/attach/run_queue.h"
#include "source/process.h"

/* A user who has more is hostile, or counts in processes that hardly live. */
#define REGIONS_OF_USER_MAX 8192

/* A process is asked for each of its threads: 200 calls of the kernel a second for 1,000 processes
 * of one thread. */
#define PROCESS_EACH_S 5

/* The agent opens other files, too. */
#define OTHER_FILES 256

/* Where the two kinds of memory have what they share. */
static const struct kind {
	size_t bytes;
	const char *suffix, *magic;
	uint32_t version;
	size_t region, born, program, is_elsewhere; /* offsets */
} kinds[WEFT__AGENT_KINDS] = {
	[WEFT__AGENT_COUNTERS] = {sizeof(struct weft_abi_counters), WEFT_ABI_AGENT_SUFFIX,
		WEFT_ABI_COUNTERS_MAGIC, WEFT_ABI_COUNTERS_VERSION,
		offsetof(struct weft_abi_counters, region),
		offsetof(struct weft_abi_counters, born_unix_ns),
		offsetof(struct weft_abi_counters, program),
		offsetof(struct weft_abi_counters, is_elsewhere)},
	[WEFT__AGENT_METRICS] = {WEFT_ABI_METRICS_BYTES, WEFT_ABI_AGENT_METRICS_SUFFIX,
		WEFT_ABI_METRICS_MAGIC, WEFT_ABI_METRICS_VERSION, offsetof(struct weft_abi_metrics, region),
		offsetof(struct weft_abi_metrics, born_unix_ns), offsetof(struct weft_abi_metrics, program),
		offsetof(struct weft_abi_metrics, is_elsewhere)},
};

_Static_assert(offsetof(struct weft_abi_counters, version) == 8 &&
				   offsetof(struct weft_abi_metrics, version) == 8,
	"both begin with magic, version and owner");
_Static_assert(offsetof(struct weft_abi_counters, owner) == 12 &&
				   offsetof(struct weft_abi_metrics, owner) == 12,
	"both begin with magic, version and owner");

static uint32_t word_at(const void *memory, size_t offset)
{
	uint32_t word;
	memcpy(&word, (const char *)memory + offset, sizeof(word));
	return word;
}

/* ---- The folder ---- */

static bool is_safe(int folder)
{
	struct stat status;
	return fstat(folder, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
		   (!(status.st_mode & 022) || (status.st_mode & S_ISVTX));
}

/* Each region has a file open. */
static size_t most_regions(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return files.rlim_cur > 2 * OTHER_FILES ? files.rlim_cur - OTHER_FILES : files.rlim_cur / 2;
}

int weft__agent_regions_open(struct weft__agent_regions *regions, const char *folder)
{
	int error = 0;
	*regions = (struct weft__agent_regions){.folder = -1,
		.path = folder ? folder : "",
		.limit = most_regions(),
		.cleans = folder && strcmp(folder, WEFT_ABI_AGENT_FOLDER) == 0,
		.ask_each = PROCESS_EACH_S,
		.reads = weft__runs_queue_read,
		.memory = aligned_alloc(64, WEFT_ABI_METRICS_BYTES)};
	if (!regions->memory)
		return ENOMEM;
	if (!folder)
		return 0;
	regions->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (regions->folder < 0)
		error = errno;
	else if (!is_safe(regions->folder))
		error = EPERM;
	else if (flock(regions->folder, LOCK_EX | LOCK_NB) != 0)
		error = errno;
	return error;
}

static void destroy(struct weft__agent_region *region)
{
	if (region->fd >= 0)
		close(region->fd);
	free(region->items);
	weft__index_finish(&region->index);
	free(region);
}

void weft__agent_regions_close(struct weft__agent_regions *regions)
{
	for (size_t i = 0; i < regions->count; i++)
		destroy(regions->list[i]);
	if (regions->folder >= 0)
		close(regions->folder);
	weft__agent_search_finish(&regions->search);
	weft_host_close(regions->xen);
	free(regions->list);
	free(regions->memory);
	*regions = (struct weft__agent_regions){.folder = -1};
}

/* ---- The list ---- */

struct weft__agent_region *weft__agent_regions_named(
	const struct weft__agent_regions *regions, const char *name)
{
	for (size_t i = 0; i < regions->count; i++)
		if (memcmp(regions->list[i]->name, name, 32) == 0)
			return regions->list[i];
	return NULL;
}

static size_t count_of_user(const struct weft__agent_regions *regions, uint64_t user)
{
	size_t count = 0;
	for (size_t i = 0; i < regions->count; i++)
		count += regions->list[i]->user == user && regions->list[i]->kind < WEFT__AGENT_KINDS;
	return count;
}

static bool make_room(struct weft__agent_regions *regions)
{
	size_t capacity = regions->capacity ? 2 * regions->capacity : 64;
	if (regions->count >= regions->limit)
		return false;
	if (regions->count < regions->capacity)
		return true;
	struct weft__agent_region **list =
		realloc(regions->list, capacity * sizeof(struct weft__agent_region *));
	if (list) {
		regions->list = list;
		regions->capacity = capacity;
	}
	return list;
}

struct weft__agent_region *weft__agent_regions_add(struct weft__agent_regions *regions,
	enum weft__agent_kind kind, const char *name, uint64_t user)
{
	struct weft__agent_region *region = NULL;
	if (make_room(regions) && count_of_user(regions, user) < REGIONS_OF_USER_MAX)
		region = calloc(1, sizeof(*region));
	if (!region)
		return NULL;
	region->kind = kind;
	memcpy(region->name, name, 32);
	region->user = user;
	region->fd = -1;
	regions->list[regions->count++] = region;
	return region;
}

/* Takes the descriptor, also after a failure. */
static struct weft__agent_region *add_region(
	struct weft__agent_regions *regions, enum weft__agent_kind kind, const char *name, int fd)
{
	struct stat status;
	struct weft__agent_region *region =
		fstat(fd, &status) == 0 ? weft__agent_regions_add(regions, kind, name, status.st_uid)
								: NULL;
	if (region)
		region->fd = fd;
	else
		close(fd);
	return region;
}

void weft__agent_regions_drop(struct weft__agent_regions *regions, size_t number)
{
	destroy(regions->list[number]);
	regions->list[number] = regions->list[--regions->count];
}

/* The kind of a file by its name; WEFT__AGENT_KINDS: it is another file. */
static enum weft__agent_kind kind_of(const char *name)
{
	enum weft__agent_kind kind = 0;
	if (strspn(name, "0123456789abcdef") != 32)
		return WEFT__AGENT_KINDS;
	while (kind < WEFT__AGENT_KINDS && strcmp(name + 32, kinds[kind].suffix) != 0)
		kind++;
	return kind;
}

static size_t files_of_user(const struct weft__agent_regions *regions, uint64_t user)
{
	size_t count = 0;
	for (size_t i = 0; i < regions->count; i++)
		count += regions->list[i]->user == user && !regions->list[i]->started;
	return count;
}

/* Removes what no program of another user counts in: the folder takes a bounded number of entries.
 * No program has more files than are looked at, because the library makes fewer. True: it is such
 * an entry. */
static bool remove_foreign(
	const struct weft__agent_regions *regions, enum weft__agent_kind kind, const char *name)
{
	struct stat status;
	if (!regions->cleans || fstatat(regions->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		status.st_uid == geteuid())
		return false;
	if (kind != WEFT__AGENT_KINDS && S_ISREG(status.st_mode) && status.st_size > 0 &&
		files_of_user(regions, status.st_uid) < REGIONS_OF_USER_MAX)
		return false;
	unlinkat(regions->folder, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
	return true;
}

int weft__agent_regions_find(struct weft__agent_regions *regions)
{
	if (regions->folder < 0)
		return 0;
	/* An own description, because reading moves its offset. */
	int fd = openat(regions->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	struct weft__agent_kept kept = {0};
	const time_t now = time(NULL);
	if (!entries)
		return errno;
	for (struct dirent *entry; (entry = readdir(entries));) {
		enum weft__agent_kind kind = kind_of(entry->d_name);
		if (weft__agent_kept_look(
				&kept, regions->folder, entry->d_name, regions->cleans, REGIONS_OF_USER_MAX, now))
			continue;
		if (kind != WEFT__AGENT_KINDS && weft__agent_regions_named(regions, entry->d_name))
			continue;
		if (remove_foreign(regions, kind, entry->d_name) || kind == WEFT__AGENT_KINDS)
			continue;
		int file = weft__runs_region_open_at(regions->folder, entry->d_name);
		if (file >= 0)
			add_region(regions, kind, entry->d_name, file);
	}
	closedir(entries);
	weft__agent_kept_finish(&kept);
	return 0;
}

/* ---- Nameless memory ---- */

/* Files that cannot be opened, because there are too many, show nothing. */
bool weft__agent_regions_has_ended(pid_t pid, uint64_t started)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (lstat(path, &status) != 0)
		return errno == ENOENT;
	uint64_t now;
	enum weft__source_process state = weft__source_process_look(pid, &now);
	return now && (now != started || state == WEFT__SOURCE_PROCESS_ENDED);
}

/* A program that was recorded before there was an agent has its metrics beside its ring. `own` is
 * closed. -1: they are in a folder of another agent. */
static int open_beside(enum weft__agent_kind kind, pid_t pid, int own, const uint8_t region[16])
{
	struct stat status;
	int fd = kind == WEFT__AGENT_METRICS && fstat(own, &status) == 0
				 ? weft__runs_region_open_beside(pid, region, status.st_uid)
				 : -1;
	close(own);
	return fd;
}

/* Adds the process's memory of that kind that is not in the folder. A child that was forked by
 * clone(2) has its parent's, which is not its own. */
static void look_for(
	struct weft__agent_regions *regions, enum weft__agent_kind kind, pid_t pid, uint64_t started)
{
	const struct kind *it = &kinds[kind];
	char *memory = regions->memory;
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	off_t at = 0;
	int fd = kind == WEFT__AGENT_COUNTERS ? weft__runs_counters_open(pid, &at)
										  : weft__runs_metrics_find(pid);
	if (fd < 0)
		return;
	const size_t head = sizeof(struct weft_abi_metrics);
	bool is_own = pread(fd, memory, head, at) == (ssize_t)head &&
				  word_at(memory, 12) == (uint32_t)weft__source_process_own_pid(pid);
	weft__runs_region_name((const uint8_t *)memory + it->region, it->suffix, name);
	if (!is_own || strspn(name, "0") >= 32 || weft__agent_regions_named(regions, name)) {
		close(fd);
		return;
	}
	if (word_at(memory, it->is_elsewhere))
		fd = open_beside(kind, pid, fd, (const uint8_t *)memory + it->region);
	if (fd < 0)
		return;
	struct weft__agent_region *region = add_region(regions, kind, name, fd);
	if (!region)
		return;
	region->pid = pid;
	region->started = started;
	region->at = at;
}

static void look_at(void *context, pid_t pid)
{
	uint64_t started = 0;
	if (weft__source_process_of(pid) == pid)
		weft__source_process_look(pid, &started);
	for (enum weft__agent_kind kind = 0; started && kind < WEFT__AGENT_KINDS; kind++)
		look_for(context, kind, pid, started);
}

void weft__agent_regions_search(struct weft__agent_regions *regions)
{
	weft__agent_search_run(&regions->search, look_at, regions);
}

/* ---- Processes ---- */

void weft__agent_regions_add_process(struct weft__agent_regions *regions, pid_t pid,
	const char *program, const char *boot, double born)
{
	char name[33];
	uint64_t started = 0, users[4];
	if (weft__source_process_look(pid, &started) == WEFT__SOURCE_PROCESS_ENDED || !started ||
		!weft__source_process_users(pid, users))
		return;
	/* Unique for all times, so that an agent that starts again knows what it has seen. */
	snprintf(name, sizeof(name), "%08x%016llx%.8s", (unsigned)pid, (unsigned long long)started,
		*boot ? boot : "00000000");
	struct weft__agent_region *region = weft__agent_regions_named(regions, name);
	if (region && strcmp(region->program, program) == 0)
		return;
	if (region)
		region->is_dead = true; /* it has become another program, which begins at 0 */
	region = weft__agent_regions_add(regions, WEFT__AGENT_PROCESS, name, users[1]);
	if (!region)
		return;
	snprintf(region->program, sizeof(region->program), "%s", program);
	region->pid = pid;
	region->started = started;
	region->born = born;
	region->is_begun = true;
}

/* ---- Values ---- */

/* A signal for a process that opens the file meanwhile is ignored by the agent. */
static bool is_unused(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return false;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

void weft__agent_regions_look(struct weft__agent_regions *regions)
{
	for (size_t i = 0; i < regions->count; i++) {
		struct weft__agent_region *region = regions->list[i];
		if (!region->is_dead && region->kind != WEFT__AGENT_DOMAIN)
			region->is_dead = region->started
								  ? weft__agent_regions_has_ended(region->pid, region->started)
								  : is_unused(region->fd);
	}
}

#define PROGRAM_BYTES 48 /* in both kinds of files */

/* The process's name in its file is cut off at a NUL, also if it has none. */
static void identify(struct weft__agent_region *region, const char *memory)
{
	const struct kind *it = &kinds[region->kind];
	uint64_t born;
	memcpy(region->program, memory + it->program, PROGRAM_BYTES - 1);
	memcpy(&born, memory + it->born, sizeof(born));
	region->born = (double)born / 1e9;
	if (!region->started)
		region->pid = (pid_t)(word_at(memory, 12) & INT32_MAX);
}

const char *weft__agent_regions_read(
	struct weft__agent_regions *regions, struct weft__agent_region *region)
{
	const struct kind *it = &kinds[region->kind];
	char *memory = regions->memory;
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	int error = region->kind == WEFT__AGENT_METRICS
					? weft__runs_metrics_copy(region->fd, memory)
					: weft__runs_region_read(region->fd, region->at, memory, it->bytes);
	if (error)
		return error == ENOENT ? "the file is too short" : strerror(error);
	region->is_begun = memcmp(memory, "\0\0\0\0\0\0\0", 8) != 0;
	if (region->is_begun && memcmp(memory, it->magic, 8) != 0)
		return "the file does not begin like counters";
	if (region->is_begun && word_at(memory, 8) != it->version)
		return "the counters have an unknown version";
	weft__runs_region_name((const uint8_t *)memory + it->region, it->suffix, name);
	if (region->is_begun && memcmp(name, region->name, 32) != 0)
		return "the file has another file's name";
	if (!region->program[0])
		identify(region, memory);
	return NULL;
}

/* Only saves work: a change that it does not see is seen when the process has ended. */
static uint64_t digest_of(uint64_t digest, const unsigned char *at, size_t size)
{
	uint64_t word;
	for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		digest ^= digest >> 29;
	}
	return digest;
}

/* Not 0. */
static uint64_t digest_region(enum weft__agent_kind kind, const unsigned char *memory)
{
	uint64_t digest = 1;
	if (kind != WEFT__AGENT_METRICS)
		return digest_of(digest, memory, kinds[kind].bytes) | 1;
	const size_t bytes = 8 * (size_t)weft__runs_metrics_cells_used(memory);
	digest = digest_of(digest, memory, WEFT__RUNS_METRICS_HEAD_BYTES);
	for (size_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS; shard++)
		digest = digest_of(digest,
			memory + WEFT__RUNS_METRICS_HEAD_BYTES + shard * WEFT_ABI_METRIC_SHARD_BYTES, bytes);
	return digest | 1;
}

bool weft__agent_regions_differs(
	const struct weft__agent_regions *regions, struct weft__agent_region *region)
{
	uint64_t digest = digest_region(region->kind, regions->memory);
	bool differs = region->is_dead || digest != region->digest;
	region->digest = digest;
	return differs;
}

/* ---- Files ---- */

static void name_of(
	const char *region, enum weft__agent_kind kind, char ret_name[WEFT_ABI_AGENT_NAME_BYTES])
{
	snprintf(ret_name, WEFT_ABI_AGENT_NAME_BYTES, "%.32s%s", region, kinds[kind].suffix);
}

bool weft__agent_regions_remove(
	struct weft__agent_regions *regions, const struct weft__agent_region *region)
{
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	if (region->started)
		return true;
	name_of(region->name, region->kind, name);
	return unlinkat(regions->folder, name, 0) == 0 || errno == ENOENT;
}

bool weft__agent_regions_is_gone(const struct weft__agent_regions *regions, const char *region)
{
	char name[WEFT_ABI_AGENT_NAME_BYTES];
	struct stat status;
	bool is_gone = true;
	for (enum weft__agent_kind kind = 0; kind < WEFT__AGENT_KINDS; kind++) {
		name_of(region, kind, name);
		is_gone = is_gone && fstatat(regions->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 &&
				  errno == ENOENT;
	}
	return is_gone;
}
