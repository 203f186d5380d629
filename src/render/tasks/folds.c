/* SPDX-License-Identifier: ISC
 *
 * Piles of a lane. A fold is a comb: its spans on one line, on a back that holds them together.
 *
 *      grant # ×514  p50 9 us  max 1.2 ms
 *      ━━━ ─━━─  ━━━━ ─━─                       spans, and where they ran
 *      └┴──┴─────┴────┴───────┘                 its back, with a tooth where each begins
 *
 * Where its spans are too narrow for that it is a density, like a folded group always is.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/story.h>

#include "base/search.h"
#include "render/tasks/cells.h"
#include "render/painter.h"

#define COMB_FROM       3.0 /* px of the median span, from which on a comb is drawn */
#define TOOTH_EVERY     3.0
#define BACK_FROM       14.0 /* px between rows, from which on the back is drawn */
#define BACK_BELOW      5.0
#define TOOTH           3.0
#define WAITING_LINE    1.5
#define NAMED_FROM      40.0 /* px of a single span, from which on it has a name */
#define TEXT_SIZE       12.0
#define COLUMNS_AT_MOST 60000 /* per frame, columns that are counted one by one */

/* A pile in the view. */
struct seen {
	const struct weft__pile *pile;
	const struct weft_fold *fold; /* NULL: it is a group */
	const struct weft__lane *lane;
	double x, x2;  /* the pile's extent in the picture */
	uint64_t next; /* when the next pile of the row begins */
};

static double bar_height(double spacing)
{
	return spacing >= 20 ? 7 : spacing >= 9 ? 5 : 3;
}

static struct seen see(const struct painter *p, const struct weft__lane *lane, uint32_t index)
{
	const struct weft_box *box = &p->frame->picture;
	const struct weft__pile *pile = &p->scene->piles.list[index];
	double x = weft__render_x(p, pile->start), x2 = weft__render_x(p, pile->end);
	return (struct seen){pile, pile->fold == WEFT_NONE ? NULL : &p->layout->folds[pile->fold], lane,
		fmax(x, box->x), fmin(fmax(x2, x + 1), box->x + box->width), UINT64_MAX};
}

static void members_in_view(
	const struct painter *p, const struct seen *s, uint32_t *ret_first, uint32_t *ret_last)
{
	weft__render_fold_members(p->scene, s->pile->fold, p->left, p->right, ret_first, ret_last);
}

/* True if its spans are drawn one by one: they are wide enough, and few overlap. */
static bool is_comb(const struct painter *p, const struct seen *s)
{
	uint32_t first, last;
	if (!s->fold)
		return false;
	members_in_view(p, s, &first, &last);
	return (double)s->fold->p50_ns * p->view->scale >= COMB_FROM &&
		   !weft__render_is_dense(s->fold) && last - first < p->frame->picture.width;
}

/* A bar that is being built: touching stretches are joined, and even the shortest is visible. */
struct fold_bar {
	double from, to; /* empty: to < from */
	double top, height;
};

static void draw_bar(struct painter *p, const struct fold_bar *bar)
{
	if (bar->to >= bar->from)
		weft_canvas_rect(p->canvas, bar->from, bar->top, fmax(bar->to, bar->from + 1),
			bar->top + bar->height, p->theme->running);
}

static void add_stretch(struct painter *p, struct fold_bar *bar, uint64_t start, uint64_t end)
{
	const struct weft_box *box = &p->frame->picture;
	double x = fmax(weft__render_x(p, start), box->x),
		   x2 = fmin(weft__render_x(p, end), box->x + box->width);
	if (bar->to < bar->from || x > bar->to + 0.25) {
		draw_bar(p, bar);
		bar->from = x;
	}
	bar->to = fmax(x2, x);
}

/* Draws when any task of the fold ran: from the start of one activation until as many have ended as
 * have begun. */
static void draw_running(struct painter *p, const struct seen *s)
{
	const struct weft__piles *piles = &p->scene->piles;
	const uint64_t *starts = piles->run_starts + s->pile->first_run;
	const uint64_t *ends = piles->run_ends + s->pile->first_run;
	uint32_t count = s->pile->run_count;
	uint32_t begun = weft__lower_bound_u64(starts, count, p->left);
	uint32_t ended = weft__lower_bound_u64(ends, count, p->left);
	double height = bar_height(s->lane->spacing);
	struct fold_bar bar = {0, -1, s->lane->y - floor(height / 2), height};
	uint64_t start = p->left;
	while (ended < count) {
		if (begun == ended && starts[begun] >= p->right)
			break;
		if (begun < count && starts[begun] <= ends[ended]) {
			start = begun == ended ? starts[begun] : start;
			begun++;
		} else if (++ended == begun) {
			add_stretch(p, &bar, start, ends[ended - 1]);
		} else if (ends[ended - 1] >= p->right) {
			add_stretch(p, &bar, start, p->right);
			break;
		}
	}
	draw_bar(p, &bar);
}

