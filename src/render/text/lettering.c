/* SPDX-License-Identifier: ISC
 *
 * Text that fits: text that is too wide is shortened by an ellipsis, at its end or, for a path, in
 * its middle, where paths are most alike.
 */
#include <string.h>

#include "base/search.h"
#include "render/painter.h"

#define ELLIPSIS      "\xe2\x80\xa6"
#define LONGEST       256 /* bytes of one text that are shown at most */
#define LEAST_LETTERS 2

double weft__render_measure(
	const struct painter *p, const char *text, const struct weft_text_style *style)
{
	return p->font->measure(p->font->context, text, strlen(text), style->size, style->bold);
}

/* Finds where each character begins; returns their number. */
static size_t find_letters(const char *text, size_t size, size_t starts[LONGEST + 1])
{
	size_t count = 0;
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			starts[count++] = i;
	starts[count] = size;
	return count;
}

/* Writes `kept` characters and an ellipsis. */
static void shorten(const char *text, const size_t *starts, size_t count, size_t kept, bool is_path,
	char shortened[LONGEST + 4])
{
	size_t tail = is_path ? kept / 2 : 0, head = kept - tail;
	size_t tail_bytes = starts[count] - starts[count - tail];
	memcpy(shortened, text, starts[head]);
	memcpy(shortened + starts[head], ELLIPSIS, 3);
	memcpy(shortened + starts[head] + 3, text + starts[count - tail], tail_bytes);
	shortened[starts[head] + 3 + tail_bytes] = '\0';
}

/* A text that is being shortened. */
struct fitting {
	const struct painter *p;
	const struct weft_text_style *style;
	const char *text;
	const size_t *starts;
	size_t count;
	bool is_path;
	double room;
	size_t size;
	double *width; /* of the longest that fitted so far */
};

static bool has_room(const void *context, uint32_t kept, uint64_t unused)
{
	const struct fitting *f = context;
	char shortened[LONGEST + 4];
	(void)unused;
	shorten(f->text, f->starts, f->count, kept, f->is_path, shortened);
	double width = weft__render_measure(f->p, shortened, f->style);
	if (width > f->room || strlen(shortened) >= f->size)
		return false;
	*f->width = width;
	return true;
}

double weft__render_fit_text(const struct painter *p, struct weft_slice text, double room,
	const struct weft_text_style *style, char *fitted, size_t size)
{
	char clean[LONGEST], shortened[LONGEST + 4];
	size_t starts[LONGEST + 1];
	size_t length = weft_canvas_clean_text(text.bytes, text.size, clean, sizeof(clean));
	double width = weft__render_measure(p, clean, style);
	bool whole = text.size < LONGEST / 3 || length + 4 < sizeof(clean);
	if (width <= room && whole && length < size) {
		memcpy(fitted, clean, length + 1);
		return width;
	}
	size_t count = find_letters(clean, length, starts);
	bool is_path = memchr(clean, '/', length) != NULL;
	width = 0;
	struct fitting fitting = {p, style, clean, starts, count, is_path, room, size, &width};
	uint32_t kept = weft__search(&fitting, 1, (uint32_t)count, has_room, 0) - 1;
	if (kept < LEAST_LETTERS) {
		*fitted = '\0';
		return 0;
	}
	shorten(clean, starts, count, kept, is_path, shortened);
	memcpy(fitted, shortened, strlen(shortened) + 1);
	return width;
}

double weft__render_put_text(struct painter *p, double x, double y, struct weft_slice text,
	double room, const struct weft_text_style *style)
{
	char fitted[LONGEST + 4];
	double width = weft__render_fit_text(p, text, room, style, fitted, sizeof(fitted));
	if (width > 0)
		weft_canvas_text(p->canvas, x, y, fitted, strlen(fitted), width, style);
	return width;
}

double weft__render_lift(double spacing)
{
	const double full = 8.5, least = 5.5, from = 20, room = 26;
	if (spacing >= room)
		return full;
	return spacing <= from ? least : least + (full - least) * (spacing - from) / (room - from);
}
