/* SPDX-License-Identifier: ISC
 *
 * The program that shows traces in windows.
 */
#ifndef WEFT_APPS_VIEW_H
#define WEFT_APPS_VIEW_H

#include <stdbool.h>

/* Is it there, and a display? It may fail to start all the same. */
bool view_can_show(void);

/* This process becomes it, or ends with a status that is not 0. */
void view_become(char *path, bool follows);

#endif
