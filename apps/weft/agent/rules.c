/* SPDX-License-Identifier: ISC
 *
 * weft agent: rules about metrics, from the command line and from files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/trigger.h"
#include "command.h"
#include "runs/message.h"

static int add(struct weft__agent_alerts *alerts, const char *where, const char *rule)
{
	struct weft_trigger_error wrong;
	int error = weft__agent_alerts_add(alerts, rule, &wrong);
	return !error || cli_trigger_refuse("agent", where, rule, error, &wrong) ? CLI_DONE : CLI_USAGE;
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
