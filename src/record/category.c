/* SPDX-License-Identifier: ISC
 *
 * Which categories there are, and where each finds its level.
 *
 * A category's number is a place in the buffer, taken by one compare-and-exchange and known by the
 * name's id there: so a library that is loaded again, or twice, has the same one. Objects are kept
 * in a table, because each start and stop must reach them all. Nothing here waits for anybody, with
 * one exception: an object may only go once nobody is at it, and that is in dlclose, which no
 * signal handler calls.
 */
#include "record/category.h"

#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/copy.h"
#include "record/name.h"

#define OBJECTS_MAX 512

WEFT__EXPORT const uint8_t weft__level_zero = 0;
#ifdef WEFT_FREESTANDING
const uint8_t weft__level_unset = WEFT__LEVEL_UNSET;
#endif
static const uint8_t always = WEFT_LEVEL_MAX;

WEFT__EXPORT struct weft_category weft_category_program = {
	&weft__level_zero, "program", "what names no category", NULL};
WEFT__EXPORT struct weft_category weft_category_always = {&weft__level_zero, NULL, NULL, NULL};

static struct weft_category *objects[OBJECTS_MAX];

/* ---- Numbers ---- */

static uint16_t id_of(struct weft_abi_buffer *header, const char *text)
{
	uint32_t size = weft__measure(text, WEFT_ABI_NAME_MAX_BYTES);
	return weft__name_find_or_add(header, text, size);
}

/* 0 if there is no place left for its name. */
static uint32_t ids_of(struct weft_abi_buffer *header, const char *name, const char *description)
{
	uint16_t id = id_of(header, name);
	return id ? WEFT_ABI_CATEGORY(id, id_of(header, description)) : 0;
}

/* Unless somebody has set all levels meanwhile, also of those to come. */
static void begin_level(struct weft_abi_buffer *header, uint32_t number, const char *name)
{
	weft__compare_exchange(
		&header->levels[number], weft__level_standard(), weft__level_wanted(name));
}

static uint32_t find_or_take(struct weft_abi_buffer *header, uint32_t ids, const char *name)
{
	for (uint32_t i = 0; ids && i < WEFT_ABI_CATEGORY_OTHER; i++) {
		uint32_t known = weft__load_acquire(&header->categories[i]);
		if (known == 0 && weft__compare_exchange(&header->categories[i], 0, ids)) {
			begin_level(header, i, name);
			return i;
		}
		if (known == 0)
			known = weft__load_acquire(&header->categories[i]);
		if ((uint16_t)known == (uint16_t)ids)
			return i;
	}
	return WEFT_ABI_CATEGORY_OTHER;
}

uint32_t weft__category_number(
	struct weft_abi_buffer *header, const char *name, const char *description)
{
	uint32_t number = find_or_take(header, ids_of(header, name, description), name);
	uint32_t *other = &header->categories[WEFT_ABI_CATEGORY_OTHER];
	if (number == WEFT_ABI_CATEGORY_OTHER && weft__load(other) == 0 &&
		weft__compare_exchange(other, 0, ids_of(header, "other", "all that came too late")))
		begin_level(header, number, "other");
	return number;
}

static void inherit(struct weft_abi_buffer *header, const struct weft_abi_buffer *parent)
{
	for (uint32_t i = 0; i < WEFT_ABI_LEVELS; i++) {
		uint32_t ids = weft__load_acquire(&parent->categories[i]), size;
		const char *bytes = weft__name_bytes(parent, (uint16_t)ids, &size);
		uint16_t name = size ? weft__name_find_or_add(header, bytes, size) : 0;
		bytes = weft__name_bytes(parent, (uint16_t)(ids >> 16), &size);
		uint16_t description = size ? weft__name_find_or_add(header, bytes, size) : 0;
		header->categories[i] = name ? WEFT_ABI_CATEGORY(name, description) : 0;
		header->levels[i] = weft__load(&parent->levels[i]);
	}
}

void weft__categories_prepare(struct weft_abi_buffer *header, const struct weft_abi_buffer *parent)
{
	memset(header->levels, weft__level_standard(), sizeof(header->levels));
	if (parent)
		inherit(header, parent);
	weft__category_number(header, weft_category_program.name, weft_category_program.description);
}

/* ---- Objects ---- */

static const uint8_t *level_in(struct weft_abi_buffer *header, const struct weft_category *category)
{
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	if (!category->name)
		return &always;
	uint32_t number = (leader ? leader->category : weft__category_number)(
		header, category->name, category->description ? category->description : "");
	return &header->levels[number];
}

/* Whoever points an object somewhere looks whether that is still right: so the last one to do it
 * did it right, though several are at it. */
static void point(struct weft_category *category)
{
	uint64_t generation;
	do {
		generation = weft__load_acquire(&weft__live.generation);
		const uint8_t *level = generation ? level_in(weft__header(), category) : &weft__level_zero;
		weft__store_release(&category->level, level);
		weft__fence();
	} while (generation != weft__load(&weft__live.generation));
}

void weft__categories_point(void)
{
	point(&weft_category_program);
	point(&weft_category_always);
	/* Before the objects are looked at: see weft_category_unregister. */
	__atomic_fetch_add(&weft__live.visitors, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		struct weft_category *category = __atomic_load_n(&objects[i], __ATOMIC_SEQ_CST);
		if (category)
			point(category);
	}
	__atomic_fetch_sub(&weft__live.visitors, 1, __ATOMIC_SEQ_CST);
}

WEFT__EXPORT void weft_category_register(struct weft_category *category)
{
	uint32_t i = 0;
	while (i < OBJECTS_MAX && !weft__compare_exchange(&objects[i], NULL, category))
		i++;
	if (i < OBJECTS_MAX) /* or nobody would point it back to zero */
		point(category);
}

/* A visitor that came before has seen the object, one that comes later has not. */
WEFT__EXPORT void weft_category_unregister(struct weft_category *category)
{
	for (uint32_t i = 0; i < OBJECTS_MAX; i++)
		if (weft__load(&objects[i]) == category)
			__atomic_store_n(&objects[i], NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&weft__live.visitors, __ATOMIC_SEQ_CST))
		continue;
	weft__store(&category->level, &weft__level_zero);
}

#ifdef WEFT_FREESTANDING
bool weft__category_first_use(struct weft_category *category, unsigned level)
{
	weft__store(&category->level, &weft__level_zero);
	weft_category_register(category);
	return weft__load(weft__load(&category->level)) >= level;
}
#endif
