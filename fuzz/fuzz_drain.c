/* SPDX-License-Identifier: ISC
 *
 * The input is the buffer of a program that goes on and violates the protocol; it is drained to a
 * stream, and that stream is read.
 */
#include <string.h>

#include <weft/decoder.h>

#include "format/weft/drain/drain.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct file {
	uint8_t *bytes;
	size_t size;
};

static int drain(struct weft__drain *drain, struct file *file)
{
	const void *bytes;
	size_t size;
	int status;
	while ((status = weft__format_drain_next(drain, &bytes, &size)) == WEFT_OK) {
		file->bytes = realloc(file->bytes, file->size + size);
		require(file->bytes != NULL && size % 8 == 0);
		memcpy(file->bytes + file->size, bytes, size);
		file->size += size;
	}
	return status;
}

/* Moves everything behind the names down by the smallest packet size. */
static void change(uint8_t *buffer, size_t size)
{
	const size_t first = 12288, step = 4096;
	if (size > first + step)
		memmove(buffer + first, buffer + first + step, size - first - step);
}

static void read_stream(const struct file *file)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t last_ns = 0;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, file->bytes, file->size) == 0);
	if (weft_decoder_finish(decoder) == 0) {
		while (weft_decoder_next(decoder, &event) == WEFT_OK) {
			check_event(&event, last_ns, file->size);
			last_ns = event.time_ns;
		}
	}
	weft_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *buffer = malloc(size + 1); /* a copy that is aligned and can be changed */
	struct weft__drain *drainer;
	struct file file = {0};
	require(buffer != NULL);
	memcpy(buffer, bytes, size);
	if (weft__format_drain_create(buffer, size, 65536, &drainer) == 0) {
		for (int look = 0; look < 3; look++) {
			weft__format_drain_look(drainer, look % 2 == 0, weft__format_drain_latest(drainer));
			require(drain(drainer, &file) == WEFT_AGAIN);
			change(buffer, size);
		}
		weft__format_drain_finish(drainer, false);
		require(drain(drainer, &file) == WEFT_END);
		weft__format_drain_destroy(drainer);
		read_stream(&file);
	}
	free(file.bytes);
	free(buffer);
	return 0;
}
