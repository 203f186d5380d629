/* SPDX-License-Identifier: ISC
 *
 * Starts weft-gtk, which shows traces in windows.
 */
#ifndef WEFT_APPS_VIEW_H
#define WEFT_APPS_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

/* True if weft-gtk and a display exist. It may still fail to start. */
bool view_can_show(void);

/* Replaces this process by weft-gtk, or ends it with a status other than 0. `pid`: the process
 * whose ring `path` must be; 0 for any file. */
void view_become(const char *path, pid_t pid, bool follows);

#endif
