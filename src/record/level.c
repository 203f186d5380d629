/* SPDX-License-Identifier: ISC
 *
 * Levels requested by the program or its environment, for present and future categories.
 *
 * Requests are remembered in a fixed array, for libraries that are loaded later. Levels that
 * another process sets are only in the buffer.
 */
#include <weft/error.h>

#include "abi/category_abi.h"
#include "abi/name_abi.h"
#include "record/category.h"
#include "record/clock.h"
#include "record/compose.h"
#include "record/copy.h"
#include "record/name.h"

#define WISHES_MAX    64
#define PATTERN_BYTES 59

struct wish {
	uint32_t is_there;
	uint8_t level;
	char pattern[PATTERN_BYTES]; /* including the NUL */
};

static struct wish wishes[WISHES_MAX];
static uint32_t taken; /* entries used; greater than the array if there were more requests */
static uint8_t standard = WEFT_LEVEL_INFO;

uint8_t weft__record_level_standard(void)
{
	return weft__load(&standard);
}

/* The latest matching request wins. */
uint8_t weft__record_level_wanted(const char *name)
{
	uint32_t size = weft__record_measure(name, WEFT_ABI_NAME_MAX_BYTES);
	uint32_t count = weft__load(&taken);
	for (uint32_t i = count < WISHES_MAX ? count : WISHES_MAX; i-- > 0;)
		if (weft__load_acquire(&wishes[i].is_there) &&
			weft__abi_matches(wishes[i].pattern, name, size))
			return weft__load(&wishes[i].level);
	return weft__record_level_standard();
}

/* False if the pattern is too long, or if there are too many. */
static bool remember(const char *pattern, uint8_t level)
{
	uint32_t size = weft__record_measure(pattern, PATTERN_BYTES);
	if (size == PATTERN_BYTES || weft__load(&taken) >= WISHES_MAX)
		return false;
	uint32_t index = weft__fetch_add(&taken, 1);
	if (index >= WISHES_MAX)
		return false;
	for (uint32_t i = 0; i < size; i++)
		wishes[index].pattern[i] = pattern[i];
	weft__store(&wishes[index].level, level);
	weft__store_release(&wishes[index].is_there, 1);
	return true;
}

static void set_now(const struct weft__region *region, const char *pattern, uint8_t level, bool all)
{
	struct weft_abi_buffer *header = region->header;
	uint64_t ticks = weft__record_ticks(weft__record_platform());
	if (all)
		weft__abi_set_level(header, ticks, WEFT_ABI_CATEGORY_ALL, level);
	for (uint32_t i = 0; i < WEFT_ABI_LEVELS && !all; i++) {
		uint32_t size;
		uint16_t id = (uint16_t)weft__load_acquire(&header->categories[i]);
		const char *name = weft__record_name_bytes(region, id, &size);
		if (size && weft__abi_matches(pattern, name, size))
			weft__abi_set_level(header, ticks, (uint8_t)i, level);
	}
}

int weft__record_set_level(const char *pattern, enum weft_level level)
{
	if (!pattern || !*pattern || (unsigned)level > WEFT_LEVEL_LAST)
		return WEFT_ERROR_ARGUMENT;
	bool all = pattern[0] == '*' && !pattern[1], is_live = weft__record_generation();
	if (all && !is_live)
		weft__store(&standard, (uint8_t)level);
	bool good = all || remember(pattern, (uint8_t)level);
	if (is_live)
		set_now(weft__record_region(), pattern, (uint8_t)level, all);
	return good ? 0 : WEFT_ERROR_LIMIT;
}

WEFT__EXPORT int weft_set_level(const char *pattern, enum weft_level level)
{
	weft__platform_default(); /* elects the leading copy, if that was not done yet */
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	return (leader ? leader->set_level : weft__record_set_level)(pattern, level);
}
