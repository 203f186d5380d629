/* SPDX-License-Identifier: ISC
 *
 * Draws a flame graph: the root at the top, callees below their callers.
 *
 *     ┌──────────────────────────────────────────┐
 *     │ all                                      │
 *     ├───────────────────────────┬──────────────┤
 *     │ worker                    │ main         │
 *     ├──────────────┬────────────┼──────────────┤
 *     │ append       │ poll       │ [thread]     │
 *
 * The colours are those of the functions' files: each of the first few has its own, and all are
 * named below. In a comparison they say how much a function grew or shrank, compared with itself;
 * functions that had time before only are listed below.
 */
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "profile/graph.h"

#define MARGIN       12.0
#define ROW          WEFT__GRAPH_ROW
#define GAP          1.0 /* between boxes */
#define TEXT_PADDING 4.0
#define TEXT_SIZE    12.0
#define TITLE_SIZE   15.0
#define SMALL_SIZE   11.0
#define SWATCH       10.0
#define NAME_BYTES   512
#define GONE_MAX     6 /* lines of the legend, which then has no files */

static const uint32_t ink = 0x1b1f24ff, dim = 0x5b6570ff, ground = 0xffffffff;

static const uint32_t colors[WEFT__GRAPH_COLORS] = {
	0xf7c59fff,
	0xa9d3f2ff,
	0xc6e2a4ff,
	0xf3dc8bff,
	0xcfc2efff,
	0xf2b8c6ff,
	0x9fdcceff,
	0xd9c7a8ff,
	[WEFT__GRAPH_OTHER] = 0xdcd0dbff,
	[WEFT__GRAPH_NAMELESS] = 0xe8e2d6ff,
	[WEFT__GRAPH_LEAF] = 0xcfd5dcff,
	[WEFT__GRAPH_ROOT] = 0xe3e6eaff,
};

static const uint32_t same = 0xe6e6e4ff, grown = 0xee5a44ff, shrunk = 0x4d8be0ff;

/* A colour between two, byte by byte. */
static uint32_t mixed(uint32_t from, uint32_t to, double share)
{
	uint32_t color = 0;
	for (unsigned shift = 0; shift < 32; shift += 8) {
		const double a = from >> shift & 0xff, b = to >> shift & 0xff;
		color |= (uint32_t)(a + (b - a) * share + 0.5) << shift;
	}
	return color;
}

static uint32_t fill_of(const struct weft__profile_graph *graph, uint32_t node)
{
	if (!graph->profile->is_compared)
		return colors[graph->colors[node]];
	const double growth = weft__profile_graph_growth(graph, node);
	return growth > 0 ? mixed(same, grown, growth) : mixed(same, shrunk, -growth);
}

/* ---- Text ---- */

static double measure(
	const struct weft_font *font, const char *text, size_t size, double points, bool bold)
{
	return font->measure(font->context, text, size, points, bold);
}

/* Shortens the text to a width; returns its size, 0 if not even three letters fit. */
static size_t fit(
	const struct weft_font *font, char text[NAME_BYTES], double points, bool bold, double room)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t size = strlen(text), least = 0, most = size;
	if (measure(font, text, size, points, bold) <= room)
		return size;
	room -= measure(font, ellipsis, sizeof(ellipsis) - 1, points, bold);
	while (least < most) {
		const size_t middle = (least + most + 1) / 2;
		if (measure(font, text, middle, points, bold) <= room)
			least = middle;
		else
			most = middle - 1;
	}
	while (least && ((unsigned char)text[least] & 0xc0) == 0x80)
		least--;
	if (least < 3 || least + sizeof(ellipsis) > NAME_BYTES)
		return 0;
	strcpy(text + least, ellipsis);
	return strlen(text);
}

void weft__profile_draw_words(const struct weft__profile_drawing *d, double x, double y,
	double room, struct weft_slice words, struct weft_text_style style)
{
	char text[NAME_BYTES];
	if (room <= 0)
		return;
	weft_canvas_clean_text(words.bytes, words.size, text, sizeof(text));
	size_t size = fit(d->font, text, style.size, style.bold, room);
	if (size)
		weft_canvas_text(d->canvas, x, y, text, size,
			measure(d->font, text, size, style.size, style.bold), &style);
}

