/* SPDX-License-Identifier: ISC
 *
 * The pill in the title line of a trace that is or was recorded while it is shown: "live · 0.4 s
 * behind", "paused" or "ended".
 *
 * The viewer has no clock of the trace. The shell tells now and then up to which time the trace is
 * complete, which cannot be later than its present. The largest of these lower bounds, continued by
 * the shell's clock, is taken for the present: it is too early by the shortest delay between the
 * recording and the shell, which is far below what the pill shows.
 */
#include "viewer/drawing/pill.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "render/theme.h"
#include "viewer/state.h"

#define PILL_HEIGHT 20.0
#define PILL_MARGIN 8.0
#define SIGN        4.0 /* px, half of its width */
#define SIGN_ROOM   14.0
#define TEXT_SIZE   12.0
#define TITLE_LEAST 140.0 /* px that stay for the title */
#define QUIET_MS    1000.0

/* The clocks of trace and shell differ by 1 in 10,000 at most; the estimated present must not run
 * ahead for that reason. */
#define DRIFT 2e-4

bool weft__viewer_has_pill(const struct weft_viewer *viewer)
{
	return viewer->model && (viewer->is_live || viewer->pill.has_ended);
}

static double text_width(const struct weft_viewer *viewer, const char *text)
{
	const struct weft_font *font = viewer->font ? viewer->font : &weft_font_builtin;
	return font->measure(font->context, text, strlen(text), TEXT_SIZE, false);
}

/* The pill is as wide as its longest text, so that nothing moves when the text changes. Without
 * room for that it has only its sign. */
void weft__viewer_pill_place(struct weft_viewer *viewer)
{
	struct weft__pill *p = &viewer->pill;
	struct weft_box *title = &viewer->frame.title;
	double text = ceil(text_width(viewer, "live \xc2\xb7 0000 min behind"));
	double width = PILL_HEIGHT + SIGN_ROOM, room = title->width - width - 2 * PILL_MARGIN;
	p->box = (struct weft_box){0, 0, 0, 0};
	p->has_text = room >= TITLE_LEAST + text;
	if (!weft__viewer_has_pill(viewer) || title->height == 0 || room < 0)
		return;
	width += p->has_text ? text : 0;
	title->width -= width + PILL_MARGIN;
	p->box = (struct weft_box){title->x + title->width, title->y, width, title->height};
}

/* ---- How far behind ---- */

static double present_at(const struct weft__pill *p, double at_ms)
{
	return (double)p->present_ns + (at_ms - p->present_ms) * 1e6 * (1 - DRIFT);
}

WEFT__EXPORT void weft_viewer_complete(
	struct weft_viewer *viewer, uint64_t time_ns, double at_ms, bool is_shown)
{
	struct weft__pill *p = &viewer->pill;
	if (p->present_ns == 0 || (double)time_ns > present_at(p, at_ms)) {
		p->present_ns = time_ns;
		p->present_ms = at_ms;
	}
	if (is_shown && time_ns > p->shown_ns)
		p->shown_ns = time_ns;
	p->reported_ms = at_ms;
	weft__viewer_settle(viewer);
}

/* If the shell has told nothing for a while, the time goes on in whole seconds, so that the frame
 * is not drawn more often than that. */
static double behind_ms(const struct weft_viewer *viewer)
{
	const struct weft__pill *p = &viewer->pill;
	double silent_ms = fmax(viewer->now_ms - p->reported_ms, 0);
	double at_ms = p->reported_ms + QUIET_MS * floor(silent_ms / QUIET_MS);
	return fmax((present_at(p, at_ms) - (double)p->shown_ns) / 1e6, 0);
}

double weft__viewer_pill_due(const struct weft_viewer *viewer)
{
	const struct weft__pill *p = &viewer->pill;
	if (!viewer->is_live || !viewer->is_following || p->present_ns == 0)
		return INFINITY;
	double silent_ms = fmax(viewer->now_ms - p->reported_ms, 0);
	return p->reported_ms + QUIET_MS * (floor(silent_ms / QUIET_MS) + 1);
}

