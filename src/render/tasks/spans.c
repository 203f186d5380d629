/* SPDX-License-Identifier: ISC
 *
 * Spans: bars within the bars of their task, the inner ones inside the outer ones, and their names
 * below the line. Where bars are lower than 7 px there is no room for them.
 *
 *     █████████████████   an activation
 *     █░░░░░░░░░██░░░░█   two spans in it
 *     █░▓▓▓▓▓░░░██░░░░█   and one inside the first
 *     █░░░▒▒▒▒▒▒▒▒▒▒▒▒█   a span that ends within that time, but when was not recorded
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
#define NAME_FROM    24.0   /* px */
#define NAME_SIZE    10.5
#define NAMES_MAX    200
#define DRAWN_MAX    1024 /* of one task */
#define HOMES_MAX    100  /* labels of pCPUs */
#define HOME_FROM    44.0 /* px */
#define HOME_STEP    30.0 /* px from one attempt to find room to the next */
#define HOME_TRIES   8

/* The name of a span, and where it begins and ends. */
struct span_name {
	double x, x2, y;
	uint32_t name; /* string */
};

struct weft__spans {
	uint32_t examined, name_count;
	struct span_name names[NAMES_MAX];
	uint32_t home_count;
	struct span_name homes[HOMES_MAX]; /* of a vCPU: named by the pCPU, a thread */
	struct weft_span drawn[DRAWN_MAX];
};

struct weft__spans *weft__render_spans_create(void)
{
	struct weft__spans *spans = malloc(sizeof(*spans));
	if (spans)
		spans->examined = spans->name_count = spans->home_count = 0;
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

/* A dark edge separates a span from its neighbour. From `certain` on the span may have ended. */
static void draw_part(struct painter *p, double x, double x2, double certain, unsigned depth,
	const struct weft__bar_box *box)
{
	double top = box->y - floor(box->height / 2) + depth + 1, bottom = top + box->height;
	uint32_t color = depth % 2 ? p->theme->running : p->theme->background;
	double alpha = depth % 2 ? 1 : WEFT__SPAN_LIGHT, middle = fmax(fmin(certain, x2), x);
	bottom -= 2 * (depth + 1);
	if (x2 - x < WIDTH - 1)
		return;
	if (middle > x)
		weft_canvas_rect(p->canvas, x, top, middle, bottom, weft__render_faded(color, alpha));
	p->tally.uncertain |= middle < x2;
	if (middle < x2)
		weft_canvas_rect(p->canvas, middle, top, x2, bottom,
			weft__render_faded(color, alpha * WEFT__SPAN_UNCERTAIN));
}

/* True for spans that bars.c draws: a vCPU's waits for a processor, in which it has no activation;
 * or that are no bars: those of a pCPU's idle vCPU. */
static bool is_bare(const struct painter *p, uint32_t task, const struct weft_span *span)
{
	return weft__render_is_of_xen(p->model, task) &&
		   weft__render_is_span_named(
			   p->model, span, weft__render_is_pcpu(p->model, task) ? "idle" : "runnable");
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
	double certain = weft__render_x(p, weft__render_scene_certain_until(p->scene, span));
	if (weft__render_is_track(p->model, task)) /* its bars are the spans themselves */
		draw_part(p, fmax(start, box->x), fmin(end, box->x2), certain, span->depth, box);
	for (; i < last && a->start[i] < span->end && a->start[i] < p->right && may_examine(p); i++) {
		double x = fmax(fmax(start, weft__render_x(p, a->start[i]) + 1), box->x);
		double x2 = fmin(fmin(end, weft__render_x(p, a->end[i]) - 1), box->x2);
		draw_part(p, x, x2, certain, span->depth, box);
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

/* Lists the stretches of time in which a vCPU was on one pCPU, if they are wide enough for its
 * name. A search skips those that end within that width of the one before. */
static void add_homes(struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	const struct weft__spells *spells = &p->scene->spells;
	struct weft__spans *s = p->spans;
	if (!spells->first || p->model->thread_count < 2)
		return;
	const uint64_t *start = spells->home_start;
	const uint32_t first = spells->first_home[task], last = spells->first_home[task + 1];
	uint32_t next = weft__render_gallop_u64(start, first, last, p->left + 1);
	uint32_t i = next > first ? next - 1 : next;
	while (i < last && start[i] < p->right && s->home_count < HOMES_MAX) {
		const double x = fmax(weft__render_x(p, start[i]), box->x);
		const double end = i + 1 < last ? weft__render_x(p, start[i + 1]) : box->x2;
		const double x2 = fmin(end, box->x2);
		if (x2 - x >= HOME_FROM)
			s->homes[s->home_count++] = (struct span_name){x, x2, box->y, spells->home[i]};
		if (i + 1 == last || x2 < end)
			break;
		next = weft__render_gallop_u64(
			start, i + 2, last, weft_view_time(p->view, x2 + HOME_FROM - p->x0));
		i = next - 1;
	}
}

void weft__render_draw_spans(struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	const struct weft_spans *all = &p->model->spans;
	if ((!all->first && all->open_count == 0) || box->height < BAR_HEIGHT)
		return;
	if (!weft__render_is_dim(p, task))
		add_homes(p, task, box);
	for (uint32_t i = find_spans(p, task); i-- > 0;) {
		const struct weft_span *span = &p->spans->drawn[i];
		if (!is_bare(p, task, span))
			draw_span(p, task, span, box);
		if (!weft__render_is_dim(p, task))
			add_name(p, span, box);
	}
}

/* Writes a whole text at a baseline; false if there is no room for it. */
static bool put_name(
	struct painter *p, double x, double x2, double baseline, struct weft_slice text)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, NAME_SIZE, false, true, p->theme->background};
	char fitted[64];
	if (text.size == 0 || text.size >= sizeof(fitted) || baseline > box->y + box->height - 2)
		return false;
	double width = weft__render_fit_text(p, text, x2 - x, &style, fitted, sizeof(fitted));
	if (width <= 0 || strlen(fitted) != text.size || memcmp(fitted, text.bytes, text.size) != 0)
		return false;
	struct weft__rect rect = {
		x - 1, baseline - NAME_SIZE * 0.8, x + width + 1, baseline + NAME_SIZE * 0.2};
	if (!weft__render_occupied_take(p->occupied, rect))
		return false;
	weft_canvas_text(p->canvas, x, baseline, fitted, text.size, width, &style);
	return true;
}

/* Writes the name of a pCPU below the line, where the names of spans leave room. */
static void place_home(struct painter *p, const struct span_name *home)
{
	const char *name = p->model->threads[home->name].name;
	const struct weft_slice text = {name, name ? strlen(name) : 0};
	for (unsigned i = 0; i < HOME_TRIES; i++)
		if (put_name(p, home->x + 2 + i * HOME_STEP, home->x2, home->y + 4 + NAME_SIZE, text))
			return;
}

void weft__render_name_spans(struct painter *p)
{
	struct weft__spans *s = p->spans;
	for (uint32_t i = 0; i < s->name_count; i++) {
		const struct span_name *name = &s->names[i];
		put_name(p, name->x + 2, name->x2, name->y + 4 + NAME_SIZE,
			weft_model_string(p->model, name->name));
	}
	for (uint32_t i = 0; i < s->home_count; i++)
		place_home(p, &s->homes[i]);
}
