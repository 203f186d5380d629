/* SPDX-License-Identifier: ISC
 *
 * The lines of functions that labels name, which `weft record` has appended to the table of names.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/name_abi.h"
#include "base/little_endian.h"
#include "format/weft/buffer.h"

#define AT(field) offsetof(struct weft_abi_buffer, field)

/* Takes the part before the next NUL, or the rest. False if it is empty or has control characters:
 * these separate the parts in the description. */
static bool take_part(struct weft_slice *rest, struct weft_slice *ret_part)
{
	const char *end = rest->size ? memchr(rest->bytes, '\0', rest->size) : NULL;
	size_t size = end ? (size_t)(end - rest->bytes) : rest->size;
	*ret_part = (struct weft_slice){rest->bytes, size};
	size_t used = end ? size + 1 : size;
	*rest = (struct weft_slice){rest->bytes + used, rest->size - used};
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)ret_part->bytes[i] < ' ')
			return false;
	return size > 0;
}

static bool is_line(
	struct weft_slice name, struct weft_slice *ret_function, struct weft_slice *ret_location)
{
	if (name.size < WEFT_ABI_CODE_PREFIX_BYTES ||
		memcmp(name.bytes, WEFT_ABI_LINE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES) != 0)
		return false;
	struct weft_slice rest = {
		name.bytes + WEFT_ABI_CODE_PREFIX_BYTES, name.size - WEFT_ABI_CODE_PREFIX_BYTES};
	return take_part(&rest, ret_function) && take_part(&rest, ret_location);
}

static char *append(char *to, struct weft_slice part, char end)
{
	memcpy(to, part.bytes, part.size);
	to[part.size] = end;
	return to + part.size + 1;
}

static uint64_t bytes_in_use(const struct weft__buffer *b)
{
	uint64_t used = b->stream ? b->names_bytes : weft__load_u32(b->bytes + AT(names_used));
	return used < b->names_bytes ? used : b->names_bytes;
}

/* Its own parts are not larger than the names, of which there is at most a megabyte. */
int weft__buffer_read_code(struct weft__buffer *b)
{
	const uint64_t used = bytes_in_use(b);
	struct weft_slice function, location;
	char *end = NULL;
	for (uint64_t at = 0, bytes; at < used; at += bytes) {
		struct weft_slice name = weft__buffer_name(b, (unsigned)(at / WEFT_ABI_NAME_UNIT) + 1);
		bytes = (sizeof(struct weft_abi_name) + name.size + WEFT_ABI_NAME_UNIT - 1) &
				~(uint64_t)(WEFT_ABI_NAME_UNIT - 1);
		if (!is_line(name, &function, &location))
			continue;
		if (!b->code)
			end = b->code = malloc((size_t)used + 1);
		if (!b->code)
			return WEFT_ERROR_MEMORY;
		end = append(append(end, function, '\t'), location, '\n');
		*end = '\0';
	}
	b->about.code = b->code ? b->code : "";
	return 0;
}
