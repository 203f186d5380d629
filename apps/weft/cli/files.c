/* SPDX-License-Identifier: ISC
 *
 * Opens several FILE arguments, or a directory, as one trace.
 *
 * Files that were named must fit together, because the user asked for all of them. Of a directory's
 * files, those that do not fit are left out with a message.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"
#include "output.h"

#include "runs/directory/traces.h"

static void explain(const struct weft_input_file *file, bool is_directory)
{
	char text[2 * PATH_MAX];
	errno = file->reason;
	weft_input_explain(file, text, sizeof(text));
	if (file->fit == WEFT_INPUT_UNREADABLE && file->error == WEFT_ERROR_STATE)
		return;
	if (file->fit == WEFT_INPUT_UNREADABLE)
		cli_trace_explain(file->path, file->error);
	else if (text[0])
		cli_inform("%s: %s%s", file->path, is_directory ? "left out: " : "", text);
}

/* True for what the user can fix by naming other files. */
static bool is_misfit(const struct weft_input_file *file)
{
	return file->fit != WEFT_INPUT_OPEN && file->fit != WEFT_INPUT_UNREADABLE;
}

/* True if files are left out because they are of different boots, or do not say of which one. */
static bool are_unrelated(const struct weft_input *input)
{
	bool unrelated = false;
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		enum weft_input_fit fit = weft_input_file(input, i)->fit;
		unrelated = unrelated || fit == WEFT_INPUT_NO_BOOT || fit == WEFT_INPUT_OTHER_BOOT ||
					fit == WEFT_INPUT_NO_COUNTER;
	}
	return unrelated;
}

/* CLI_DONE if the trace can be shown, though files may be left out of it. */
static int check_files(const struct weft_input *input, bool is_directory, bool *ret_unrelated)
{
	bool good = true;
	if (ret_unrelated && !is_directory && are_unrelated(input)) {
		*ret_unrelated = true;
		return CLI_UNREADABLE;
	}
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		explain(file, is_directory);
		if (!is_directory && (is_misfit(file) || file->error == WEFT_ERROR_SYSTEM ||
								 file->error == WEFT_ERROR_STATE))
			good = false;
	}
	return good && weft_input_decoder(input) ? CLI_DONE : CLI_UNREADABLE;
}

/* Nothing is moved silently. */
static void report_hosts(const struct weft_input *input)
{
	char text[512];
	for (size_t i = 1; i < weft_input_host_count(input); i++) {
		const struct weft_input_host *host = weft_input_host(input, i);
		weft_input_explain_host(host, text, sizeof(text));
		cli_inform("host %s: %s", host->name, text);
	}
}

/* These are files in an archive: none is looked at that has such a path. */
void cli_trace_report_files(const struct weft_input *input)
{
	char text[2 * PATH_MAX];
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (weft_input_explain(file, text, sizeof(text)))
			cli_inform("%s: left out: %s", file->path, text);
	}
	report_hosts(input);
}

static void limit_output(const struct weft__runs_traces *files)
{
	struct stat status;
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->paths[i], "-") == 0 ? fstat(0, &status) == 0
											  : stat(files->paths[i], &status) == 0)
			cli_output_limit(&status);
}

/* "a.weft and 3 more" */
static char *name_operands(char **operands, int count)
{
	size_t room = strlen(operands[0]) + 32;
	char *name = malloc(room);
	if (name && count == 1)
		snprintf(name, room, "%s", operands[0]);
	else if (name)
		snprintf(name, room, "%s and %d more", operands[0], count - 1);
	return name;
}

/* Opens a copy, if the operand is no file. */
static int open_copy(void *context, const char *path, struct weft_source **ret_source)
{
	(void)context;
	if (!cli_copy_is_wanted(path))
		return 0;
	int fd = cli_copy_open(path);
	if (fd < 0)
		return WEFT_ERROR_STATE; /* a message was printed */
	struct stat status;
	if (fstat(fd, &status) == 0)
		cli_output_limit(&status);
	int error = weft_source_open_descriptor(fd, 0, ret_source);
	close(fd);
	return error;
}

static int open_all(const struct weft__runs_traces *files, bool is_directory, char *name,
	bool *ret_unrelated, struct cli_trace *ret_trace)
{
	const struct weft_input_options options = {.size = sizeof(options),
		.max_bytes = cli_trace_max_bytes(),
		.open = open_copy,
		.no_align = !cli_trace_aligns(),
		.at_any_time = !is_directory};
	struct cli_trace trace = {.name = name, .own_name = name};
	int error = name ? weft_source_survive_truncation() : WEFT_ERROR_MEMORY;
	if (!error)
		error = weft_input_open_files(
			(const char *const *)files->paths, files->count, &options, &trace.input);
	if (error)
		return cli_trace_fail(&trace, error);
	int status = check_files(trace.input, is_directory, ret_unrelated);
	if (!status)
		report_hosts(trace.input);
	trace.decoder = weft_input_decoder(trace.input);
	if (status)
		weft_input_close(trace.input);
	else
		*ret_trace = trace;
	return status;
}

int cli_trace_open_all(char **operands, int count, struct cli_trace *ret_trace)
{
	return cli_trace_open_fitting(operands, count, NULL, ret_trace);
}

int cli_trace_open_fitting(
	char **operands, int count, bool *ret_unrelated, struct cli_trace *ret_trace)
{
	struct weft__runs_traces files = {0};
	bool is_directory = true, good = true;
	int status = CLI_UNREADABLE;
	if (count == 1 && !weft__runs_traces_is_directory(operands[0]))
		return cli_trace_open(operands[0], ret_trace);
	for (int i = 0; i < count && good; i++) {
		is_directory = is_directory && weft__runs_traces_is_directory(operands[i]);
		good = weft__runs_traces_add(&files, operands[i]);
	}
	char *name = name_operands(operands, count);
	limit_output(&files);
	if (good)
		status = open_all(&files, is_directory, name, ret_unrelated, ret_trace);
	if (status)
		free(name);
	weft__runs_traces_finish(&files);
	return status;
}
