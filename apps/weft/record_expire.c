/* SPDX-License-Identifier: ISC
 *
 * What a `weft record` left that was killed takes memory until somebody recovers it, or for 7 days.
 *
 * When its processes ended is not known: who finds it first leaves a mark, and it is removed by who
 * finds the mark 7 days later. So nothing goes that was not to be seen in `weft ls` for so long.
 */
#include "rings.h"

#include "cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const time_t KEPT_S = (time_t)7 * 24 * 3600;

static bool is_running(const char *directory, const struct record_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		if (ring_is_running(directory, &rings->list[i]))
			return true;
	return false;
}

/* Was the mark made long ago? If there is none, now there is one. A child without root's rights may
 * have made one, and set its time back, so that traces would be removed at once. */
static bool has_expired(const char *mark)
{
	struct stat status;
	if (lstat(mark, &status) == 0) {
		if (S_ISREG(status.st_mode) && status.st_uid == geteuid())
			return time(NULL) - status.st_mtime > KEPT_S;
		unlink(mark);
	}
	int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return false;
}

static void look_at(const char *directory)
{
	char mark[PATH_MAX + sizeof(RECORD_MARK)];
	struct record_rings rings;
	snprintf(mark, sizeof(mark), "%s" RECORD_MARK, directory);
	if (!record_place_is_there(directory) || record_place_is_attended(directory) ||
		!record_rings_find(directory, 1, &rings))
		return;
	/* An empty one may be about to be filled. */
	bool is_empty = rings.count + rings.refused_count == 0;
	if (!is_empty && is_running(directory, &rings)) {
		unlink(mark);
	} else if (!is_empty && has_expired(mark)) {
		cli_error("%s is removed: it was left 7 days ago", record_shown(directory));
		record_place_remove(directory, &rings, true);
	}
	record_rings_finish(&rings);
}

void record_expire(void)
{
	struct record_places places;
	if (!record_places_find(&places))
		return;
	for (size_t i = 0; i < places.count; i++)
		look_at(places.list[i]);
	record_places_finish(&places);
}
