/* SPDX-License-Identifier: ISC
 *
 * The input is two traces: the first two bytes say where the second begins. Merged, their events
 * are in the order of time and name buffers and threads of the description; a model of them can be
 * built; and fed piece by piece, both end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* Reads every byte, so that a sanitizer finds one that is no longer there. */
static void touch(struct weft_slice text)
{
	const volatile char *bytes = text.bytes;
	for (size_t i = 0; i < text.size; i++)
		(void)bytes[i];
}

static void touch_texts(const struct weft_event *event)
{
	touch(event->text);
	touch(event->kind_name);
	if (event->type != WEFT_EVENT_SPAN)
		touch(event->category);
	for (uint32_t i = 0; i < event->field_count; i++) {
		touch(event->fields[i].name);
		if (event->fields[i].type == WEFT_FIELD_TEXT)
			touch(event->fields[i].value.text);
	}
}

struct parts {
	const uint8_t *bytes[2];
	size_t size[2];
	struct weft_decoder *decoders[2];
	struct weft_decoder *merged;
};

static void merge(struct parts *p)
{
	const struct weft_decoder_part parts[] = {{p->decoders[0], "first"}, {p->decoders[1], NULL}};
	require(weft_decoder_create_merged(parts, 2, &p->merged) == 0);
}

/* False if one of them is in no format. */
static bool open_whole(struct parts *p)
{
	bool good = true;
	for (unsigned i = 0; i < 2; i++) {
		require(weft_decoder_create(&p->decoders[i]) == 0);
		require(weft_decoder_feed_borrowed(p->decoders[i], p->bytes[i], p->size[i]) == 0);
		good = weft_decoder_finish(p->decoders[i]) == 0 && good;
	}
	if (good)
		merge(p);
	return good;
}

static void close_parts(struct parts *p)
{
	weft_decoder_destroy(p->merged);
	p->merged = NULL;
	for (unsigned i = 0; i < 2; i++)
		weft_decoder_destroy(p->decoders[i]);
}

/* Takes events until more bytes are needed or both have ended. */
static int take_events(const struct parts *p, uint64_t *last_ns)
{
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(p->merged, &event)) == WEFT_OK) {
		const struct weft_trace_description *d = weft_decoder_describe(p->merged);
		require(event.time_ns >= *last_ns);
		require(event.buffer < d->buffer_count);
		require(event.thread < d->thread_count);
		require(event.offset >> 48 < 2);
		touch_texts(&event);
		*last_ns = event.time_ns;
	}
	return status;
}

static void read_incoming(struct parts *p)
{
	uint64_t last_ns = 0;
	size_t at[2] = {0, 0};
	const size_t piece = 61;
	for (unsigned i = 0; i < 2; i++)
		require(weft_decoder_create(&p->decoders[i]) == 0);
	merge(p);
	for (unsigned turn = 0; at[0] < p->size[0] || at[1] < p->size[1]; turn = !turn) {
		size_t left = p->size[turn] - at[turn], more = left < piece ? left : piece;
		require(weft_decoder_feed(p->decoders[turn], p->bytes[turn] + at[turn], more) == 0);
		at[turn] += more;
		if (take_events(p, &last_ns) != WEFT_AGAIN)
			break;
	}
	for (unsigned i = 0; i < 2; i++)
		(void)weft_decoder_finish(p->decoders[i]);
	require(take_events(p, &last_ns) != WEFT_AGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct parts parts = {.merged = NULL};
	struct weft_model *model = NULL;
	uint64_t last_ns = 0;
	if (size < 2 || size > 1 << 16)
		return 0;
	size_t first = (size_t)(bytes[0] | bytes[1] << 8) % (size - 1);
	parts.bytes[0] = bytes + 2;
	parts.size[0] = first;
	parts.bytes[1] = bytes + 2 + first;
	parts.size[1] = size - 2 - first;
	if (open_whole(&parts))
		require(take_events(&parts, &last_ns) != WEFT_AGAIN);
	close_parts(&parts);
	if (open_whole(&parts) && weft_decoder_build_model(parts.merged, NULL, &model) == 0)
		weft_model_destroy(model);
	close_parts(&parts);
	read_incoming(&parts);
	close_parts(&parts);
	return 0;
}
