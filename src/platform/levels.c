/* SPDX-License-Identifier: ISC
 *
 * Settings from the environment: levels, and whether system calls are allowed.
 *
 *     WEFT_LEVEL=debug                              for all categories
 *     WEFT_CATEGORIES=net=debug,db*=off,*=warning   for those that match
 *
 *     WEFT_SYSCALLS=none                            only at a thread's first event
 *
 * `*` alone means all others, wherever it stands in the list.
 *
 * Errors in the list are reported, and the rest of the list is applied: the program is still
 * recorded.
 */
#include "platform/linux.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "record/category.h"
#include "record/recorder.h"

#define PATTERN_MAX 256

static int level_of(const char *name, size_t size)
{
	static const char *const names[] = {
#define LEVEL(number, id, name) [number] = name,
#include <weft/levels.def>
#undef LEVEL
	};
	for (int level = 0; level <= WEFT_LEVEL_LAST; level++)
		if (strlen(names[level]) == size && memcmp(names[level], name, size) == 0)
			return level;
	return -1;
}

/* Applies CATEGORY=LEVEL. NULL, or the error in it. */
static const char *set(const char *item, size_t size)
{
	char pattern[PATTERN_MAX];
	const char *equals = memrchr(item, '=', size);
	size_t length = equals ? (size_t)(equals - item) : 0;
	if (length == 0)
		return "not CATEGORY=LEVEL";
	int level = level_of(equals + 1, size - length - 1);
	if (level < 0)
		return "not a level: off, error, warning, info, debug, trace or count";
	if (length >= sizeof(pattern))
		return "too long a name";
	memcpy(pattern, item, length);
	pattern[length] = '\0';
	return weft__record_set_level(pattern, (enum weft_level)level)
			   ? "too many settings, or too long a name"
			   : NULL;
}

static void report_item(const char *item, size_t size, const char *wrong)
{
	char reason[128];
	size_t room = sizeof(reason) - 1 - strlen(wrong) - strlen("\"\": ");
	size_t shown = size < room ? size : room;
	reason[0] = '"';
	memcpy(reason + 1, item, shown);
	memcpy(reason + 1 + shown, "\": ", 3);
	memcpy(reason + 4 + shown, wrong, strlen(wrong) + 1);
	weft__platform_linux_report("WEFT_CATEGORIES", reason);
}

static void set_categories(const char *list)
{
	while (*list) {
		size_t size = strcspn(list, ",");
		const char *wrong = size ? set(list, size) : NULL;
		if (wrong)
			report_item(list, size, wrong);
		list += size + (list[size] == ',');
	}
}

/* The value of WEFT_SYSCALLS; "" if it is not set. */
static const char *syscalls(void)
{
	const char *wanted = secure_getenv("WEFT_SYSCALLS");
	return wanted ? wanted : "";
}

bool weft__platform_linux_is_quiet(void)
{
	return strcmp(syscalls(), "none") == 0;
}

void weft__platform_linux_levels(void)
{
	const char *level = secure_getenv("WEFT_LEVEL");
	const char *categories = secure_getenv("WEFT_CATEGORIES");
	int number = level && *level ? level_of(level, strlen(level)) : WEFT_LEVEL_INFO;
	if (number >= 0)
		weft__record_set_level("*", (enum weft_level)number);
	else
		weft__platform_linux_report(
			"WEFT_LEVEL", "not a level: off, error, warning, info, debug, trace or count");
	if (categories)
		set_categories(categories);
	if (*syscalls() && !weft__platform_linux_is_quiet())
		weft__platform_linux_report("WEFT_SYSCALLS", "the only value is none");
}