/* ---- Boxes ---- */

static int draw_box(const struct weft__profile_graph *graph, const struct weft__profile_drawing *d,
	const struct weft__profile_box *box, double y)
{
	const double x = box->x, x2 = x + box->width - (box->width > 3 * GAP ? GAP : 0);
	struct weft_text text = {0};
	if (d->has_tips) {
		weft__profile_graph_describe(graph, box->node, &text);
		weft_canvas_group(d->canvas, 0, 0, 0, 0, text.bytes, text.size);
	}
	weft_canvas_rect(d->canvas, x, y, x2, y + ROW - GAP, fill_of(graph, box->node));
	if (box->node == d->hovered)
		weft_canvas_rect(d->canvas, x, y + ROW - GAP - 2, x2, y + ROW - GAP, ink);
	weft__profile_draw_words(d, x + TEXT_PADDING, y + ROW - 6, x2 - x - 2 * TEXT_PADDING,
		weft__profile_graph_name(graph, box->node),
		(struct weft_text_style){.color = ink, .size = TEXT_SIZE});
	if (d->has_tips)
		weft_canvas_ungroup(d->canvas);
	const int error = text.error;
	weft_text_finish(&text);
	return error;
}

int weft__profile_graph_draw(
	const struct weft__profile_graph *graph, const struct weft__profile_drawing *d)
{
	int error = 0;
	for (uint32_t i = 0; i < graph->box_count && !error; i++) {
		const double y = d->top + graph->tree.nodes[graph->boxes[i].node].depth * ROW;
		if (y + ROW > d->from && y < d->to)
			error = draw_box(graph, d, &graph->boxes[i], y);
	}
	return error ? error : weft_canvas_error(d->canvas);
}

/* ---- The legend ---- */

/* Where its next entry goes. */
struct legend {
	double left, x, y, right;
};

static void add_entry(const struct weft__profile_drawing *d, struct legend *legend, uint32_t color,
	struct weft_slice words)
{
	const struct weft_text_style style = {.color = d->dim, .size = SMALL_SIZE};
	char text[NAME_BYTES];
	weft_canvas_clean_text(words.bytes, words.size, text, sizeof(text));
	const size_t size =
		fit(d->font, text, SMALL_SIZE, false, legend->right - legend->left - 2 * SWATCH);
	const double width = measure(d->font, text, size, SMALL_SIZE, false);
	if (legend->x > legend->left && legend->x + 1.5 * SWATCH + width > legend->right) {
		legend->x = legend->left;
		legend->y += ROW;
	}
	if (d->canvas) {
		weft_canvas_rect(
			d->canvas, legend->x, legend->y, legend->x + SWATCH, legend->y + SWATCH, color);
		weft_canvas_text(
			d->canvas, legend->x + 1.5 * SWATCH, legend->y + SWATCH - 1, text, size, width, &style);
	}
	legend->x += 1.5 * SWATCH + width + 2 * SWATCH;
}

static void add_words(
	const struct weft__profile_drawing *d, struct legend *legend, uint32_t color, const char *words)
{
	add_entry(d, legend, color, (struct weft_slice){words, strlen(words)});
}

static void add_files(const struct weft__profile_graph *graph,
	const struct weft__profile_drawing *d, struct legend *legend)
{
	bool is_used[WEFT__GRAPH_COLORS] = {false};
	for (uint32_t i = 0; i < graph->box_count; i++)
		is_used[graph->colors[graph->boxes[i].node]] = true;
	for (unsigned i = 0; i < graph->file_count; i++)
		if (is_used[i])
			add_entry(d, legend, colors[i], weft__profile_graph_file(graph, graph->files[i]));
	if (is_used[WEFT__GRAPH_OTHER])
		add_words(d, legend, colors[WEFT__GRAPH_OTHER], "other files");
	if (is_used[WEFT__GRAPH_NAMELESS])
		add_words(d, legend, colors[WEFT__GRAPH_NAMELESS], "file not known");
}

