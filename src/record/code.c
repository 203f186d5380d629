/* SPDX-License-Identifier: ISC
 *
 * Adapters say several things in the table of names. Which code a label names, for the tool that
 * saves the buffer: that tool may read debug information, which takes time and memory that the
 * program should not lose. And what they could not record.
 */
#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/reserve.h"

/* Appends a text and its NUL. Returns the new size; `room` if it does not fit. */
static uint32_t append(char *to, uint32_t at, uint32_t room, const char *text, uint32_t size)
{
	if (at >= room || size >= room - at)
		return room;
	memcpy(to + at, text, size);
	to[at + size] = '\0';
	return at + size + 1;
}

static uint32_t format_address(char digits[16], uint64_t address)
{
	for (unsigned i = 0; i < 16; i++)
		digits[i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
	return 16;
}

/* The names of events come first: the last quarter of the table stays theirs. */
static bool has_room(const struct weft__region *region)
{
	uint32_t room = region->names_bytes - region->names_index * 4;
	return weft__load(&region->header->names_used) < room - room / 4;
}

static void add(const char *text, uint32_t size)
{
	struct weft__self self;
	if (!weft__entered_now(&self))
		return;
	const struct weft__region *region = weft__region_of(self.slot);
	if (has_room(region))
		weft__name_find_or_add(region, text, size);
}

WEFT__EXPORT void weft__code(const char *name, size_t size, const char *file, uint64_t address)
{
	char text[WEFT_ABI_NAME_MAX_BYTES] = WEFT_ABI_CODE_PREFIX, digits[16];
	uint32_t at = append(text, WEFT_ABI_CODE_PREFIX_BYTES, sizeof(text), name, weft__bounded(size));
	at = append(text, at, sizeof(text), file, weft__measure(file, sizeof(text)));
	at = append(text, at, sizeof(text), digits, format_address(digits, address));
	if (at < sizeof(text))
		add(text, at - 1);
}

/* A text that is too long is left out, as in weft__code. */
WEFT__EXPORT void weft__unseen(const char *key, const char *what)
{
	char text[WEFT_ABI_NAME_MAX_BYTES] = WEFT_ABI_UNSEEN_PREFIX;
	uint32_t at = append(
		text, WEFT_ABI_UNSEEN_PREFIX_BYTES, sizeof(text), key, weft__measure(key, sizeof(text)));
	at = append(text, at, sizeof(text), what, weft__measure(what, sizeof(text)));
	if (at < sizeof(text))
		add(text, at - 1);
}
