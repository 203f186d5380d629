/* SPDX-License-Identifier: ISC
 *
 * Draws the canvas: the frame of the trace with its highlights, and above it the user's range,
 * guides, bookmarks and buttons. Without a trace, a message stands where the picture would be.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "render/clock.h"
#include "render/strip.h"
#include "render/theme.h"
#include "render/things.h"
#include "viewer/state.h"

#define LABEL_SIZE  11.0
#define FLAG        6.0
#define FOUND_TICK  9.0
#define PERIODS_MAX 1000 /* a problem with more periods gets one mark */
#define GROUND      0.7  /* share of the picture; a wider problem gets no ground */

struct drawing {
	const struct weft_viewer *viewer;
	const struct weft__theme *theme;
	const struct weft_font *font;
	struct weft_canvas *canvas;
	struct weft__strip strip;
};

double weft__viewer_canvas_x(const struct weft_viewer *viewer, uint64_t time)
{
	return viewer->frame.picture.x + weft_view_x(&viewer->view, time);
}

static double measure(
	const struct drawing *d, const char *text, const struct weft_text_style *style)
{
	return d->font->measure(d->font->context, text, strlen(text), style->size, style->bold);
}

/* Draws a text on a filled ground, centred on x but within the box. */
static void draw_label(const struct drawing *d, const struct weft_box *box, double x, double y,
	const char *text, uint32_t ground)
{
	struct weft_text_style style = {d->theme->background, LABEL_SIZE, true, false, 0};
	double width = measure(d, text, &style);
	double left = floor(fmin(fmax(x - width / 2, box->x + 5), box->x + box->width - width - 5));
	weft_canvas_rect(d->canvas, left - 5, y - 8, left + width + 5, y + 8, ground);
	weft_canvas_text(d->canvas, left, y + 4, text, strlen(text), width, &style);
}

static void draw_guide(const struct drawing *d, double x, double top, double bottom, uint32_t color)
{
	const struct weft_box *box = &d->viewer->frame.picture;
	struct weft_pen pen = {color, 1, WEFT_DASH_SOLID};
	if (x >= box->x && x <= box->x + box->width)
		weft_canvas_line(d->canvas, floor(x) + 0.5, top, floor(x) + 0.5, bottom, &pen);
}

static double strip_x(const struct drawing *d, uint64_t time)
{
	return weft__render_strip_x(&d->strip, time);
}

static void draw_range(const struct drawing *d)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_box *box = &viewer->frame.picture;
	uint64_t start, end;
	char text[32];
	if (!viewer->range.is_set)
		return;
	weft__viewer_order_range(viewer, &start, &end);
	double x = weft__viewer_canvas_x(viewer, start), x2 = weft__viewer_canvas_x(viewer, end);
	double left = fmin(fmax(x, box->x), box->x + box->width);
	double right = fmin(fmax(x2, box->x), box->x + box->width);
	double bottom = box->y + box->height;
	uint32_t color = d->theme->selection;
	if (right > left)
		weft_canvas_rect(
			d->canvas, left, viewer->frame.ruler.y, right, bottom, weft__render_faded(color, 0.12));
	draw_guide(d, x, viewer->frame.ruler.y, bottom, color);
	draw_guide(d, x2, viewer->frame.ruler.y, bottom, color);
	weft_format_duration(end - start, 4, text);
	if (right > left && !viewer->flame.is_shown)
		draw_label(d, box, (left + right) / 2, box->y + 14, text, color);
	if (viewer->frame.strip.height > 0)
		weft_canvas_rect(d->canvas, strip_x(d, start), viewer->frame.strip.y + 1,
			fmax(strip_x(d, end), strip_x(d, start) + 1),
			viewer->frame.strip.y + viewer->frame.strip.height - 3,
			weft__render_faded(color, 0.25));
}

/* Marks a period of a problem in the overview. */
static void draw_wrong_period(const struct drawing *d, uint64_t start, uint64_t end, uint32_t color)
{
	const struct weft_box *strip = &d->viewer->frame.strip;
	double x = strip_x(d, start), bottom = strip->y + strip->height - 4;
	weft_canvas_rect(d->canvas, x, bottom - 2, fmax(strip_x(d, end), x + 2), bottom, color);
}

