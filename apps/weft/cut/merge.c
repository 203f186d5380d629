/* SPDX-License-Identifier: ISC
 *
 * weft merge: copies traces of several hosts into a directory that opens as one trace, and says how
 * their clocks compare. The copies are as the files were: each reader aligns them anew, by the same
 * messages.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cut.h"

static const char usage[] =
	"usage: weft merge FILE... -o OUT [--max-size SIZE]\n"
	"\n"
	"Puts traces of several hosts into the directory OUT, which is created, or must be empty. All\n"
	"commands open it as one trace. Standard error says how the clocks of the hosts compare: by how\n"
	"much each is moved, how exactly that is known, and from how many messages. FILE is a trace in\n"
	"weft's format, or a directory of such.\n"
	"\n"
	"  -o, --output OUT  the directory\n"
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

struct copies {
	const char *directory;
	char **written;
	size_t count;
	bool made_directory;
};

/* DIRECTORY/NAME or, if another host has a file of that name, DIRECTORY/2-NAME. */
static char *name_copy(const struct copies *copies, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	size_t size = strlen(name), room = strlen(copies->directory) + size + 32;
	char *output = malloc(room);
	if (strcmp(name, "-") == 0) {
		name = "in.weft";
		size = strlen(name);
	}
	if (size > 4 && strcmp(name + size - 4, ".zst") == 0)
		size -= 4; /* it is written as it was unpacked */
	if (output)
		snprintf(output, room, "%s/%.*s", copies->directory, (int)size, name);
	for (unsigned number = 2; output && access(output, F_OK) == 0; number++)
		snprintf(output, room, "%s/%u-%.*s", copies->directory, number, (int)size, name);
	return output;
}

static int copy(struct copies *copies, const struct weft_input_file *file)
{
	size_t size;
	const void *bytes = weft_source_bytes(file->source, &size);
	char *output = name_copy(copies, file->path);
	if (!output) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	if (!cli_save(output, bytes, size)) {
		free(output);
		return CLI_NO;
	}
	copies->written[copies->count++] = output;
	return CLI_DONE;
}

static size_t count_open(const struct weft_input *input)
{
	size_t count = 0;
	for (size_t i = 0; i < weft_input_file_count(input); i++)
		count += weft_input_file(input, i)->decoder != NULL;
	return count;
}

static int copy_all(struct copies *copies, const struct weft_input *input)
{
	int status = CLI_DONE;
	for (size_t i = 0; i < weft_input_file_count(input) && !status; i++)
		if (weft_input_file(input, i)->decoder)
			status = copy(copies, weft_input_file(input, i));
	return status;
}

static void finish(struct copies *copies, bool is_good)
{
	for (size_t i = 0; i < copies->count; i++) {
		if (!is_good)
			unlink(copies->written[i]);
		free(copies->written[i]);
	}
	free(copies->written);
	if (!is_good && copies->made_directory)
		rmdir(copies->directory);
}

static int merge(const char *directory, const struct cli_trace *trace)
{
	struct copies copies = {.directory = directory};
	const size_t files = weft_input_file_count(trace->input);
	if (files < 2)
		return cli_usage_error("merge", "one file is one trace already");
	if (count_open(trace->input) < 2) {
		cli_error("one file is left, which is a trace already");
		return CLI_UNREADABLE;
	}
	if (!cut_make_directory("merged", directory, &copies.made_directory))
		return CLI_NO;
	copies.written = calloc(files, sizeof(*copies.written));
	int status = CLI_NO;
	if (copies.written)
		status = copy_all(&copies, trace->input);
	else
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	if (!status && weft_input_host_count(trace->input) == 0)
		cli_inform("all files are of one boot, so they have one clock");
	if (!status)
		cli_inform("%s: %zu files; `weft view %s` shows them as one trace", directory, copies.count,
			directory);
	finish(&copies, !status);
	return status;
}

int cli_merge(int argc, char **argv)
{
	const char *directory = NULL;
	struct cli_trace trace;
	for (int code; (code = cli_next_option(argc, argv, long_options)) != -1;) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (code != 'o')
			return CLI_USAGE;
		directory = optarg;
	}
	const int count = cli_count_operands(argc, argv, "FILE");
	if (!count)
		return CLI_USAGE;
	if (!directory)
		return cli_usage_error("merge", "-o OUT is missing: the directory for the files");
	if (strcmp(directory, "-") == 0)
		return cli_usage_error(
			"merge", "several files are merged into a directory, not to standard output");
	int status = cli_trace_open_all(argv + optind, count, &trace);
	if (status)
		return status;
	status = merge(directory, &trace);
	cli_trace_close(&trace);
	return status;
}
