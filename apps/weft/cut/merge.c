/* SPDX-License-Identifier: ISC
 *
 * weft merge: copies traces of several hosts into a directory, or an archive of tar, that opens as
 * one trace, and says how their clocks compare. The copies are as the files were: each reader
 * aligns them anew, by the same messages.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "archive.h"
#include "cut.h"

static const char usage[] =
	"usage: weft merge FILE... -o OUT [--max-size SIZE]\n"
	"\n"
	"Puts traces of several hosts into OUT, which all commands open as one trace: a tar archive if the\n"
	"name ends in .weft, else a directory, which is created, or must be empty. Standard error says how\n"
	"the clocks of the hosts compare: by how much each is moved, how exactly that is known, and from\n"
	"how many messages. FILE is a trace in weft's format, or a directory of such.\n"
	"\n"
	"  -o, --output OUT  the archive or the directory\n"
	"  --max-size SIZE   refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                    times its own size, and 4G for a pipe\n"
	"  --help            this text\n";

enum merge_option_code {
	OPTION_HELP = 256,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"output", required_argument, NULL, 'o'},
	CLI_MAX_SIZE_OPTION,
	{NULL, 0, NULL, 0},
};

/* The files in OUT. */
struct copies {
	const char *output;
	char **names;
	size_t count;
	bool made_directory;
};

static bool is_taken(const struct copies *copies, const char *name)
{
	for (size_t i = 0; i < copies->count; i++)
		if (strcmp(copies->names[i], name) == 0)
			return true;
	return false;
}

/* NAME or, if another host has a file of that name, 2-NAME. */
static char *name_copy(const struct copies *copies, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	if (strcmp(name, "-") == 0)
		name = "in.weft";
	size_t size = strlen(name), room = size + 32;
	char *copy = malloc(room);
	if (size > 4 && strcmp(name + size - 4, ".zst") == 0)
		size -= 4; /* it is written as it was unpacked */
	if (copy)
		snprintf(copy, room, "%.*s", (int)size, name);
	for (unsigned number = 2; copy && is_taken(copies, copy); number++)
		snprintf(copy, room, "%u-%.*s", number, (int)size, name);
	return copy;
}

static bool name_all(struct copies *copies, const struct weft_input *input)
{
	const size_t files = weft_input_file_count(input);
	copies->names = calloc(files, sizeof(*copies->names));
	for (size_t i = 0; copies->names && i < files; i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		char *name = file->decoder ? name_copy(copies, file->path) : NULL;
		if (name)
			copies->names[copies->count++] = name;
		else if (file->decoder)
			return false;
	}
	return copies->names;
}

static bool fail(const char *output)
{
	if (cli_is_interrupted())
		cli_error("interrupted: %s is as it was", output);
	else
		cli_error("%s: %s", output, strerror(errno));
	return false;
}

/* ---- A directory ---- */

static bool save(const char *directory, const char *name, const void *bytes, size_t size)
{
	const size_t room = strlen(directory) + strlen(name) + 2;
	char *path = malloc(room);
	if (path)
		snprintf(path, room, "%s/%s", directory, name);
	else
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	const bool is_good = path && cli_save(path, bytes, size);
	free(path);
	return is_good;
}

static void discard(const struct copies *copies, size_t count)
{
	const int directory = open(copies->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < count && directory >= 0; i++)
		unlinkat(directory, copies->names[i], 0);
	if (directory >= 0)
		close(directory);
	if (copies->made_directory)
		rmdir(copies->output);
}

static int write_directory(struct copies *copies, const struct weft_input *input)
{
	size_t count = 0;
	if (!cut_make_directory("merged", copies->output, &copies->made_directory))
		return CLI_NO;
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		size_t size;
		const void *bytes = file->decoder ? weft_source_bytes(file->source, &size) : NULL;
		if (!file->decoder)
			continue;
		const bool is_good = cli_is_interrupted()
								 ? fail(copies->output)
								 : save(copies->output, copies->names[count], bytes, size);
		if (!is_good) {
			discard(copies, count);
			return CLI_NO;
		}
		count++;
	}
	return CLI_DONE;
}

