/* SPDX-License-Identifier: ISC
 *
 * Loads a finished trace and shows it: in steps, between which the worker handles messages. The
 * bytes are kept once, and only until the model has been made.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/layout.h>
#include <weft/model.h>
#include <weft/render.h>

#include "page.h"

static struct {
	uint8_t *bytes;
	size_t size, room;
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	struct weft_model *model;
	uint64_t events, furthest;
} load;

static void drop_readers(void)
{
	weft_model_builder_destroy(load.builder);
	load.builder = NULL;
	weft_decoder_destroy(load.decoder);
	load.decoder = NULL;
}

static void drop_bytes(void)
{
	free(load.bytes);
	load.bytes = NULL;
	load.size = load.room = 0;
}

void PAGE_EXPORT(page_load_drop)(void)
{
	drop_readers();
	drop_bytes();
	weft_model_destroy(load.model);
	memset(&load, 0, sizeof(load));
}

static bool make_room(size_t room)
{
	uint8_t *larger = room <= load.room ? load.bytes : realloc(load.bytes, room);
	if (!larger)
		return false;
	load.bytes = larger;
	load.room = room > load.room ? room : load.room;
	return true;
}

/* Starts a new trace of about `size` bytes; 0: unknown. */
int PAGE_EXPORT(page_load_start)(double size)
{
	page_load_drop();
	if (size >= (double)UINT32_MAX)
		return WEFT_ERROR_LIMIT;
	return make_room((size_t)size + 1) ? 0 : WEFT_ERROR_MEMORY;
}

/* The address for its next `size` bytes; NULL if memory ran out. */
uint8_t *PAGE_EXPORT(page_load_room)(uint32_t size)
{
	if (size > SIZE_MAX - load.size)
		return NULL;
	size_t need = load.size + size, ample = load.room + load.room / 2;
	if (need > load.room && !(ample > need && make_room(ample)) && !make_room(need))
		return NULL;
	return load.bytes + load.size;
}

void PAGE_EXPORT(page_load_more)(uint32_t size)
{
	load.size += size;
}

/* Call when all bytes have been written. */
int PAGE_EXPORT(page_load_open)(void)
{
	drop_readers();
	load.events = load.furthest = 0;
	int error = weft_decoder_create(&load.decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(load.decoder, load.bytes, load.size);
	if (!error)
		error = weft_decoder_finish(load.decoder);
	return error ? error : weft_model_builder_create(&load.builder);
}

/* Processes events: WEFT_AGAIN if there are more, WEFT_END, or an error. */
int PAGE_EXPORT(page_load_step)(uint32_t events)
{
	struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(load.decoder);
	struct weft_event event;
	for (uint32_t i = 0; i < events; i++) {
		int status = weft_decoder_next(load.decoder, &event);
		if (status == WEFT_OK)
			status = weft_model_builder_add(load.builder, &event, diagnostics);
		if (status)
			return status;
		load.events++;
		if (event.offset > load.furthest)
			load.furthest = event.offset;
	}
	return WEFT_AGAIN;
}

/* Warms up the WebAssembly code. A browser optimizes a function after it has run for a while, and
 * uses the optimized code from the next call on, so a function that is called once for a whole
 * trace would stay slow to its end. Therefore the model, layout and scene of the trace's beginning
 * are made first, and dropped. 0 or an error, which comes again at the end. */
int PAGE_EXPORT(page_load_rehearse)(void)
{
	struct weft_model *model = NULL;
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	const struct weft_layout_options options = {.fold = true};
	int error =
		weft_model_builder_snapshot(load.builder, weft_decoder_describe(load.decoder), 0, &model);
	if (!error)
		error = weft_layout_create(model, &options, &layout);
	if (!error)
		error = weft_scene_create(model, layout, &scene);
	weft_scene_destroy(scene);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
	return error;
}

double PAGE_EXPORT(page_load_events)(void)
{
	return (double)load.events;
}

/* The share of the bytes that has been read; approximate, because the threads' packets interleave.
 */
double PAGE_EXPORT(page_load_fraction)(void)
{
	return load.size ? (double)load.furthest / (double)load.size : 0;
}

/* Makes a model of what has been read; the bytes are then no longer needed. */
int PAGE_EXPORT(page_load_finish)(void)
{
	weft_model_destroy(load.model);
	load.model = NULL;
	int error =
		weft_model_builder_finish(load.builder, weft_decoder_describe(load.decoder), &load.model);
	drop_readers();
	if (!error)
		drop_bytes();
	return error;
}

/* Shows the model in the viewer. */
int PAGE_EXPORT(page_load_show)(void)
{
	int error = weft_viewer_show(page_viewer, load.model, false);
	if (!error)
		load.model = NULL; /* the viewer owns it now */
	return error;
}

/* Damage number `index`: its message, offset and count; NULL after the last. */
const char *PAGE_EXPORT(page_load_damage)(uint32_t index, double *ret_offset, double *ret_count)
{
	const struct weft_diagnostics *list =
		load.decoder ? weft_decoder_diagnostics(load.decoder) : NULL;
	if (!list || index >= list->count)
		return NULL;
	*ret_offset = (double)list->list[index].offset;
	*ret_count = (double)list->list[index].count;
	return list->list[index].message;
}

const char *PAGE_EXPORT(page_error_text)(int error)
{
	return weft_error_text(error);
}
