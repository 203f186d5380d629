/* SPDX-License-Identifier: ISC
 *
 * Events with a text: labels, notes, tags, failures, bands, counters.
 *
 * A literal is a name, and its event has a fixed number of words; any other text goes into the
 * event.
 */
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/counters.h"
#include "record/cpu.h"
#include "record/name.h"
#include "record/put.h"
#include "record/text.h"

/* Records an event without inline text; the operand only if `has_operand`. */
WEFT__ALWAYS_INLINE void put_named(struct weft_abi_slot *slot, unsigned kind, uint64_t task,
	uint16_t name, bool has_operand, uint64_t operand)
{
	const unsigned by_task = kind | WEFT_ABI_EXPLICIT;
	if (task == WEFT_TASK_CURRENT && has_operand)
		weft__record_put_words_in(slot, 2, WEFT_ABI_HEAD(kind, 2, name), operand, 0);
	else if (task == WEFT_TASK_CURRENT)
		weft__record_put_words_in(slot, 1, WEFT_ABI_HEAD(kind, 1, name), 0, 0);
	else if (has_operand)
		weft__record_put_words_in(slot, 3, WEFT_ABI_HEAD(by_task, 3, name), task, operand);
	else
		weft__record_put_words_in(slot, 2, WEFT_ABI_HEAD(by_task, 2, name), task, 0);
}

static bool has_operand(unsigned kind)
{
	return kind == WEFT_ABI_TAG_VALUE || kind == WEFT_ABI_BAND || kind == WEFT_ABI_FAIL;
}

/* `operand`: only of a kind that has one. */
static WEFT__COLD void put_text(struct weft_abi_slot *slot, unsigned kind, uint64_t task,
	const char *text, uint32_t size, uint64_t operand)
{
	WEFT__DRAFT(draft, 3, 1);
	weft__record_draft_begin(&draft, kind, task);
	if (has_operand(kind))
		weft__record_draft_word(&draft, operand);
	weft__record_draft_name(&draft, 0, text, size);
	weft__record_draft_put_in(slot, &draft);
}

/* The fast path: a literal whose name is cached, the current task, and room. Other cases go to an
 * out-of-line tail call, so the fast path spills no registers. */
WEFT__ALWAYS_INLINE bool put_cached(
	uint32_t words, unsigned kind, uint64_t task, const uint64_t *cache, uint64_t operand)
{
	struct weft__room room;
	if (!cache || task != WEFT_TASK_CURRENT ||
		WEFT__UNLIKELY(!weft__record_try_reserve(words, &room)))
		return false;
	uint16_t name = weft__record_name_cached_now(room.slot, cache);
	if (WEFT__UNLIKELY(!name)) {
		weft__record_withdraw(&room);
		return false;
	}
	const struct weft__fixed event = {
		WEFT_ABI_HEAD(kind, words, name), operand, 0, WEFT_TASK_CURRENT};
	weft__record_put_at(&room, words, &event);
	return true;
}

/* The thread's slot, and the id of the text's name in its buffer; 0: the text is none. */
struct text_id {
	struct weft_abi_slot *slot; /* NULL: nothing is recorded */
	uint64_t name;
};

/* Out of line, because the address of `self` would rule out tail calls. */
static WEFT__OUT_OF_LINE struct text_id find_name(uint64_t *cache, const char *text, uint32_t size)
{
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return (struct text_id){NULL, 0};
	return (struct text_id){self.slot, weft__record_name_of(&self, cache, text, size)};
}

static WEFT__OUT_OF_LINE void put_slowly(
	uint64_t task, uint64_t *cache, const char *text, uint32_t size, unsigned kind)
{
	const struct text_id it = find_name(cache, text, size);
	if (it.name)
		put_named(it.slot, kind, task, (uint16_t)it.name, false, 0);
	else if (it.slot)
		put_text(it.slot, kind, task, text, size, 0);
}

static WEFT__OUT_OF_LINE void put_with_slowly(uint64_t task, uint64_t *cache, const char *text,
	uint32_t size, uint64_t operand, unsigned kind)
{
	const struct text_id it = find_name(cache, text, size);
	if (it.name)
		put_named(it.slot, kind, task, (uint16_t)it.name, true, operand);
	else if (it.slot)
		put_text(it.slot, kind, task, text, size, operand);
}

WEFT__ALWAYS_INLINE void put(
	unsigned kind, uint64_t task, uint64_t *cache, const char *text, uint32_t size)
{
	if (!put_cached(1, kind, task, cache, 0))
		put_slowly(task, cache, text, size, kind);
}

WEFT__ALWAYS_INLINE void put_with(unsigned kind, uint64_t task, uint64_t *cache, const char *text,
	uint32_t size, uint64_t operand)
{
	if (!put_cached(2, kind, task, cache, operand))
		put_with_slowly(task, cache, text, size, operand, kind);
}

void weft__record_text(
	unsigned kind, uint64_t task, uint64_t *cache, const char *text, uint32_t size)
{
	put(kind, task, cache, text, size);
}