/* Marks all warnings, all errors and the first problem in the overview. */
static void draw_wrong(const struct drawing *d)
{
	const struct weft_problems *problems = d->viewer->problems.found;
	if (!problems || !problems->count || d->viewer->frame.strip.height == 0)
		return;
	uint32_t first = d->viewer->problems.found->by_gravity[0];
	for (uint32_t i = problems->count;
		 i-- > 0;) { /* at most 200; the gravest is drawn last, on top */
		uint32_t index = d->viewer->problems.found->by_gravity[i];
		const struct weft_problem *problem = &problems->list[index];
		bool is_error = problem->severity == WEFT_SEVERITY_ERROR;
		uint32_t color = is_error ? d->theme->failed : d->theme->signal;
		if (problem->severity == WEFT_SEVERITY_HINT && index != first)
			continue;
		if (problem->period_count == 0 || problem->period_count > PERIODS_MAX || index != first)
			draw_wrong_period(d, problem->start, problem->end, color);
		else
			for (uint32_t k = 0; k < problem->period_count; k++) {
				const struct weft_problem_period *period =
					&problems->periods[problem->first_period + k];
				draw_wrong_period(d, period->start, period->end, color);
			}
	}
}

/* Marks all periods of a repeated problem: as grounds in the picture and ticks in the overview.
 * Periods that share a pixel are merged. The caller marks the first one. */
static void draw_periods(
	const struct drawing *d, const struct weft_problem *problem, uint32_t color)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_box *box = &viewer->frame.picture, *strip = &viewer->frame.strip;
	if (problem->period_count == 0)
		return;
	const struct weft_problem_period *list =
		&viewer->problems.found->periods[problem->first_period];
	double drawn = box->x, ticked = -INFINITY, edge = box->x + box->width;
	for (uint32_t i = 0; i < problem->period_count; i++) {
		double x = fmax(weft__viewer_canvas_x(viewer, list[i].start), drawn);
		double x2 = fmin(fmax(weft__viewer_canvas_x(viewer, list[i].end), x + 1), edge);
		double tick = fmax(strip_x(d, list[i].start), ticked);
		double tick2 = fmax(strip_x(d, list[i].end), tick + 1);
		if (list[i].start != problem->start && x2 > x) {
			weft_canvas_rect(
				d->canvas, x, box->y, x2, box->y + box->height, weft__render_faded(color, 0.07));
			weft_canvas_rect(d->canvas, x, box->y + box->height - 2, x2, box->y + box->height,
				weft__render_faded(color, 0.8));
		}
		drawn = fmax(drawn, x2);
		if (strip->height > 0 && tick2 > ticked)
			weft_canvas_rect(d->canvas, tick, strip->y + strip->height - 6, tick2,
				strip->y + strip->height - 3, color);
		ticked = fmax(ticked, tick2);
	}
}

/* Marks the time of the current problem: its task may last far longer, or it may have none. */
static void draw_problem(const struct drawing *d)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_box *box = &viewer->frame.picture, *strip = &viewer->frame.strip;
	char length[32], text[80];
	const struct weft_problem *problem = weft__viewer_marked_problem(viewer);
	if (!problem)
		return;
	bool is_error = problem->severity == WEFT_SEVERITY_ERROR;
	uint32_t color = is_error ? d->theme->failed : d->theme->signal;
	double x = weft__viewer_canvas_x(viewer, problem->start),
		   x2 = weft__viewer_canvas_x(viewer, problem->end);
	double left = fmin(fmax(x, box->x), box->x + box->width);
	double right = fmin(fmax(x2, box->x), box->x + box->width), bottom = box->y + box->height;
	draw_periods(d, problem, color);
	if (right - left < box->width * GROUND)
		weft_canvas_rect(d->canvas, left, box->y, right, bottom, weft__render_faded(color, 0.06));
	bool has_arrow =
		problem->edge != WEFT_NONE && viewer->model->edges.time[problem->edge] == problem->start;
	if (!has_arrow) /* the mark would hide the highlighted task */
		draw_guide(d, x, box->y, bottom, color);
	draw_guide(d, x2, box->y, bottom, color);
	weft_format_duration(problem->end - problem->start, 3, length);
	snprintf(text, sizeof(text), "%s \xc2\xb7 %s", weft_problem_name(problem->type), length);
	if (x2 >= box->x && x <= box->x + box->width)
		draw_label(d, box, (left + right) / 2, bottom - 14, text,
			is_error ? d->theme->failed : d->theme->text);
	if (strip->height > 0)
		weft_canvas_rect(d->canvas, strip_x(d, problem->start), strip->y + strip->height - 6,
			fmax(strip_x(d, problem->end), strip_x(d, problem->start) + 2),
			strip->y + strip->height - 3, color);
}