/* ---- A file ---- */

static bool is_file_name(const char *output)
{
	const size_t size = strlen(output);
	return size > 5 && strcmp(output + size - 5, ".weft") == 0;
}

/* False after a message, as the others. */
static bool add_file(
	struct cli_output *output, const struct weft_input_file *file, const char *name)
{
	size_t size;
	const void *bytes = weft_source_bytes(file->source, &size);
	if (strlen(name) > ARCHIVE_NAME_MAX)
		cli_error(
			"%s: the name has more than the %d bytes for which an archive has room; rename it, "
			"or merge into a directory",
			file->path, ARCHIVE_NAME_MAX);
	else if (size > ARCHIVE_SIZE_MAX)
		cli_error("%s: more than the 8 GiB for which an archive has room; merge into a directory",
			file->path);
	else
		return archive_add(output, name, bytes, size) || fail(output->path);
	return false;
}

static bool add_all(
	struct cli_output *output, const struct copies *copies, const struct weft_input *input)
{
	size_t count = 0;
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (file->decoder && !add_file(output, file, copies->names[count++]))
			return false;
	}
	return archive_end(output) || fail(output->path);
}

static int write_file(const struct copies *copies, const struct weft_input *input)
{
	struct cli_output output;
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		char *path = (char *)(uintptr_t)weft_input_file(input, i)->path;
		if (cli_output_is_input(AT_FDCWD, copies->output, &path, 1)) {
			cli_error("refusing to overwrite %s by itself and others; name another file", path);
			return CLI_NO;
		}
	}
	if (!cli_output_open(copies->output, &output))
		return CLI_NO;
	if (!add_all(&output, copies, input)) {
		cli_output_abandon(&output);
		return CLI_NO;
	}
	return cli_output_commit(&output) ? CLI_DONE : CLI_NO;
}

/* ---- Both ---- */

static size_t count_open(const struct weft_input *input)
{
	size_t count = 0;
	for (size_t i = 0; i < weft_input_file_count(input); i++)
		count += weft_input_file(input, i)->decoder != NULL;
	return count;
}

static int write_all(struct copies *copies, const struct weft_input *input)
{
	if (!name_all(copies, input)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	cli_catch_interrupts();
	return is_file_name(copies->output) ? write_file(copies, input)
										: write_directory(copies, input);
}

static int merge(const char *output, const struct cli_trace *trace)
{
	struct copies copies = {.output = output};
	if (weft_input_file_count(trace->input) < 2)
		return cli_usage_error("merge", "one file is one trace already");
	if (count_open(trace->input) < 2) {
		cli_error("one file is left, which is a trace already");
		return CLI_UNREADABLE;
	}
	const int status = write_all(&copies, trace->input);
	if (!status && weft_input_host_count(trace->input) == 0)
		cli_inform("all files are of one boot, so they have one clock");
	if (!status)
		cli_inform(
			"%s: %zu files; `weft view %s` shows them as one trace", output, copies.count, output);
	for (size_t i = 0; i < copies.count; i++)
		free(copies.names[i]);
	free(copies.names);
	return status;
}

int cli_merge(int argc, char **argv)
{
	const char *output = NULL;
	struct cli_trace trace;
	for (int code; (code = cli_next_option(argc, argv, long_options)) != -1;) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (code != 'o')
			return CLI_USAGE;
		output = optarg;
	}
	const int count = cli_count_operands(argc, argv, "FILE");
	if (!count)
		return CLI_USAGE;
	if (!output)
		return cli_usage_error("merge", "-o OUT is missing: the file or the directory for all");
	if (strcmp(output, "-") == 0)
		return cli_usage_error(
			"merge", "several files are merged into a file or a directory, not to standard output");
	int status = cli_trace_open_all(argv + optind, count, &trace);
	if (status)
		return status;
	status = merge(output, &trace);
	cli_trace_close(&trace);
	return status;
}
