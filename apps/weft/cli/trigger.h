/* SPDX-License-Identifier: ISC
 *
 * Trigger rules on the command line.
 */
#ifndef WEFT_APPS_CLI_TRIGGER_H
#define WEFT_APPS_CLI_TRIGGER_H

#include <stdbool.h>

#include <weft/trigger.h>

/* Adds a rule; false after a message that names the option and the character. */
bool cli_trigger_add(
	const char *command, const char *option, struct weft_triggers *triggers, const char *rule);

/* Prints why a rule was refused, with its character for WEFT_ERROR_ARGUMENT. False. */
bool cli_trigger_refuse(const char *command, const char *option, const char *rule, int error,
	const struct weft_trigger_error *wrong);

/* Checks a rule; false after the same message. */
bool cli_trigger_check(const char *command, const char *option, const char *rule);

#endif
