/* SPDX-License-Identifier: ISC
 *
 * Creates tasks, and gives them their ids.
 */
#include "abi/name_abi.h"
#include "record/category.h"
#include "record/copy.h"
#include "record/put.h"
#include "record/text.h"

/* Threads reserve ids in blocks, so that most need no atomic operation. */
#define TASK_BLOCK 1024

/* The id of a task whose create event is not recorded: unique, because later events may be about
 * it. */
static uint64_t unseen_task(void)
{
	if (weft__record_generation())
		return weft__fetch_add(&weft__record_header()->next_task, 1);
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	struct weft__recorder *recorder = leader ? leader->recorder : &weft__recorder;
	return weft__fetch_add(&recorder->unrecorded, 1) + 1;
}

/* The next id of the slot, which reserves more if it has none left. */
static uint64_t take_id(struct weft_abi_slot *slot)
{
	if (weft__load(&slot->tasks_left) == 0) {
		weft__store(&slot->next_task,
			weft__fetch_add(&weft__record_header_of(slot)->next_task, TASK_BLOCK));
		weft__store(&slot->tasks_left, TASK_BLOCK);
	}
	return weft__record_next_task(slot);
}

static uint64_t create_with(const struct weft__room *room, uint64_t head, uint64_t parent)
{
	uint32_t words = head >> 40 & 0xff;
	uint64_t child = take_id(room->slot);
	const struct weft__fixed event = {head, words == 3 ? parent : child, child, WEFT_TASK_CURRENT};
	weft__record_put_at(room, words, &event);
	return child;
}

/* Its frame is part of a hook's longest path of calls, so less is inlined here. */
static WEFT__COLD uint64_t create_in_new_room(
	struct weft_abi_slot *slot, uint64_t head, uint64_t parent)
{
	struct weft__room room;
	if (!weft__record_reserve_slowly(slot, head >> 40 & 0xff, &room))
		return unseen_task();
	return create_with(&room, head, parent);
}

static WEFT__OUT_OF_LINE uint64_t create_slowly(uint64_t head, uint64_t parent)
{
	const struct weft__self *self = weft__record_entered();
	struct weft__room room;
	if (!self)
		return unseen_task();
	if (WEFT__LIKELY(weft__record_try_reserve_again(self->slot, head >> 40 & 0xff, &room)))
		return create_with(&room, head, parent);
	return create_in_new_room(self->slot, head, parent);
}

/* Records a create event once there is room for it. */
WEFT__ALWAYS_INLINE uint64_t create_at(
	const struct weft__room *room, uint32_t words, uint64_t head, uint64_t parent)
{
	if (WEFT__UNLIKELY(weft__load(&room->slot->tasks_left) == 0)) {
		weft__record_withdraw(room);
		return create_slowly(head, parent);
	}
	uint64_t child = weft__record_next_task(room->slot);
	const struct weft__fixed event = {head, words == 3 ? parent : child, child, WEFT_TASK_CURRENT};
	weft__record_put_at(room, words, &event);
	return child;
}

static WEFT__OUT_OF_LINE uint64_t create_two(uint64_t head)
{
	const struct weft__self *self = weft__record_self();
	struct weft__room room;
	if (weft__record_is_in_moment(self) && weft__record_try_reserve_in_moment(self->slot, 2, &room))
		return create_at(&room, 2, head, 0);
	return create_slowly(head, 0);
}

WEFT__ALWAYS_INLINE uint64_t create(uint32_t words, uint64_t head, uint64_t parent)
{
	struct weft__room room;
	if (WEFT__LIKELY(weft__record_try_reserve(words, &room)))
		return create_at(&room, words, head, parent);
	return words == 2 ? create_two(head) : create_slowly(head, parent);
}

WEFT__EXPORT uint64_t weft_create(uint16_t kind)
{
	return create(2, WEFT_ABI_HEAD(WEFT_ABI_CREATE, 2, kind), 0);
}

WEFT__EXPORT uint64_t weft_create_as(uint64_t task, uint16_t kind)
{
	if (task == WEFT_TASK_CURRENT)
		return weft_create(kind);
	return create(3, WEFT_ABI_HEAD(WEFT_ABI_CREATE | WEFT_ABI_EXPLICIT, 3, kind), task);
}

