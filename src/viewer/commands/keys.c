/* SPDX-License-Identifier: ISC
 *
 * Maps keys to commands, and names keys for the help. The keys of each command are in
 * include/weft/viewer_commands.def.
 */
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "viewer/commands/commands.h"
#include "viewer/state.h"

static const struct {
	const char *prefix;
	unsigned modifier;
} modifiers_in_keys[] = {{"Shift+", WEFT_VIEWER_SHIFT}, {"Ctrl+", WEFT_VIEWER_CONTROL}};

#define MODIFIERS (sizeof(modifiers_in_keys) / sizeof(modifiers_in_keys[0]))

bool weft__viewer_next_key(
	const char **keys, char ret_key[WEFT__KEY_BYTES], unsigned *ret_modifiers)
{
	const char *key = *keys + strspn(*keys, " ");
	size_t size = strcspn(key, " ");
	*keys = key + size;
	*ret_modifiers = 0;
	for (unsigned i = 0; i < MODIFIERS; i++) {
		size_t length = strlen(modifiers_in_keys[i].prefix);
		if (strncmp(key, modifiers_in_keys[i].prefix, length) == 0) {
			*ret_modifiers |= modifiers_in_keys[i].modifier;
			key += length;
			size -= length;
		}
	}
	snprintf(ret_key, WEFT__KEY_BYTES, "%.*s", (int)size, key);
	if (strcmp(ret_key, "Space") == 0)
		strcpy(ret_key, " ");
	return size > 0;
}

/* With W A S D for the view, as in games, these keys replace those of the table; the commands that
 * lose theirs have another one or are in the menu. */
static const struct {
	const char *key, *command;
} wasd_keys[] = {{"w", "zoom in"}, {"s", "zoom out"}, {"a", "pan left"}, {"d", "pan right"},
	{"W", "wait"}, {"S", "start"}, {"A", "related"}};

#define WASD_KEYS (sizeof(wasd_keys) / sizeof(wasd_keys[0]))

/* The command that a key has instead of the table's; NULL if it has none. */
static const char *replaced_by(const struct weft_viewer *viewer, const char *key)
{
	for (unsigned i = 0; viewer->has_wasd && i < WASD_KEYS; i++)
		if (strcmp(wasd_keys[i].key, key) == 0)
			return wasd_keys[i].command;
	return NULL;
}

/* The first key of a row, as weft_viewer_key() takes it. False if it has none. */
static bool first_key(const struct weft_viewer *viewer, const struct weft__command *row,
	char ret_key[WEFT__KEY_BYTES], unsigned *ret_modifiers)
{
	*ret_modifiers = 0;
	for (unsigned i = 0; viewer->has_wasd && i < WASD_KEYS; i++) {
		if (strcmp(wasd_keys[i].command, row->command) == 0) {
			snprintf(ret_key, WEFT__KEY_BYTES, "%s", wasd_keys[i].key);
			return true;
		}
	}
	for (const char *keys = row->keys; weft__viewer_next_key(&keys, ret_key, ret_modifiers);)
		if (*ret_modifiers || !replaced_by(viewer, ret_key))
			return true;
	return false;
}

const char *weft__viewer_key_name(const struct weft_viewer *viewer, const struct weft__command *row,
	char ret_name[WEFT__KEY_BYTES])
{
	static const char *const names[][2] = {
		{"ArrowLeft", "\xe2\x86\x90"},
		{"ArrowRight", "\xe2\x86\x92"},
		{"ArrowUp", "\xe2\x86\x91"},
		{"ArrowDown", "\xe2\x86\x93"},
		{"-", "\xe2\x88\x92"},
		{" ", "space"},
		{"Escape", "Esc"},
	};
	char key[WEFT__KEY_BYTES];
	const char *shown = key;
	unsigned modifiers;
	ret_name[0] = '\0';
	if (!first_key(viewer, row, key, &modifiers))
		return ret_name;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(key, names[i][0]) == 0)
			shown = names[i][1];
	bool is_letter = modifiers & WEFT_VIEWER_CONTROL && !key[1] && key[0] >= 'a' && key[0] <= 'z';
	if (is_letter)
		key[0] = (char)(key[0] - 'a' + 'A'); /* keyboards print capitals */
	snprintf(ret_name, WEFT__KEY_BYTES, "%s%s%.15s",
		modifiers & WEFT_VIEWER_SHIFT ? "Shift + " : "",
		modifiers & WEFT_VIEWER_CONTROL ? "Ctrl + " : "", shown);
	return ret_name;
}

static bool has_key(const struct weft__command *row, const char *key, unsigned modifiers)
{
	char name[WEFT__KEY_BYTES];
	const char *keys = row->keys;
	unsigned wanted;
	while (weft__viewer_next_key(&keys, name, &wanted))
		if (wanted == modifiers && strcmp(name, key) == 0)
			return true;
	return false;
}

static const struct weft__command *find_command(
	const struct weft_viewer *viewer, const char *key, unsigned modifiers)
{
	/* The names of letters and signs already include Shift. */
	if (key[0] && !key[1] && key[0] != ' ')
		modifiers &= ~(unsigned)WEFT_VIEWER_SHIFT;
	const char *replaced = modifiers ? NULL : replaced_by(viewer, key);
	if (replaced)
		return weft__viewer_command_row(replaced);
	for (unsigned i = 0; i < weft__command_count; i++)
		if (weft__commands[i].command && has_key(&weft__commands[i], key, modifiers))
			return &weft__commands[i];
	return NULL;
}

/* A key whose command has no effect on the selected task goes to the shell: Tab then leaves the
 * picture. */
static bool is_left_to_shell(struct weft_viewer *viewer, const struct weft__command *row)
{
	return row->needs >= WEFT__NEEDS_TASK && !weft__viewer_command_is_of_use(viewer, row);
}

WEFT__EXPORT bool weft_viewer_key(
	struct weft_viewer *viewer, const char *key, unsigned modifiers, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	viewer->pointer.modifiers = modifiers;
	const struct weft__command *row = find_command(viewer, key, modifiers);
	bool is_used = row && !is_left_to_shell(viewer, row);
	if (is_used)
		weft__viewer_run(viewer, row->command);
	weft__viewer_settle(viewer);
	return is_used;
}
