/* SPDX-License-Identifier: ISC
 *
 * See own_pipe.h.
 */
#include "story/own_pipe.h"

#include <inttypes.h>

#include <weft/ends.h>

#include "base/search.h"
#include "story/index.h"
#include "story/other_end.h"

/* Notes of a task that are examined, from the time on back. */
#define LOOKED_MAX 256

/* The value of the last such tag; -1: it has none. */
static int64_t value_at(
	const struct weft_model *model, uint32_t task, const char *tag, uint64_t at_ns)
{
	const uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at_ns);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, tag))
			return (int64_t)model->notes.value[note - 1];
	return -1;
}

bool weft__story_is_own_pipe(const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	return value_at(model, task, WEFT_TAG_OWN_READER, at_ns) >= 0;
}

static void add_descriptors(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	const int64_t writer = value_at(model, task, WEFT_TAG_OWN_WRITER, at_ns);
	const int64_t reader = value_at(model, task, WEFT_TAG_OWN_READER, at_ns);
	if (writer == reader) /* an eventfd */
		weft__story_words_add(words, " (descriptor %" PRId64 ")", reader);
	else
		weft__story_words_add(words, " (descriptors %" PRId64 " and %" PRId64 ")", writer, reader);
}

void weft__story_words_add_own_wait(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	const bool writes = weft__story_waits_to_write(model, task, at_ns);
	weft__story_words_add(words, writes ? " waits to write to " : " waits for ");
	weft__story_words_add_task(words, model, task, 20);
	add_descriptors(words, model, task, at_ns);
}

void weft__story_words_add_own(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	weft__story_words_add(words, "only its own process can %s it",
		weft__story_waits_to_write(model, task, at_ns) ? "read" : "write to");
	add_descriptors(words, model, task, at_ns);
}
