/* SPDX-License-Identifier: ISC
 *
 * weft agent: rules about metrics, from the command line and from files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "command.h"
#include "runs/message.h"

/* Writes the rule as it was given. */
static void add_shown(struct weft_text *text, const char *rule)
{
	weft_text_add_quoted(text, rule, strlen(rule));
	weft_text_add(text, "", 1);
}

static int add(struct weft__agent_alerts *alerts, const char *where, const char *rule)
{
	struct weft_trigger_error wrong;
	struct weft_text text = {0};
	int error = weft__agent_alerts_add(alerts, rule, &wrong);
	if (!error)
		return CLI_DONE;
	add_shown(&text, rule);
	if (error != WEFT_ERROR_ARGUMENT || text.error)
		cli_usage_error("agent", "%s: %s", where, weft_error_text(error));
	else
		cli_usage_error("agent", "%s: %s; at character %zu of %s", where, wrong.message,
			wrong.offset + 1, text.bytes);
	weft_text_finish(&text);
	return CLI_USAGE;
}

int agent_add_rule(struct weft__agent_alerts *alerts, const char *rule)
{
	return add(alerts, "--rule", rule);
}

/* One rule a line; blank lines and those that begin with # are left out. */
int agent_add_rules(struct weft__agent_alerts *alerts, const char *path)
{
	char *line = NULL, where[PATH_MAX + 32];
	size_t capacity = 0;
	unsigned number = 0;
	int status = CLI_DONE;
	FILE *file = fopen(path, "re");
	if (!file)
		return cli_usage_error("agent", "--rules: %s: %s", weft__runs_shown(path), strerror(errno));
	for (ssize_t size; status == CLI_DONE && (size = getline(&line, &capacity, file)) >= 0;) {
		const char *start = line + strspn(line, " \t\r\n");
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		if (!*start || *start == '#')
			continue;
		snprintf(where, sizeof(where), "%s:%u", weft__runs_shown(path), number);
		status = add(alerts, where, line);
	}
	if (ferror(file))
		status =
			cli_usage_error("agent", "--rules: %s: %s", weft__runs_shown(path), strerror(errno));
	free(line);
	fclose(file);
	return status;
}
