/* SPDX-License-Identifier: ISC
 *
 * The end of a run: its traces are saved or its streams are ended, the result is printed, and the
 * run directory is removed if nothing is lost with it.
 */
#include <stdlib.h>

#include "cli.h"
#include "record.h"
#include "runs/directory.h"
#include "runs/early.h"
#include "runs/message.h"

bool record_save_run(const struct record_end *end)
{
	const struct record_watcher *watcher = end->watcher;
	struct weft__runs_saves saves;
	if (!weft__runs_save_all(end->directory, end->output, end->program, &saves))
		return false;
	if (end->early)
		weft__runs_early_report(end->early, &saves);
	record_report_missing(end->directory, &saves.rings);
	if (saves.count)
		record_report(saves.list, saves.count);
	else if (saves.rings.count == 0 && end->name && !saves.has_failed)
		record_report_nothing(end->name);
	for (size_t i = 0; watcher && i < saves.count; i++)
		watcher->saved(watcher->context, saves.list[i].path, saves.list[i].file);
	bool good = !saves.has_failed;
	if (good)
		weft__runs_directory_remove(end->directory, &saves.rings, false);
	weft__runs_saves_finish(&saves);
	return good;
}

static void report_stream(struct weft__runs_stream *stream, const struct weft__runs_rings *rings)
{
	struct weft__runs_saved *list;
	size_t count;
	if (!weft__runs_stream_results(stream, rings, &list, &count)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return;
	}
	if (count)
		record_report(list, count);
	free(list);
}

bool record_finish_stream(struct weft__runs_stream *stream, const struct record_end *end)
{
	struct weft__runs_rings rings;
	if (!weft__runs_stream_stop(stream))
		return false;
	bool good = weft__runs_stream_is_complete(stream);
	if (!weft__runs_rings_find(end->directory, end->program, &rings)) {
		weft__runs_stream_destroy(stream);
		return false;
	}
	record_report_missing(end->directory, &rings);
	report_stream(stream, &rings);
	if (rings.count == 0 && end->name)
		record_report_nothing(end->name);
	if (good)
		weft__runs_directory_remove(end->directory, &rings, false);
	else
		cli_error("unwritten events stay in %s; `weft record --recover` saves them",
			weft__runs_shown(end->directory));
	weft__runs_rings_finish(&rings);
	weft__runs_stream_destroy(stream);
	return good;
}

bool record_stream_process(const char *path, const struct weft__runs_ring *ring,
	const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *stream = weft__runs_stream_start_process(path, ring, options);
	if (!stream)
		return false;
	weft__runs_stream_wait(stream);
	if (!weft__runs_stream_stop(stream))
		return false;
	bool good = weft__runs_stream_is_complete(stream);
	report_stream(stream, NULL);
	weft__runs_stream_destroy(stream);
	return good;
}
