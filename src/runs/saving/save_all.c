/* SPDX-License-Identifier: ISC
 *
 * Saves the rings that the processes of a run left in its directory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/file.h"
#include "runs/message.h"
#include "runs/saving/left_out.h"
#include "runs/saving/name.h"
#include "runs/saving/save.h"

/* The target of a link, relative if it is below the current directory. The caller frees it. NULL
 * with errno. */
static char *follow_link(const char *link)
{
	char target[PATH_MAX], here[PATH_MAX];
	ssize_t size = readlink(link, target, sizeof(target) - 1);
	if (size < 0)
		return NULL;
	target[size] = '\0';
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	bool is_below = length > 1 && strncmp(target, here, length) == 0 && target[length] == '/';
	return strdup(target + (is_below ? length + 1 : 0));
}

static void save_ring(struct weft__runs_saves *saves, struct weft__runs_saving saving,
	const char *directory, const char *output, const struct weft__runs_ring *ring)
{
	struct weft__runs_saved *saved = &saves->list[saves->count];
	const struct weft__runs_ring *before = saves->count ? saved[-1].ring : NULL;
	saved->ring = ring;
	saved->path = weft__runs_name_in(directory, ring->name);
	if (saved->path && ring->is_link)
		saved->file = follow_link(saved->path);
	else
		saved->file = weft__runs_name_trace(output, ring, before);
	/* Only the first may replace a file, for which it has to be on the disk. */
	saving.is_unsynced = before;
	enum weft__runs_outcome outcome = WEFT__RUNS_NOT_SAVED;
	if (saved->path && saved->file)
		outcome = ring->is_link ? WEFT__RUNS_SAVED
								: weft__runs_save(&saving, saved->path, ring, saved->file);
	if (outcome == WEFT__RUNS_SAVED) {
		saves->count++;
		return;
	}
	/* Files left by another user's child must not decide the exit status. */
	if (outcome == WEFT__RUNS_NEW)
		saves->new_count++;
	else
		saves->has_failed |= outcome != WEFT__RUNS_SKIPPED || ring->is_ours;
	saves->is_interrupted = outcome == WEFT__RUNS_INTERRUPTED;
	free(saved->path);
	free(saved->file);
}

static void save_rings(
	struct weft__runs_saves *saves, const char *directory, const char *output, bool keep_all)
{
	const struct weft__runs_saving saving = weft__runs_saving_begin();
	const struct weft__runs_ring *lead = NULL;
	for (size_t i = 0; i < saves->rings.count && !saves->is_interrupted; i++) {
		const struct weft__runs_ring *ring = &saves->rings.list[i];
		/* Another user may have left thousands of files. */
		if (!ring->is_ours && weft__runs_saving_is_interrupted(&saving)) {
			weft__runs_report(
				"interrupted; what is not saved stays in %s", weft__runs_shown(directory));
			saves->has_failed = saves->is_interrupted = true;
			return;
		}
		if (ring->is_failure)
			continue;
		lead = lead ? lead : ring;
		if (!keep_all && weft__runs_is_helper_beside(directory, ring, lead))
			saves->left_out++;
		else
			save_ring(saves, saving, directory, output, ring);
	}
}

/* All together: waiting for each would take a disk's latency for each. */
static void sync_all(struct weft__runs_saves *saves)
{
	const char **paths = calloc(saves->count + 1, sizeof(*paths));
	size_t count = 0;
	for (size_t i = 1; paths && i < saves->count; i++)
		if (!saves->list[i].ring->is_link)
			paths[count++] = saves->list[i].file;
	saves->has_failed |= !paths || !weft__runs_sync_all(paths, count);
	free(paths);
}

bool weft__runs_save_all(const char *directory, const char *output, pid_t program, bool keep_all,
	struct weft__runs_saves *ret_saves)
{
	struct weft__runs_saves saves = {0};
	if (!weft__runs_rings_find(directory, program, &saves.rings))
		return false;
	weft__runs_rings_order(directory, program, &saves.rings);
	weft__runs_rings_lead(program, &saves.rings);
	saves.list = calloc(saves.rings.count + 1, sizeof(*saves.list));
	if (!saves.list) {
		weft__runs_report(
			"%s; the trace stays in %s", strerror(errno), weft__runs_shown(directory));
		weft__runs_rings_finish(&saves.rings);
		return false;
	}
	weft__runs_rings_check_running(directory, &saves.rings);
	save_rings(&saves, directory, output, keep_all);
	sync_all(&saves);
	*ret_saves = saves;
	return true;
}

void weft__runs_saves_finish(struct weft__runs_saves *saves)
{
	for (size_t i = 0; i < saves->count; i++) {
		free(saves->list[i].path);
		free(saves->list[i].file);
	}
	free(saves->list);
	weft__runs_rings_finish(&saves->rings);
}