/* A create event with one more word, the category's name. */
WEFT__ALWAYS_INLINE uint64_t create_in_at(const struct weft__room *room,
	const struct weft_category *category, uint64_t task, uint16_t kind)
{
	bool is_explicit = task != WEFT_TASK_CURRENT;
	unsigned type = WEFT_ABI_CREATE | (is_explicit ? WEFT_ABI_EXPLICIT : 0);
	uint32_t words = 3 + is_explicit, at = 1;
	uint64_t child = take_id(room->slot);
	weft__record_store_head(room, WEFT_ABI_HEAD(type, words, kind));
	if (is_explicit)
		weft__store(&room->at[at++], task);
	weft__store(&room->at[at++], child);
	weft__store(&room->at[at], weft__record_category_name(room->slot, category));
	weft__record_commit(room, words);
	return child;
}

/* Its frame is part of a hook's longest path of calls, so less is inlined here. */
static WEFT__OUT_OF_LINE uint64_t create_in_slowly(
	const struct weft_category *category, uint64_t task, uint16_t kind)
{
	const struct weft__self *self = weft__record_entered();
	struct weft__room room;
	if (!self || !weft__record_reserve_slowly(self->slot, 3 + (task != WEFT_TASK_CURRENT), &room))
		return unseen_task();
	return create_in_at(&room, category, task, kind);
}

uint64_t weft__record_create(const struct weft_category *category, uint64_t task, uint16_t kind)
{
	struct weft__room room;
	if (!category || category == &weft_category_program)
		return weft_create_as(task, kind);
	if (WEFT__LIKELY(weft__record_try_reserve(3 + (task != WEFT_TASK_CURRENT), &room)))
		return create_in_at(&room, category, task, kind);
	return create_in_slowly(category, task, kind);
}

WEFT__EXPORT uint64_t weft__create_in(
	const struct weft_category *category, uint64_t task, uint16_t kind)
{
	bool has_category = kind > WEFT_ABI_KIND_NAMED; /* the kind's name has it */
	return has_category ? weft_create_as(task, kind) : weft__record_create(category, task, kind);
}

/* Spaces of ids: from the first to the last but those of tracks (model.md), each a multiple of a
 * power of ten, so that a reader of the number sees the runtime's own. */
#define SPACES (((uint64_t)1 << 52) / WEFT_ID_SPACE - 1)

WEFT__EXPORT uint64_t weft_id_space(void)
{
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	struct weft__recorder *recorder = leader ? leader->recorder : &weft__recorder;
	uint64_t space = weft__load(&recorder->spaces);
	while (space < SPACES && !weft__compare_exchange(&recorder->spaces, space, space + 1))
		space = weft__load(&recorder->spaces);
	return space < SPACES ? (space + 1) * WEFT_ID_SPACE : WEFT_TASK_NONE;
}

void weft__record_create_id(
	const struct weft_category *category, uint64_t task, uint64_t id, uint16_t kind)
{
	bool is_explicit = task != WEFT_TASK_CURRENT;
	unsigned type = WEFT_ABI_CREATE | (is_explicit ? WEFT_ABI_EXPLICIT : 0);
	bool has_category =
		category && category != &weft_category_program && kind <= WEFT_ABI_KIND_NAMED;
	uint32_t words = 2 + is_explicit + has_category, at = 1;
	struct weft__room room = {.slot = NULL};
	const struct weft__self *self = weft__record_entered();
	if (self)
		room = weft__record_reserve_in(self->slot, words);
	if (!room.slot)
		return;
	weft__record_store_head(&room, WEFT_ABI_HEAD(type, words, kind));
	if (is_explicit)
		weft__store(&room.at[at++], task);
	weft__store(&room.at[at++], id);
	if (has_category)
		weft__store(&room.at[at], weft__record_category_name(room.slot, category));
	weft__record_commit(&room, words);
}

WEFT__EXPORT void weft_create_id(uint64_t task, uint64_t id, uint16_t kind)
{
	weft__record_create_id(NULL, task, id, kind);
}

WEFT__EXPORT void weft__create_id_in(
	const struct weft_category *category, uint64_t task, uint64_t id, uint16_t kind)
{
	weft__record_create_id(category, task, id, kind);
}

/* A task whose creation is filtered, or comes before recording starts. */
WEFT__EXPORT uint64_t weft__create_unseen(void)
{
	const struct weft__self *self = weft__record_looked();
	return self ? weft__fetch_add(&weft__record_header_of(self->slot)->next_task, 1)
				: unseen_task();
}
