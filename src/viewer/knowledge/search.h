/* SPDX-License-Identifier: ISC
 *
 * The search and its matches.
 */
#ifndef WEFT_VIEWER_SEARCH_H
#define WEFT_VIEWER_SEARCH_H

#include <weft/search.h>
#include <weft/viewer.h>

struct weft_viewer;

struct weft__search_state {
	struct weft_search *found;       /* NULL: no search */
	struct weft_search_maker *maker; /* of one that goes on; a newer one destroys it */
	int wanted_step;                 /* the step to take when it has ended; 0: none */
	char *text;
	bool is_expression;
	uint32_t match; /* the current match, or WEFT_NONE */
	/* The view before the first match was shown, and the one that shows the newest. */
	struct weft_view before, shown;
	bool has_before;
};

/* find.c */
void weft__viewer_search(struct weft_viewer *viewer, const char *text);
/* Goes on with a search for one frame; true if there is more to do. */
bool weft__viewer_learn_search(struct weft_viewer *viewer);
/* Searches the viewer's model, which has changed, for the same text. */
void weft__viewer_search_again(struct weft_viewer *viewer);
void weft__viewer_step_match(struct weft_viewer *viewer, int step);
void weft__viewer_go_match(struct weft_viewer *viewer, uint32_t number);
void weft__viewer_forget_search(struct weft_viewer *viewer);
/* The same for good, and the view from before it comes back, unless another one was chosen since.
 */
void weft__viewer_end_search(struct weft_viewer *viewer);

#endif
