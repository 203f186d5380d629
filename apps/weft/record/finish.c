/* SPDX-License-Identifier: ISC
 *
 * The end of a run: its traces are saved or its streams are ended, the result is printed, and the
 * run directory is removed if nothing is lost with it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "record.h"
#include "lines.h"
#include "runs/directory/directory.h"
#include "runs/message.h"
#include "runs/saving/early.h"
#include "runs/saving/left_out.h"
#include "runs/saving/name.h"

/* False after a message, if --require is given and something is missing. */
static bool is_complete(const struct record_end *end, size_t missing, size_t unseen,
	const struct weft__runs_saved *saved, size_t count)
{
	if (!end->require)
		return true;
	const struct record_sum sum = record_sum_up(saved, count);
	if (missing)
		cli_error("--require: %zu process%s did not record everything", missing,
			missing == 1 ? "" : "es");
	if (unseen)
		cli_error("--require: %zu part%s of the run %s not recorded, see above", unseen,
			unseen == 1 ? "" : "s", unseen == 1 ? "is" : "are");
	if (!sum.events)
		cli_error("--require: no event was recorded");
	if (sum.lost)
		cli_error("--require: %llu event%s lost; use a larger --size, or --stream",
			(unsigned long long)sum.lost, sum.lost == 1 ? " was" : "s were");
	if (sum.is_cut)
		cli_error("--require: the stream ended at its limit; use a larger --max-size");
	return !missing && !unseen && sum.events && !sum.lost && !sum.is_cut;
}

/* How many of the rings get a trace; 2 if there are more. */
static size_t count_kept(const struct record_end *end, const struct weft__runs_rings *rings)
{
	const struct weft__runs_ring *lead = NULL;
	size_t count = 0;
	for (size_t i = 0; i < rings->count && count < 2; i++) {
		const struct weft__runs_ring *ring = &rings->list[i];
		if (ring->is_failure)
			continue;
		lead = lead ? lead : ring;
		count += !ring->is_link &&
				 (end->keep_all || !weft__runs_is_helper_beside(end->directory, ring, lead));
	}
	return count;
}

/* The directory for the traces of several processes, if the user has named no output: they would
 * fill the current one. The caller frees it; NULL: there are not several. */
static char *choose_directory(const struct record_end *end)
{
	struct weft__runs_rings rings;
	char *made = NULL;
	if (!end->early || end->output || end->in_place)
		return NULL;
	if (weft__runs_early_directory(end->early))
		return strdup(weft__runs_early_directory(end->early));
	if (!weft__runs_rings_find(end->directory, end->program, &rings))
		return NULL;
	weft__runs_rings_order(end->directory, end->program, &rings);
	weft__runs_rings_lead(end->program, &rings);
	weft__runs_rings_check_running(end->directory, &rings);
	if (count_kept(end, &rings) > 1)
		made = weft__runs_make_directory(&rings);
	weft__runs_rings_finish(&rings);
	return made;
}

#if WEFT_HAS_LINES
/* The user whose process made the ring; nobody if that is unknown. Rings that were saved early are
 * gone, and were ours. */
static uid_t user_of(const struct weft__runs_saved *saved)
{
	struct stat status;
	if (stat(saved->path, &status) == 0)
		return status.st_uid;
	return saved->ring->is_ours ? geteuid() : 65534;
}
#endif

/* Standard output has been written already. */
static void add_lines(const struct weft__runs_saves *saves)
{
#if WEFT_HAS_LINES
	for (size_t i = 0; i < saves->count; i++)
		if (!weft__runs_is_stdout(saves->list[i].file))
			record_add_lines(saves->list[i].file, user_of(&saves->list[i]));
#else
	(void)saves;
#endif
}

/* Returns how many parts are not recorded. */
static size_t add_samples(struct record_ran *ran, const struct weft__runs_saves *saves)
{
	if (!ran)
		return 0;
	for (size_t i = 0; i < saves->count; i++)
		record_ran_save(ran, saves->list[i].ring->pid, saves->list[i].file);
	if (record_ran_lost(ran))
		cli_error("%llu samples of what ran were lost", (unsigned long long)record_ran_lost(ran));
	return record_ran_is_denied(ran);
}

