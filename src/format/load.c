/* SPDX-License-Identifier: ISC
 *
 * All of a trace's events into a model.
 */
#include <weft/decoder.h>
#include <weft/model.h>

#include "base/export.h"

#define PROGRESS_EVENTS 65536

static int add_events(struct weft_decoder *decoder, struct weft_model_builder *builder,
	bool (*progress)(void *context, uint64_t events), void *context)
{
	struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(decoder);
	struct weft_event event;
	int status;
	for (uint64_t events = 1; (status = weft_decoder_next(decoder, &event)) == WEFT_OK; events++) {
		int error = weft_model_builder_add(builder, &event, diagnostics);
		if (error)
			return error;
		if (progress && events % PROGRESS_EVENTS == 0 && !progress(context, events))
			return 0;
	}
	if (status == WEFT_AGAIN)
		return WEFT_ERROR_STATE;
	return status == WEFT_END ? 0 : status;
}

WEFT__EXPORT int weft_decoder_build_model(struct weft_decoder *decoder,
	bool (*progress)(void *context, uint64_t events), void *context, struct weft_model **ret_model)
{
	struct weft_model_builder *builder;
	int error = weft_model_builder_create(&builder);
	if (error)
		return error;
	error = add_events(decoder, builder, progress, context);
	if (!error)
		error = weft_model_builder_finish(builder, weft_decoder_describe(decoder), ret_model);
	weft_model_builder_destroy(builder);
	return error;
}
