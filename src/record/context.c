/* SPDX-License-Identifier: ISC
 *
 * Trace contexts of tasks and spans: which one is current, and new ones. What is recorded of them
 * is in context_event.c.
 *
 * A program asks for its current context where it sends a request, which may be far from where the
 * context came in. So a process remembers those of its tasks (context_table.c), and a thread its
 * own one for when it runs no task.
 */
#include "record/atomics.h"
#include "record/context_hot.h"
#include "record/context_shown.h"
#include "record/name.h"
#include "record/recorder.h"
#include "record/reserve.h"

static const struct weft_context none;

/* For which task of which buffer; WEFT_TASK_NONE: for the thread itself. */
struct owner {
	uint64_t task, generation;
};

WEFT__ALWAYS_INLINE struct owner current_owner(void)
{
	const struct weft__self *self = weft__record_looked();
	if (!self)
		return (struct owner){WEFT_TASK_NONE, 0};
	return (struct owner){weft__load(&self->slot->task), weft__record_entered_generation(self)};
}

#ifndef WEFT_FREESTANDING
_Thread_local struct weft_context weft__context_here;
#endif

static bool get_from_thread(struct weft_context *ret_context)
{
#ifdef WEFT_FREESTANDING
	(void)ret_context;
	return false;
#else
	if (!weft__context_here.span)
		return false;
	*ret_context = weft__context_here;
	return true;
#endif
}

WEFT__ALWAYS_INLINE void set(const struct weft_context *context)
{
	const struct owner now = current_owner();
	if (!weft__context_is_valid(context))
		context = &none;
	weft__context_set_for(now.task, now.generation, context);
	if (WEFT__UNLIKELY(weft__record_contexts_are_shown()))
		weft__record_context_show(context);
}

WEFT__EXPORT void weft_context_set(const struct weft_context *context)
{
	set(context);
}

WEFT__EXPORT bool weft_context_current(struct weft_context *ret_context)
{
	const struct owner now = current_owner();
	*ret_context = none;
	return now.task == WEFT_TASK_NONE
			   ? get_from_thread(ret_context)
			   : weft__record_context_find(now.task, now.generation, ret_context);
}

/* ---- New contexts ---- */

/* The span id of a new context is new; without a parent, so is its trace. `parent` may be where the
 * context goes. */
static void start(bool is_on, uint64_t task, bool is_of_span, const struct weft_context *parent,
	struct weft_context *ret_context)
{
	const bool has_parent = weft__context_is_valid(parent);
	const uint64_t parent_span = has_parent ? parent->span : 0;
	*ret_context = has_parent ? *parent : none;
	if (!is_on)
		return;
	if (!has_parent)
		weft__record_context_trace(ret_context);
	weft__record_context_event(task, is_of_span, parent_span, ret_context);
}

WEFT__EXPORT void weft_ffi_context_start(struct weft_category *category, unsigned level,
	uint64_t task, const struct weft_context *parent, struct weft_context *ret_context)
{
	struct weft_context own;
	if (!ret_context)
		ret_context = &own;
	start(weft_ffi_is_enabled(category, level), task, false, parent, ret_context);
	const struct owner now = current_owner();
	const bool is_current = task == WEFT_TASK_CURRENT || task == now.task;
	weft__context_set_for(is_current ? now.task : task, now.generation, ret_context);
	if (is_current && WEFT__UNLIKELY(weft__record_contexts_are_shown()))
		weft__record_context_show(ret_context);
}

static WEFT__OUT_OF_LINE void begin(
	bool is_on, const struct weft_context *parent, struct weft_context *ret_context)
{
	struct weft_context own;
	if (!ret_context)
		ret_context = &own;
	start(is_on, WEFT_TASK_CURRENT, true, parent, ret_context);
	weft_context_set(ret_context);
}

WEFT__EXPORT void weft_ffi_context_begin(struct weft_category *category, unsigned level,
	const struct weft_context *parent, struct weft_context *ret_context)
{
	begin(weft_ffi_is_enabled(category, level), parent, ret_context);
}

static WEFT__OUT_OF_LINE void begin_slowly(bool is_on, uint64_t *cache, const char *name,
	const struct weft_context *parent, struct weft_context *ret_context)
{
	if (is_on)
		weft__span_begin(WEFT_TASK_CURRENT, cache, name);
	begin(is_on, parent, ret_context);
}

#define BEGIN_WORDS (1 + WEFT_ABI_CONTEXT_WORDS + 1)

/* Both events in one room; the second's words are constant, so that these stores need no branch. */
WEFT__ALWAYS_INLINE void store_begin(
	const struct weft__room *room, uint16_t name, const struct weft_context *parent, uint64_t span)
{
	const uint64_t head = WEFT_ABI_HEAD(WEFT_ABI_CONTEXT, WEFT_ABI_CONTEXT_WORDS + 1, 1);
	weft__record_store_head(room, WEFT_ABI_HEAD(WEFT_ABI_BEGIN, 1, name));
	weft__store(&room->at[1], head | room->stamp);
	weft__store(&room->at[2], parent->trace_high);
	weft__store(&room->at[3], parent->trace_low);
	weft__store(&room->at[4], span);
	weft__store(&room->at[5], parent->flags);
	weft__store(&room->at[6], parent->span);
	weft__store(&room->slot->surplus, weft__load(&room->slot->surplus) - 2); /* two events */
}

/* The usual case: a literal as name, a parent without a state, room. */
WEFT__ALWAYS_INLINE bool begin_now(
	uint64_t *cache, const struct weft_context *parent, struct weft_context *ret_context)
{
	struct weft__room room;
	if (!cache || !ret_context || !weft__context_is_valid(parent) || parent->state_size ||
		WEFT__UNLIKELY(!weft__record_try_reserve(BEGIN_WORDS, &room)))
		return false;
	const uint16_t name = weft__record_name_cached_now(room.slot, cache);
	const uint64_t span = name ? weft__record_context_next(weft__contexts()) : 0;
	if (WEFT__UNLIKELY(!span)) {
		weft__record_withdraw(&room);
		return false;
	}
	store_begin(&room, name, parent, span);
	const uint64_t task = weft__load(&room.slot->task), generation = weft__record_self()->ticket;
	weft__record_commit(&room, BEGIN_WORDS);
	*ret_context = *parent;
	ret_context->span = span;
	weft__context_set_for(task, generation, ret_context);
	if (WEFT__UNLIKELY(weft__record_contexts_are_shown()))
		weft__record_context_show(ret_context);
	return true;
}

WEFT__EXPORT void weft__context_begin(bool is_on, uint64_t *cache, const char *name,
	const struct weft_context *parent, struct weft_context *ret_context)
{
	if (!is_on || WEFT__UNLIKELY(!begin_now(cache, parent, ret_context)))
		begin_slowly(is_on, cache, name, parent, ret_context);
}

WEFT__EXPORT void weft__context_end(bool is_on, const struct weft_context *outer)
{
	if (is_on)
		(weft_end)();
	set(outer);
}
