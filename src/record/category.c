/* SPDX-License-Identifier: ISC
 *
 * The registry of categories, and the pointers to their levels.
 *
 * A category's number is an index in the buffer, allocated by one compare-and-exchange and
 * identified by the name's id there. So a library that is loaded twice, or again, gets the same
 * number. The objects (struct weft_category) of the program and its libraries are in a table,
 * because each start and stop of recording must reach them all. Nothing here waits, with one
 * exception: unregistering waits until no thread reads the object. That happens in dlclose, which
 * signal handlers do not call.
 */
#include "record/category.h"

#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/copy.h"
#include "record/cpu.h"
#include "record/name.h"

#define OBJECTS_MAX 512

WEFT__EXPORT const uint8_t weft__level_zero = 0;
#ifdef WEFT_FREESTANDING
const uint8_t weft__level_unset = WEFT__LEVEL_UNSET;
#endif
static const uint8_t always = WEFT_LEVEL_MAX;

WEFT__EXPORT struct weft_category weft_category_program = {
	&weft__level_zero, "program", "calls without a category", NULL};
WEFT__EXPORT struct weft_category weft_category_always = {&weft__level_zero, NULL, NULL, NULL};
#ifndef WEFT_FREESTANDING
struct weft_category weft__category_cpu = {
	&weft__level_zero, "cpu", "at debug: how long running tasks had no processor", NULL};
#endif

static struct weft_category *objects[OBJECTS_MAX];

/* ---- Numbers ---- */

static uint16_t id_of(struct weft_abi_buffer *header, const char *text)
{
	uint32_t size = weft__measure(text, WEFT_ABI_NAME_MAX_BYTES);
	return weft__name_find_or_add(header, text, size);
}

/* The ids of name and description; 0 if the table has no room for the name. */
static uint32_t ids_of(struct weft_abi_buffer *header, const char *name, const char *description)
{
	uint16_t id = id_of(header, name);
	return id ? WEFT_ABI_CATEGORY(id, id_of(header, description)) : 0;
}

/* Sets the initial level, unless all levels, including later ones, were set meanwhile. */
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
		weft__compare_exchange(
			other, 0, ids_of(header, "other", "categories that were registered too late")))
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

/* The level of all categories while nothing is recorded. */
static const uint8_t *idle_level(void)
{
	const uint8_t *idle = weft__load(&weft__recorder.idle);
	return idle ? idle : &weft__level_zero;
}

/* Points an object to its present level. Each thread checks afterwards that recording has not been
 * started or stopped meanwhile. So the last one leaves the right level, even if several do it at
 * once. */
static void point(struct weft_category *category)
{
	uint64_t generation;
	do {
		generation = weft__load_acquire(&weft__live.generation);
		const uint8_t *level = generation ? level_in(weft__header(), category) : idle_level();
		weft__store_release(&category->level, level);
		weft__fence();
	} while (generation != weft__load(&weft__live.generation));
}

void weft__categories_point(void)
{
	point(&weft_category_program);
	point(&weft_category_always);
#ifndef WEFT_FREESTANDING
	point(&weft__category_cpu);
#endif
	/* Before reading the objects: see weft_category_unregister. */
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
	if (i < OBJECTS_MAX) /* only objects in the table are redirected to zero later */
		point(category);
}

/* Waits for threads that entered before the object was removed; later ones cannot see it. */
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
