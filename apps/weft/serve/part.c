/* SPDX-License-Identifier: ISC
 *
 * See part.h. Without checkpoints beside the trace as much is read before the part as it is long,
 * and so much behind it at most, for the losses that only later packets tell.
 */
#include "part.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/input.h>
#include <weft/text.h>

#include "cut/cut.h"
#include "cut/part.h"
#include "serve.h"

#define PIECE_EVENTS 1024 /* that are added before bytes are looked for */

struct serve_part {
	struct serve_trace of;
	struct cli_trace trace;
	struct cli_checkpoint from;
	struct weft_cut_range range;
	struct cut_part cut;
	struct weft_event event;
	int status;            /* WEFT_OK: `event` is the next one */
	uint64_t stop_ns;      /* nothing is read from then on */
	struct weft_text text; /* that was cut, of which `sent` bytes were read */
	size_t sent;
};

/* ---- Opening ---- */

static int open_trace(const struct serve_trace *trace, struct weft_input **ret_input)
{
	const struct weft_input_options options = {.size = sizeof(options)};
	struct weft_source *source;
	struct timespec modified;
	const int fd = serve_traces_open(trace, &modified);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	const int error = weft_source_open_descriptor(fd, 0, &source);
	close(fd);
	return error ? error : weft_input_open_source_with(source, &options, ret_input);
}

int serve_part_weigh(const struct serve_trace *trace, struct weft_density *ret_density)
{
	struct weft_input *input;
	int error = open_trace(trace, &input);
	if (error)
		return error;
	error = weft_decoder_weigh(weft_input_decoder(input), ret_density);
	weft_input_close(input);
	return error;
}

static int append(void *context, const void *bytes, size_t size)
{
	struct weft_text *text = context;
	weft_text_add(text, bytes, size);
	return text->error;
}

/* Leaves out what is before the part. */
static void seek(struct serve_part *part)
{
	struct weft_decoder *decoder = part->trace.decoder;
	const uint64_t length = part->range.end_ns - part->range.start_ns;
	const struct cut_request request = {.past_ns = length};
	const int first = weft_decoder_next(decoder, &part->event);
	const bool has_state = first == WEFT_OK && cli_checkpoint_find(&part->trace, part->of.path,
												   part->range.start_ns, &part->from);
	part->status = has_state ? cli_checkpoint_seek(&part->from, decoder, &part->event)
							 : cut_skip_past(&request, &part->range, decoder, first, &part->event);
	part->stop_ns =
		part->range.end_ns > UINT64_MAX - length ? UINT64_MAX : part->range.end_ns + length;
}

int serve_part_open(const struct serve_trace *trace, uint64_t start_ns, uint64_t end_ns,
	struct serve_part **ret_part)
{
	struct serve_part *part = calloc(1, sizeof(*part));
	if (!part)
		return WEFT_ERROR_MEMORY;
	const struct weft_cut_sink sink = {append, &part->text};
	part->of = *trace;
	part->trace.name = part->of.name;
	part->range = (struct weft_cut_range){.start_ns = start_ns, .end_ns = end_ns};
	int error = open_trace(trace, &part->trace.input);
	if (!error) {
		part->trace.decoder = weft_input_decoder(part->trace.input);
		seek(part);
		error = weft_cut_create(&part->range, part->of.name, &sink, &part->cut.cut);
	}
	part->cut = (struct cut_part){
		&part->range, &part->trace, part->from.decoder ? &part->from : NULL, part->cut.cut};
	if (!error)
		error = part->status < 0 ? part->status : cut_part_begin(&part->cut);
	if (error)
		serve_part_close(part);
	else
		*ret_part = part;
	return error;
}

void serve_part_close(struct serve_part *part)
{
	weft_cut_destroy(part->cut.cut);
	cli_checkpoint_close(&part->from);
	weft_input_close(part->trace.input);
	weft_text_finish(&part->text);
	free(part);
}

/* ---- Reading ---- */

/* Cuts the next piece. WEFT_OK, WEFT_END after the last one, or an error. */
static int cut_piece(struct serve_part *part)
{
	int status = part->status;
	for (unsigned i = 0; i < PIECE_EVENTS && status == WEFT_OK; i++) {
		status =
			part->event.time_ns < part->stop_ns ? cut_part_add(&part->cut, &part->event) : WEFT_END;
		if (status == WEFT_OK)
			status = weft_decoder_next(part->trace.decoder, &part->event);
	}
	part->status = status;
	if (status != WEFT_END)
		return status;
	const int error = cut_part_finish(&part->cut);
	return error ? error : WEFT_END;
}

ssize_t serve_part_read(struct serve_part *part, char *bytes, size_t room)
{
	int status = WEFT_OK;
	if (part->sent == part->text.size)
		part->sent = part->text.size = 0;
	while (status == WEFT_OK && part->text.size == 0 && part->status == WEFT_OK)
		status = cut_piece(part);
	if (status < 0)
		return status;
	const size_t left = part->text.size - part->sent, size = left < room ? left : room;
	memcpy(bytes, part->text.bytes + part->sent, size);
	part->sent += size;
	return (ssize_t)size;
}
