/* SPDX-License-Identifier: ISC
 *
 * Rules of the command line, fed by a program that is followed.
 */
#ifndef WEFT_APPS_CLI_TRIGGER_H
#define WEFT_APPS_CLI_TRIGGER_H

#include <weft/follow.h>
#include <weft/trigger.h>

/* False after a message that names the option and the place. */
bool cli_trigger_add(
	const char *command, const char *option, struct weft_triggers *triggers, const char *rule);

/* Is it a rule? Likewise. */
bool cli_trigger_check(const char *command, const char *option, const char *rule);

/* Feeds the events that there are, `most` at most, and the time. As of weft_follow_next: WEFT_OK if
 * there may be more. */
int cli_trigger_follow(struct weft_triggers *triggers, struct weft_follow *follow, unsigned most);

#endif
