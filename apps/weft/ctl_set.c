/* SPDX-License-Identifier: ISC
 *
 * weft ctl set: all assignments are looked at before the first one counts.
 */
#include "ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct assignment {
	char *pattern; /* the argument, cut at its '=' */
	enum weft_level level;
};

/* False after a message. */
static bool parse(char *argument, struct assignment *ret_assignment)
{
	char *equals = strrchr(argument, '=');
	if (!equals || equals == argument) {
		cli_usage_error("ctl", "\"%s\" is not CATEGORY=LEVEL", argument);
		return false;
	}
	int level = weft_level_parse(equals + 1);
	if (level < 0) {
		cli_usage_error("ctl",
			"\"%s\": there is no level \"%s\"; write off, error, warning, info, debug or trace",
			argument, equals + 1);
		return false;
	}
	*equals = '\0';
	*ret_assignment = (struct assignment){argument, (enum weft_level)level};
	return true;
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

/* Nothing is set if one of them is unknown. */
static int check(struct ctl *ctl, const struct assignment *assignments, int count)
{
	for (int i = 0; i < count; i++)
		if (!weft_control_matches(ctl->control, assignments[i].pattern))
			return unknown(ctl, assignments[i].pattern);
	return CLI_DONE;
}

/* One of all first: the others are its exceptions, wherever they stand. */
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
	if (count == 0)
		return cli_usage_error("ctl", "set what? CATEGORY=LEVEL is missing");
	struct assignment *assignments = calloc((size_t)count, sizeof(*assignments));
	if (!assignments) {
		cli_error("%s", strerror(errno));
		return CLI_NO;
	}
	int status = CLI_DONE;
	for (int i = 0; i < count && !status; i++)
		status = parse(arguments[i], &assignments[i]) ? CLI_DONE : CLI_USAGE;
	if (!status)
		status = check(ctl, assignments, count);
	if (!status)
		status = set(ctl, assignments, count);
	free(assignments);
	return status;
}
