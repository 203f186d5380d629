/* SPDX-License-Identifier: ISC
 *
 * Puts the trace into the page: each file deflated, as base64, in blocks that a browser unpacks one
 * by one, up to an empty block. The blocks are elements of a script type that browsers do not
 * execute.
 */
#include "page.h"

#if WEFT_HAS_PAGE
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <weft/canvas.h>

#include "page_assets.h"

#define BLOCK_BYTES ((size_t)3 << 20)  /* a multiple of 3: 4 MiB of base64 */
#define INPUT_MAX   ((size_t)1 << 30)  /* zlib's counters have 32 bits */
#define LARGE_BYTES ((size_t)64 << 20) /* larger traces are compressed at the fastest level */

static void add_piece(struct weft_text *text, unsigned number)
{
	weft_text_add(text, (const char *)page_pieces[number].bytes, page_pieces[number].size);
}

/* Appends text of HTML, or of an attribute between double quotes. */
static void add_shown(struct weft_text *text, const char *shown)
{
	for (const char *at = shown; *at; at++) {
		if (*at == '<')
			weft_text_add_string(text, "&lt;");
		else if (*at == '&')
			weft_text_add_string(text, "&amp;");
		else if (*at == '"')
			weft_text_add_string(text, "&quot;");
		else
			weft_text_add(text, at, 1);
	}
}

static void add_title(struct weft_text *text, const char *title)
{
	char clean[512];
	weft_canvas_clean_text(title, strlen(title), clean, sizeof(clean));
	add_shown(text, clean);
}

/* Their author may write around these, move them and add to them. */
static void add_views(struct weft_text *text, const struct page_content *content)
{
	if (content->view_count) {
		weft_text_add_string(text, "<h1>");
		add_title(text, content->title);
		weft_text_add_string(text, "</h1>\n");
	}
	for (int i = 0; i < content->view_count; i++) {
		weft_text_add_string(text, "<figure><iframe class=\"weft-view\" title=\"View ");
		weft_text_add_u64(text, (uint64_t)i + 1);
		weft_text_add_string(text, "\" data-view=\"");
		add_shown(text, content->views[i]);
		weft_text_add_string(text, "\"></iframe></figure>\n");
	}
}

/* Appends a JSON string that cannot end its script element. */
static void add_string(struct weft_text *text, const char *string)
{
	struct weft_text json = {0};
	weft_text_add_json(&json, string, strlen(string));
	for (size_t i = 0; i < json.size; i++) {
		if (json.bytes[i] == '<')
			weft_text_add_string(text, "\\u003c");
		else
			weft_text_add(text, json.bytes + i, 1);
	}
	if (json.error)
		text->error = json.error;
	weft_text_finish(&json);
}

static void add_options(struct weft_text *text, const struct page_content *content)
{
	weft_text_add_string(text, "{\"files\":[");
	for (size_t i = 0; i < content->file_count; i++) {
		weft_text_add_string(text, i ? ",{\"name\":" : "{\"name\":");
		add_string(text, content->files[i].name);
		weft_text_add_string(text, ",\"size\":");
		weft_text_add_u64(text, content->files[i].size);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "],\"hz\":");
	weft_text_add_u64(text, content->hz);
	weft_text_add_string(text, content->view_count ? ",\"views\":true,\"title\":" : ",\"title\":");
	add_string(text, content->title);
	weft_text_add_string(text, ",\"theme\":");
	add_string(text, content->theme ? content->theme : "");
	weft_text_add_string(text, ",\"view\":");
	add_string(text, content->view);
	weft_text_add_string(text, "}");
}

static void add_base64(struct weft_text *text, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[4096];
	size_t used = 0;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
						 (left > 2 ? bytes[i + 2] : 0);
		line[used++] = digits[group >> 18];
		line[used++] = digits[group >> 12 & 63];
		line[used++] = left > 1 ? digits[group >> 6 & 63] : '=';
		line[used++] = left > 2 ? digits[group & 63] : '=';
		if (used == sizeof(line) || left <= 3) {
			weft_text_add(text, line, used);
			used = 0;
		}
	}
}

static void add_block(struct weft_text *text, const unsigned char *bytes, size_t size)
{
	weft_text_add_string(text, "<script type=\"text/plain\" class=\"trace\">");
	add_base64(text, bytes, size);
	weft_text_add_string(text, "</script>\n");
}

/* Deflates the rest of the input into one block; returns whether there may be more. */
static int pack_block(
	z_stream *stream, const struct page_file *file, size_t *taken, unsigned char *block)
{
	int status = Z_OK;
	stream->next_out = block;
	stream->avail_out = (unsigned)BLOCK_BYTES;
	while (status == Z_OK && stream->avail_out) {
		if (!stream->avail_in) {
			size_t left = file->size - *taken;
			stream->next_in = (unsigned char *)file->bytes + *taken;
			stream->avail_in = (unsigned)(left < INPUT_MAX ? left : INPUT_MAX);
			*taken += stream->avail_in;
		}
		status = deflate(stream, *taken == file->size ? Z_FINISH : Z_NO_FLUSH);
	}
	return status;
}

static int add_file(struct weft_text *text, const struct page_file *file)
{
	z_stream stream = {0};
	size_t taken = 0;
	const int level = file->size > LARGE_BYTES ? 1 : 6;
	unsigned char *block = malloc(BLOCK_BYTES);
	if (!block || deflateInit2(&stream, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(block);
		return WEFT_ERROR_MEMORY;
	}
	int status;
	do {
		status = pack_block(&stream, file, &taken, block);
		if (stream.avail_out < BLOCK_BYTES)
			add_block(text, block, BLOCK_BYTES - stream.avail_out);
	} while (status == Z_OK);
	add_block(text, block, 0);
	deflateEnd(&stream);
	free(block);
	return status == Z_STREAM_END ? text->error : WEFT_ERROR_MEMORY;
}

int page_write(const struct page_content *content, struct weft_text *text)
{
	add_piece(text, 0);
	add_title(text, content->title);
	add_piece(text, 1);
	add_options(text, content);
	add_piece(text, 2);
	add_views(text, content);
	int error = 0;
	for (size_t i = 0; i < content->file_count && !error; i++)
		error = add_file(text, &content->files[i]);
	add_piece(text, 3);
	return error ? error : text->error;
}
#else
int page_write(const struct page_content *content, struct weft_text *text)
{
	(void)content, (void)text;
	return WEFT_ERROR_UNSUPPORTED;
}
#endif
