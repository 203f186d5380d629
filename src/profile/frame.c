/* SPDX-License-Identifier: ISC
 *
 * Reads calls as the event `stack` has them. What has no line is a name as a whole.
 */
#include <string.h>

#include <weft/parse.h>

#include "profile/profile.h"

static const char arrow[] = " \xe2\x86\x90 ";

#define ARROW_BYTES (sizeof(arrow) - 1)

static const char *find(struct weft_slice in, const char *what, size_t size)
{
	for (size_t i = 0; i + size <= in.size; i++)
		if (memcmp(in.bytes + i, what, size) == 0)
			return in.bytes + i;
	return NULL;
}

bool weft__profile_next_call(struct weft_slice *calls, struct weft_slice *ret_call)
{
	if (!calls->size)
		return false;
	const char *end = find(*calls, arrow, ARROW_BYTES);
	ret_call->bytes = calls->bytes;
	ret_call->size = end ? (size_t)(end - calls->bytes) : calls->size;
	const size_t taken = ret_call->size + (end ? ARROW_BYTES : 0);
	*calls = (struct weft_slice){calls->bytes + taken, calls->size - taken};
	return true;
}

/* The last byte of that value before `end`; SIZE_MAX: there is none. */
static size_t find_last(struct weft_slice text, size_t end, char byte)
{
	while (end-- > 0)
		if (text.bytes[end] == byte)
			return end;
	return SIZE_MAX;
}

struct weft__profile_call weft__profile_call_of(struct weft_slice call)
{
	struct weft__profile_call parts = {.function = call, .file = {"", 0}};
	if (!call.size || call.bytes[call.size - 1] != ')')
		return parts;
	const size_t colon = find_last(call, call.size, ':');
	const size_t open = colon == SIZE_MAX ? SIZE_MAX : find_last(call, colon, '(');
	uint64_t line;
	if (open == SIZE_MAX || open < 2 || call.bytes[open - 1] != ' ' ||
		weft_parse_number(call.bytes + colon + 1, call.size - colon - 2, &line) != WEFT_PARSE_OK)
		return parts;
	parts.function.size = open - 1;
	parts.file = (struct weft_slice){call.bytes + open + 1, colon - open - 1};
	parts.line = line;
	return parts;
}
