/* SPDX-License-Identifier: ISC
 *
 * Walks the run directory, which has a directory a `weft record`.
 */
#include "rings.h"

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/follow.h>

bool ring_is_running(const char *directory, const struct record_ring *ring)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_follow *follow;
	bool has_ended = false;
	if (ring->is_failure || !ring->is_running)
		return false;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
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

int ring_open(const char *path, pid_t pid, unsigned access)
{
	struct weft_ring_check check;
	int fd = weft_source_open_ring(path, pid, access, &check);
	if (fd < 0)
		cli_error("%s is skipped: %s", record_shown(path), check.reason);
	return fd;
}

bool ring_summarize(
	const char *path, pid_t pid, struct weft_buffer_summary *ret_summary, size_t *ret_size)
{
	struct weft_ring_check check;
	struct weft_source *source;
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, &check);
	int error = fd < 0 ? WEFT_ERROR_SYSTEM : weft_source_open_descriptor(fd, 0, &source);
	if (fd >= 0)
		close(fd);
	if (error)
		return false;
	const void *bytes = weft_source_bytes(source, ret_size);
	error = weft_buffer_summarize(bytes, *ret_size, ret_summary);
	weft_source_close(source);
	return error == 0;
}

/* A server looks again and again: each entry is named once, and so many in all. */
static void tell_skipped(const char *directory, struct record_rings *rings)
{
	static uint64_t told[64];
	static size_t told_count;
	const size_t most = sizeof(told) / sizeof(told[0]);
	size_t kept = 0, shown = rings->refused_count;
	if (shown > RECORD_REFUSED_SHOWN)
		shown = RECORD_REFUSED_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		uint64_t hash = 14695981039346656037u; /* FNV-1a */
		for (const char *at = directory; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		for (const char *at = rings->refused[i].name; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		bool is_known = false;
		for (size_t j = 0; j < told_count && !is_known; j++)
			is_known = told[j] == hash;
		if (is_known || told_count == most)
			continue;
		told[told_count++] = hash;
		rings->refused[kept++] = rings->refused[i];
	}
	rings->refused_count = kept == shown ? rings->refused_count : kept;
	if (kept)
		record_report_skipped(directory, rings);
}

static bool add(struct ring_list *rings, const char *directory, const struct record_ring *ring)
{
	struct ring *list = realloc(rings->list, (rings->count + 1) * sizeof(*list));
	if (!list) {
		cli_error("%s", strerror(errno));
		return false;
	}
	rings->list = list;
	list[rings->count].ring = *ring;
	list[rings->count].is_alive = ring->is_running;
	list[rings->count].ring.is_running = ring_is_running(directory, ring);
	snprintf(list[rings->count].path, sizeof(list[0].path), "%s%s", directory, ring->name);
	rings->count++;
	return true;
}

/* May it be mapped? If not, it joins those that are refused, unless it has gone meanwhile. */
static bool is_readable(
	const char *directory, const struct record_ring *ring, struct record_rings *found)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	if (fd >= 0)
		close(fd);
	else if (access(path, F_OK) == 0)
		record_rings_refuse(found, ring->name, check.reason);
	return fd >= 0;
}

static bool add_directory(struct ring_list *rings, const char *directory)
{
	struct record_rings found;
	size_t first = rings->count;
	bool good = true;
	/* A directory that goes while we look is no longer of interest. */
	if (!record_place_is_there(directory))
		return true;
	bool is_attended = record_place_is_attended(directory);
	if (!record_rings_find(directory, 1, &found))
		return true;
	for (size_t i = 0; good && i < found.count; i++)
		if (!found.list[i].is_failure && is_readable(directory, &found.list[i], &found))
			good = add(rings, directory, &found.list[i]);
	tell_skipped(directory, &found);
	for (size_t i = first; i < rings->count; i++)
		rings->list[i].is_attended = is_attended;
	record_rings_finish(&found);
	return good;
}

static int by_pid(const void *left, const void *right)
{
	const struct ring *l = left, *r = right;
	if (l->ring.pid != r->ring.pid)
		return l->ring.pid < r->ring.pid ? -1 : 1;
	return strcmp(l->path, r->path);
}

bool rings_find(struct ring_list *ret_rings)
{
	struct ring_list rings = {0};
	struct record_places places;
	if (!record_places_find(&places))
		return false;
	bool good = true;
	for (size_t i = 0; good && i < places.count; i++)
		good = add_directory(&rings, places.list[i]);
	record_places_finish(&places);
	if (!good) {
		rings_finish(&rings);
		return false;
	}
	if (rings.count)
		qsort(rings.list, rings.count, sizeof(*rings.list), by_pid);
	*ret_rings = rings;
	return true;
}

void rings_finish(struct ring_list *rings)
{
	free(rings->list);
	*rings = (struct ring_list){0};
}

bool rings_find_process(pid_t pid, struct ring *ret_ring)
{
	struct ring_list rings;
	const struct ring *found = NULL;
	if (!rings_find(&rings))
		return false;
	for (size_t i = 0; i < rings.count; i++)
		if (rings.list[i].ring.pid == pid &&
			(!found || rings.list[i].ring.program > found->ring.program))
			found = &rings.list[i];
	if (found)
		*ret_ring = *found;
	else
		cli_error(
			"process %d records nothing in the run directory; `weft ls` lists what does", (int)pid);
	rings_finish(&rings);
	return found;
}

/* A number, unless there is a file of that name. */
bool ring_is_pid(const char *operand)
{
	size_t length = strlen(operand);
	return length > 0 && length < 10 && strspn(operand, "0123456789") == length &&
		   access(operand, F_OK) != 0;
}

/* A file that the user names may be a link, but is not waited for. */
static int open_named(const char *path)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, O_RDWR | flags);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
		fd = open(path, O_RDONLY | flags);
	if (fd < 0)
		cli_error("%s: %s", record_shown(path), strerror(errno));
	return fd;
}

int ring_open_operand(const char *path, const struct ring *ring)
{
	return ring->ring.pid ? ring_open(path, ring->ring.pid, WEFT_RING_WRITE) : open_named(path);
}

char *ring_path(char *operand, struct ring *room)
{
	room->ring.pid = 0;
	if (!ring_is_pid(operand))
		return operand;
	return rings_find_process((pid_t)strtol(operand, NULL, 10), room) ? room->path : NULL;
}
