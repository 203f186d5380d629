/* SPDX-License-Identifier: ISC
 *
 * The prompt: a question to the user.
 */
#ifndef WEFT_VIEWER_PROMPT_H
#define WEFT_VIEWER_PROMPT_H

#include <weft/viewer.h>

#include "viewer/drawing/rows.h"

struct weft_viewer;

enum weft__asked {
	WEFT__ASK_NOTHING,
	WEFT__ASK_START,
	WEFT__ASK_DURATION,
	WEFT__ASK_SEARCH,
	WEFT__ASK_NOTE,
	WEFT__ASK_FILTER,
};

struct weft__prompt {
	enum weft__asked asked;
	struct weft_viewer_prompt shown;
	char text[WEFT__FILTER_BYTES], message[256];
};

/* prompt.c */
void weft__viewer_ask(struct weft_viewer *viewer, enum weft__asked asked);
void weft__viewer_close_prompt(struct weft_viewer *viewer);

#endif
