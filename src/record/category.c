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

#include "abi/category_abi.h"
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/copy.h"
#include "record/cpu.h"
#include "record/name.h"

#define OBJECTS_MAX 512

WEFT__EXPORT const uint8_t weft__levels_off[WEFT__COUNTING_AT + 1] = {0};
/* For programs that were compiled with earlier headers. The library's functions look behind it as
 * behind any level. */
#undef weft__level_zero
WEFT__EXPORT extern const uint8_t weft__level_zero __attribute__((alias("weft__levels_off")));
#ifdef WEFT_FREESTANDING
const uint8_t weft__level_unset = WEFT__LEVEL_UNSET;
#endif
/* Calls of a level above the last one look behind it. */
static const uint8_t always[WEFT__COUNTING_AT + 1] = {WEFT_LEVEL_MAX};

WEFT__EXPORT struct weft_category weft_category_program = {
	weft__levels_off, "program", "calls without a category", NULL};
WEFT__EXPORT struct weft_category weft_category_always = {weft__levels_off, NULL, NULL, NULL};
#ifndef WEFT_FREESTANDING
struct weft_category weft__category_cpu = {
	weft__levels_off, "cpu", "at debug: how long running tasks had no processor", NULL};
#endif

static struct weft_category *objects[OBJECTS_MAX];

/* ---- Numbers ---- */

static uint16_t id_of(const struct weft__region *region, const char *text)
{
	uint32_t size = weft__record_measure(text, WEFT_ABI_NAME_MAX_BYTES);
	return weft__record_name_find_or_add(region, text, size);
}

/* The ids of name and description; 0 if the table has no room for the name. */
static uint32_t ids_of(const struct weft__region *region, const char *name, const char *description)
{
	uint16_t id = id_of(region, name);
	return id ? WEFT_ABI_CATEGORY(id, id_of(region, description ? description : "")) : 0;
}

/* Sets the initial level, unless all levels, including later ones, were set meanwhile. */
static void begin_level(struct weft_abi_buffer *header, uint32_t number, const char *name)
{
	const uint8_t standard = weft__record_level_standard();
	const uint8_t wanted = weft__record_level_wanted(name);
	/* At "off" and "count" the level's byte is the same. */
	if (weft__load(&header->counting[number]) == (standard == WEFT_ABI_LEVEL_COUNT) &&
		weft__compare_exchange(
			&header->levels[number], weft__abi_level_byte(standard), weft__abi_level_byte(wanted)))
		weft__store(&header->counting[number], wanted == WEFT_ABI_LEVEL_COUNT);
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

static uint32_t ids_of_others(const struct weft__region *region)
{
	return ids_of(region, "other", "categories that were registered too late");
}

uint32_t weft__record_category_number(
	const struct weft__region *region, const char *name, const char *description)
{
	struct weft_abi_buffer *header = region->header;
	uint32_t number = find_or_take(header, ids_of(region, name, description), name);
	uint32_t *other = &header->categories[WEFT_ABI_CATEGORY_OTHER];
	if (number == WEFT_ABI_CATEGORY_OTHER && weft__load(other) == 0 &&
		weft__compare_exchange(other, 0, ids_of_others(region)))
		begin_level(header, number, "other");
	return number;
}

/* ---- Objects ---- */

/* Around reading the objects: see weft_category_unregister. */
static void visit_begin(void)
{
	__atomic_fetch_add(&weft__live.visitors, 1, __ATOMIC_SEQ_CST);
}

static void visit_end(void)
{
	__atomic_fetch_sub(&weft__live.visitors, 1, __ATOMIC_SEQ_CST);
}

static const uint8_t *level_in(
	const struct weft__region *region, const struct weft_category *category)
{
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	if (!category->name)
		return always;
	uint32_t number = (leader ? leader->category : weft__record_category_number)(
		region, category->name, category->description);
	return &region->header->levels[number % WEFT_ABI_LEVELS];
}

/* ---- Levels of a forked child ---- */

/* Gives the category the number that it has in the parent's buffer. Its name comes from the object,
 * because a child has no access to the parent's names. */
static void inherit_number(const struct weft__region *region, const struct weft_abi_buffer *parent,
	const struct weft_category *category)
{
	uint32_t *categories = region->header->categories;
	uintptr_t number = (uintptr_t)weft__load(&category->level) - (uintptr_t)parent->levels;
	if (!category->name || number >= WEFT_ABI_LEVELS || categories[number])
		return;
	categories[number] = number == WEFT_ABI_CATEGORY_OTHER
							 ? ids_of_others(region)
							 : ids_of(region, category->name, category->description);
}

static void copy_level(
	struct weft_abi_buffer *header, const struct weft_abi_buffer *parent, uint32_t number)
{
	header->levels[number] = weft__load(&parent->levels[number]);
	header->counting[number] = weft__load(&parent->counting[number]);
}

static void inherit(const struct weft__region *region, const struct weft_abi_buffer *parent)
{
	struct weft_abi_buffer *header = region->header;
	inherit_number(region, parent, &weft_category_program);
#ifndef WEFT_FREESTANDING
	inherit_number(region, parent, &weft__category_cpu);
#endif
	visit_begin();
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		const struct weft_category *category = __atomic_load_n(&objects[i], __ATOMIC_SEQ_CST);
		if (category)
			inherit_number(region, parent, category);
	}
	visit_end();
	/* Numbers that were free get the level of all; those of unloaded libraries are free again. */
	for (uint32_t i = 0; i < WEFT_ABI_LEVELS; i++)
		if (header->categories[i] || !weft__load(&parent->categories[i]))
			copy_level(header, parent, i);
}

void weft__record_categories_prepare(
	const struct weft__region *region, const struct weft_abi_buffer *parent)
{
	for (uint32_t i = 0; i < WEFT_ABI_LEVELS; i++)
		weft__abi_store_level(region->header, i, weft__record_level_standard());
	if (parent)
		inherit(region, parent);
	weft__record_category_number(
		region, weft_category_program.name, weft_category_program.description);
}

/* ---- Where objects point ---- */

/* The level of all categories while nothing is recorded. */
static const uint8_t *idle_level(void)
{
	const uint8_t *idle = weft__load(&weft__recorder.idle);
	return idle ? idle : weft__levels_off;
}

/* Points an object to its present level. Each thread checks afterwards that recording has not been
 * started or stopped meanwhile. So the last one leaves the right level, even if several do it at
 * once. */
static void point(struct weft_category *category)
{
	uint64_t generation;
	do {
		generation = weft__load_acquire(&weft__live.generation);
		const uint8_t *level =
			generation ? level_in(weft__record_region(), category) : idle_level();
		weft__store_release(&category->level, level);
		weft__fence();
	} while (generation != weft__load(&weft__live.generation));
}

void weft__record_categories_point(void)
{
	point(&weft_category_program);
	point(&weft_category_always);
#ifndef WEFT_FREESTANDING
	point(&weft__category_cpu);
#endif
	visit_begin();
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		struct weft_category *category = __atomic_load_n(&objects[i], __ATOMIC_SEQ_CST);
		if (category)
			point(category);
	}
	visit_end();
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
	weft__store(&category->level, weft__levels_off);
}

#ifdef WEFT_FREESTANDING
bool weft__category_first_use(struct weft_category *category, unsigned level)
{
	weft__store(&category->level, weft__levels_off);
	weft_category_register(category);
	return weft__load(weft__load(&category->level)) >= level;
}
#endif
