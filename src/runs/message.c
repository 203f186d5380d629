/* SPDX-License-Identifier: ISC
 *
 * Messages for the user, see message.h. Paths in them are quoted where a terminal or a shell would
 * misread them.
 */
#include "runs/message.h"

#include <inttypes.h>
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
	uint64_t one = 1;
	for (; bytes / one >= 1024 && unit < 4; unit++)
		one *= 1024;
	uint64_t tenths = (bytes / one) * 10 + ((bytes % one) * 10 + one / 2) / one;
	if (bytes % one == 0)
		snprintf(text, 32, "%" PRIu64 " %s", bytes / one, units[unit]);
	else
		snprintf(text, 32, "%" PRIu64 ".%u %s", tenths / 10, (unsigned)(tenths % 10), units[unit]);
	return text;
}