#define NUMBERS_MAX   99   /* hops of a chain that get a number */
#define NUMBER_STEP   22.0 /* px between two numbers on one row */
#define NUMBER_HEIGHT 17.0

/* The point of a task's number: on its line, at the chain's time if that is on the line, and in
 * view if the line is. */
static bool place_number(
	const struct drawing *d, uint32_t task, uint64_t at, double *ret_x, double *ret_y)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_box *box = &viewer->frame.picture;
	const double left = box->x + NUMBER_STEP / 2, right = box->x + box->width - NUMBER_STEP / 2;
	uint32_t row = viewer->layout->row[task];
	uint64_t start = viewer->layout->start[task], end = viewer->model->tasks.end[task];
	if (row == WEFT_NONE)
		return false;
	double x = weft__viewer_canvas_x(viewer, at < start ? start : at > end ? end : at);
	bool is_seen =
		weft__viewer_canvas_x(viewer, start) <= right && weft__viewer_canvas_x(viewer, end) >= left;
	*ret_x = fmin(fmax(x, left), right);
	*ret_y = box->y + weft_view_y(&viewer->view, row);
	return is_seen && *ret_y >= box->y + 8 && *ret_y <= box->y + box->height - 8;
}

/* Moves a number to the right until it covers none of the others. Each round moves it beyond at
 * least one of them; the count of rounds is for numbers at a distance that rounds to less than the
 * step that was added. */
static double clear_of(const double (*placed)[2], unsigned count, double x, double y)
{
	double before = x - 1;
	for (unsigned round = 0; round < count && x > before; round++) {
		before = x;
		for (unsigned i = 0; i < count; i++)
			if (fabs(placed[i][1] - y) < NUMBER_HEIGHT && fabs(placed[i][0] - x) < NUMBER_STEP)
				x = fmax(x, placed[i][0] + NUMBER_STEP);
	}
	return x;
}

/* Numbers the hops of the chain that is shown. */
static void draw_chain(const struct drawing *d)
{
	const struct weft_chain *chain = d->viewer->selection.chain;
	double placed[NUMBERS_MAX][2];
	unsigned count = 0;
	for (uint32_t i = 0; chain && i <= chain->kept && count < NUMBERS_MAX; i++) {
		bool is_end = i == chain->kept;
		double x, y;
		char text[16];
		if (is_end && chain->end.type == WEFT_CHAIN_CIRCLE)
			return;
		uint32_t task = is_end ? chain->end.task : chain->hops[i].wait.task;
		if (!place_number(d, task, chain->at, &x, &y))
			continue;
		x = clear_of((const double(*)[2])placed, count, x, y);
		snprintf(text, sizeof(text), is_end ? "end" : "%u",
			(unsigned)(i + 1 == chain->kept ? chain->count : i + 1));
		draw_label(d, &d->viewer->frame.picture, x, y, text, d->theme->selection);
		placed[count][0] = x;
		placed[count++][1] = y;
	}
}

/* Marks matches in the overview, at most one tick for each pixel. */
static void draw_found(const struct drawing *d)
{
	const struct weft_box *box = &d->viewer->frame.strip;
	const struct weft_search *search = d->viewer->search.found;
	double bottom = box->y + box->height - 3, last = -INFINITY;
	if (!search || box->height == 0)
		return;
	for (uint32_t i = 0; i < search->match_count; i++) {
		double x = floor(strip_x(d, search->matches[i].time));
		if (x >= last + 2)
			weft_canvas_rect(d->canvas, x, bottom - FOUND_TICK, x + 2, bottom, d->theme->selection);
		last = x >= last + 2 ? x : last;
	}
}

