/* SPDX-License-Identifier: ISC
 *
 * weft cut of several files: a directory with a part of each. The parts keep the boot id, so the
 * directory opens as one trace again.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cut.h"

/* A file of the trace, and the file for its part. */
struct piece {
	struct cli_trace trace;
	const struct weft_input_file *file;
	struct weft_event event;            /* the first one, if status is WEFT_OK */
	struct weft_xentrace_record record; /* instead, of Xen's own trace */
	bool is_xentrace;
	int status;
	char *output;
	bool is_written;
};

struct pieces {
	struct piece *list;
	size_t count;
	bool made_directory;
};

/* The name of a file without its directory and compression; "standard-input.weft" for "-". */
static char *name_part(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	if (strcmp(name, "-") == 0)
		return strdup("standard-input.weft");
	size_t size = strlen(name);
	if (size > 4 && strcmp(name + size - 4, ".zst") == 0)
		size -= 4;
	return strndup(name, size);
}

static bool is_taken(const struct pieces *pieces, const char *output)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (strcmp(pieces->list[i].output, output) == 0)
			return true;
	return false;
}

/* DIRECTORY/NAME or, if files from different directories have one name, DIRECTORY/2-NAME. NULL if
 * memory is short. */
static char *name_output(const struct pieces *pieces, const char *directory, const char *path)
{
	char *name = name_part(path);
	size_t room = strlen(directory) + (name ? strlen(name) : 0) + 32;
	char *output = name ? malloc(room) : NULL;
	if (output)
		snprintf(output, room, "%s/%s", directory, name);
	for (unsigned number = 2; output && is_taken(pieces, output); number++)
		snprintf(output, room, "%s/%u-%s", directory, number, name);
	free(name);
	return output;
}

/* Adds a file with its first event. A file without a readable event is left out. */
static bool add_piece(
	struct pieces *pieces, const struct weft_input_file *file, const char *directory)
{
	struct piece *piece = &pieces->list[pieces->count];
	*piece = (struct piece){.trace = {.name = file->path, .decoder = file->decoder}, .file = file};
	piece->is_xentrace = weft_decoder_has_xentrace(file->decoder);
	piece->status = piece->is_xentrace ? weft_decoder_next_xentrace(file->decoder, &piece->record)
									   : weft_decoder_next(file->decoder, &piece->event);
	if (piece->status < 0) {
		cli_trace_report(&piece->trace);
		cli_trace_fail(&piece->trace, piece->status);
		return true;
	}
	piece->output = name_output(pieces, directory, file->path);
	pieces->count += piece->output != NULL;
	return piece->output != NULL;
}

/* False after a message. */
static bool read_first(const struct cli_trace *trace, const char *directory, struct pieces *pieces)
{
	size_t files = weft_input_file_count(trace->input);
	pieces->list = calloc(files, sizeof(*pieces->list));
	bool good = pieces->list != NULL;
	for (size_t i = 0; good && i < files; i++) {
		const struct weft_input_file *file = weft_input_file(trace->input, i);
		good = !file->decoder || add_piece(pieces, file, directory);
	}
	if (!good)
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	return good && pieces->count;
}

/* The time of the first event of all; 0 if there is none. */
static uint64_t find_start(const struct weft_input *input, const struct pieces *pieces)
{
	uint64_t start = UINT64_MAX;
	for (size_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->list[i];
		uint64_t time = piece->is_xentrace ? piece->record.time_ns : piece->event.time_ns;
		time = weft_input_trace_time(input, piece->file, time);
		if (piece->status == WEFT_OK && time < start)
			start = time;
	}
	return start == UINT64_MAX ? 0 : start;
}

static bool is_empty(const char *directory)
{
	DIR *list = opendir(directory);
	size_t entries = 0;
	if (!list)
		return false;
	while (entries <= 2 && readdir(list))
		entries++;
	closedir(list);
	return entries <= 2; /* "." and ".." */
}

bool cut_make_directory(const char *verb, const char *directory, bool *ret_is_new)
{
	*ret_is_new = mkdir(directory, 0777) == 0;
	if (*ret_is_new || (errno == EEXIST && is_empty(directory)))
		return true;
	if (errno == EEXIST)
		cli_error("%s: several files are %s into a directory, which must be new or empty",
			directory, verb);
	else
		cli_error("%s: %s", directory, strerror(errno));
	return false;
}

static int write_all(
	const struct cut_request *request, const struct weft_input *input, struct pieces *pieces)
{
	const struct weft_cut_range whole = cut_find_range(request, find_start(input, pieces));
	uint64_t events = 0;
	for (size_t i = 0; i < pieces->count; i++) {
		struct piece *piece = &pieces->list[i];
		struct weft_cut_range range = {
			.start_ns = weft_input_own_time(input, piece->file, whole.start_ns),
			.end_ns = weft_input_own_time(input, piece->file, whole.end_ns)};
		uint64_t written;
		int status = piece->is_xentrace
						 ? cut_write_xentrace(&range, request, &piece->trace, piece->status,
							   &piece->record, piece->output, &written)
						 : cut_write(&range, &piece->trace, NULL,
							   cut_skip_past(request, &range, piece->trace.decoder, piece->status,
								   &piece->event),
							   &piece->event, piece->output, &written);
		if (status)
			return status;
		piece->is_written = true;
		events += written;
	}
	if (events == 0)
		cli_inform("%s: no event in that range", request->output);
	return CLI_DONE;
}

static void discard(const struct pieces *pieces, const char *directory)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->list[i].is_written)
			unlink(pieces->list[i].output);
	if (pieces->made_directory)
		rmdir(directory);
}

int cut_several(const struct cut_request *request, const struct cli_trace *trace)
{
	struct pieces pieces = {0};
	int status = CLI_UNREADABLE;
	if (weft_input_file_count(trace->input) == 0) {
		cli_error("%s has several processes in one file, and a cut has one", trace->name);
		return CLI_NO;
	}
	if (strcmp(request->output, "-") == 0)
		return cli_usage_error(
			"cut", "several files are cut into a directory, not to standard output");
	if (read_first(trace, request->output, &pieces)) {
		status = cut_make_directory("cut", request->output, &pieces.made_directory)
					 ? write_all(request, trace->input, &pieces)
					 : CLI_NO;
		if (status)
			discard(&pieces, request->output);
	}
	for (size_t i = 0; i < pieces.count; i++)
		free(pieces.list[i].output);
	free(pieces.list);
	return status;
}
