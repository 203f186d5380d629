/* SPDX-License-Identifier: ISC
 *
 * weft ctl set: checks all assignments before it applies the first one.
 */
#include "ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct assignment {
	const char *pattern; /* the argument, cut at its '=' */
	enum weft_level level;
};

static int check_one(const char *argument)
{
	const char *equals = strrchr(argument, '=');
	if (!equals || equals == argument)
		return cli_usage_error("ctl", "\"%s\" is not CATEGORY=LEVEL", argument);
	if (weft_level_parse(equals + 1) >= 0)
		return CLI_DONE;
	static const char *const names[] = {
#define LEVEL(number, id, name) name,
#include <weft/levels.def>
#undef LEVEL
		NULL};
	return cli_unknown_value("ctl", "level", equals + 1, names);
}

int ctl_set_check(const struct ctl *ctl, int count, char **arguments)
{
	int status = CLI_DONE;
	(void)ctl;
	if (count == 0)
		return cli_usage_error("ctl", "CATEGORY=LEVEL is missing");
	for (int i = 0; i < count && !status; i++)
		status = check_one(arguments[i]);
	return status;
}

/* Parses an assignment that was checked. */
static struct assignment parse(char *argument)
{
	char *equals = strrchr(argument, '=');
	*equals = '\0';
	return (struct assignment){argument, (enum weft_level)weft_level_parse(equals + 1)};
}

static int unknown(struct ctl *ctl, const char *pattern)
{
	const struct weft_trace_description *trace = weft_control_describe(ctl->control);
	struct weft_text text = {0};
	for (uint32_t i = 0; i < trace->category_count; i++) {
		const char *name = trace->categories[i].name;
		weft_text_add_string(&text, i ? ", " : "");
		weft_text_add_quoted(&text, name, strlen(name));
	}
	weft_text_add(&text, "", 1);
	cli_error("no category \"%s\"; the program has: %s", pattern,
		text.error ? weft_error_text(text.error) : text.bytes);
	weft_text_finish(&text);
	return CLI_NO;
}

/* Checks all assignments: if a category is unknown, none is applied. */
static int check(struct ctl *ctl, const struct assignment *assignments, int count)
{
	for (int i = 0; i < count; i++)
		if (!weft_control_matches(ctl->control, assignments[i].pattern))
			return unknown(ctl, assignments[i].pattern);
	for (int i = 0; i < count; i++) {
		/* No category matches this pattern. */
		int error = weft_control_set_level(ctl->control, "", assignments[i].level, NULL);
		if (error)
			return ctl_fail(ctl, error);
	}
	return CLI_DONE;
}

/* Applies "*" first: the others are exceptions to it, wherever they are in the list. */
static int set(struct ctl *ctl, const struct assignment *assignments, int count)
{
	for (int i = 0; i < 2 * count; i++) {
		const struct assignment *a = &assignments[i % count];
		if ((strcmp(a->pattern, "*") == 0) != (i < count))
			continue;
		int error = weft_control_set_level(ctl->control, a->pattern, a->level, NULL);
		if (error)
			return ctl_fail(ctl, error);
	}
	return CLI_DONE;
}

int ctl_set(struct ctl *ctl, int count, char **arguments)
{
	struct assignment *assignments = calloc((size_t)count, sizeof(*assignments));
	if (!assignments) {
		cli_error("%s", strerror(errno));
		return CLI_NO;
	}
	for (int i = 0; i < count; i++)
		assignments[i] = parse(arguments[i]);
	int status = check(ctl, assignments, count);
	if (!status)
		status = set(ctl, assignments, count);
	free(assignments);
	return status;
}
