/* SPDX-License-Identifier: ISC
 *
 * Reads what the table of names says beside names: the lines of functions that labels name, which
 * `weft record` has appended, and what the adapters could not record.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/buffer.h>

#include "abi/name_abi.h"
#include "base/export.h"
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

bool weft__format_name_has_parts(struct weft_slice name, const char *prefix, size_t prefix_bytes,
	struct weft_slice *ret_first, struct weft_slice *ret_second)
{
	if (name.size < prefix_bytes || memcmp(name.bytes, prefix, prefix_bytes) != 0)
		return false;
	struct weft_slice rest = {name.bytes + prefix_bytes, name.size - prefix_bytes};
	return take_part(&rest, ret_first) && take_part(&rest, ret_second);
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

bool weft__format_buffer_next_name(
	const struct weft__buffer *b, uint64_t *at, struct weft_slice *ret_name)
{
	if (*at >= bytes_in_use(b))
		return false;
	*ret_name = weft__format_buffer_name(b, (unsigned)(*at / WEFT_ABI_NAME_UNIT) + 1);
	*at += (sizeof(struct weft_abi_name) + ret_name->size + WEFT_ABI_NAME_UNIT - 1) &
		   ~(uint64_t)(WEFT_ABI_NAME_UNIT - 1);
	return true;
}

/* Makes a line "FIRST\tSECOND\n" of each name with that prefix. Leaves NULL if there are none. The
 * lines are not larger than the names, of which there is at most a megabyte. 0 or
 * WEFT_ERROR_MEMORY. */
static int read_lines(
	const struct weft__buffer *b, const char *prefix, size_t prefix_bytes, char **ret_lines)
{
	struct weft_slice name, first, second;
	char *end = NULL;
	for (uint64_t at = 0; weft__format_buffer_next_name(b, &at, &name);) {
		if (!weft__format_name_has_parts(name, prefix, prefix_bytes, &first, &second))
			continue;
		if (!*ret_lines)
			end = *ret_lines = malloc((size_t)b->names_bytes + 1);
		if (!end)
			return WEFT_ERROR_MEMORY;
		end = append(append(end, first, '\t'), second, '\n');
		*end = '\0';
	}
	return 0;
}

/* ---- Facts that were taken back ---- */

/* Removes each line that is equal to `line`, of `size` bytes with its newline. */
static void remove_line(char *lines, const char *line, size_t size)
{
	for (char *at = lines, *end; (end = strchr(at, '\n'));) {
		if ((size_t)(end + 1 - at) == size && memcmp(at, line, size) == 0)
			memmove(at, end + 1, strlen(end + 1) + 1);
		else
			at = end + 1;
	}
}

/* A line "-KEY\tWHAT" removes itself and the line "KEY\tWHAT". Their number is limited, since each
 * costs a pass: a recorder makes few. */
static void take_back(char *lines)
{
	char line[WEFT_ABI_NAME_MAX_BYTES + 2];
	char *at = lines;
	for (int removed = 0; *at && removed < 64;) {
		size_t size = strcspn(at, "\n") + 1;
		if (*at != '-' || size > sizeof(line)) {
			at += size;
			continue;
		}
		memcpy(line, at, size);
		remove_line(lines, line, size);
		remove_line(lines, line + 1, size - 1);
		at = lines;
		removed++;
	}
}

int weft__format_buffer_read_code(struct weft__buffer *b)
{
	int error = 0;
	if (!b->code)
		error = read_lines(b, WEFT_ABI_LINE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES, &b->code);
	if (!error && !b->unseen)
		error = read_lines(b, WEFT_ABI_UNSEEN_PREFIX, WEFT_ABI_UNSEEN_PREFIX_BYTES, &b->unseen);
	if (b->unseen)
		take_back(b->unseen);
	b->about.code = b->code ? b->code : "";
	b->about.unseen = b->unseen ? b->unseen : "";
	return error;
}

WEFT__EXPORT int weft_buffer_read_unseen(const void *bytes, size_t size, char **ret_unseen)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {0};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft__buffer buffer;
	if (!weft__format_buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	int error = weft__format_buffer_init(&buffer, &input);
	if (error)
		return error;
	error = weft__format_buffer_keep_names(&buffer);
	if (!error)
		error = weft__format_buffer_read_code(&buffer);
	if (!error) {
		*ret_unseen = buffer.unseen;
		buffer.unseen = NULL;
	}
	weft__format_buffer_finish(&buffer);
	return error;
}
