/* SPDX-License-Identifier: ISC
 *
 * One call that opens a trace, see input.h. The decoder borrows the source's bytes, and the second
 * thread works for the decoder: this is the order in which they are made.
 */
#include <weft/input.h>

#include <errno.h>
#include <stdlib.h>

#include "base/export.h"
#include "base/options.h"
#include "format/forget.h"
#include "input/archive.h"
#include "input/opened.h"

#define FORGET_FROM ((size_t)32 << 20)

bool weft__input_is_trace(const void *bytes, size_t size)
{
	struct weft_decoder *decoder;
	if (weft_decoder_create(&decoder))
		return true; /* what follows reports it */
	int error = weft_decoder_feed_borrowed(decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(decoder);
	weft_decoder_destroy(decoder);
	return error != WEFT_ERROR_FORMAT;
}

static bool may_be_opened(const void *bytes, size_t size)
{
	return weft__input_archive_is(bytes, size) || weft__input_is_trace(bytes, size);
}

static void forget_source(void *source)
{
	weft_source_forget(source);
}

/* Fills `input`, which has its source. */
static int decode(struct weft_input *input, uint64_t hz)
{
	size_t size;
	const void *bytes = weft_source_bytes(input->source, &size);
	int error = weft_decoder_create(&input->decoder);
	if (!error)
		weft_decoder_set_hz(input->decoder, hz);
	if (!error)
		error = weft_decoder_feed_borrowed(input->decoder, bytes, size);
	if (error)
		return error;
	input->worker = size > WEFT__WORKER_MIN_BYTES ? weft_worker_create() : NULL;
	weft_decoder_lend(input->decoder, weft_worker_help(input->worker));
	const struct weft__forget forget = {forget_source, input->source};
	weft__format_decoder_lend_forget(input->decoder, size > FORGET_FROM ? &forget : NULL);
	error = weft_decoder_finish(input->decoder);
	weft__format_decoder_lend_forget(input->decoder, NULL);
	/* finish reads all packets' headers. Pages of small files are worth keeping for what follows.
	 */
	if (size > FORGET_FROM)
		weft_source_forget(input->source);
	return error;
}

static int open_archive(struct weft_source *source, const struct weft_input_options *options,
	struct weft_input **ret_input)
{
	struct weft_input *input;
	int error = weft__input_open_archive(source, options, &input);
	if (error) {
		weft_source_close(source);
		return error;
	}
	if (input->decoder) {
		*ret_input = input;
		return 0;
	}
	weft_input_close(input);
	return WEFT_ERROR_FORMAT;
}

WEFT__EXPORT int weft_input_open_source_with(struct weft_source *source,
	const struct weft_input_options *options, struct weft_input **ret_input)
{
	struct weft_input_options known = {0};
	if (options)
		WEFT__OPTIONS_COPY(&known, options);
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	if (weft__input_archive_is(bytes, size))
		return open_archive(source, &known, ret_input);
	struct weft_input *input = calloc(1, sizeof(*input));
	if (!input) {
		weft_source_close(source);
		return WEFT_ERROR_MEMORY;
	}
	input->source = source;
	int error = decode(input, known.hz);
	if (error)
		weft_input_close(input);
	else
		*ret_input = input;
	return error;
}

WEFT__EXPORT int weft_input_open(
	const char *path, const struct weft_input_options *options, struct weft_input **ret_input)
{
	struct weft_input_options known = {0};
	struct weft_source *source;
	if (options)
		WEFT__OPTIONS_COPY(&known, options);
	int error = weft_source_open_checked(path, known.max_bytes, may_be_opened, &source);
	return error ? error : weft_input_open_source_with(source, &known, ret_input);
}

WEFT__EXPORT void weft_input_close(struct weft_input *input)
{
	if (!input)
		return;
	int reason = errno; /* of an error that is about to be returned */
	weft_worker_destroy(input->worker);
	weft_decoder_destroy(input->decoder);
	weft__input_close_files(input);
	weft_source_close(input->source);
	weft_source_close(input->archive);
	free(input);
	errno = reason;
}

WEFT__EXPORT struct weft_source *weft_input_source(const struct weft_input *input)
{
	for (size_t i = 0; i < input->file_count && !input->source; i++)
		if (input->files[i].decoder)
			return input->files[i].source;
	return input->source;
}

WEFT__EXPORT struct weft_decoder *weft_input_decoder(const struct weft_input *input)
{
	return input->decoder;
}

WEFT__EXPORT const struct weft_help *weft_input_help(const struct weft_input *input)
{
	return weft_worker_help(input->worker);
}

struct reading {
	const struct weft_input *input;
	const struct weft_progress *progress; /* or NULL */
};

static void forget(const struct weft_input *input)
{
	if (input->source)
		weft_source_forget(input->source);
	for (size_t i = 0; i < input->file_count; i++)
		if (input->files[i].decoder)
			weft_source_forget(input->files[i].source);
}

static bool step(void *context, double part)
{
	const struct reading *reading = context;
	const struct weft_progress *progress = reading->progress;
	forget(reading->input);
	return !progress || !progress->step || progress->step(progress->context, part);
}

typedef int build_function(struct weft_decoder *decoder, const struct weft_progress *progress,
	struct weft_model **ret_model);

static int build(struct weft_input *input, const struct weft_progress *progress,
	build_function *function, struct weft_model **ret_model)
{
	struct reading reading = {input, progress};
	const struct weft_progress own = {step, &reading, progress ? progress->help : NULL};
	int error = function(input->decoder, &own, ret_model);
	forget(input);
	return error;
}

WEFT__EXPORT int weft_input_build_model(
	struct weft_input *input, const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(input, progress, weft_decoder_build_model, ret_model);
}

WEFT__EXPORT int weft_input_build_summary(
	struct weft_input *input, const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(input, progress, weft_decoder_build_summary, ret_model);
}

WEFT__EXPORT int weft_input_build_range(struct weft_input *input, const struct weft_range *range,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	struct reading reading = {input, progress};
	const struct weft_progress own = {step, &reading, progress ? progress->help : NULL};
	int error = weft_decoder_build_range(input->decoder, range, &own, ret_model);
	forget(input);
	return error;
}
