/* SPDX-License-Identifier: ISC
 *
 * Collapsed stacks. A ";" in a name would end it, and is written as ":"; control characters are
 * escaped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "profile/profile.h"

static void add_name(struct weft_text *text, struct weft_slice name)
{
	for (size_t at = 0; at < name.size;) {
		const char *end = memchr(name.bytes + at, ';', name.size - at);
		const size_t size = end ? (size_t)(end - name.bytes) - at : name.size - at;
		weft_text_add_shown(text, name.bytes + at, size);
		if (end)
			weft_text_add_string(text, ":");
		at += size + (end != NULL);
	}
}

/* `path` has room for each node's depth. */
static void add_line(struct weft_text *text, const struct weft_profile *profile,
	const struct weft__profile_tree *tree, uint32_t node, uint32_t *path)
{
	uint32_t count = 0;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		path[count++] = at;
	if (!count)
		weft_text_add_string(text, "[unknown]");
	for (uint32_t i = count; i-- > 0;) {
		add_name(text, profile->names[tree->nodes[path[i]].name]);
		if (i)
			weft_text_add_string(text, ";");
	}
	weft_text_add_string(text, " ");
	if (profile->is_compared) {
		weft_text_add_u64(text, tree->nodes[node].self_before);
		weft_text_add_string(text, " ");
	}
	weft_text_add_u64(text, tree->nodes[node].self);
	weft_text_add_string(text, "\n");
}

WEFT__EXPORT int weft_profile_write_collapsed(
	const struct weft_profile *profile, struct weft_text *text)
{
	struct weft__profile_tree tree;
	int error = weft__profile_tree_make(profile, &tree);
	if (error)
		return error;
	uint32_t *path = malloc(tree.count * sizeof(*path));
	for (uint32_t node = 0; path && node < tree.count; node++)
		if (tree.nodes[node].self || tree.nodes[node].self_before)
			add_line(text, profile, &tree, node, path);
	error = path ? text->error : WEFT_ERROR_MEMORY;
	free(path);
	weft__profile_tree_finish(&tree);
	return error;
}
