/* SPDX-License-Identifier: ISC
 *
 * See levels.h. For each category of a ring the list is a stack, of which any element may be taken
 * out: the one above it gets its former level.
 */
#include "agent/levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/watch.h>

#include "agent/capture.h"
#include "runs/message.h"

struct weft__agent_level {
	uint64_t owner;
	dev_t device; /* of the ring, with its inode */
	ino_t inode;
	struct weft_control *control;
	char category[64];
	enum weft_level before, set;
};

static bool is_same(const struct weft__agent_level *left, const struct weft__agent_level *right)
{
	return left->device == right->device && left->inode == right->inode &&
		   strcmp(left->category, right->category) == 0;
}

/* ---- Setting ---- */

static bool is_set_by_us(
	const struct weft__agent_levels *levels, const struct weft__agent_level *it)
{
	for (size_t i = 0; i < levels->count; i++)
		if (is_same(&levels->list[i], it))
			return true;
	return false;
}

static bool add_level(struct weft__agent_levels *levels, int ring, struct weft__agent_level it)
{
	struct weft__agent_level *list =
		realloc(levels->list, (levels->count + 1) * sizeof(*levels->list));
	if (!list)
		return false;
	levels->list = list;
	if (weft_control_open_descriptor(ring, &it.control))
		return false;
	if (it.set != it.before && weft_control_set_level(it.control, it.category, it.set, NULL)) {
		weft_control_close(it.control);
		return false;
	}
	list[levels->count++] = it;
	return true;
}

static bool fits(struct weft_slice category, const char *name)
{
	return (category.size == 1 && category.bytes[0] == '*') ||
		   (strlen(name) == category.size && memcmp(name, category.bytes, category.size) == 0);
}

static void set_all(struct weft__agent_levels *levels, int ring,
	const struct weft_trace_description *trace, struct weft_slice category,
	const struct weft__agent_level *like, pid_t pid)
{
	for (uint32_t i = 0; i < trace->category_count; i++) {
		struct weft__agent_level it = *like;
		it.before = (enum weft_level)trace->categories[i].level;
		snprintf(it.category, sizeof(it.category), "%s", trace->categories[i].name);
		if (fits(category, it.category) && (it.before != it.set || is_set_by_us(levels, &it)) &&
			!add_level(levels, ring, it))
			weft__runs_report(
				"process %d: the level of %s is not set", (int)pid, weft__runs_shown(it.category));
	}
}

void weft__agent_levels_set(struct weft__agent_levels *levels, uint64_t owner, pid_t pid,
	struct weft_slice category, enum weft_level level)
{
	struct weft_control *control;
	struct stat status;
	int ring = weft__agent_ring_open(pid);
	if (ring < 0)
		return;
	if (fstat(ring, &status) == 0 && weft_control_open_descriptor(ring, &control) == 0) {
		const struct weft__agent_level like = {
			.owner = owner, .device = status.st_dev, .inode = status.st_ino, .set = level};
		set_all(levels, ring, weft_control_describe(control), category, &like, pid);
		weft_control_close(control);
	}
	close(ring);
}

/* ---- Restoring ---- */

static bool is_still_set(const struct weft__agent_level *it)
{
	const struct weft_trace_description *trace = weft_control_describe(it->control);
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (strcmp(trace->categories[i].name, it->category) == 0)
			return trace->categories[i].level == it->set;
	return false;
}

/* If a user changed the level between the two, the one above goes back to the user's. */
static void take_out(struct weft__agent_levels *levels, size_t number)
{
	const struct weft__agent_level it = levels->list[number];
	size_t above = number + 1;
	while (above < levels->count && !is_same(&levels->list[above], &it))
		above++;
	if (above < levels->count) {
		if (levels->list[above].before == it.set)
			levels->list[above].before = it.before;
	} else if (is_still_set(&it)) {
		weft_control_set_level(it.control, it.category, it.before, NULL);
	}
	weft_control_close(it.control);
	levels->count--;
	memmove(&levels->list[number], &levels->list[number + 1],
		(levels->count - number) * sizeof(*levels->list));
}

void weft__agent_levels_restore(struct weft__agent_levels *levels, uint64_t owner)
{
	for (size_t i = levels->count; i-- > 0;)
		if (levels->list[i].owner == owner)
			take_out(levels, i);
}

void weft__agent_levels_finish(struct weft__agent_levels *levels)
{
	while (levels->count)
		take_out(levels, levels->count - 1);
	free(levels->list);
	*levels = (struct weft__agent_levels){0};
}
