/* SPDX-License-Identifier: ISC
 *
 * The viewer's commands as a list, from include/weft/viewer_commands.def, and the functions that
 * the rows of that table name.
 */
#ifndef WEFT_VIEWER_COMMANDS_H
#define WEFT_VIEWER_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/text.h>

struct weft_viewer;

enum weft__command_needs {
	WEFT__NEEDS_NOTHING,
	WEFT__NEEDS_TRACE,
	WEFT__NEEDS_LIVE,
	WEFT__NEEDS_TASK,
	WEFT__NEEDS_EARLIER_EDGE,
	WEFT__NEEDS_LATER_EDGE,
};

enum weft__menu {
	WEFT__MENU_NONE,
	WEFT__MENU_NARROW,
	WEFT__MENU_VIEW,
	WEFT__MENU_BOOKMARKS,
	WEFT__MENU_TAKE,
	WEFT__MENU_TRACE,
	WEFT__MENU_THEME,
	WEFT__MENU_HELP,
};

/* A row of the table. */
struct weft__command {
	const char *command; /* NULL: a heading or a gesture */
	const char *keys;    /* or the name of a gesture; NULL: a heading */
	const char *text;
	const char *tip; /* the text with the keys; only if there are keys */
	void (*run)(struct weft_viewer *viewer, const char *arguments);
	bool (*is_on)(const struct weft_viewer *viewer, const char *arguments); /* or NULL */
	uint8_t name_size; /* bytes of the command's first words, which are not arguments */
	uint8_t needs;     /* enum weft__command_needs */
	uint8_t menu;      /* enum weft__menu */
};

extern const struct weft__command weft__commands[];
extern const unsigned weft__command_count;

/* The row of this command with these arguments. It must exist. */
const struct weft__command *weft__viewer_command_row(const char *command);

bool weft__viewer_command_is_on(const struct weft_viewer *viewer, const struct weft__command *row);
bool weft__viewer_command_is_of_use(struct weft_viewer *viewer, const struct weft__command *row);

/* Runs a command; if it is unknown, the status line says so. */
bool weft__viewer_run(struct weft_viewer *viewer, const char *command);

#define WEFT__KEY_BYTES 32

/* The next key of a row's list, as weft_viewer_key() takes it; false after the last one. */
bool weft__viewer_next_key(
	const char **keys, char ret_key[WEFT__KEY_BYTES], unsigned *ret_modifiers);
/* A row's first key as the help shows it: "Shift + \xe2\x86\x90"; "" if it has none. */
const char *weft__viewer_key_name(const struct weft_viewer *viewer, const struct weft__command *row,
	char ret_name[WEFT__KEY_BYTES]);

/* Appends a word in quotes for a shell, without characters that a terminal would take as keys. */
void weft__viewer_add_shell_word(struct weft_text *text, const char *word);

/* The functions of the table: `arguments` is the rest of the command after the function's name, or
 * "". */
#define HEADING(text)
#define GESTURE(name, text)
#define COMMAND(command, function, ...) \
	void weft__run_##function(struct weft_viewer *viewer, const char *arguments);
#include <weft/viewer_commands.def>
#undef COMMAND
#define weft__is_none weft__is_nothing
#define COMMAND(command, function, needs, keys, menu, state, text) \
	bool weft__is_##state(const struct weft_viewer *viewer, const char *arguments);
#include <weft/viewer_commands.def>
#undef COMMAND
#undef weft__is_none
#undef GESTURE
#undef HEADING

#endif
