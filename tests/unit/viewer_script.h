/* SPDX-License-Identifier: ISC
 *
 * A person at a viewer, as a script: a line an action, on a clock of its own that starts at 0 ms.
 *
 *     size 800 600            wheel 400 300 -120 shift     key z        touch 1 press 10 20
 *     move 10 20 [shift]      press 10 20   release 10 20  click 10 20  double 10 20
 *     drag 10 20 60 20        command fit   type block     enter block  wait 200
 *
 * `wait` lets time pass as a shell does, in frames of 16 ms.
 */
#ifndef WEFT_TESTS_VIEWER_SCRIPT_H
#define WEFT_TESTS_VIEWER_SCRIPT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/viewer.h>

struct script {
	struct weft_viewer *viewer;
	double now_ms;
};

static inline unsigned script_modifiers(const char *words)
{
	return (strstr(words, "shift") ? WEFT_VIEWER_SHIFT : 0u) |
		   (strstr(words, "control") ? WEFT_VIEWER_CONTROL : 0u) |
		   (strstr(words, "alt") ? WEFT_VIEWER_ALT : 0u);
}

static inline void script_wait(struct script *s, double ms)
{
	for (double end = s->now_ms + ms; s->now_ms < end;) {
		s->now_ms = fmin(s->now_ms + 16, end);
		weft_viewer_advance(s->viewer, s->now_ms);
	}
}

static inline void script_point(
	struct script *s, uint8_t action, double x, double y, int finger, unsigned modifiers)
{
	struct weft_viewer_pointer pointer = {
		.action = action,
		.button = action == WEFT_VIEWER_MOVE || action == WEFT_VIEWER_LEAVE ? 0 : 1,
		.is_touch = finger > 0,
		.modifiers = modifiers,
		.id = (uint32_t)finger,
		.x = x,
		.y = y,
	};
	weft_viewer_pointer(s->viewer, &pointer, s->now_ms);
}

static inline void script_click(struct script *s, double x, double y, unsigned modifiers)
{
	script_point(s, WEFT_VIEWER_MOVE, x, y, 0, modifiers);
	script_point(s, WEFT_VIEWER_PRESS, x, y, 0, modifiers);
	script_wait(s, 30);
	script_point(s, WEFT_VIEWER_RELEASE, x, y, 0, modifiers);
}

static inline void script_drag(
	struct script *s, double x, double y, double x2, double y2, unsigned modifiers)
{
	script_point(s, WEFT_VIEWER_MOVE, x, y, 0, modifiers);
	script_point(s, WEFT_VIEWER_PRESS, x, y, 0, modifiers);
	for (int i = 1; i <= 10; i++) {
		script_wait(s, 16);
		script_point(
			s, WEFT_VIEWER_MOVE, x + (x2 - x) * i / 10, y + (y2 - y) * i / 10, 0, modifiers);
	}
	script_wait(s, 200); /* rests: it is not thrown */
	script_point(s, WEFT_VIEWER_RELEASE, x2, y2, 0, modifiers);
}

static inline int script_action(const char *word)
{
	return strcmp(word, "press") == 0     ? WEFT_VIEWER_PRESS
		   : strcmp(word, "release") == 0 ? WEFT_VIEWER_RELEASE
		   : strcmp(word, "leave") == 0   ? WEFT_VIEWER_LEAVE
		   : strcmp(word, "cancel") == 0  ? WEFT_VIEWER_CANCEL
										  : WEFT_VIEWER_MOVE;
}

static inline void script_touch(struct script *s, const char *line)
{
	int finger;
	char action[16];
	double x, y;
	if (sscanf(line, "%d %15s %lf %lf", &finger, action, &x, &y) == 4)
		script_point(s, (uint8_t)script_action(action), x, y, finger, 0);
}

static inline void script_key(struct script *s, const char *words)
{
	char key[32] = " ";
	unsigned modifiers = script_modifiers(words);
	if (strncmp(words, "space", 5) != 0)
		sscanf(words, "%31s", key);
	weft_viewer_key(s->viewer, key, modifiers, s->now_ms);
}

/* Runs one line; false if it is invalid. */
static inline bool script_run_line(struct script *s, const char *line)
{
	char word[16] = "";
	double n[4] = {0};
	int used = 0;
	if (sscanf(line, "%15s%n", word, &used) != 1)
		return true;
	const char *rest = line + used + (line[used] == ' ');
	unsigned modifiers = script_modifiers(rest);
	sscanf(rest, "%lf %lf %lf %lf", &n[0], &n[1], &n[2], &n[3]);
	if (strcmp(word, "size") == 0)
		weft_viewer_resize(s->viewer, n[0], n[1], s->now_ms);
	else if (strcmp(word, "wheel") == 0)
		weft_viewer_wheel(s->viewer, n[0], n[1], 0, n[2], modifiers, s->now_ms);
	else if (strcmp(word, "pinch") == 0)
		weft_viewer_pinch(s->viewer, n[0], n[1], n[2], s->now_ms);
	else if (strcmp(word, "touch") == 0)
		script_touch(s, rest);
	else if (strcmp(word, "click") == 0)
		script_click(s, n[0], n[1], modifiers);
	else if (strcmp(word, "drag") == 0)
		script_drag(s, n[0], n[1], n[2], n[3], modifiers);
	else if (strcmp(word, "key") == 0)
		script_key(s, rest);
	else if (strcmp(word, "command") == 0)
		weft_viewer_command(s->viewer, rest, s->now_ms);
	else if (strcmp(word, "type") == 0 || strcmp(word, "enter") == 0)
		weft_viewer_prompt_text(s->viewer, rest, word[0] == 'e', s->now_ms);
	else if (strcmp(word, "wait") == 0)
		script_wait(s, n[0]);
	else if (strcmp(word, "double") == 0) {
		script_click(s, n[0], n[1], modifiers);
		script_wait(s, 100);
		script_click(s, n[0], n[1], modifiers);
	} else if (strstr("move press release leave cancel", word))
		script_point(s, (uint8_t)script_action(word), n[0], n[1], 0, modifiers);
	else
		return false;
	return true;
}

/* Lines, or actions with ';' between them. */
static inline void script_run(struct script *s, const char *text)
{
	while (*text) {
		char line[512];
		size_t size = strcspn(text, "\n;");
		snprintf(line, sizeof(line), "%.*s", (int)(size < 511 ? size : 511), text);
		const char *start = line + strspn(line, " \t");
		if (!script_run_line(s, start)) {
			fprintf(stderr, "no such action: %s\n", start);
			abort();
		}
		text += size + (text[size] != '\0');
	}
}

#endif
