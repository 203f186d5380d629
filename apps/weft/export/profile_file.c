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

static int write_profile(
	const struct weft_model *model, enum flame_source source, bool is_pprof, struct weft_text *text)
{
	const struct weft_stats_options options = {.size = sizeof(options)};
	struct weft_profile *profile = NULL;
	int error = flame_make_profile(source, model, &options, &profile);
	if (!error)
		error = is_pprof ? weft_profile_write_pprof(profile, text)
						 : weft_profile_write_collapsed(profile, text);
	if (!error && is_pprof)
		error = compress_text(text);
	if (!error && !weft_profile_count(profile))
		cli_inform("%s", flame_explain_none(source));
	weft_profile_destroy(profile);
	return error;
}

int profile_export(
	const struct cli_trace *trace, enum flame_source source, bool is_pprof, const char *path)
{
	struct weft_model *model = NULL;
	struct weft_text text = {0};
	int status = CLI_DONE;
	cli_progress_start();
	int error = cli_trace_build_model(trace, &model);
	cli_progress_end();
	cli_trace_report(trace);
	if (!error)
		error = write_profile(model, source, is_pprof, &text);
	if (error)
		status = cli_trace_fail(trace, error);
	else if (!cli_save(path, text.bytes ? text.bytes : "", text.size))
		status = CLI_NO;
	weft_text_finish(&text);
	weft_model_destroy(model);
	cli_progress_die_if_interrupted();
	return status;
}
