/* SPDX-License-Identifier: ISC
 *
 * Squeezes idle time: the command, and the squeeze of the current trace. The viewer owns the
 * squeeze, and all its views borrow it; so it is replaced only together with these.
 */
#include <string.h>

#include "render/facts.h"
#include "render/things.h"
#include "viewer/commands/commands.h"
#include "viewer/state.h"

#define MOSTLY  0.9
#define PERCENT 100

/* Without memory nothing is squeezed. */
struct weft_squeeze *weft__viewer_make_squeeze(const struct weft_viewer *viewer)
{
	struct weft_squeeze *squeeze = NULL;
	if (viewer->squeezing.is_on && viewer->scene)
		(void)weft_scene_create_squeeze(viewer->scene, &squeeze);
	return squeeze;
}

unsigned weft__viewer_find_idle(const struct weft_viewer *viewer)
{
	struct weft_squeeze *squeeze = NULL;
	double share = weft__render_idle_share(viewer->scene);
	if (share < MOSTLY || weft_scene_create_squeeze(viewer->scene, &squeeze) || !squeeze)
		return 0;
	uint64_t ns;
	uint32_t stripes = weft_squeeze_count(squeeze, &ns);
	weft_squeeze_destroy(squeeze);
	return stripes ? (unsigned)(share * PERCENT) : 0;
}

void weft__viewer_squeeze(struct weft_viewer *viewer, struct weft_view *view, bool is_on)
{
	struct weft_squeeze *old = viewer->squeezing.squeeze;
	if (is_on == viewer->squeezing.is_on)
		return;
	viewer->squeezing.is_on = is_on;
	viewer->squeezing.squeeze = weft__viewer_make_squeeze(viewer);
	weft__viewer_halt(viewer);
	weft_view_set_squeeze(&viewer->view, viewer->squeezing.squeeze);
	weft_view_set_squeeze(view, viewer->squeezing.squeeze);
	weft__render_things_clear(viewer->things); /* they have a view, too */
	weft_squeeze_destroy(old);
	viewer->panel.is_stale = true;
}

/* The x whose time stays: that of the pointer, if it is over the picture; else the middle. */
static double held_x(const struct weft_viewer *viewer)
{
	const struct weft_box *box = &viewer->frame.picture;
	const struct weft__pointer *p = &viewer->pointer;
	return p->is_inside && weft__viewer_inside(box, p->x, p->y) ? p->x - box->x : box->width / 2;
}

static void show_effect(struct weft_viewer *viewer)
{
	uint64_t ns;
	uint32_t count = weft_squeeze_count(viewer->squeezing.squeeze, &ns);
	char length[32];
	weft_format_duration(ns, 3, length);
	if (!viewer->squeezing.is_on)
		weft__viewer_show_message(viewer, "Idle time is drawn to scale.");
	else if (count == 0)
		weft__viewer_show_message(viewer,
			"Nothing to squeeze: no idle time is longer than five times the median of all.");
	else
		weft__viewer_show_message(viewer, "Idle time is squeezed: %u stripe%s, %s in all.",
			(unsigned)count, count == 1 ? "" : "s", length);
}

void weft__run_squeeze(struct weft_viewer *viewer, const char *arguments)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	bool is_on = arguments[0] ? strcmp(arguments, "on") == 0 : !viewer->squeezing.is_on;
	double x = held_x(viewer), held_ns = weft__view_ns(&view, x);
	weft__viewer_remember(viewer, true);
	weft__viewer_squeeze(viewer, &view, is_on);
	weft_view_pan(&view, x - weft__view_x_of(&view, held_ns));
	weft__viewer_jump(viewer, &view);
	show_effect(viewer);
}