/* Returns how many parts are known not to be recorded. */
static size_t report_saved(
	const struct weft__runs_saved *saved, size_t count, size_t left_out, const char *directory)
{
	size_t unseen = record_report_unseen(saved, count);
	record_report(saved, count, left_out, directory);
	return unseen;
}

static bool save_run(const struct record_end *end, const char *made)
{
	const struct record_watcher *watcher = end->watcher;
	struct weft__runs_saves saves;
	if (!weft__runs_save_all(
			end->directory, made ? made : end->output, end->program, end->keep_all, &saves))
		return false;
	if (end->early) {
		saves.has_failed |= !weft__runs_early_sync(end->early);
		weft__runs_early_report(end->early, &saves);
	}
	add_lines(&saves);
	size_t unseen = add_samples(end->ran, &saves);
	size_t missing = record_report_missing(end, &saves.rings);
	if (saves.count)
		unseen += report_saved(saves.list, saves.count, saves.left_out, made);
	else if (saves.rings.count == saves.new_count && end->name && !saves.has_failed)
		record_report_nothing(end->name, end->has_adapters);
	bool complete = is_complete(end, missing, unseen, saves.list, saves.count);
	for (size_t i = 0; watcher && i < saves.count; i++)
		watcher->saved(watcher->context, saves.list[i].path, saves.list[i].file);
	bool good = !saves.has_failed;
	if (good)
		weft__runs_directory_remove(end->directory, &saves.rings, false);
	weft__runs_saves_finish(&saves);
	return good && complete;
}

bool record_save_run(const struct record_end *end)
{
	char *made = choose_directory(end);
	bool good = save_run(end, made);
	free(made);
	return good;
}

/* `end` is NULL for the stream of one process. False if --require is not met. */
static bool report_stream(struct weft__runs_stream *stream, const struct weft__runs_rings *rings,
	const struct record_end *end)
{
	struct weft__runs_saved *list;
	size_t count, left_out;
	if (!weft__runs_stream_results(
			stream, rings, !end || end->keep_all, &list, &count, &left_out)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return false;
	}
	size_t missing = end ? record_report_missing(end, rings) : 0, unseen = 0;
	if (count)
		unseen = report_saved(list, count, left_out, NULL);
	else if (end && end->name && rings->count == 0)
		record_report_nothing(end->name, end->has_adapters);
	bool complete = !end || is_complete(end, missing, unseen, list, count);
	free(list);
	return complete;
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
	weft__runs_rings_order(end->directory, end->program, &rings);
	weft__runs_rings_lead(end->program, &rings);
	weft__runs_rings_check_running(end->directory, &rings);
	bool complete = report_stream(stream, &rings, end);
	if (good)
		weft__runs_directory_remove(end->directory, &rings, false);
	else
		cli_error("unwritten events stay in %s; `weft record --recover` saves them",
			weft__runs_shown(end->directory));
	weft__runs_rings_finish(&rings);
	weft__runs_stream_destroy(stream);
	return good && complete;
}

/* Ends with the stream. NULL: it did not begin. */
static bool await_stream(struct weft__runs_stream *stream)
{
	if (!stream)
		return false;
	weft__runs_stream_wait(stream);
	if (!weft__runs_stream_stop(stream))
		return false;
	bool good = weft__runs_stream_is_complete(stream);
	report_stream(stream, NULL, NULL);
	weft__runs_stream_destroy(stream);
	return good;
}

bool record_stream_process(const char *path, const struct weft__runs_ring *ring,
	const struct weft__runs_stream_options *options)
{
	return await_stream(weft__runs_stream_start_process(path, ring, options));
}

bool record_stream_guests(
	const struct weft__runs_guests_options *guests, const struct weft__runs_stream_options *options)
{
	return await_stream(weft__runs_stream_start_guests(guests, options));
}