/* Flashes the overview when problems have been found. */
static void draw_pulse(const struct drawing *d)
{
	const struct weft_viewer *viewer = d->viewer;
	struct weft__rect area = d->strip.area;
	double done = (viewer->now_ms - viewer->problems.pulse_ms) / WEFT__PULSE_MS;
	if (!viewer->problems.is_pulsing || viewer->frame.strip.height == 0 || done >= 1)
		return;
	weft_canvas_rect(d->canvas, area.x, area.y, area.x2, area.y2,
		weft__render_faded(d->theme->failed, 0.3 * (1 - done)));
}

static void draw_flag(const struct drawing *d, double x, double y, double height)
{
	struct weft_pen pen = {d->theme->selection, 1, WEFT_DASH_SOLID};
	x = floor(x) + 0.5;
	weft_canvas_line(d->canvas, x, y, x, y + height, &pen);
	weft_canvas_polygon(
		d->canvas, (double[]){x, y, x + FLAG, y + FLAG / 2, x, y + FLAG}, 3, d->theme->selection);
}

static void draw_marks(const struct drawing *d)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_frame *frame = &viewer->frame;
	struct weft_text_style style = {
		d->theme->selection, LABEL_SIZE, false, true, d->theme->background};
	double used = -INFINITY;
	for (size_t i = 0; i < viewer->marks.count; i++) {
		const struct weft__bookmark *mark = &viewer->marks.list[i];
		if (mark->time < viewer->view.start || mark->time > viewer->view.end)
			continue;
		double x = weft__viewer_canvas_x(viewer, mark->time),
			   bottom = frame->picture.y + frame->picture.height;
		if (frame->strip.height > 0)
			draw_flag(d, strip_x(d, mark->time), frame->strip.y + 1, frame->strip.height - 4);
		if (x < frame->picture.x || x > frame->picture.x + frame->picture.width)
			continue;
		draw_guide(d, x, frame->ruler.y + frame->ruler.height, bottom,
			weft__render_faded(d->theme->selection, 0.6));
		draw_flag(d, x, frame->ruler.y + frame->ruler.height - 12, 12);
		double width = measure(d, mark->text, &style);
		if (x + FLAG < used || x + FLAG + 3 + width > frame->picture.x + frame->picture.width ||
			viewer->flame.is_shown)
			continue;
		weft_canvas_text(d->canvas, x + FLAG + 3, frame->picture.y + 12, mark->text,
			strlen(mark->text), width, &style);
		used = x + FLAG + 9 + width;
	}
}

/* True over the picture, and over the counters' lanes, if these are seen. */
static bool is_over_times(const struct weft_viewer *viewer)
{
	const struct weft__pointer *p = &viewer->pointer;
	return !viewer->flame.is_shown && (weft__viewer_inside(&viewer->frame.picture, p->x, p->y) ||
										  weft__viewer_inside(&viewer->frame.lanes, p->x, p->y));
}

/* The time under the pointer; false if the pointer is not over the time axis. */
static bool pointed(const struct weft_viewer *viewer, uint64_t *ret_time, char text[48])
{
	const struct weft_frame *frame = &viewer->frame;
	const struct weft__pointer *p = &viewer->pointer;
	bool is_over = p->is_inside && is_over_times(viewer);
	if (!is_over || p->drag == WEFT__DRAG_GRAB)
		return false;
	*ret_time = viewer->snap.is_set ? viewer->snap.time
									: weft_view_time(&viewer->view, p->x - frame->picture.x);
	if (viewer->clock_times)
		weft__render_format_clock(viewer->model, *ret_time, text);
	else
		weft_format_duration(*ret_time - viewer->view.start, 6, text);
	return true;
}

