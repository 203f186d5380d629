/* SPDX-License-Identifier: ISC
 *
 * Makes a scene in steps, one part in each, between which the caller may do something else, or give
 * it up.
 */
#ifndef WEFT_RENDER_SCENE_MAKER_H
#define WEFT_RENDER_SCENE_MAKER_H

#include <weft/render.h>

struct weft__scene_maker;

/* 0 or WEFT_ERROR_MEMORY. */
int weft__render_scene_maker_create(const struct weft_model *model,
	const struct weft_layout *layout, struct weft__scene_maker **ret_maker);
/* WEFT_AGAIN if there is more to do; 0 with the scene; or an error. After either of these the maker
 * can only be destroyed; destroying it earlier gives the scene up. */
int weft__render_scene_maker_step(struct weft__scene_maker *maker, struct weft_scene **ret_scene);
void weft__render_scene_maker_destroy(struct weft__scene_maker *maker);

#endif