static void draw_spans(struct painter *p, const struct seen *s)
{
	const struct weft_layout *l = p->layout;
	struct weft_pen pen = {p->theme->waiting, WAITING_LINE, WEFT_DASH_SOLID};
	uint32_t first, last;
	double y = weft__render_crisp(s->lane->y), drawn = s->x;
	members_in_view(p, s, &first, &last);
	for (uint32_t i = first; i < last; i++) {
		double x = weft__render_x(p, l->start[l->fold_members[s->fold->first + i]]);
		double x2 = fmin(fmax(weft__render_x(p, l->fold_ends[s->fold->first + i]), x + 1), s->x2);
		p->tally.fold_spans += x2 > s->x;
		x = fmax(x, drawn);
		if (x2 <= x)
			continue;
		weft_canvas_line(p->canvas, x, y, x2, y, &pen);
		drawn = x2;
	}
}

static void draw_teeth(struct painter *p, const struct seen *s, double y)
{
	const struct weft_layout *l = p->layout;
	struct weft_pen pen = {p->theme->waiting, 1, WEFT_DASH_SOLID};
	uint32_t first, last;
	double drawn = -INFINITY;
	members_in_view(p, s, &first, &last);
	for (uint32_t i = first; i < last; i++) {
		double x =
			weft__render_crisp(weft__render_x(p, l->start[l->fold_members[s->fold->first + i]]));
		if (x < s->x || x < drawn + TOOTH_EVERY)
			continue;
		weft_canvas_line(p->canvas, x, y - TOOTH, x, y, &pen);
		drawn = x;
	}
}

/* Draws the back, which also shows that a density is one fold. */
static void draw_back(struct painter *p, const struct seen *s, bool has_teeth)
{
	struct weft_pen pen = {p->theme->waiting, 1, WEFT_DASH_SOLID};
	double y = weft__render_crisp(s->lane->y + BACK_BELOW);
	if (!s->fold || s->lane->spacing < BACK_FROM)
		return;
	weft_canvas_line(p->canvas, s->x, y, s->x2, y, &pen);
	if (has_teeth)
		draw_teeth(p, s, y);
}

/* Distributes the whole pile evenly: where even its columns are too many to be counted. */
static void weigh_evenly(struct painter *p, struct weft__cells *cells, const struct seen *s)
{
	const struct weft__piles *piles = &p->scene->piles;
	uint64_t start = s->pile->start > p->left ? s->pile->start : p->left;
	uint64_t end = s->pile->end < p->right ? s->pile->end : p->right;
	struct weft__share all = weft__render_pile_share(piles, s->pile, start, end);
	uint32_t columns = (uint32_t)fmax(1, ceil(s->x2 - s->x));
	struct weft__share share = {(all.tasks + columns - 1) / columns, 0, all.running_ns / columns};
	for (uint32_t i = 0; i < columns; i++)
		weft__render_cells_add_share(cells, p, &share, s->x + i);
}

static void weigh(struct painter *p, struct weft__cells *cells, const struct seen *s)
{
	const struct weft__piles *piles = &p->scene->piles;
	double x = floor(s->x), columns = s->x2 - x;
	if (s->fold && p->columns_weighed + columns > COLUMNS_AT_MOST) {
		weigh_evenly(p, cells, s);
		return;
	}
	p->columns_weighed += (uint32_t)columns;
	struct weft__pile_cursor cursor =
		weft__render_pile_seek(piles, s->pile, weft_view_time(p->view, x - p->x0));
	for (; x < s->x2; x++) {
		uint64_t end = weft_view_time(p->view, x + 1 - p->x0);
		struct weft__share share =
			weft__render_pile_step(&cursor, end > cursor.time ? end : cursor.time + 1);
		if (share.tasks)
			weft__render_cells_add_share(cells, p, &share, x);
	}
}

