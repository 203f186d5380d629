/* SPDX-License-Identifier: ISC
 *
 * See search.h. The kernel lists processes by number, so the old and the new list are merged.
 */
#include "agent/search.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

/* In searches; the first distances are 1, 2, 4. */
#define DISTANCE_MAX 64

static int by_pid(const void *left, const void *right)
{
	const struct weft__agent_visit *l = left, *r = right;
	return (l->pid > r->pid) - (l->pid < r->pid);
}

static bool add_visit(struct weft__agent_search *search, struct weft__agent_visit visit)
{
	if (search->count == search->capacity) {
		size_t capacity = search->capacity ? 2 * search->capacity : 256;
		struct weft__agent_visit *list = realloc(search->list, capacity * sizeof(*list));
		if (!list)
			return false;
		search->list = list;
		search->capacity = capacity;
	}
	search->list[search->count++] = visit;
	return true;
}

static const struct weft__agent_visit *find(const struct weft__agent_search *search, pid_t pid)
{
	const struct weft__agent_visit key = {.pid = pid};
	return search->count ? bsearch(&key, search->list, search->count, sizeof(*search->list), by_pid)
						 : NULL;
}

/* The next visit to a process, after the present one if it is due. */
static struct weft__agent_visit take_visit(const struct weft__agent_search *search, pid_t pid,
	void (*look)(void *context, pid_t pid), void *context)
{
	const struct weft__agent_visit *known = find(search, pid);
	struct weft__agent_visit next =
		known ? *known : (struct weft__agent_visit){pid, search->number, 1};
	if (next.due > search->number)
		return next;
	look(context, pid);
	next.due = search->number + next.distance;
	if (next.distance < (search->furthest ? search->furthest : DISTANCE_MAX))
		next.distance *= 2;
	return next;
}

void weft__agent_search_run(
	struct weft__agent_search *search, void (*look)(void *context, pid_t pid), void *context)
{
	struct weft__agent_search next = {.number = search->number + 1, .furthest = search->furthest};
	DIR *entries = opendir("/proc");
	bool good = entries;
	for (struct dirent *entry; good && (entry = readdir(entries));) {
		uint64_t pid;
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &pid) == WEFT_PARSE_OK)
			good = add_visit(&next, take_visit(search, (pid_t)pid, look, context));
	}
	if (entries)
		closedir(entries);
	if (next.count)
		qsort(next.list, next.count, sizeof(*next.list), by_pid);
	weft__agent_search_finish(search);
	*search = next;
}

void weft__agent_search_finish(struct weft__agent_search *search)
{
	free(search->list);
	*search = (struct weft__agent_search){.number = search->number, .furthest = search->furthest};
}
