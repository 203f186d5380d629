/* SPDX-License-Identifier: ISC
 *
 * Categories that are made by name while the program runs, in a table that is never freed: their
 * users need no memory that outlives the recorder's.
 *
 * An entry is claimed by one compare-and-exchange, filled, and then published. Two threads that
 * make the same category at once may get two entries, which are one category, as those of two
 * libraries.
 */
#include <string.h>

#include <weft/weft_ffi.h>

#include "record/compose.h"
#include "record/recorder.h"

#define NAMED_MAX         64
#define NAME_BYTES        64
#define DESCRIPTION_BYTES 128

enum {
	FREE,
	CLAIMED,
	PUBLISHED
};

struct named {
	struct weft_category category;
	uint32_t state;
	char name[NAME_BYTES], description[DESCRIPTION_BYTES]; /* including the NUL */
};

static struct named named[NAMED_MAX];

/* Copies a text up to its first NUL, cut so that a NUL follows it, and clears the rest. */
static void copy_text(char *to, uint32_t room, const char *text, size_t size)
{
	text = text ? text : "";
	uint32_t length = weft__record_measure(text, size < room ? (uint32_t)size : room - 1);
	memset(to, 0, room);
	memcpy(to, text, length);
}

static struct named *find_named(const char *name)
{
	for (uint32_t i = 0; i < NAMED_MAX; i++)
		if (weft__load_acquire(&named[i].state) == PUBLISHED &&
			memcmp(named[i].name, name, NAME_BYTES) == 0)
			return &named[i];
	return NULL;
}

static struct named *claim(void)
{
	for (uint32_t i = 0; i < NAMED_MAX; i++)
		if (weft__compare_exchange(&named[i].state, FREE, CLAIMED))
			return &named[i];
	return NULL;
}

WEFT__EXPORT struct weft_category *weft_ffi_category(
	const char *name, size_t name_size, const char *description, size_t description_size)
{
	char copy[NAME_BYTES];
	copy_text(copy, sizeof(copy), name, name_size);
	struct named *entry = find_named(copy);
	if (entry)
		return &entry->category;
	entry = claim();
	if (!entry)
		return NULL;
	memcpy(entry->name, copy, sizeof(copy));
	copy_text(entry->description, sizeof(entry->description), description, description_size);
	entry->category =
		(struct weft_category){weft__levels_off, entry->name, entry->description, NULL};
	weft_category_register(&entry->category);
	weft__store_release(&entry->state, PUBLISHED);
	return &entry->category;
}
