/* SPDX-License-Identifier: ISC
 *
 * weft record --recover: what another `weft record` left when it was killed is saved as it would
 * have saved it, and then removed.
 *
 * A run whose `weft record` is there is left to it. One in which a process still records is left
 * too: its ring can be followed, and recovered when the process has ended.
 */
#include "rings.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A directory that nobody attends, with at least one ring of a process that has ended. */
struct orphan {
	const char *directory;
	pid_t program; /* its first process */
};

static bool is_recording(const char *directory, const struct record_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		if (ring_is_running(directory, &rings->list[i])) {
			cli_error(
				"process %d still records; its run stays where it is", (int)rings->list[i].pid);
			return true;
		}
	}
	return false;
}

/* Ours from now on if so. False also if it is not to be had. */
static bool is_orphan(const char *directory, struct orphan *ret_orphan)
{
	struct record_rings rings;
	if (!record_place_is_there(directory) || !record_place_attend(directory))
		return false;
	if (!record_rings_find(directory, 1, &rings))
		return false;
	/* An empty directory may be one whose program is about to start. */
	bool good = rings.count > 0 && !is_recording(directory, &rings);
	if (good)
		*ret_orphan = (struct orphan){directory, rings.list[0].pid};
	record_rings_finish(&rings);
	return good;
}

static int save_all(const struct orphan *orphans, size_t count, const char *output)
{
	int status = CLI_DONE;
	if (count == 0)
		fputs("weft: nothing is there to be recovered\n", stderr);
	if (count > 1 && !record_output_is_directory(output))
		return cli_usage_error("record",
			"-o %s: %zu runs are there to be recovered; a directory can hold them",
			record_shown(output), count);
	for (size_t i = 0; i < count; i++)
		if (!record_save_run(output, orphans[i].directory, orphans[i].program, NULL))
			status = RECORD_FAILED;
	return status;
}

int record_recover(const char *output)
{
	struct record_places places;
	if (!record_places_find(&places))
		return RECORD_FAILED;
	struct orphan *orphans = calloc(places.count + 1, sizeof(*orphans));
	size_t count = 0;
	int status = RECORD_FAILED;
	if (orphans) {
		for (size_t i = 0; i < places.count; i++)
			count += is_orphan(places.list[i], &orphans[count]);
		status = save_all(orphans, count, output);
	} else {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	}
	free(orphans);
	record_places_finish(&places);
	return status;
}
