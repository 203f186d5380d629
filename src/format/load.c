/* SPDX-License-Identifier: ISC
 *
 * Builds the model of a whole trace in batches: while one batch is added to the model, the next is
 * decoded and its names are looked up, on two threads if the caller lent a second one. The two
 * halves never share a batch, so the model is the same with one thread and with two.
 */
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/model.h>

#include "base/both.h"
#include "base/diagnostics.h"
#include "base/export.h"
#include "format/decoder.h"
#include "model/load.h"

#define PROGRESS_EVENTS 65536
#define BATCH_EVENTS    8192 /* divides PROGRESS_EVENTS; two batches fit the second-level cache */

struct batch {
	struct weft__fact facts[BATCH_EVENTS];
	uint32_t count;
};

struct load {
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	struct batch *batches; /* two */
	struct batch *decoding, *taking;
	int decoded, taken;                  /* status of each half; not WEFT_OK: it has ended */
	struct weft_diagnostics diagnostics; /* of the half that adds batches to the model */
};

/* Writes the shared members once, at the end: a cache line that bounces between the threads costs
 * more than decoding an event. */
static void decode_batch(void *context)
{
	struct load *load = context;
	struct batch *batch = load->decoding;
	struct weft_event event;
	int status = load->decoded;
	uint32_t count = 0;
	while (status == WEFT_OK && count < BATCH_EVENTS) {
		status = weft_decoder_next(load->decoder, &event);
		if (status == WEFT_OK)
			status = weft__model_fact(load->builder, &event, &batch->facts[count]);
		count += status == WEFT_OK;
	}
	load->decoded = status;
	batch->count = count;
}

static void take_batch(void *context)
{
	struct load *load = context;
	const struct batch *batch = load->taking;
	int error = load->taken;
	for (uint32_t i = 0, count = batch->count; i < count && !error; i++)
		error = weft__model_take(load->builder, &batch->facts[i], &load->diagnostics);
	load->taken = error;
}

static void swap(struct load *load)
{
	struct batch *taken = load->taking;
	load->taking = load->decoding;
	load->decoding = taken;
}

static bool should_stop(const struct load *load, const struct weft_progress *progress)
{
	return progress && progress->step &&
		   weft_decoder_events(load->decoder) % PROGRESS_EVENTS == 0 &&
		   !progress->step(progress->context, weft_decoder_part(load->decoder));
}

static int add_events(
	struct load *load, const struct weft_help *help, const struct weft_progress *progress)
{
	for (decode_batch(load); load->decoding->count && !load->taken;) {
		swap(load);
		weft__format_decoder_count(load->decoder, load->taking->count);
		weft__both(help, take_batch, load, decode_batch, load);
		weft__diagnostics_move(&load->diagnostics, weft_decoder_diagnostics(load->decoder));
		if (should_stop(load, progress))
			return load->taken;
	}
	if (load->taken)
		return load->taken;
	if (load->decoded == WEFT_AGAIN)
		return WEFT_ERROR_STATE;
	return load->decoded == WEFT_END ? 0 : load->decoded;
}

static int build(struct weft_decoder *decoder, const struct weft_progress *progress,
	bool is_summary, struct weft_model **ret_model)
{
	const struct weft_help *help =
		progress && progress->help ? progress->help : weft__format_decoder_help(decoder);
	struct load load = {.decoder = decoder, .batches = malloc(2 * sizeof(*load.batches))};
	int error = load.batches ? weft_model_builder_create(&load.builder) : WEFT_ERROR_MEMORY;
	if (!error) {
		if (is_summary)
			weft__model_make_summary(load.builder);
		load.decoding = &load.batches[0];
		load.taking = &load.batches[1];
		error = add_events(&load, help, progress);
	}
	free(load.batches);
	if (!error)
		error = weft__model_finish(load.builder, weft_decoder_describe(decoder), help, ret_model);
	weft_model_builder_destroy(load.builder);
	return error;
}

WEFT__EXPORT int weft_decoder_build_model(struct weft_decoder *decoder,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(decoder, progress, false, ret_model);
}

WEFT__EXPORT int weft_decoder_build_summary(struct weft_decoder *decoder,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(decoder, progress, true, ret_model);
}
