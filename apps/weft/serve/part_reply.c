/* SPDX-License-Identifier: ISC */
#include "part_reply.h"

#include <string.h>

#include <weft/parse.h>

#include "part.h"

#define PIECE_BYTES (64 << 10)

static ssize_t read_cut(void *context, uint64_t position, char *bytes, size_t room)
{
	(void)position;
	const ssize_t size = serve_part_read(context, bytes, room);
	if (size == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	return size < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : size;
}

static void close_cut(void *part)
{
	serve_part_close(part);
}

static bool parse_ns(struct MHD_Connection *connection, const char *name, uint64_t *ret_ns)
{
	const char *text = serve_reply_argument(connection, name);
	return text && weft_parse_number(text, strlen(text), ret_ns) == WEFT_PARSE_OK;
}

enum MHD_Result serve_part_answer(
	struct MHD_Connection *connection, const struct serve_trace *trace)
{
	struct serve_part *part;
	uint64_t start, end;
	if (!parse_ns(connection, "start", &start) || !parse_ns(connection, "end", &end) ||
		start >= end)
		return serve_reply_text(connection, MHD_HTTP_BAD_REQUEST,
			"a part needs ?start=NS&end=NS, with an end after its start\n");
	if (serve_part_open(trace, start, end, &part))
		return serve_reply_text(connection, MHD_HTTP_CONFLICT, "it cannot be read in parts\n");
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, read_cut, part, close_cut);
	if (response)
		serve_reply_add(response, "Content-Type", "application/octet-stream");
	else
		serve_part_close(part);
	return serve_reply_send(connection, MHD_HTTP_OK, response);
}

enum MHD_Result serve_part_answer_density(
	struct MHD_Connection *connection, const struct serve_trace *trace)
{
	struct weft_density density;
	struct weft_text text = {0};
	if (serve_part_weigh(trace, &density))
		return serve_reply_text(connection, MHD_HTTP_CONFLICT, "it cannot be read in parts\n");
	weft_text_add_string(&text, "{\"start\":");
	weft_text_add_u64(&text, density.start_ns);
	weft_text_add_string(&text, ",\"end\":");
	weft_text_add_u64(&text, density.end_ns);
	weft_text_add_string(&text, ",\"bytes\":[");
	for (unsigned i = 0; i < WEFT_DENSITY_COLUMNS; i++) {
		weft_text_add_string(&text, i ? "," : "");
		weft_text_add_u64(&text, (uint64_t)(density.bytes[i] + 0.5));
	}
	weft_text_add_string(&text, "]}\n");
	enum MHD_Result result = MHD_NO;
	if (!text.error)
		result = serve_reply_send(
			connection, MHD_HTTP_OK, serve_reply_make("application/json", text.bytes, text.size));
	weft_text_finish(&text);
	return result;
}