static void describe_delay(double ms, char *text, size_t size)
{
	unsigned tenths = ms > 100 ? (unsigned)fmin(ceil(ms / 100), 1e6) : 1;
	if (tenths < 100)
		snprintf(text, size, "live \xc2\xb7 %u.%u s behind", tenths / 10, tenths % 10);
	else if (tenths < 600)
		snprintf(text, size, "live \xc2\xb7 %u s behind", tenths / 10);
	else
		snprintf(text, size, "live \xc2\xb7 %u min behind", tenths / 600);
}

static void write_text(const struct weft_viewer *viewer, char *text, size_t size)
{
	if (!viewer->is_live)
		snprintf(text, size, "ended");
	else if (!viewer->is_following)
		snprintf(text, size, "paused");
	else if (viewer->pill.present_ns == 0)
		snprintf(text, size, "live");
	else
		describe_delay(behind_ms(viewer), text, size);
}

static const char *choose_tip(const struct weft_viewer *viewer)
{
	if (!viewer->is_live)
		return "The program has ended, or records no more";
	return viewer->is_following
			   ? "The picture follows the program. Click: pause ( l )"
			   : "The picture is paused; events are still read. Click: go on ( l )";
}

void weft__viewer_pill_describe(struct weft_viewer *viewer, struct weft__button *pill)
{
	char *text = viewer->pill.text;
	if (viewer->has_header ? !viewer->toolbar.is_short : viewer->pill.has_text)
		write_text(viewer, pill->text, sizeof(pill->text));
	pill->tip = choose_tip(viewer);
	pill->icon = !viewer->is_live       ? WEFT__ICON_ENDED
				 : viewer->is_following ? WEFT__ICON_LIVE
										: WEFT__ICON_PAUSED;
	pill->is_faint = !viewer->is_live;
	if (strcmp(text, pill->text) != 0)
		viewer->changes |= WEFT_VIEWER_CANVAS;
	snprintf(text, sizeof(viewer->pill.text), "%s", pill->text);
}

void weft__viewer_pill_take(struct weft_viewer *viewer, bool is_same, bool was_live)
{
	struct weft__pill *p = &viewer->pill;
	bool has_ended = is_same && !viewer->is_live && (was_live || p->has_ended);
	if (!is_same)
		*p = (struct weft__pill){0};
	p->has_ended = has_ended;
	if (viewer->model->summary.last > p->shown_ns)
		p->shown_ns = viewer->model->summary.last;
}

/* ---- Drawing ---- */

void weft__viewer_pill_draw(
	const struct weft_viewer *viewer, const struct weft__button *pill, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	bool is_on = viewer->is_live && viewer->is_following;
	struct weft_text_style style = {is_on ? theme->text : theme->dim, TEXT_SIZE, false, false, 0};
	double width = text_width(viewer, pill->text), radius = PILL_HEIGHT / 2;
	double x2 = floor(pill->box.x + pill->box.width), y = floor(pill->box.y + pill->box.height / 2);
	double x = x2 - ceil(width) - SIGN_ROOM - PILL_HEIGHT;
	weft_canvas_disc(canvas, x + radius, y, radius, theme->idle);
	weft_canvas_disc(canvas, x2 - radius, y, radius, theme->idle);
	weft_canvas_rect(canvas, x + radius, y - radius, x2 - radius, y + radius, theme->idle);
	weft__viewer_draw_icon(canvas, (enum weft__icon)pill->icon, x + radius + SIGN, y,
		is_on ? theme->resolve : theme->dim);
	if (width > 0)
		weft_canvas_text(
			canvas, x + radius + SIGN_ROOM, y + 4.5, pill->text, strlen(pill->text), width, &style);
}
