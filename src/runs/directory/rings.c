/* SPDX-License-Identifier: ISC
 *
 * The rings of one run directory, listed by their names before anything is opened: in root's run
 * directories child processes without privileges may have created anything. Entries that cannot be
 * rings are listed separately, with the reason, and nothing opens them.
 */
#include "runs/directory/rings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/parse.h>

#include "abi/buffer_abi.h"
#include "abi/run_abi.h"
#include "base/field.h"
#include "runs/message.h"
#include "source/process.h"

/* Parses -PID or -PID.N at the end of the `size` bytes of `name`. */
static bool parse_process(const char *name, size_t size, struct weft__runs_ring *ring)
{
	const char *dash = memrchr(name, '-', size), *end = name + size;
	uint64_t pid, program = 1;
	if (!dash)
		return false;
	const char *dot = memchr(dash, '.', (size_t)(end - dash)), *pid_end = dot ? dot : end;
	if (weft_parse_number(dash + 1, (size_t)(pid_end - dash - 1), &pid) != WEFT_PARSE_OK || !pid ||
		pid > INT32_MAX)
		return false;
	if (dot && (weft_parse_number(dot + 1, (size_t)(end - dot - 1), &program) != WEFT_PARSE_OK ||
				   program > UINT_MAX))
		return false;
	ring->pid = (pid_t)pid;
	ring->program = (unsigned)program;
	return true;
}

/* Fills the members that follow from the name alone, without a system call. */
static bool parse_name(const char *name, struct weft__runs_ring *ret_ring)
{
	struct weft__runs_ring ring = {0};
	const char *suffix = strrchr(name, '.');
	if (!suffix || strlen(name) >= sizeof(ring.name))
		return false;
	ring.is_failure = strcmp(suffix, WEFT_ABI_RUN_FAILED) == 0;
	ring.stem_size = (int)(suffix - name);
	if (!ring.is_failure && strcmp(suffix, WEFT_ABI_RUN_RING) != 0)
		return false;
	if (!parse_process(name, (size_t)ring.stem_size, &ring))
		return false;
	strcpy(ring.name, name);
	*ret_ring = ring;
	return true;
}

static bool is_link(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* True if the entry can be a ring, or a link that says why there is none. Opens nothing. */
static bool look_at_entry(
	const char *directory, struct weft__runs_ring *ring, struct weft_ring_check *check)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct stat status;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	if (ring->is_failure) {
		ring->is_ours = lstat(path, &status) == 0 && status.st_uid == geteuid();
		return true;
	}
	bool good = weft_source_check_ring(path, ring->pid, check);
	ring->is_ours = check->is_ours;
	ring->is_link = is_link(path);
	ring->is_running = good && (ring->is_ours || check->has_process) &&
					   (kill(ring->pid, 0) == 0 || errno == EPERM) &&
					   weft__source_process_state(ring->pid) != WEFT__SOURCE_PROCESS_ENDED;
	return good;
}

/* Files of other users come last, so that they cannot delay or replace a trace of ours. Process
 * numbers grow and wrap around, so the distance from the program's number gives the order in which
 * its descendants were started. */
static int compare(const void *a, const void *b, void *program)
{
	const struct weft__runs_ring *left = a, *right = b;
	unsigned base = (unsigned)*(const pid_t *)program;
	unsigned x = (unsigned)left->pid - base, y = (unsigned)right->pid - base;
	if (left->is_ours != right->is_ours)
		return left->is_ours ? -1 : 1;
	if (x != y)
		return x > y ? 1 : -1;
	if (left->begun != right->begun)
		return left->begun > right->begun ? 1 : -1;
	if (left->program != right->program)
		return left->program > right->program ? 1 : -1;
	return strcmp(left->name, right->name);
}

static bool reserve_ring(struct weft__runs_rings *rings)
{
	if (rings->count < rings->capacity)
		return true;
	size_t capacity = rings->capacity ? 2 * rings->capacity : 16;
	struct weft__runs_ring *list = realloc(rings->list, capacity * sizeof(*list));
	if (list) {
		rings->list = list;
		rings->capacity = capacity;
	}
	return list;
}

/* At most this many entries of other users are examined, because each costs time and memory. */
#define OTHERS_MAX 16384

