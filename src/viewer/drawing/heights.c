/* SPDX-License-Identifier: ISC
 *
 * Row heights that follow what is in view, and which rows have anything there. The viewer owns one
 * array of heights; views and their
 * copies borrow it. It is filled for one view at a time: for the one that is drawn, whenever its
 * times have changed, and for the target of a move while its rows are placed.
 */
#include <stdlib.h>

#include "render/rows.h"
#include "render/things.h"
#include "viewer/state.h"

static bool is_same(const struct weft_view *a, const struct weft_view *b)
{
	return a->start == b->start && a->end == b->end && a->left == b->left && a->scale == b->scale &&
		   a->squeeze == b->squeeze && a->width == b->width && a->height == b->height;
}

void weft__viewer_free_heights(struct weft_viewer *viewer)
{
	free(viewer->heights.edges);
	free(viewer->heights.before);
	viewer->heights = (struct weft__heights){.edges = NULL};
}

/* Makes room for the layout's rows, and for some more of a trace that grows. All views that borrow
 * the array then borrow none. */
static bool make_room(struct weft_viewer *viewer)
{
	struct weft__heights *h = &viewer->heights;
	size_t count = viewer->layout->row_count + (size_t)1;
	if (h->capacity >= count)
		return true;
	count += viewer->model->summary.live ? count / 8 : 0;
	struct weft_view *views[] = {&viewer->view, &viewer->motion.from, &viewer->motion.to};
	for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		weft_view_set_edges(views[i], NULL);
	weft__render_things_clear(viewer->things);
	weft__viewer_free_heights(viewer);
	h->edges = malloc(count * sizeof(*h->edges));
	h->before = malloc(count * sizeof(*h->before));
	if (!h->edges || !h->before)
		weft__viewer_free_heights(viewer);
	else
		h->capacity = count;
	return h->capacity > 0;
}

void weft__viewer_follow_view(struct weft_viewer *viewer, struct weft_view *view)
{
	struct weft__heights *h = &viewer->heights;
	bool is_borrowed = view->edges == h->edges && view->edge_rows == view->row_count;
	if (!viewer->scene || view->row_count != viewer->layout->row_count)
		return;
	if (is_borrowed && h->scene == viewer->scene && is_same(&h->of, view))
		return;
	if (!make_room(viewer))
		return;
	weft__render_row_edges(viewer->scene, view, h->edges, h->before);
	h->of = *view;
	h->scene = viewer->scene;
	weft_view_set_edges(view, h->edges);
}

void weft__viewer_forget_heights(struct weft_viewer *viewer)
{
	viewer->heights.scene = NULL;
}
