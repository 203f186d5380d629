/* SPDX-License-Identifier: ISC
 *
 * The options of commands that stream: `weft record --stream` and `weft collect`.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "record.h"
#include "runs/saving/name.h"
#include "runs/stream/compress.h"

bool record_parse_size(const char *command, const char *option, const char *text, uint64_t *ret)
{
	uint64_t size;
	if (!cli_parse_size(command, option, text, &size))
		return false;
	if (size < RECORD_SIZE_MIN_BYTES) {
		cli_usage_error(command, "%s: \"%s\" is too small; the minimum is 64K", option, text);
		return false;
	}
	*ret = size;
	return true;
}

/* SIZE or SIZE:N. */
static bool parse_rotation(
	const char *command, const char *text, struct weft__runs_stream_options *options)
{
	char size[32];
	const char *colon = strchr(text, ':');
	snprintf(size, sizeof(size), "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
	if (!record_parse_size(command, "--rotate", size, &options->rotate_bytes))
		return false;
	return !colon || cli_parse_number(command, "--rotate", colon + 1, 1, 1000000, &options->keep);
}

/* 0: no limit. */
static bool parse_max_size(
	const char *command, const char *text, struct weft__runs_stream_options *options)
{
	uint64_t size;
	if (!cli_parse_size(command, "--max-size", text, &size))
		return false;
	if (size && size < WEFT__RUNS_LIMIT_MIN_BYTES) {
		cli_usage_error(command, "--max-size: \"%s\" is too small; the minimum is 8M", text);
		return false;
	}
	options->max_bytes = size;
	options->has_max = true;
	return true;
}

static bool ends_in_zst(const char *output)
{
	size_t length = output ? strlen(output) : 0;
	return length > 4 && strcmp(output + length - 4, ".zst") == 0;
}

bool record_streaming_take(
	const char *command, int option, const char *text, struct weft__runs_stream_options *options)
{
	if (option == 'R')
		return parse_rotation(command, text, options);
	if (option == 'm')
		return parse_max_size(command, text, options);
	return options->compress = true;
}

int record_streaming_check(const char *command, struct weft__runs_stream_options *options)
{
	options->compress |= ends_in_zst(options->output);
	if (options->compress && !weft__runs_compressor_is_there())
		return cli_usage_error(command, "this weft was built without zstd");
	if (options->rotate_bytes && weft__runs_is_stdout(options->output))
		return cli_usage_error(command, "--rotate cannot be used with standard output");
	return CLI_DONE;
}