static bool has_too_many(
	const struct weft__runs_rings *rings, const char *directory, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct stat status;
	if (rings->others_count + rings->refused_count < OTHERS_MAX)
		return false;
	snprintf(path, sizeof(path), "%s%s", directory, name);
	return lstat(path, &status) != 0 || status.st_uid != geteuid();
}

void weft__runs_rings_refuse(struct weft__runs_rings *rings, const char *name, const char *reason)
{
	if (rings->refused_count < WEFT__RUNS_REFUSED_SHOWN) {
		struct weft__runs_refused *refused = &rings->refused[rings->refused_count];
		snprintf(refused->name, sizeof(refused->name), "%s", name);
		snprintf(refused->reason, sizeof(refused->reason), "%s", reason);
	}
	rings->refused_count++;
}

static void take_entry(const char *directory, const char *name, struct weft__runs_rings *rings)
{
	struct weft__runs_ring *ring = &rings->list[rings->count];
	struct weft_ring_check check;
	if (!parse_name(name, ring))
		return;
	if (has_too_many(rings, directory, name)) {
		rings->refused_count++;
	} else if (look_at_entry(directory, ring, &check)) {
		rings->others_count += !ring->is_ours;
		rings->count++;
	} else {
		weft__runs_rings_refuse(rings, name, check.reason);
	}
}

uint64_t weft__runs_ring_begun_ns(const char *directory, const struct weft__runs_ring *ring)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_abi_clock_reading start;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	int fd = ring->is_failure ? -1 : weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	if (fd < 0)
		return UINT64_MAX;
	ssize_t size = pread(fd, &start, sizeof(start), offsetof(struct weft_abi_buffer, start));
	close(fd);
	return size == (ssize_t)sizeof(start) ? start.monotonic_ns : UINT64_MAX;
}

bool weft__runs_rings_find(const char *directory, pid_t program, struct weft__runs_rings *ret_rings)
{
	struct weft__runs_rings rings = {0};
	DIR *entries = opendir(directory);
	if (!entries) {
		weft__runs_report("%s: %s", weft__runs_shown(directory), strerror(errno));
		return false;
	}
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (!reserve_ring(&rings)) {
			weft__runs_report(
				"%s; the trace stays in %s", strerror(ENOMEM), weft__runs_shown(directory));
			weft__runs_rings_finish(&rings);
			closedir(entries);
			return false;
		}
		take_entry(directory, entry->d_name, &rings);
	}
	closedir(entries);
	if (rings.count)
		qsort_r(rings.list, rings.count, sizeof(*rings.list), compare, &program);
	*ret_rings = rings;
	return true;
}

void weft__runs_rings_order(const char *directory, pid_t program, struct weft__runs_rings *rings)
{
	bool has_several = false;
	for (size_t i = 0; i + 1 < rings->count; i++) {
		struct weft__runs_ring *ring = &rings->list[i];
		if (ring[0].pid != ring[1].pid)
			continue;
		has_several = true;
		if (!ring[0].begun)
			ring[0].begun = weft__runs_ring_begun_ns(directory, &ring[0]);
		ring[1].begun = weft__runs_ring_begun_ns(directory, &ring[1]);
	}
	if (has_several)
		qsort_r(rings->list, rings->count, sizeof(*rings->list), compare, &program);
}

void weft__runs_rings_lead(pid_t program, struct weft__runs_rings *rings)
{
	size_t lead = 0;
	for (size_t i = 0; i < rings->count && rings->list[i].pid == program; i++)
		if (!rings->list[i].is_failure && rings->list[i].is_ours == rings->list[0].is_ours)
			lead = i;
	if (!lead)
		return;
	const struct weft__runs_ring ring = rings->list[lead];
	memmove(&rings->list[1], &rings->list[0], lead * sizeof(ring));
	rings->list[0] = ring;
}

void weft__runs_rings_finish(struct weft__runs_rings *rings)
{
	free(rings->list);
	*rings = (struct weft__runs_rings){0};
}

void weft__runs_rings_report_refused(const char *directory, const struct weft__runs_rings *rings)
{
	char path[PATH_MAX + NAME_MAX + 1];
	size_t shown = rings->refused_count;
	if (shown > WEFT__RUNS_REFUSED_SHOWN)
		shown = WEFT__RUNS_REFUSED_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		snprintf(path, sizeof(path), "%s%s", directory, rings->refused[i].name);
		weft__runs_report("%s is skipped: %s", weft__runs_shown(path), rings->refused[i].reason);
	}
	if (rings->refused_count > shown)
		weft__runs_report("%s: %zu more entries are skipped", weft__runs_shown(directory),
			rings->refused_count - shown);
}

