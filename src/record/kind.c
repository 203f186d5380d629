/* SPDX-License-Identifier: ISC
 *
 * Kinds with a name: the name is in the buffer's table of names, and its id gives the kind's
 * number. So a kind needs no record of its own: wraps, streams and forks keep it as they keep
 * names. The name is followed by that of the category, so that an event need not repeat it.
 */
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/reserve.h"
#include "record/text.h"

#define CATEGORY_BYTES 63 /* at most; readers cut longer names, too */

static uint16_t kind_of(uint16_t name)
{
	bool fits = name && name + WEFT_ABI_KIND_NAMED <= WEFT_ABI_KIND_MAX;
	return fits ? (uint16_t)(name + WEFT_ABI_KIND_NAMED) : WEFT_KIND_UNKNOWN;
}

/* The category's name follows a NUL, unless it is "program", which readers assume. */
static WEFT__COLD uint16_t intern(const struct weft__self *self,
	const struct weft_category *category, uint64_t *cache, const char *name, uint32_t size)
{
	const uint32_t room = WEFT_ABI_NAME_MAX_BYTES - WEFT_ABI_KIND_PREFIX_BYTES - 1 - CATEGORY_BYTES;
	uint32_t kept = weft__record_measure(name ? name : "", size < room ? size : room);
	if (!kept)
		return 0; /* an empty name names nothing */
	bool is_of_program = !category || !category->name || category == &weft_category_program;
	const char *of = is_of_program ? "" : category->name;
	const struct weft__name_part parts[] = {{WEFT_ABI_KIND_PREFIX, WEFT_ABI_KIND_PREFIX_BYTES},
		{name, kept}, {"", is_of_program ? 0 : 1}, {of, weft__record_measure(of, CATEGORY_BYTES)}};
	uint32_t bytes = parts[0].size + parts[1].size + parts[2].size + parts[3].size;
	uint16_t id = weft__record_name_intern_parts(self->slot, &(struct weft__name){parts, 4, bytes});
	if (cache)
		weft__record_name_remember(self, cache, id);
	return id;
}

uint16_t weft__record_kind(
	const struct weft_category *category, uint64_t *cache, const char *name, uint32_t size)
{
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return WEFT_KIND_UNKNOWN;
	uint16_t id = cache ? weft__record_name_cached(&self, cache) : 0;
	return kind_of(id ? id : intern(&self, category, cache, name, size));
}

WEFT__EXPORT uint16_t weft__kind(uint64_t *cache, const char *name)
{
	return weft__record_kind(NULL, cache, name, WEFT__C_STRING);
}

WEFT__EXPORT uint16_t weft__kind_in(
	const struct weft_category *category, uint64_t *cache, const char *name)
{
	return weft__record_kind(category, cache, name, WEFT__C_STRING);
}