/* Functions without a box: each on a line, as far as there is room. */
static void add_gone(const struct weft__profile_graph *graph, const struct weft__profile_drawing *d,
	struct legend *legend)
{
	uint32_t nodes[GONE_MAX];
	struct weft_text text = {0};
	char more[64];
	const uint32_t count = weft__profile_graph_gone(graph, nodes, GONE_MAX);
	for (uint32_t i = 0; i < count && i < GONE_MAX; i++) {
		text.size = 0;
		weft_text_add_string(&text, "no more: ");
		weft__profile_graph_describe_gone(graph, nodes[i], &text);
		legend->x = legend->left;
		legend->y += ROW;
		add_entry(d, legend, shrunk, (struct weft_slice){text.bytes, text.size});
	}
	snprintf(more, sizeof(more), "and %u more", count > GONE_MAX ? count - GONE_MAX : 0);
	if (count > GONE_MAX)
		add_words(d, legend, shrunk, more);
	weft_text_finish(&text);
}

double weft__profile_graph_draw_legend(const struct weft__profile_graph *graph,
	const struct weft__profile_drawing *d, double x, double y, double right)
{
	struct legend legend = {x, x, y, right};
	if (graph->profile->is_compared) {
		add_words(d, &legend, grown, "more than before");
		add_words(d, &legend, same, "as before");
		add_words(d, &legend, shrunk, "less");
		add_gone(graph, d, &legend);
	} else {
		add_files(graph, d, &legend);
	}
	return legend.x > x ? legend.y + ROW : y;
}

/* ---- A picture of its own ---- */

/* Returns the lower end. */
static double draw_head(
	const struct weft__profile_drawing *d, const struct weft_profile_picture *picture)
{
	const double room = picture->width - 2 * MARGIN;
	double y = MARGIN;
	if (picture->title) {
		weft__profile_draw_words(d, MARGIN, y + TITLE_SIZE, room,
			(struct weft_slice){picture->title, strlen(picture->title)},
			(struct weft_text_style){.color = ink, .size = TITLE_SIZE, .bold = true});
		y += TITLE_SIZE + 6;
	}
	if (picture->detail) {
		weft__profile_draw_words(d, MARGIN, y + SMALL_SIZE, room,
			(struct weft_slice){picture->detail, strlen(picture->detail)},
			(struct weft_text_style){.color = dim, .size = SMALL_SIZE});
		y += SMALL_SIZE + 6;
	}
	return y + 6;
}

/* The height is known when all is drawn: the ground, which is drawn first, has room for a legend
 * with one entry a line. */
static int draw_picture(struct weft__profile_graph *graph,
	const struct weft_profile_picture *picture, struct weft_canvas *canvas)
{
	const double right = picture->width - MARGIN, rows = graph->rows * ROW;
	struct weft__profile_drawing d = {.canvas = canvas,
		.font = picture->font ? picture->font : &weft_font_builtin,
		.dim = dim,
		.hovered = WEFT__GRAPH_NONE,
		.has_tips = true};
	weft_canvas_clear(canvas, picture->width, 0);
	weft_canvas_rect(
		canvas, 0, 0, picture->width, 4 * ROW + rows + (WEFT__GRAPH_FILES + 2) * ROW, ground);
	d.top = draw_head(&d, picture);
	d.to = d.top + rows;
	int error = weft__profile_graph_draw(graph, &d);
	canvas->height =
		weft__profile_graph_draw_legend(graph, &d, MARGIN, d.top + rows + 8, right) + MARGIN / 2;
	return error ? error : weft_canvas_error(canvas);
}

WEFT__EXPORT int weft_profile_draw(const struct weft_profile *profile,
	const struct weft_profile_picture *given, struct weft_canvas *canvas)
{
	struct weft__profile_graph *graph = NULL;
	struct weft_profile_picture picture;
	WEFT__OPTIONS_COPY(&picture, given);
	int error = weft__profile_graph_create(profile, &graph);
	if (error)
		return error;
	weft__profile_graph_place(graph, 0, MARGIN, picture.width - 2 * MARGIN);
	error = draw_picture(graph, &picture, canvas);
	weft__profile_graph_destroy(graph);
	return error;
}
