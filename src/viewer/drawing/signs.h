/* SPDX-License-Identifier: ISC
 *
 * Signs: small marks of the ruler and the overview, each of which stands for one time: failures,
 * long tasks, problems, matches of the search, bookmarks.
 */
#ifndef WEFT_VIEWER_SIGNS_H
#define WEFT_VIEWER_SIGNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_viewer;

enum weft__sign_type {
	WEFT__SIGN_NONE,
	WEFT__SIGN_FAILURE, /* of task `number` */
	WEFT__SIGN_LONGEST, /* task `number`, whose whisker ends in an open mark */
	WEFT__SIGN_PROBLEM, /* `number` in the order of severity */
	WEFT__SIGN_MATCH,
	WEFT__SIGN_MARK, /* a bookmark */
};

struct weft__sign {
	enum weft__sign_type type;
	uint32_t number;
	uint32_t count; /* failures within reach of the pointer */
};

/* signs.c */
struct weft__sign weft__viewer_sign_at(const struct weft_viewer *viewer, double x, double y);
void weft__viewer_write_sign(const struct weft_viewer *viewer, char *text, size_t size);
/* Goes to what the sign stands for, if it is one. */
void weft__viewer_go_sign(struct weft_viewer *viewer, const struct weft__sign *sign);

#endif
