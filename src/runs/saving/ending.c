/* SPDX-License-Identifier: ISC
 *
 * A program that is killed cannot store when it ended. The process that started it notes the end in
 * the ring: every copy of the ring then has it.
 */
#include "runs/saving/ending.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <weft/source.h>
#include <weft/watch.h>

#include "runs/directory/rings.h"

static void note(const char *directory, const struct weft__runs_ring *ring, uint32_t wait_status)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_watch *watch;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return;
	if (weft_watch_open_descriptor(fd, &watch) == 0) {
		weft_watch_note_end(watch, wait_status);
		weft_watch_close(watch);
	}
	close(fd);
}

void weft__runs_note_end(const char *directory, pid_t pid, int wait_status)
{
	struct weft__runs_rings rings;
	if (!weft__runs_rings_find(directory, pid, &rings))
		return;
	weft__runs_rings_order(directory, pid, &rings);
	size_t last = 0; /* the status is that of the last program that the process executed */
	for (size_t i = 0; i < rings.count; i++)
		if (rings.list[i].pid == pid && !rings.list[i].is_failure)
			last = i;
	for (size_t i = 0; i < rings.count; i++) {
		const struct weft__runs_ring *ring = &rings.list[i];
		if (ring->pid == pid && !ring->is_failure)
			note(directory, ring,
				i == last ? WEFT_WAIT_KNOWN | ((uint32_t)wait_status & 0xffff) : 0);
	}
	weft__runs_rings_finish(&rings);
}
