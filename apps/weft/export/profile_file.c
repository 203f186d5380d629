/* SPDX-License-Identifier: ISC
 *
 * See profile_file.h. Without zlib the protobuf is not compressed, which pprof reads as well.
 */
#include "profile_file.h"

#include <stdlib.h>

#if WEFT_HAS_ZLIB
#include <zlib.h>
#endif

#include "cli/output.h"

#if WEFT_HAS_ZLIB

#define GZIP_WINDOW (15 + 16)

/* Replaces the text by the same one compressed by gzip. */
static int compress_text(struct weft_text *text)
{
	z_stream stream = {0};
	struct weft_text compressed = {0};
	if (text->size > UINT32_MAX || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
									   GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return WEFT_ERROR_MEMORY;
	const uLong room = deflateBound(&stream, text->size);
	char *bytes = malloc(room);
	stream.next_in = (Bytef *)text->bytes;
	stream.avail_in = (uInt)text->size;
	stream.next_out = (Bytef *)bytes;
	stream.avail_out = (uInt)room;
	int error = bytes && deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : WEFT_ERROR_MEMORY;
	if (!error)
		weft_text_add(&compressed, bytes, stream.total_out);
	deflateEnd(&stream);
	free(bytes);
	weft_text_finish(text);
	*text = compressed;
	return error ? error : text->error;
}

#else

static int compress_text(struct weft_text *text)
{
	(void)text;
	return 0;
}

#endif

/* `ret_profile` may be empty, which is said. The exit status. */
static int read_profile(
	const struct cli_trace *trace, enum flame_source source, struct weft_profile **ret_profile)
{
	const struct weft_stats_options options = {.size = sizeof(options)};
	struct weft_model *model = NULL;
	cli_progress_start();
	int error = cli_trace_build_model(trace, &model);
	cli_progress_end();
	cli_trace_report(trace);
	if (!error)
		error = flame_make_profile(source, model, &options, ret_profile);
	weft_model_destroy(model);
	if (error)
		return cli_trace_fail(trace, error);
	if (!weft_profile_count(*ret_profile))
		cli_inform("%s: %s", trace->name, flame_explain_none(source));
	return CLI_DONE;
}

static int write_profile(const struct cli_trace *trace, const struct weft_profile *profile,
	bool is_pprof, const char *path)
{
	struct weft_text text = {0};
	int status = CLI_DONE;
	int error = is_pprof ? weft_profile_write_pprof(profile, &text)
						 : weft_profile_write_collapsed(profile, &text);
	if (!error && is_pprof)
		error = compress_text(&text);
	if (error)
		status = cli_trace_fail(trace, error);
	else if (!cli_save(path, text.bytes ? text.bytes : "", text.size))
		status = CLI_NO;
	weft_text_finish(&text);
	cli_progress_die_if_interrupted();
	return status;
}

int profile_export(
	const struct cli_trace *trace, enum flame_source source, bool is_pprof, const char *path)
{
	struct weft_profile *profile = NULL;
	int status = read_profile(trace, source, &profile);
	if (!status)
		status = write_profile(trace, profile, is_pprof, path);
	weft_profile_destroy(profile);
	return status;
}

static int write_difference(const struct cli_trace *trace, struct weft_profile *profile,
	const struct weft_profile *before, const char *path)
{
	int error = weft_profile_compare(profile, before);
	return error ? cli_trace_fail(trace, error) : write_profile(trace, profile, false, path);
}

int profile_export_difference(char **files, enum flame_source source, const char *path)
{
	struct weft_profile *profiles[2] = {NULL, NULL};
	struct cli_trace trace;
	int status = CLI_DONE;
	for (unsigned i = 0; i < 2 && !status; i++) {
		status = cli_trace_open(files[i], &trace);
		if (status)
			break;
		status = read_profile(&trace, source, &profiles[i]);
		if (!status && i == 1)
			status = write_difference(&trace, profiles[1], profiles[0], path);
		cli_trace_close(&trace);
	}
	weft_profile_destroy(profiles[0]);
	weft_profile_destroy(profiles[1]);
	return status;
}
