/* SPDX-License-Identifier: ISC
 *
 * Walks all run directories.
 */
#include "runs/directory/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/parse.h>

#include "runs/directory/directory.h"
#include "runs/message.h"

/* Reports each refused entry once, although a server lists the rings repeatedly; at most 64 in
 * all. */
static void report_skipped(const char *directory, struct weft__runs_rings *rings)
{
	static uint64_t reported[64];
	static size_t reported_count;
	const size_t most = sizeof(reported) / sizeof(reported[0]);
	size_t kept = 0, shown = rings->refused_count;
	if (shown > WEFT__RUNS_REFUSED_SHOWN)
		shown = WEFT__RUNS_REFUSED_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		uint64_t hash = 14695981039346656037u; /* FNV-1a */
		for (const char *at = directory; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		for (const char *at = rings->refused[i].name; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		bool is_known = false;
		for (size_t j = 0; j < reported_count && !is_known; j++)
			is_known = reported[j] == hash;
		if (is_known || reported_count == most)
			continue;
		reported[reported_count++] = hash;
		rings->refused[kept++] = rings->refused[i];
	}
	rings->refused_count = kept == shown ? rings->refused_count : kept;
	if (kept)
		weft__runs_rings_report_refused(directory, rings);
}

static bool add_found(
	struct weft__runs_list *rings, const char *directory, const struct weft__runs_ring *ring)
{
	struct weft__runs_found *list = realloc(rings->list, (rings->count + 1) * sizeof(*list));
	if (!list) {
		weft__runs_report("%s", strerror(errno));
		return false;
	}
	rings->list = list;
	list[rings->count].ring = *ring;
	list[rings->count].ring.is_running = weft__runs_ring_is_running(directory, ring);
	list[rings->count].is_earlier = ring->is_running && !list[rings->count].ring.is_running &&
									weft__runs_ring_is_of_earlier(directory, ring);
	list[rings->count].is_alive = ring->is_running && !list[rings->count].is_earlier;
	snprintf(list[rings->count].path, sizeof(list[0].path), "%s%s", directory, ring->name);
	rings->count++;
	return true;
}

/* True if the ring can be mapped. Otherwise adds it to the refused ones, unless it was removed
 * meanwhile. */
static bool is_readable(
	const char *directory, const struct weft__runs_ring *ring, struct weft__runs_rings *found)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	if (fd >= 0)
		close(fd);
	else if (access(path, F_OK) == 0)
		weft__runs_rings_refuse(found, ring->name, check.reason);
	return fd >= 0;
}

static bool add_directory(struct weft__runs_list *rings, const char *directory)
{
	struct weft__runs_rings found;
	size_t first = rings->count;
	bool good = true;
	/* A directory that is removed while we read it is left out. */
	if (!weft__runs_directory_is_ours(directory))
		return true;
	bool is_attended = weft__runs_directory_is_attended(directory);
	if (!weft__runs_rings_find(directory, 1, &found))
		return true;
	weft__runs_rings_order(directory, 1, &found);
	for (size_t i = 0; good && i < found.count; i++)
		if (!found.list[i].is_failure && is_readable(directory, &found.list[i], &found))
			good = add_found(rings, directory, &found.list[i]);
	report_skipped(directory, &found);
	for (size_t i = first; i < rings->count; i++)
		rings->list[i].is_attended = is_attended;
	weft__runs_rings_finish(&found);
	return good;
}

static int by_pid(const void *left, const void *right)
{
	const struct weft__runs_found *l = left, *r = right;
	if (l->ring.pid != r->ring.pid)
		return l->ring.pid < r->ring.pid ? -1 : 1;
	return strcmp(l->path, r->path);
}

bool weft__runs_find(struct weft__runs_list *ret_rings)
{
	struct weft__runs_list rings = {0};
	struct weft__runs_directories directories;
	if (!weft__runs_directories_find(&directories))
		return false;
	bool good = true;
	for (size_t i = 0; good && i < directories.count; i++)
		good = add_directory(&rings, directories.list[i]);
	weft__runs_directories_finish(&directories);
	if (!good) {
		weft__runs_list_finish(&rings);
		return false;
	}
	if (rings.count)
		qsort(rings.list, rings.count, sizeof(*rings.list), by_pid);
	*ret_rings = rings;
	return true;
}

void weft__runs_list_finish(struct weft__runs_list *rings)
{
	free(rings->list);
	*rings = (struct weft__runs_list){0};
}

/* A process may have rings in several runs, if it was attached to or has the number of an earlier
 * one. */
static bool is_newer(const struct weft__runs_ring *ring, const struct weft__runs_ring *than)
{
	if (ring->is_running != than->is_running)
		return ring->is_running;
	if (ring->begun && than->begun && ring->begun != than->begun)
		return ring->begun > than->begun;
	return ring->program > than->program;
}

bool weft__runs_look_for(pid_t pid, struct weft__runs_found *ret_ring)
{
	struct weft__runs_list rings;
	const struct weft__runs_found *found = NULL;
	if (!weft__runs_find(&rings))
		return false;
	for (size_t i = 0; i < rings.count; i++)
		if (rings.list[i].ring.pid == pid && !rings.list[i].is_earlier &&
			(!found || is_newer(&rings.list[i].ring, &found->ring)))
			found = &rings.list[i];
	if (found)
		*ret_ring = *found;
	weft__runs_list_finish(&rings);
	return found;
}

bool weft__runs_find_process(pid_t pid, struct weft__runs_found *ret_ring)
{
	bool found = weft__runs_look_for(pid, ret_ring) || weft__runs_find_mapped(pid, ret_ring);
	if (!found)
		weft__runs_report_unfound(pid);
	return found;
}

pid_t weft__runs_parse_pid(const char *operand)
{
	uint64_t number;
	bool is_pid = weft_parse_number(operand, strlen(operand), &number) == WEFT_PARSE_OK &&
				  number <= INT32_MAX && access(operand, F_OK) != 0;
	return is_pid ? (pid_t)number : 0;
}

/* Opens a file that the user named: follows links, and does not wait for a FIFO's writer. */
static int open_named(const char *path)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, O_RDWR | flags);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
		fd = open(path, O_RDONLY | flags);
	if (fd < 0)
		weft__runs_report("%s: %s", weft__runs_shown(path), strerror(errno));
	return fd;
}

int weft__runs_open_operand(const char *path, const struct weft__runs_found *ring)
{
	return ring->ring.pid ? weft__runs_ring_open(path, ring->ring.pid, WEFT_RING_WRITE)
						  : open_named(path);
}

char *weft__runs_path(char *operand, struct weft__runs_found *room)
{
	pid_t pid = weft__runs_parse_pid(operand);
	room->ring.pid = 0;
	if (!pid)
		return operand;
	return weft__runs_find_process(pid, room) ? room->path : NULL;
}