/* Keeps the ruler's labels off the pointer's time. */
static void take_ruler(const struct drawing *d, struct weft_render_options *options)
{
	struct weft_text_style style = {.size = LABEL_SIZE, .bold = true};
	const struct weft_box *box = &d->viewer->frame.ruler;
	uint64_t time;
	char text[48];
	if (!pointed(d->viewer, &time, text))
		return;
	double half = measure(d, text, &style) / 2, x = weft__viewer_canvas_x(d->viewer, time);
	x = fmin(fmax(x, box->x + 5 + half), box->x + box->width - 5 - half);
	options->taken_x = x - half - 9;
	options->taken_x2 = x + half + 9;
}

/* Draws the pointer's time in the ruler, and a guide if it snaps. */
static void draw_pointer(const struct drawing *d)
{
	const struct weft_viewer *viewer = d->viewer;
	const struct weft_frame *frame = &viewer->frame;
	uint64_t time;
	char text[48];
	if (!pointed(viewer, &time, text))
		return;
	double x = weft__viewer_canvas_x(viewer, time), bottom = frame->ruler.y + frame->ruler.height;
	draw_label(d, &frame->ruler, x, frame->ruler.y + frame->ruler.height / 2, text, d->theme->text);
	draw_guide(d, x, bottom - 4, bottom, d->theme->text);
	if (viewer->snap.is_set)
		draw_guide(
			d, x, frame->picture.y, frame->picture.y + frame->picture.height, d->theme->selection);
}

static void draw_rows_bar(const struct drawing *d)
{
	const struct weft_box bar = weft__viewer_rows_bar(d->viewer);
	double first, last, rows = d->viewer->view.row_count;
	if (bar.width == 0)
		return;
	weft_view_rows_seen(&d->viewer->view, &first, &last);
	double top = bar.y + bar.height * first / rows;
	double bottom = bar.y + bar.height * fmin((last + 1) / rows, 1);
	if (bottom - top < 24) {
		top = fmin(fmax((top + bottom) / 2 - 12, bar.y), bar.y + bar.height - 24);
		bottom = top + 24;
	}
	bool is_held = d->viewer->pointer.drag == WEFT__DRAG_ROWS;
	weft_canvas_rect(d->canvas, bar.x, bar.y, bar.x + bar.width, bar.y + bar.height,
		weft__render_faded(d->theme->background, 0.8));
	weft_canvas_rect(d->canvas, bar.x + 3, top + 1, bar.x + bar.width - 3, bottom - 1,
		is_held ? d->theme->text : d->theme->waiting);
}

/* The length of the words that fit, or of the first word if not even that fits. */
static size_t line_size(
	const struct drawing *d, const char *text, double room, const struct weft_text_style *style)
{
	char line[512];
	size_t fits = 0;
	for (size_t end = 0; text[end] && end < sizeof(line);) {
		end += strspn(text + end, " ");
		end += strcspn(text + end, " ");
		snprintf(line, sizeof(line), "%.*s", (int)end, text);
		if (fits && measure(d, line, style) > room)
			break;
		fits = end;
	}
	return fits;
}

static void draw_progress(const struct drawing *d, double y)
{
	const struct weft_box *box = &d->viewer->boxes.canvas;
	double half = fmin(120, box->width / 4), x = floor(box->width / 2) - half;
	double share = fmin(d->viewer->progress, 1);
	if (!(share >= 0))
		return;
	weft_canvas_rect(d->canvas, x, y, x + 2 * half, y + 4, d->theme->grid);
	weft_canvas_rect(d->canvas, x, y, x + 2 * half * share, y + 4, d->theme->running);
}

/* Draws a message where the picture would be, wrapped between words. */
static void draw_words(const struct drawing *d)
{
	const struct weft_box *box = &d->viewer->boxes.canvas;
	struct weft_text_style style = {d->theme->dim, 13, false, false, 0};
	double y = floor(box->height / 2), room = fmax(box->width - 32, 1);
	weft_canvas_rect(d->canvas, 0, 0, box->width, box->height, d->theme->background);
	for (const char *at = d->viewer->notice; *at;) {
		char line[512];
		size_t size = line_size(d, at, room, &style);
		if (size == 0)
			break;
		snprintf(line, sizeof(line), "%.*s", (int)size, at);
		double width = measure(d, line, &style);
		weft_canvas_text(d->canvas, floor(fmax((box->width - width) / 2, 8)), y, line, strlen(line),
			width, &style);
		at += size;
		at += strspn(at, " ");
		y += 20;
	}
	draw_progress(d, y);
}

