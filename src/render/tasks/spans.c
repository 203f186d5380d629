/* SPDX-License-Identifier: ISC
 *
 * Spans: bars within the bars of their task, the inner ones inside the outer ones, and their names
 * below the line. Where bars are lower than 7 px there is no room for them.
 *
 *     █████████████████   an activation
 *     █░░░░░░░░░██░░░░█   two spans in it
 *     █░▓▓▓▓▓░░░██░░░░█   and one inside the first
 *     ─────▒▒▒▒▒▒▒█████   a vCPU of Xen that waits for a processor: a bar in the colour of waiting
 *
 * A task's spans are in the order of their ends, and enclosing spans come after those in them. So
 * the spans in view begin with the first that ends in it, and an outermost span that reaches beyond
 * the right edge is the last. They are drawn in reverse order, the outer ones first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/painter.h"
#include "render/tasks/spans.h"
#include "render/tasks/tracks.h"

#define BAR_HEIGHT   7
#define DEPTHS       3      /* as many as fit into a bar */
#define WIDTH        3.0    /* px: narrower ones are left out */
#define EXAMINED_MAX 100000 /* spans and activations per frame */
#define LIGHT        0.62
#define NAME_FROM    24.0 /* px */
#define NAME_SIZE    10.5
#define NAMES_MAX    200
#define DRAWN_MAX    1024 /* of one task */

/* The name of a span, and where it begins and ends. */
struct span_name {
	double x, x2, y;
	uint32_t name;
};

struct weft__spans {
	uint32_t examined, name_count;
	struct span_name names[NAMES_MAX];
	struct weft_span drawn[DRAWN_MAX];
};

struct weft__spans *weft__render_spans_create(void)
{
	struct weft__spans *spans = malloc(sizeof(*spans));
	if (spans)
		spans->examined = spans->name_count = 0;
	return spans;
}

void weft__render_spans_destroy(struct weft__spans *spans)
{
	free(spans);
}

static bool may_examine(const struct painter *p)
{
	return p->spans->examined++ < EXAMINED_MAX;
}

/* Lists the spans in view that are wide enough; returns their number. */
static uint32_t find_spans(const struct painter *p, uint32_t task)
{
	uint32_t count = weft_model_span_count(p->model, task), found = 0;
	for (uint32_t i = weft_model_span_after(p->model, task, p->left); i < count && may_examine(p);
		 i++) {
		struct weft_span span = weft_model_span(p->model, task, i);
		bool is_wide = weft__render_x(p, span.end) - weft__render_x(p, span.start) >= WIDTH;
		if (span.start < p->right && is_wide && span.depth < DEPTHS && found < DRAWN_MAX)
			p->spans->drawn[found++] = span;
		if (span.depth == 0 && span.end >= p->right)
			break;
	}
	return found;
}

/* A dark edge separates a span from its neighbour. */
static void draw_part(
	struct painter *p, double x, double x2, unsigned depth, const struct weft__bar_box *box)
{
	double top = box->y - floor(box->height / 2), inset = depth + 1;
	uint32_t color =
		depth % 2 ? p->theme->running : weft__render_faded(p->theme->background, LIGHT);
	if (x2 - x >= WIDTH - 1)
		weft_canvas_rect(p->canvas, x, top + inset, x2, top + box->height - inset, color);
}

/* True for a vCPU's wait for a processor, in which it has no activation. */
static bool is_runnable(const struct painter *p, uint32_t task, const struct weft_span *span)
{
	static const char name[] = "runnable", kind[] = "vcpu";
	struct weft_slice text = weft_model_string(p->model, span->name);
	if (text.size != sizeof(name) - 1 || memcmp(text.bytes, name, text.size) != 0)
		return false;
	const char *of = weft_model_kind_name(p->model, p->model->tasks.kind[task]);
	return of && strcmp(of, kind) == 0;
}

static void draw_runnable(
	struct painter *p, const struct weft_span *span, const struct weft__bar_box *box)
{
	double top = box->y - floor(box->height / 2) + 1, bottom = top + box->height - 2;
	double x = fmax(weft__render_x(p, span->start), box->x),
		   x2 = fmin(weft__render_x(p, span->end), box->x2);
	if (x2 - x < WIDTH)
		return;
	weft_canvas_rect(p->canvas, x, top, x2, bottom, p->theme->waiting);
	p->tally.runnable = true;
}

/* Draws a span within the task's activations. */
static void draw_span(
	struct painter *p, uint32_t task, const struct weft_span *span, const struct weft__bar_box *box)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t last = p->model->tasks.end_activation[task];
	uint64_t from = span->start > p->left ? span->start : p->left;
	uint32_t i =
		weft__render_gallop_u64(a->end, p->model->tasks.first_activation[task], last, from + 1);
	double start = weft__render_x(p, span->start) + 1, end = weft__render_x(p, span->end) - 1;
	if (weft__render_is_track(p->model, task)) /* its bars are the spans themselves */
		draw_part(p, fmax(start, box->x), fmin(end, box->x2), span->depth, box);
	for (; i < last && a->start[i] < span->end && a->start[i] < p->right && may_examine(p); i++) {
		double x = fmax(fmax(start, weft__render_x(p, a->start[i]) + 1), box->x);
		double x2 = fmin(fmin(end, weft__render_x(p, a->end[i]) - 1), box->x2);
		draw_part(p, x, x2, span->depth, box);
	}
}

static void add_name(
	struct painter *p, const struct weft_span *span, const struct weft__bar_box *box)
{
	struct weft__spans *s = p->spans;
	double x = fmax(weft__render_x(p, span->start), box->x),
		   x2 = fmin(weft__render_x(p, span->end), box->x2);
	if (x2 - x >= NAME_FROM && s->name_count < NAMES_MAX)
		s->names[s->name_count++] = (struct span_name){x, x2, box->y, span->name};
}

void weft__render_draw_spans(struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	const struct weft_spans *all = &p->model->spans;
	if ((!all->first && all->open_count == 0) || box->height < BAR_HEIGHT)
		return;
	for (uint32_t i = find_spans(p, task); i-- > 0;) {
		const struct weft_span *span = &p->spans->drawn[i];
		if (is_runnable(p, task, span))
			draw_runnable(p, span, box);
		else
			draw_span(p, task, span, box);
		if (!weft__render_is_dim(p, task))
			add_name(p, span, box);
	}
}

/* Writes a name below the line if the whole text fits below the span. */
static void place_name(struct painter *p, const struct span_name *name)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, NAME_SIZE, false, true, p->theme->background};
	struct weft_slice text = weft_model_string(p->model, name->name);
	double x = name->x + 2, baseline = name->y + 4 + NAME_SIZE;
	char fitted[64];
	if (text.size == 0 || text.size >= sizeof(fitted) || baseline > box->y + box->height - 2)
		return;
	double width = weft__render_fit_text(p, text, name->x2 - x, &style, fitted, sizeof(fitted));
	if (width <= 0 || strlen(fitted) != text.size)
		return;
	struct weft__rect rect = {
		x - 1, baseline - NAME_SIZE * 0.8, x + width + 1, baseline + NAME_SIZE * 0.2};
	if (weft__render_occupied_take(p->occupied, rect))
		weft_canvas_text(p->canvas, x, baseline, fitted, text.size, width, &style);
}

void weft__render_name_spans(struct painter *p)
{
	for (uint32_t i = 0; i < p->spans->name_count; i++)
		place_name(p, &p->spans->names[i]);
}