/* ---- One ring ---- */

double weft__runs_process_start(pid_t pid)
{
	struct timespec now, booted;
	uint64_t ticks;
	weft__source_process_look(pid, &ticks);
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &booted);
	if (!ticks)
		return (double)now.tv_sec + 1;
	return (double)(now.tv_sec - booted.tv_sec) + (double)(now.tv_nsec - booted.tv_nsec) * 1e-9 +
		   (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

bool weft__runs_ring_is_of_earlier(const char *directory, const struct weft__runs_ring *ring)
{
	struct timespec now, booted;
	uint64_t ticks;
	weft__source_process_look(ring->pid, &ticks);
	/* The sleep of the machine is part of one clock. What passes between these two calls, or is
	 * slept after the process's start, makes it seem older. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_BOOTTIME, &booted);
	const double slept =
		(double)(booted.tv_sec - now.tv_sec) + (double)(booted.tv_nsec - now.tv_nsec) * 1e-9;
	const double started = (double)ticks / (double)sysconf(_SC_CLK_TCK) - slept;
	return ticks && (double)weft__runs_ring_begun_ns(directory, ring) * 1e-9 < started;
}

/* True if the process ran already when the run directory was made. False if that is unknown. */
static bool is_before_run(const char *directory, pid_t pid)
{
	struct statx status;
	if (statx(AT_FDCWD, directory, 0, STATX_BTIME, &status) != 0 ||
		!(status.stx_mask & STATX_BTIME))
		return false;
	/* A second for the resolution of these times. */
	return weft__runs_process_start(pid) + 2 < (double)status.stx_btime.tv_sec;
}

/* True if the process of the ring's number is not the ring's: that has this number in a PID
 * namespace of its own. Only about processes whose memory map cannot be read, which would tell. */
static bool is_stranger(const char *directory, const struct weft__runs_ring *ring)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)ring->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return false;
	}
	/* Without privileges a process that records for us cannot become another user's. */
	return (ring->is_ours && kill(ring->pid, 0) != 0) || is_before_run(directory, ring->pid);
}

bool weft__runs_ring_is_running(const char *directory, const struct weft__runs_ring *ring)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_follow *follow;
	bool has_ended = false;
	if (ring->is_failure || !ring->is_running)
		return false;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	if (is_stranger(directory, ring))
		return false;
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	if (fd < 0)
		return false;
	if (weft_follow_open_descriptor(fd, &follow) == 0) {
		has_ended =
			weft_follow_wait(follow, 0) == WEFT_OK && weft_follow_mark(follow) == UINT64_MAX;
		weft_follow_close(follow);
	}
	close(fd);
	return !has_ended;
}

void weft__runs_rings_check_running(const char *directory, struct weft__runs_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		rings->list[i].is_running = weft__runs_ring_is_running(directory, &rings->list[i]);
}

int weft__runs_ring_open(const char *path, pid_t pid, unsigned access)
{
	struct weft_ring_check check;
	int fd = weft_source_open_ring(path, pid, access, &check);
	if (fd < 0)
		weft__runs_report("%s is skipped: %s", weft__runs_shown(path), check.reason);
	return fd;
}

bool weft__runs_ring_summarize(
	const char *path, pid_t pid, struct weft_buffer_summary *ret_summary, size_t *ret_size)
{
	struct weft_ring_check check;
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, &check);
	bool good = fd >= 0 && weft__runs_ring_summarize_open(fd, ret_summary, ret_size);
	if (fd >= 0)
		close(fd);
	return good;
}

bool weft__runs_ring_summarize_open(
	int fd, struct weft_buffer_summary *ret_summary, size_t *ret_size)
{
	struct weft_source *source;
	if (weft_source_open_descriptor(fd, 0, &source))
		return false;
	const void *bytes = weft_source_bytes(source, ret_size);
	int error = weft_buffer_summarize(bytes, *ret_size, ret_summary);
	weft_source_close(source);
	return error == 0;
}