/* The time whose counter values are shown; 0 while the pointer is outside. */
static uint64_t pointed_time(const struct weft_viewer *viewer)
{
	const struct weft__pointer *p = &viewer->pointer;
	if (!p->is_inside || !is_over_times(viewer))
		return 0;
	return weft_view_time(&viewer->view, p->x - viewer->frame.picture.x);
}

static struct weft_render_options frame_options(
	const struct weft_viewer *viewer, const struct weft_highlight *highlight)
{
	const struct weft__counter_choice *counters = &viewer->counters;
	bool is_known = counters->hidden_count >= viewer->model->counter_count;
	return (struct weft_render_options){
		.theme = viewer->theme,
		.title = viewer->title,
		.handles = true,
		.row_shifts = viewer->slide.is_running ? viewer->slide.shifts : NULL,
		.row_shift = viewer->slide.share,
		.font = viewer->font,
		.status = viewer->status.text,
		.highlight = highlight,
		.clock_times = viewer->clock_times,
		.no_counters = counters->are_hidden,
		.hidden_counters = is_known ? counters->hidden : NULL,
		.counter_rates = counters->are_rates,
		.counters_at = pointed_time(viewer),
	};
}

/* The additions of the viewer to a frame, from back to front. */
static void draw_additions(struct drawing *d)
{
	d->strip = weft__render_strip_of(&d->viewer->frame.strip, &d->viewer->view);
	weft__viewer_draw_density(d->viewer, &d->strip, d->theme, d->canvas);
	draw_wrong(d);
	draw_found(d);
	draw_problem(d);
	weft__viewer_draw_problem_notes(d->viewer, d->font, d->canvas);
	draw_chain(d);
	draw_pulse(d);
	draw_marks(d);
	draw_range(d);
	draw_pointer(d);
	draw_rows_bar(d);
}

/* Has only those additions that are over the ruler and the overview. */
static int draw_flame(struct weft_viewer *viewer, struct drawing *d)
{
	const struct weft_render_options options = frame_options(viewer, NULL);
	int error =
		weft__render_around(viewer->scene, &viewer->frame, &viewer->view, &options, d->canvas);
	d->strip = weft__render_strip_of(&viewer->frame.strip, &viewer->view);
	weft__viewer_draw_density(d->viewer, &d->strip, d->theme, d->canvas);
	draw_wrong(d);
	draw_found(d);
	draw_pulse(d);
	draw_marks(d);
	draw_range(d);
	viewer->was_drawn = true;
	return error ? error : weft__viewer_draw_flame(viewer, d->canvas);
}

static int draw_trace(struct weft_viewer *viewer, struct drawing *d)
{
	struct weft_highlight highlight;
	weft__viewer_gather(viewer, &highlight);
	struct weft_render_options options = frame_options(viewer, &highlight);
	take_ruler(d, &options);
	int error = weft__render_things_render(
		viewer->things, viewer->scene, &viewer->frame, &viewer->view, &options, d->canvas);
	if (error)
		return error;
	draw_additions(d);
	viewer->was_drawn = true;
	return 0;
}

WEFT__EXPORT int weft_viewer_draw(struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	struct drawing d = {
		.viewer = viewer,
		.theme = weft__render_theme(viewer->theme),
		.font = viewer->font ? viewer->font : &weft_font_builtin,
		.canvas = canvas,
	};
	int error = 0;
	if (viewer->scene && viewer->flame.is_shown)
		error = draw_flame(viewer, &d);
	else if (viewer->scene)
		error = draw_trace(viewer, &d);
	else
		draw_words(&d);
	if (error)
		return error;
	weft__viewer_draw_buttons(viewer, canvas);
	return weft_canvas_error(canvas);
}
