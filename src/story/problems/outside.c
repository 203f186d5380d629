/* SPDX-License-Identifier: ISC
 *
 * See outside.h. Kinds and labels are those of the adapters and of weft.asyncio.
 */
#include "story/problems/outside.h"

#include "story/index.h"

bool weft__story_is_for_signals(const struct weft_model *model, uint32_t task)
{
	if (weft__story_is_kind(model, task, "signalfd"))
		return weft__story_is_of_category(model, task, "io");
	return weft__story_is_of_category(model, task, "thread") &&
		   weft__story_is_kind(model, task, "call") &&
		   (weft__story_label_begins(model, task, "signal") ||
			   weft__story_label_begins(model, task, "any signal"));
}

/* True for a task of asyncio whose label begins with one of the words. */
static bool is_one_of(const struct weft_model *model, uint32_t task, const char *const words[])
{
	for (size_t i = 0; words[i]; i++)
		if (weft__story_label_begins(model, task, words[i]))
			return weft__story_is_of_category(model, task, "asyncio");
	return false;
}

enum weft__job_origin weft__story_comes_from_outside(const struct weft_model *model, uint32_t task)
{
	static const char *const jobs[] = {
		"Queue.get", "items of ", "Server.serve_forever", "Server.wait_closed", NULL};
	static const char *const events[] = {
		"Event.wait", "Event at ", "Condition.wait", "Condition at ", NULL};
	if (weft__story_is_for_signals(model, task) || weft__story_is_kind(model, task, "listener") ||
		is_one_of(model, task, jobs))
		return WEFT__OUTSIDE;
	return is_one_of(model, task, events) ? WEFT__PERHAPS_OUTSIDE : WEFT__INSIDE;
}
