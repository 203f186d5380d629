/* SPDX-License-Identifier: ISC
 *
 * Walks the run directory, which has a directory a `weft record`.
 */
#include "rings.h"

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/follow.h>

bool ring_is_running(const char *directory, const struct record_ring *ring)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_follow *follow;
	bool has_ended = false;
	if (ring->is_failure || !ring->is_running)
		return false;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	if (weft_follow_open(path, &follow) == 0) {
		has_ended =
			weft_follow_wait(follow, 0) == WEFT_OK && weft_follow_mark(follow) == UINT64_MAX;
		weft_follow_close(follow);
	}
	return !has_ended;
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
		if (!found.list[i].is_failure)
			good = add(rings, directory, &found.list[i]);
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

char *ring_path(char *operand, struct ring *room)
{
	if (!ring_is_pid(operand))
		return operand;
	return rings_find_process((pid_t)strtol(operand, NULL, 10), room) ? room->path : NULL;
}
