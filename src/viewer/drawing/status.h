/* SPDX-License-Identifier: ISC
 *
 * The status line, and messages that stand there for a while.
 */
#ifndef WEFT_VIEWER_STATUS_H
#define WEFT_VIEWER_STATUS_H

#include <weft/viewer.h>

struct weft_viewer;

struct weft__status {
	char text[512], message[512];
	double message_until_ms;
	double message_x, message_y; /* position of the pointer when the message came */
};

/* status.c */
__attribute__((format(printf, 2, 3))) void weft__viewer_show_message(
	struct weft_viewer *viewer, const char *format, ...);
bool weft__viewer_has_moved_since_message(const struct weft_viewer *viewer);
void weft__viewer_write_status(struct weft_viewer *viewer);

#endif