static struct weft_slice as_slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* Writes the label with # for digits, in which the members differ. */
static void write_label(
	const struct painter *p, const struct weft_fold *fold, char *text, size_t size)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	uint32_t task = p->layout->fold_members[fold->first];
	const char *kind = weft_model_kind_name(p->model, tasks->kind[task]);
	struct weft_slice label = weft_model_string(p->model, tasks->label[task]);
	if (tasks->label[task] == WEFT_NONE)
		label = as_slice(kind ? kind : "task");
	size_t used = 0;
	for (size_t i = 0; i < label.size && used + 1 < size; i++) {
		bool digit = label.bytes[i] >= '0' && label.bytes[i] <= '9';
		if (!digit)
			text[used++] = label.bytes[i];
		else if (used == 0 || text[used - 1] != '#')
			text[used++] = '#';
	}
	text[used] = '\0';
}

/* Writes "p50 9 us  max 1.2 ms". */
static void write_figures(const struct weft_fold *fold, bool with_max, char *text, size_t size)
{
	char half[32], longest[32];
	weft_format_duration(fold->life_p50_ns, 3, half);
	weft_format_duration(fold->life_max_ns, 3, longest);
	if (with_max)
		snprintf(text, size, "p50 %s  max %s", half, longest);
	else
		snprintf(text, size, "p50 %s", half);
}

static void write_sentence(
	const struct painter *p, const struct weft_fold *fold, char *text, size_t size)
{
	char label[128], figures[96], ran[32];
	write_label(p, fold, label, sizeof(label));
	write_figures(fold, true, figures, sizeof(figures));
	weft_format_duration(fold->running_ns, 3, ran);
	snprintf(text, size, "%u \xc3\x97 %s: %s; ran for %s in all", fold->count, label, figures, ran);
}

static void draw_comb(struct painter *p, const struct seen *s)
{
	draw_back(p, s, true);
	draw_spans(p, s);
	draw_running(p, s);
}

static void record_fold(struct painter *p, const struct seen *s)
{
	weft__render_add_thing(p, (struct weft__thing){
								  .type = WEFT__THING_FOLD,
								  .task = p->layout->fold_members[s->fold->first],
								  .fold = s->pile->fold,
								  .box = {s->x, s->lane->y, s->x2 - s->x, 0},
							  });
}

static void draw_pile(struct painter *p, struct weft__cells *cells, const struct seen *s)
{
	char sentence[320];
	bool hover = p->options->hover && s->fold && s->x2 - s->x >= 4;
	double half = fmin(7, s->lane->spacing / 2);
	if (hover) {
		write_sentence(p, s->fold, sentence, sizeof(sentence));
		weft_canvas_group(p->canvas, s->x, s->lane->y - half, s->x2, s->lane->y + half, sentence,
			strlen(sentence));
	}
	if (s->fold && s->fold->count)
		record_fold(p, s);
	if (is_comb(p, s)) {
		draw_comb(p, s);
	} else {
		draw_back(p, s, false);
		weigh(p, cells, s);
	}
	if (hover)
		weft_canvas_ungroup(p->canvas);
}

/* Visits the piles of a row that are in view; they do not overlap. */
static void each_pile(struct painter *p, const struct weft__lane *lane, struct weft__cells *cells,
	void (*visit)(struct painter *, struct weft__cells *, const struct seen *))
{
	const struct weft__piles *piles = &p->scene->piles;
	uint32_t last = piles->row_first[lane->first_row + 1];
	uint32_t low = weft__render_piles_from(piles, lane->first_row, p->left);
	for (; low < last && piles->list[piles->by_row[low]].start < p->right; low++) {
		struct seen s = see(p, lane, piles->by_row[low]);
		s.next = low + 1 < last ? piles->list[piles->by_row[low + 1]].start : UINT64_MAX;
		if (s.x2 > s.x)
			visit(p, cells, &s);
	}
}

void weft__render_draw_piles(
	struct painter *p, const struct weft__lane *lane, struct weft__cells *cells)
{
	if (p->scene->piles.count)
		each_pile(p, lane, cells, draw_pile);
}

/* The x at which the next line or fold of the row begins, or the picture ends. */
static double room_after(const struct painter *p, const struct seen *s)
{
	const struct weft_scene *scene = p->scene;
	const struct weft_box *box = &p->frame->picture;
	uint32_t last = scene->row_first[s->lane->first_row + 1];
	uint32_t next = weft__render_scene_first_from(
		scene, scene->row_first[s->lane->first_row], last, s->fold->end);
	double edge = box->x + box->width - 4;
	if (next < last && weft__render_scene_start(scene, next) < p->right)
		edge = fmin(edge, weft__render_x(p, weft__render_scene_start(scene, next)) - 6);
	if (s->next < p->right)
		edge = fmin(edge, weft__render_x(p, s->next) - 6);
	return edge;
}

