/* SPDX-License-Identifier: ISC
 *
 * The first line is an expression and a text; the other lines are searched.
 */
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "reader.h"
#include "pattern/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct weft_slice take_line(struct weft_slice *rest)
{
	const char *end = rest->size ? memchr(rest->bytes, '\n', rest->size) : NULL;
	struct weft_slice line = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size};
	rest->bytes += line.size + (end != NULL);
	rest->size -= line.size + (end != NULL);
	return line;
}

static bool contains(struct weft_slice text, struct weft_slice part)
{
	for (size_t at = 0; at + part.size <= text.size; at++)
		if (memcmp(text.bytes + at, part.bytes, part.size) == 0)
			return true;
	return false;
}

/* Other texts are excluded: `contains` may find them inside a character, which the pattern never
 * does. */
static bool is_utf8(struct weft_slice text)
{
	bool valid = true;
	uint32_t character;
	for (size_t at = 0; at < text.size && valid;)
		at += weft__utf8_decode(text.bytes + at, text.size - at, &character, &valid);
	return valid;
}

static void search(struct weft_slice text, struct weft_slice lines, bool literal)
{
	const struct weft__pattern_options options = {.literal = literal};
	struct weft__pattern_error error = {NULL, SIZE_MAX};
	struct weft__pattern *pattern;
	int status = weft__pattern_create(text, &options, &error, &pattern);
	require(status == 0 || status == WEFT_ERROR_ARGUMENT);
	if (status) {
		require(error.message && error.offset <= text.size);
		return;
	}
	while (lines.size) {
		struct weft_slice line = take_line(&lines);
		bool found = weft__pattern_matches(pattern, line);
		require(found == weft__pattern_matches(pattern, line));
		if (literal && is_utf8(text) && contains(line, text))
			require(found);
	}
	weft__pattern_destroy(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size > 4096)
		return 0;
	struct weft_slice lines = {(const char *)bytes, size}, text = take_line(&lines);
	search(text, lines, false);
	search(text, lines, true);
	return 0;
}
