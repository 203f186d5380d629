/* SPDX-License-Identifier: ISC
 *
 * Text that fits: text that is too wide is shortened by an ellipsis, at its end or, for a path, in
 * its middle, where paths are most alike.
 */
#include <string.h>

#include "render/painter.h"

#define ELLIPSIS      "\xe2\x80\xa6"
#define LONGEST       256 /* bytes of one text that are shown at most */
#define LEAST_LETTERS 2

double weft__measure(const struct painter *p, const char *text, const struct weft_text_style *style)
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

double weft__fit_text(const struct painter *p, struct weft_slice text, double room,
	const struct weft_text_style *style, char *fitted, size_t size)
{
	char clean[LONGEST], shortened[LONGEST + 4];
	size_t starts[LONGEST + 1];
	size_t length = weft_canvas_clean_text(text.bytes, text.size, clean, sizeof(clean));
	double width = weft__measure(p, clean, style);
	bool whole = text.size < LONGEST / 3 || length + 4 < sizeof(clean);
	if (width <= room && whole && length < size) {
		memcpy(fitted, clean, length + 1);
		return width;
	}
	size_t count = find_letters(clean, length, starts), low = 0, high = count ? count - 1 : 0;
	bool is_path = memchr(clean, '/', length) != NULL;
	width = 0;
	while (low < high) {
		size_t kept = low + (high - low + 1) / 2;
		shorten(clean, starts, count, kept, is_path, shortened);
		double tried = weft__measure(p, shortened, style);
		if (tried <= room && strlen(shortened) < size) {
			low = kept;
			width = tried;
		} else {
			high = kept - 1;
		}
	}
	if (low < LEAST_LETTERS)
		return 0;
	shorten(clean, starts, count, low, is_path, shortened);
	memcpy(fitted, shortened, strlen(shortened) + 1);
	return width;
}

double weft__put_text(struct painter *p, double x, double y, struct weft_slice text, double room,
	const struct weft_text_style *style)
{
	char fitted[LONGEST + 4];
	double width = weft__fit_text(p, text, room, style, fitted, sizeof(fitted));
	if (width > 0)
		weft_canvas_text(p->canvas, x, y, fitted, strlen(fitted), width, style);
	return width;
}

double weft__lift(double spacing)
{
	const double full = 8.5, least = 5.5, from = 20, room = 26;
	if (spacing >= room)
		return full;
	return spacing <= from ? least : least + (full - least) * (spacing - from) / (room - from);
}