static struct weft_text_style text_style(
	const struct painter *p, const struct seen *s, uint32_t color)
{
	double size = fmin(TEXT_SIZE, fmax(8, s->lane->spacing * 0.72));
	return (struct weft_text_style){color, size, false, true, p->theme->background};
}

/* Writes a text above a line, unless there is text already; returns where it ends. */
static double write_above(struct painter *p, const struct seen *s, double x, double limit,
	struct weft_slice text, uint32_t color)
{
	struct weft_text_style style = text_style(p, s, color);
	double y = s->lane->y - weft__render_lift(s->lane->spacing), top = y - style.size * 0.8,
		   bottom = y + style.size * 0.2;
	char fitted[260];
	if (top < p->frame->picture.y)
		return x;
	double room = weft__render_occupied_room(p->occupied, x - 2, top, bottom, limit + 4) - 4 - x;
	double width =
		weft__render_fit_text(p, text, fmin(room, limit - x), &style, fitted, sizeof(fitted));
	if (width <= 0 || !weft__render_occupied_take(
						  p->occupied, (struct weft__rect){x - 1, top, x + width + 1, bottom}))
		return x;
	weft_canvas_text(p->canvas, x, y, fitted, strlen(fitted), width, &style);
	return x + width;
}

/* Names single spans that are wide enough. */
static void name_members(struct painter *p, const struct seen *s, double from)
{
	const struct weft_layout *l = p->layout;
	uint32_t first, last;
	char text[160];
	if ((double)s->fold->max_ns * p->view->scale < NAMED_FROM || !is_comb(p, s))
		return;
	members_in_view(p, s, &first, &last);
	for (uint32_t i = first; i < last; i++) {
		uint32_t task = l->fold_members[s->fold->first + i];
		double x = fmax(weft__render_x(p, l->start[task]) + 3, from);
		double x2 = weft__render_x(p, l->fold_ends[s->fold->first + i]);
		if (x2 - x < NAMED_FROM)
			continue;
		size_t size = weft_story_name(p->model, task, 100, text, sizeof(text));
		from =
			write_above(p, s, x, fmin(x2, s->x2), (struct weft_slice){text, size}, p->theme->dim);
	}
}

/* The text after "max" is a link to the longest. */
static void record_max(struct painter *p, const struct seen *s, double end)
{
	struct weft_text_style style = text_style(p, s, p->theme->dim);
	char text[48] = "max ";
	weft_format_duration(s->fold->life_max_ns, 3, text + 4);
	double width = weft__render_measure(p, text, &style);
	double y = s->lane->y - weft__render_lift(s->lane->spacing);
	weft__render_add_thing(p, (struct weft__thing){
								  .type = WEFT__THING_MAX,
								  .task = WEFT_NONE,
								  .fold = s->pile->fold,
								  .box = {end - width, y - style.size * 0.8, width, style.size},
							  });
}

/* Writes the figures completely or not at all: a cut number would be a different number. */
static double write_whole_figures(struct painter *p, const struct seen *s, double x, double limit)
{
	struct weft_text_style style = text_style(p, s, p->theme->dim);
	char figures[96];
	for (int with_max = 1; with_max >= 0; with_max--) {
		write_figures(s->fold, with_max, figures, sizeof(figures));
		double width = weft__render_measure(p, figures, &style);
		if (width > limit - x)
			continue;
		double end = write_above(p, s, x, limit, as_slice(figures), p->theme->dim);
		if (with_max && end >= x + width)
			record_max(p, s, end);
		return end;
	}
	return x;
}

static void name_fold(struct painter *p, struct weft__cells *cells, const struct seen *s)
{
	char label[160];
	(void)cells;
	if (!s->fold)
		return;
	double x = fmax(weft__render_x(p, s->pile->start) + 3, p->frame->picture.x + 4),
		   limit = room_after(p, s);
	write_label(p, s->fold, label, sizeof(label) - 32);
	size_t used = strlen(label);
	snprintf(label + used, sizeof(label) - used, " \xc3\x97%u", s->fold->count);
	double end = write_above(p, s, x, limit, as_slice(label), p->theme->text);
	if (end == x)
		return;
	name_members(p, s, write_whole_figures(p, s, end + 8, limit) + 12);
}

void weft__render_name_folds(struct painter *p)
{
	for (uint32_t i = 0; i < p->lane_count && p->scene->piles.count; i++)
		if (p->lanes[i].row_count == 1 && p->lanes[i].spacing >= WEFT__NAME_SPACING)
			each_pile(p, &p->lanes[i], NULL, name_fold);
}
