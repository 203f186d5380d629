/* SPDX-License-Identifier: ISC
 *
 * Contexts as events: the ids as numbers, which readers show as a mark whose fields have the names
 * that OpenTelemetry gives them. So every reader has them, and searches and queries find them.
 * src/model/contexts.c reads them.
 */
#include "abi/event_abi.h"
#include "record/compose.h"
#include "record/context_hot.h"
#include "record/text.h"

#define STATE_BYTES 512 /* as many as a program has to pass on */

void weft__record_context_event(
	uint64_t task, bool is_of_span, uint64_t parent, struct weft_context *context)
{
	WEFT__DRAFT(draft, WEFT_ABI_CONTEXT_WORDS + 2, 1);
	struct weft__self self;
	context->span = weft__record_context_span();
	if (!weft__record_entered_now(&self))
		return;
	weft__record_draft_begin(&draft, WEFT_ABI_CONTEXT, task);
	draft.words[0] |= WEFT_ABI_HEAD(0, 0, is_of_span);
	weft__record_draft_word(&draft, context->trace_high);
	weft__record_draft_word(&draft, context->trace_low);
	weft__record_draft_word(&draft, context->span);
	weft__record_draft_word(&draft, context->flags);
	if (parent)
		weft__record_draft_word(&draft, parent);
	if (parent && context->state)
		weft__record_draft_name(&draft, 0, context->state,
			context->state_size < STATE_BYTES ? context->state_size : STATE_BYTES);
	weft__record_draft_put_in(self.slot, &draft);
}

WEFT__EXPORT void weft_ffi_baggage_record(
	struct weft_category *category, unsigned level, const char *text, size_t size)
{
	static const char shape[] = "baggage\0baggage";
	static uint64_t cache;
	const struct weft_value value = {.type = WEFT_VALUE_TEXT,
		.size = (uint32_t)weft_baggage_size(text, size, WEFT_BAGGAGE_BYTES),
		.is.text = text};
	if (size && weft_ffi_is_enabled(category, level ? level : WEFT_LEVEL_DEBUG))
		weft__record_mark(WEFT_TASK_CURRENT, &cache, shape, sizeof(shape) - 1, 1, &value);
}
