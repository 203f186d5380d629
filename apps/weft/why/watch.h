/* SPDX-License-Identifier: ISC
 *
 * A profile of where the threads of a process wait.
 */
#ifndef WEFT_APPS_WHY_WATCH_H
#define WEFT_APPS_WHY_WATCH_H

#include <sys/types.h>

enum why_watch_form {
	WHY_WATCH_TABLE,
	WHY_WATCH_JSON,
	WHY_WATCH_COLLAPSED, /* a line for each stack, as tools for flame graphs read them */
};

/* Looks at a process until it ends or Ctrl-C, then prints the profile; or with `output`, writes a
 * trace. Returns an exit status. */
int why_watch(pid_t pid, enum why_watch_form form, const char *output);

/* Writes a trace into the new file `output` that can be followed meanwhile, until the process ends
 * or the other end of the socket `caller` is closed. Sends a byte there when the trace can be
 * opened. Returns an exit status, CLI_UNREADABLE if
 * nothing is shown of the process. */
int why_watch_live(pid_t pid, const char *output, int caller);

#endif