void weft__record_text_with(unsigned kind, uint64_t task, uint64_t *cache, const char *text,
	uint32_t size, uint64_t operand)
{
	put_with(kind, task, cache, text, size, operand);
}

#define WEFT__TEXT(name, event, meaning)                                               \
	WEFT__EXPORT void weft__##name(uint64_t task, uint64_t *cache, const char *text)   \
	{                                                                                  \
		put(WEFT_ABI_##event, task, cache, text, WEFT__C_STRING);                      \
	}                                                                                  \
	WEFT__EXPORT void weft_##name##_n_as(uint64_t task, const char *text, size_t size) \
	{                                                                                  \
		put_slowly(task, NULL, text, weft__record_bounded(size), WEFT_ABI_##event);    \
	}                                                                                  \
	WEFT__EXPORT void weft_##name##_n(const char *text, size_t size)                   \
	{                                                                                  \
		weft_##name##_n_as(WEFT_TASK_CURRENT, text, size);                             \
	}

#include <weft/calls.def>

WEFT__EXPORT void weft__span_begin(uint64_t task, uint64_t *cache, const char *name)
{
	put(WEFT_ABI_BEGIN, task, cache, name, WEFT__C_STRING);
}

WEFT__EXPORT void weft__tag(uint64_t task, uint64_t *cache, const char *text)
{
	put(WEFT_ABI_TAG, task, cache, text, WEFT__C_STRING);
}

WEFT__EXPORT void weft__tag_value(uint64_t task, uint64_t *cache, const char *text, int64_t value)
{
	put_with(WEFT_ABI_TAG_VALUE, task, cache, text, WEFT__C_STRING, (uint64_t)value);
}

WEFT__EXPORT void weft__band(unsigned kind, uint64_t *cache, const char *reason, bool begin)
{
	weft__record_cpu_look_at_band(kind, begin);
	put_with(WEFT_ABI_BAND, WEFT_TASK_CURRENT, cache, reason, WEFT__C_STRING,
		weft__record_band_operand(kind, begin));
}

void weft__record_failure(uint64_t task, uint64_t target, const char *message, uint32_t size)
{
	const struct weft__self *self = weft__record_entered();
	if (self)
		put_text(self->slot, WEFT_ABI_FAIL, task, message, size, target);
}

WEFT__EXPORT void weft_fail_as(uint64_t task, uint64_t target, const char *message)
{
	weft__record_failure(task, target, message, WEFT__C_STRING);
}

WEFT__EXPORT void weft_fail(uint64_t target, const char *message)
{
	weft__record_failure(WEFT_TASK_CURRENT, target, message, WEFT__C_STRING);
}

/* ---- Counters ---- */

/* A counter is identified by its name: one that can't be named is refused. If the table of names is
 * full, interning has counted that; a name that is too long for any table is counted here. */
static uint16_t name_counter(
	const struct weft__self *self, uint64_t *cache, const char *name, uint32_t size)
{
	uint16_t id = cache ? weft__record_name_of(self, cache, name, size)
						: weft__record_name_intern_text(self->slot, name, size);
	if (!id && name && weft__record_measure_name(name, size) > WEFT_ABI_NAME_MAX_BYTES)
		weft__record_count_loss(self->slot, WEFT_ABI_LOSS_TOO_BIG);
	return id;
}

static WEFT__OUT_OF_LINE void put_count_slowly(
	uint64_t task, uint64_t *cache, const char *name, uint32_t size, int64_t value, unsigned kind)
{
	struct weft__self self;
	uint16_t id = weft__record_entered_now(&self) ? name_counter(&self, cache, name, size) : 0;
	if (id)
		put_named(self.slot, kind, task, id, true, (uint64_t)value);
}

/* The value changes after its event has room, because that may write the total before it, and in
 * the middle of the commit: a reader of a program that was killed there knows that the value may
 * lack the change (format/weft/last_values.c). */

static WEFT__OUT_OF_LINE void count_slowly(
	uint64_t task, uint64_t *cache, const char *name, uint32_t size, int64_t value, unsigned kind)
{
	const bool is_current = task == WEFT_TASK_CURRENT;
	const uint32_t words = is_current ? 2 : 3;
	struct weft__self self;
	struct weft__room room = {.slot = NULL};
	uint16_t id = weft__record_entered_now(&self) ? name_counter(&self, cache, name, size) : 0;
	if (id)
		room = weft__record_reserve_in(self.slot, words);
	if (room.slot) {
		const unsigned by = is_current ? kind : kind | WEFT_ABI_EXPLICIT;
		const struct weft__fixed event = {WEFT_ABI_HEAD(by, words, id),
			is_current ? (uint64_t)value : task, (uint64_t)value, WEFT_TASK_CURRENT};
		weft__record_write_at(&room, words, &event);
		weft__record_begin_commit(&room, words);
		weft__signal_fence();
	}
	weft__record_counter_change(kind, cache, name, size, (uint64_t)value);
	weft__signal_fence();
	if (room.slot)
		weft__record_end_commit(&room, words);
}

/* The fast path: a literal, to which this call site has added before if it adds an integer, the
 * current task, and room. */
WEFT__ALWAYS_INLINE bool count_cached(unsigned kind, uint64_t task, uint64_t *cache,
	const char *name_of_counter, uint32_t size, uint64_t value)
{
	const bool adds = kind == WEFT_ABI_COUNTER;
	struct weft__room room;
	uint64_t *cell = cache && adds ? weft__record_counter_cell(cache) : NULL;
	if (!cache || (adds && !cell) || task != WEFT_TASK_CURRENT ||
		WEFT__UNLIKELY(!weft__record_try_reserve(2, &room)))
		return false;
	uint16_t name = weft__record_name_cached_now(room.slot, cache);
	if (WEFT__UNLIKELY(!name)) {
		weft__record_withdraw(&room);
		return false;
	}
	const struct weft__fixed event = {WEFT_ABI_HEAD(kind, 2, name), value, 0, WEFT_TASK_CURRENT};
	weft__record_write_at(&room, 2, &event);
	weft__record_begin_commit(&room, 2);
	weft__signal_fence();
	if (adds)
		weft__fetch_add(cell, value);
	else
		weft__record_counter_change(kind, cache, name_of_counter, size, value);
	weft__signal_fence();
	weft__record_end_commit(&room, 2);
	return true;
}

/* Records the event if `is_on`, and changes the value in any case. */
WEFT__ALWAYS_INLINE void count(bool is_on, unsigned kind, uint64_t task, uint64_t *cache,
	const char *name, uint32_t size, int64_t value)
{
	const bool adds = kind == WEFT_ABI_COUNTER;
	if (is_on && !count_cached(kind, task, cache, name, size, (uint64_t)value))
		count_slowly(task, cache, name, size, value, kind);
	else if (!is_on && !(adds && weft__record_counter_try_add(cache, (uint64_t)value)))
		weft__record_counter_change(kind, cache, name, size, (uint64_t)value);
}

WEFT__OUT_OF_LINE void weft__record_count_tallied(struct weft_category *category, unsigned kind,
	uint64_t *cache, const char *name, uint32_t size, int64_t value)
{
	weft__tally(category, WEFT__EVENT_COUNTER);
	weft__record_counter_change(kind, cache, name, size, (uint64_t)value);
}

void weft__record_count(bool is_on, unsigned kind, uint64_t task, uint64_t *cache, const char *name,
	uint32_t size, int64_t value)
{
	count(is_on, kind, task, cache, name, size, value);
}

WEFT__ALWAYS_INLINE void count_at(struct weft_category *category, unsigned level, unsigned kind,
	uint64_t task, uint64_t *cache, const char *name, int64_t value)
{
	bool is_on = weft__allows(category, level);
	if (!is_on && weft__counts(category))
		weft__record_count_tallied(category, kind, cache, name, WEFT__C_STRING, value);
	else
		count(is_on, kind, task, cache, name, WEFT__C_STRING, value);
}

WEFT__EXPORT void weft__counter_add_at(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, int64_t change)
{
	count_at(category, level, WEFT_ABI_COUNTER, task, cache, name, change);
}

WEFT__EXPORT void weft__counter_set_at(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, int64_t value)
{
	count_at(category, level, WEFT_ABI_COUNTER_SET, task, cache, name, value);
}

WEFT__EXPORT void weft__counter_add_at_f64(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, uint64_t bits)
{
	count_at(category, level, WEFT_ABI_COUNTER_F64, task, cache, name, (int64_t)bits);
}

WEFT__EXPORT void weft__counter_set_at_f64(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, uint64_t bits)
{
	count_at(category, level, WEFT_ABI_COUNTER_SET_F64, task, cache, name, (int64_t)bits);
}

/* Programs that were compiled with earlier headers call these, and only while their level is on: a
 * value would be that of a part of the time, so their counters have none. */

static void put_count(
	unsigned kind, uint64_t task, uint64_t *cache, const char *name, int64_t value)
{
	if (!put_cached(2, kind, task, cache, (uint64_t)value))
		put_count_slowly(task, cache, name, WEFT__C_STRING, value, kind);
}

WEFT__EXPORT void weft__counter_add(
	uint64_t task, uint64_t *cache, const char *name, int64_t change)
{
	put_count(WEFT_ABI_COUNTER, task, cache, name, change);
}

WEFT__EXPORT void weft__counter_set(uint64_t task, uint64_t *cache, const char *name, int64_t value)
{
	put_count(WEFT_ABI_COUNTER_SET, task, cache, name, value);
}

WEFT__EXPORT void weft__counter_add_f64(
	uint64_t task, uint64_t *cache, const char *name, uint64_t bits)
{
	put_count(WEFT_ABI_COUNTER_F64, task, cache, name, (int64_t)bits);
}

WEFT__EXPORT void weft__counter_set_f64(
	uint64_t task, uint64_t *cache, const char *name, uint64_t bits)
{
	put_count(WEFT_ABI_COUNTER_SET_F64, task, cache, name, (int64_t)bits);
}
