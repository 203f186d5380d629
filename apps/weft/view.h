/* SPDX-License-Identifier: ISC
 *
 * The program that shows traces in windows.
 */
#ifndef WEFT_APPS_VIEW_H
#define WEFT_APPS_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

/* Is it there, and a display? It may fail to start all the same. */
bool view_can_show(void);

/* This process becomes it, or ends with a status that is not 0. `pid`: of the process whose ring
 * `path` must be; 0 for any file. */
void view_become(const char *path, pid_t pid, bool follows);

#endif
