/* SPDX-License-Identifier: ISC
 *
 * Makes a layout in steps, between which the caller may do something else, or
 * give it up.
 */
#ifndef WEFT_LAYOUT_MAKER_H
#define WEFT_LAYOUT_MAKER_H

#include <weft/layout.h>

struct weft__layout_maker;

/* The model and all that `options` borrows must outlive the maker. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_maker_create(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft__layout_maker **ret_maker);
/* WEFT_AGAIN if there is more to do; 0 with the layout, as weft_layout_create() makes it; or an
 * error. After either of these the maker can only be destroyed; destroying it earlier gives the
 * layout up. */
int weft__layout_maker_step(struct weft__layout_maker *maker, struct weft_layout **ret_layout);
void weft__layout_maker_destroy(struct weft__layout_maker *maker);

#endif
