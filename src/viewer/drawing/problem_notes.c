/* SPDX-License-Identifier: ISC
 *
 * The notes at the marked problem: what caused it, and what followed.
 *
 *     condition 4 ─────┬──────────────
 *       signalled, nobody waits
 *     worker ────────────────┬──────── ─
 *                            begins to wait, 11 us late
 */
#include <math.h>
#include <string.h>

#include "render/theme.h"
#include "viewer/state.h"

#define SIZE   11.0
#define BELOW  9.0 /* px from a line to the words, which are opposite of the tasks' names */
#define HEIGHT 15.0
#define PAD    4.0
#define TICK   6.0

/* Where a note is drawn. */
struct drawn_note {
	double x, y; /* its time on the task's line */
	double left, top, width;
};

static bool lay_out(const struct weft_viewer *viewer, const struct weft_problem_note *note,
	const struct weft_font *font, bool is_left, struct drawn_note *ret_drawn)
{
	const struct weft_box *box = &viewer->frame.picture;
	if (!note->words[0] || viewer->layout->row[note->task] == WEFT_NONE)
		return false;
	double x = weft__viewer_canvas_x(viewer, note->time);
	double y = floor(box->y + weft_view_y(&viewer->view, viewer->layout->row[note->task]));
	if (x < box->x || x > box->x + box->width || y < box->y + TICK || y > box->y + box->height)
		return false;
	double width =
		font->measure(font->context, note->words, strlen(note->words), SIZE, true) + 2 * PAD;
	double left = is_left ? x - width + PAD : x - PAD, right = box->x + box->width;
	double top = y + BELOW + HEIGHT > box->y + box->height ? y - BELOW - HEIGHT : y + BELOW;
	*ret_drawn =
		(struct drawn_note){x, y, floor(fmax(fmin(left, right - width), box->x)), top, ceil(width)};
	return true;
}

static bool overlap(const struct drawn_note *a, const struct drawn_note *b)
{
	return a->left < b->left + b->width && b->left < a->left + a->width &&
		   fabs(a->top - b->top) < HEIGHT;
}

static void draw(const struct weft_viewer *viewer, const struct drawn_note *drawn,
	const char *words, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	const struct weft_text_style style = {theme->background, SIZE, true, false, 0};
	const struct weft_pen pen = {theme->text, 1.5, WEFT_DASH_SOLID};
	double bottom = drawn->top + HEIGHT;
	weft_canvas_line(canvas, drawn->x, fmin(drawn->y - TICK, drawn->top), drawn->x,
		fmax(drawn->y + TICK, drawn->top), &pen);
	weft_canvas_rect(
		canvas, drawn->left, drawn->top, drawn->left + drawn->width, bottom, theme->text);
	weft_canvas_text(canvas, drawn->left + PAD, bottom - 4, words, strlen(words),
		drawn->width - 2 * PAD, &style);
}

void weft__viewer_draw_problem_notes(
	const struct weft_viewer *viewer, const struct weft_font *font, struct weft_canvas *canvas)
{
	const struct weft_problem *problem = weft__viewer_marked_problem(viewer);
	struct drawn_note cause, effect;
	if (!problem)
		return;
	bool has_cause = lay_out(viewer, &problem->cause, font, true, &cause);
	bool has_effect = lay_out(viewer, &problem->effect, font, false, &effect);
	if (has_cause && has_effect && overlap(&cause, &effect))
		effect.top = cause.top + HEIGHT + 1;
	if (has_cause)
		draw(viewer, &cause, problem->cause.words, canvas);
	if (has_effect)
		draw(viewer, &effect, problem->effect.words, canvas);
}
