/* SPDX-License-Identifier: ISC */
#include "runs/message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/text.h>

static void (*take_message)(const char *message);

void weft__runs_set_report(void (*take)(const char *message))
{
	take_message = take;
}

void weft__runs_report(const char *format, ...)
{
	va_list arguments;
	char *message;
	va_start(arguments, format);
	int size = take_message ? vasprintf(&message, format, arguments) : -1;
	va_end(arguments);
	if (size < 0)
		return;
	take_message(message);
	free(message);
}

const char *weft__runs_shown(const char *path)
{
	/* A stream's thread and the main thread both write messages. */
	static _Thread_local char shown[4][PATH_MAX + NAME_MAX];
	static _Thread_local unsigned next;
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%";
	if (path[0] && path[strspn(path, plain)] == '\0')
		return path;
	struct weft_text text = {0};
	char *copy = shown[next++ % 4];
	weft_text_add_quoted(&text, path, strlen(path));
	snprintf(copy, sizeof(shown[0]), "%.*s", (int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
	return copy;
}

const char *weft__runs_size_text(uint64_t bytes, char text[32])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;
	double size = (double)bytes;
	for (; size >= 1024 && unit < 4; unit++)
		size /= 1024;
	snprintf(text, 32, size == (double)(uint64_t)size ? "%.0f %s" : "%.1f %s", size, units[unit]);
	return text;
}
