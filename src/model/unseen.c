/* SPDX-License-Identifier: ISC
 *
 * Lists what the adapters could not record. The facts of a buffer are lines "KEY\tWHAT\n";
 * the titles of its process are among them.
 */
#include <weft/unseen.h>

#include <stdio.h>
#include <string.h>

#include "base/export.h"

struct row {
	const char *key, *before, *after;
};

static const struct row rows[WEFT_UNSEEN_KINDS] = {
#define UNSEEN(id, key, before, after) {key, before, after},
#include <weft/unseen.def>
#undef UNSEEN
};

static bool are_equal(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

static enum weft_unseen_kind kind_of(struct weft_slice key)
{
	unsigned kind = 0;
	while (kind < WEFT_UNSEEN_KINDS &&
		   !are_equal(key, (struct weft_slice){rows[kind].key, strlen(rows[kind].key)}))
		kind++;
	return (enum weft_unseen_kind)kind;
}

static bool next_line(const char **at, struct weft_slice *ret_key, struct weft_slice *ret_what)
{
	const char *tab = *at ? strchr(*at, '\t') : NULL, *end = tab ? strchr(tab, '\n') : NULL;
	if (!end)
		return false;
	*ret_key = (struct weft_slice){*at, (size_t)(tab - *at)};
	*ret_what = (struct weft_slice){tab + 1, (size_t)(end - tab - 1)};
	*at = end + 1;
	return true;
}

static bool is_title(struct weft_slice key)
{
	return are_equal(key, (struct weft_slice){"title", 5});
}

WEFT__EXPORT struct weft_slice weft_unseen_title(const char *facts)
{
	struct weft_slice key, what, title = {"", 0};
	while (next_line(&facts, &key, &what)) {
		const char *blank = is_title(key) ? memchr(what.bytes, ' ', what.size) : NULL;
		if (blank)
			title = (struct weft_slice){
				blank + 1, what.size - (size_t)(blank + 1 - (const char *)what.bytes)};
	}
	return title;
}

WEFT__EXPORT bool weft_unseen_next(const char **at, struct weft_unseen *ret_fact)
{
	struct weft_slice key, what;
	do {
		if (!next_line(at, &key, &what))
			return false;
	} while (is_title(key));
	*ret_fact = (struct weft_unseen){
		.kind = kind_of(key), .key = key, .what = what, .before = "", .after = "", .buffers = 1};
	if (ret_fact->kind < WEFT_UNSEEN_KINDS) {
		ret_fact->before = rows[ret_fact->kind].before;
		ret_fact->after = rows[ret_fact->kind].after;
	}
	return true;
}

WEFT__EXPORT size_t weft_unseen_sentence(const struct weft_unseen *fact, char *text, size_t size)
{
	const bool is_known = fact->kind < WEFT_UNSEEN_KINDS;
	int length = snprintf(text, size, "%.*s%s%s%.*s%s", is_known ? 0 : (int)fact->key.size,
		fact->key.bytes, is_known ? "" : " is not recorded: ", fact->before, (int)fact->what.size,
		fact->what.bytes, fact->after);
	return length > 0 ? (size_t)length : 0;
}

static void add_fact(struct weft_unseen_list *list, const struct weft_unseen *fact)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct weft_unseen *known = &list->list[i];
		if (!are_equal(known->key, fact->key) || !are_equal(known->what, fact->what))
			continue;
		known->buffers++;
		return;
	}
	if (list->count < WEFT_UNSEEN_MAX)
		list->list[list->count++] = *fact;
	else
		list->more++;
}

WEFT__EXPORT void weft_unseen_add(struct weft_unseen_list *list, const char *facts, uint32_t buffer)
{
	struct weft_unseen fact;
	while (weft_unseen_next(&facts, &fact)) {
		fact.buffer = buffer;
		add_fact(list, &fact);
	}
}

static bool is_about(const struct weft_unseen *fact, const char *program)
{
	size_t size = strlen(program);
	const struct weft_slice what = fact->what;
	return fact->kind >= WEFT_UNSEEN_STATIC && fact->kind <= WEFT_UNSEEN_UNREACHABLE && size &&
		   what.size > size && what.bytes[what.size - size - 1] == '/' &&
		   memcmp(what.bytes + what.size - size, program, size) == 0;
}

WEFT__EXPORT void weft_unseen_drop(struct weft_unseen_list *list, const char *program)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++)
		if (!is_about(&list->list[i], program))
			list->list[kept++] = list->list[i];
	list->count = kept;
}

WEFT__EXPORT void weft_unseen_collect(struct weft_unseen_list *ret_list,
	const struct weft_trace_buffer *buffers, uint32_t buffer_count)
{
	memset(ret_list, 0, sizeof(*ret_list));
	for (uint32_t i = 0; i < buffer_count; i++)
		weft_unseen_add(ret_list, buffers[i].unseen, i);
	for (uint32_t i = 0; ret_list->count && i < buffer_count; i++)
		weft_unseen_drop(ret_list, buffers[i].process);
}
