/* SPDX-License-Identifier: ISC
 *
 * Behind damage the search goes on where it shows, not where the object began: so no byte is read
 * twice, however the file is damaged.
 */
#include "model/slice.h"
#include "format/chrome/list.h"

#include <string.h>

#include "format/chrome/entry.h"

/* A list alone is known by the "ph" of one of its first events. */
#define EXAMINED 4096u

static bool find_member(struct weft_slice text, size_t *at)
{
	struct weft__json_value key, value;
	do {
		++*at; /* the brace or comma */
		if (!weft__format_json_read_key(text, at, &key))
			return false;
		if (weft__slice_is(key.text, "traceEvents"))
			return weft__format_json_skip_space(text, at) && text.bytes[*at] == '[';
		if (!weft__format_json_read(text, at, &value))
			return false;
	} while (weft__format_json_skip_space(text, at) && text.bytes[*at] == ',');
	return false;
}

bool weft__format_chrome_find_list(
	const uint8_t *bytes, size_t size, struct weft__chrome_list *ret_list)
{
	static const char mark[] = "\xef\xbb\xbf"; /* that some editors write */
	const struct weft_slice text = {(const char *)bytes, size};
	size_t at = size >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
	if (!weft__format_json_skip_space(text, &at))
		return false;
	const size_t start = at;
	if (text.bytes[at] == '{') {
		if (!find_member(text, &at))
			return false;
	} else if (text.bytes[at] != '[' ||
			   !weft__slice_contains(
				   (struct weft_slice){text.bytes, size < EXAMINED ? size : EXAMINED}, "\"ph\"")) {
		return false;
	}
	*ret_list = (struct weft__chrome_list){
		.text = text, .first = at + 1, .has_end = text.bytes[start] == '{'};
	return true;
}

/* Reads the object at *at. Behind damage *at is the next brace. */
static bool read_object(struct weft__chrome_list *list, size_t *at,
	struct weft_diagnostics *diagnostics, struct weft__json_value *ret_object)
{
	const struct weft_slice text = list->text;
	const size_t start = *at;
	if (weft__format_json_read(text, at, ret_object))
		return true;
	if (*at >= text.size) {
		weft_diagnostics_add(diagnostics, start, "the last event is cut off");
		return false;
	}
	list->is_damaged = true;
	weft_diagnostics_add(diagnostics, *at, "malformed JSON; the event that has it is left out");
	const char *brace = memchr(text.bytes + *at, '{', text.size - *at);
	*at = brace ? (size_t)(brace - text.bytes) : text.size;
	return false;
}

bool weft__format_chrome_next(struct weft__chrome_list *list, size_t *at,
	struct weft_diagnostics *diagnostics, struct weft__json_value *ret_object)
{
	const struct weft_slice text = list->text;
	while (weft__format_json_skip_space(text, at)) {
		const char c = text.bytes[*at];
		if (c == ']' && !list->is_damaged)
			return false;
		if (c == ',' || c == ']') {
			++*at;
			continue;
		}
		if (!read_object(list, at, diagnostics, ret_object))
			continue;
		if (ret_object->type == WEFT__JSON_OBJECT)
			return true;
		weft_diagnostics_add(diagnostics, *at, "an element of the list of events is not an object");
	}
	if (list->has_end && !list->is_damaged)
		weft_diagnostics_add(diagnostics, *at,
			"the list of events has no end: the program was killed, or still writes");
	return false;
}
