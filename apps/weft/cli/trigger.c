/* SPDX-License-Identifier: ISC
 *
 * Trigger rules on the command line: a message shows where a rule is wrong.
 */
#include "trigger.h"

#include "cli.h"

#include <stdio.h>
#include <string.h>

bool cli_trigger_refuse(const char *command, const char *option, const char *rule, int error,
	const struct weft_trigger_error *wrong)
{
	if (error != WEFT_ERROR_ARGUMENT) {
		cli_usage_error(command, "%s: %s", option, weft_error_text(error));
		return false;
	}
	struct weft_text text = {0};
	weft_text_add_quoted(&text, rule, strlen(rule));
	cli_usage_error(command, "%s: %s; at character %zu of %.*s", option, wrong->message,
		wrong->offset + 1, (int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
	return false;
}

bool cli_trigger_add(
	const char *command, const char *option, struct weft_triggers *triggers, const char *rule)
{
	struct weft_trigger_error wrong;
	int error = weft_triggers_add(triggers, rule, strlen(rule), &wrong);
	return error == 0 || cli_trigger_refuse(command, option, rule, error, &wrong);
}

bool cli_trigger_check(const char *command, const char *option, const char *rule)
{
	struct weft_triggers *trial;
	int error = weft_triggers_create(&trial);
	if (error) {
		cli_error("%s", weft_error_text(error));
		return false;
	}
	bool good = cli_trigger_add(command, option, trial, rule);
	weft_triggers_destroy(trial);
	return good;
}
