/* SPDX-License-Identifier: ISC
 *
 * A flame graph: the root at the top, callees below their callers.
 *
 *     ┌──────────────────────────────────────────┐
 *     │ all                                      │
 *     ├───────────────────────────┬──────────────┤
 *     │ worker                    │ main         │
 *     ├──────────────┬────────────┼──────────────┤
 *     │ append       │ poll       │ [thread]     │
 *
 * The colours are those of the functions' files: each of the first few has its own, and all are
 * named below. Boxes are drawn from the top to the bottom, never by recursion: their depth is the
 * trace's.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>

#include "base/export.h"
#include "base/number.h"
#include "base/options.h"
#include "profile/profile.h"

#define MARGIN       12.0
#define ROW          20.0
#define GAP          1.0  /* between boxes */
#define LEAST_WIDTH  0.25 /* of a box that is drawn */
#define TEXT_PADDING 4.0
#define TEXT_SIZE    12.0
#define TITLE_SIZE   15.0
#define SMALL_SIZE   11.0
#define SWATCH       10.0
#define ROWS_MAX     512 /* that are drawn */
#define NAME_BYTES   512
#define DIGITS       3

enum {
	FILES = 8
};

static const uint32_t ink = 0x1b1f24ff, dim = 0x5b6570ff, ground = 0xffffffff, root = 0xe3e6eaff,
					  leaf = 0xcfd5dcff, nameless = 0xe8e2d6ff, other = 0xdcd0dbff;

static const uint32_t colors[FILES] = {
	0xf7c59fff, 0xa9d3f2ff, 0xc6e2a4ff, 0xf3dc8bff, 0xcfc2efff, 0xf2b8c6ff, 0x9fdcceff, 0xd9c7a8ff};

struct drawing {
	const struct weft_profile *profile;
	struct weft__profile_tree tree;
	const struct weft_font *font;
	struct weft_canvas *canvas;
	double top, scale; /* pixels per weight */
	double *x;         /* by node: its left end */
	uint32_t files[FILES];
	unsigned file_count;
	bool has_other, has_nameless;
	int error;
};

/* ---- Colours ---- */

/* "[lock]": the kind of task that is waited for. */
static bool is_leaf(struct weft_slice name)
{
	return name.size > 2 && name.bytes[0] == '[' && name.bytes[name.size - 1] == ']';
}

/* The file of a node, or the object of "server+0x4f10"; 0 bytes: unknown. */
static struct weft_slice object_of(const struct drawing *d, const struct weft__profile_node *node)
{
	static const char sign[] = "+0x";
	struct weft_slice name = d->profile->names[node->name];
	const uint32_t file = d->profile->frames[node->frame].file;
	if (file)
		return d->profile->names[file];
	for (size_t i = 1; i + sizeof(sign) <= name.size; i++)
		if (memcmp(name.bytes + i, sign, sizeof(sign) - 1) == 0)
			return (struct weft_slice){name.bytes, i};
	return (struct weft_slice){"", 0};
}

static bool is_same(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* `files` has nodes. */
static uint32_t color_of(struct drawing *d, uint32_t number, struct weft_slice object)
{
	for (unsigned i = 0; i < d->file_count; i++)
		if (is_same(object, object_of(d, &d->tree.nodes[d->files[i]])))
			return colors[i];
	if (d->file_count == FILES) {
		d->has_other = true;
		return other;
	}
	d->files[d->file_count] = number;
	return colors[d->file_count++];
}

static uint32_t fill_of(struct drawing *d, uint32_t number)
{
	const struct weft__profile_node *node = &d->tree.nodes[number];
	if (!number)
		return root;
	if (is_leaf(d->profile->names[node->name]))
		return leaf;
	const struct weft_slice object = object_of(d, node);
	if (object.size)
		return color_of(d, number, object);
	d->has_nameless = true;
	return nameless;
}

/* ---- Text ---- */

static double measure(
	const struct drawing *d, const char *text, size_t size, double points, bool bold)
{
	return d->font->measure(d->font->context, text, size, points, bold);
}

/* Shortens the text to a width; returns its size, 0 if not even three letters fit. */
static size_t fit(
	const struct drawing *d, char text[NAME_BYTES], double points, bool bold, double room)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t size = strlen(text), least = 0, most = size;
	if (measure(d, text, size, points, bold) <= room)
		return size;
	room -= measure(d, ellipsis, sizeof(ellipsis) - 1, points, bold);
	while (least < most) {
		const size_t middle = (least + most + 1) / 2;
		if (measure(d, text, middle, points, bold) <= room)
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

static void put(const struct drawing *d, double x, double y, double room, const char *words,
	size_t size, struct weft_text_style style)
{
	char text[NAME_BYTES];
	weft_canvas_clean_text(words, size, text, sizeof(text));
	size = fit(d, text, style.size, style.bold, room);
	if (size)
		weft_canvas_text(
			d->canvas, x, y, text, size, measure(d, text, size, style.size, style.bold), &style);
}

/* ---- Boxes ---- */

static const char *name_of(const struct drawing *d, uint32_t number, struct weft_slice *ret_name)
{
	*ret_name =
		number ? d->profile->names[d->tree.nodes[number].name] : (struct weft_slice){"all", 3};
	return ret_name->bytes;
}

/* "say_hello (hello.c:12): 382 ms, 54.4 %, 152 waits" */
static void describe(const struct drawing *d, uint32_t number, struct weft_text *text)
{
	const struct weft__profile_node *node = &d->tree.nodes[number];
	const struct weft__profile_frame *frame = number ? &d->profile->frames[node->frame] : NULL;
	char duration[32], share[WEFT__NUMBER_BYTES];
	struct weft_slice name;
	name_of(d, number, &name);
	weft_text_add(text, name.bytes, name.size);
	if (frame && frame->file) {
		const struct weft_slice file = d->profile->names[frame->file];
		weft_text_add_string(text, " (");
		weft_text_add(text, file.bytes, file.size);
		if (!node->has_frames) {
			weft_text_add_string(text, ":");
			weft_text_add_u64(text, frame->line);
		}
		weft_text_add_string(text, ")");
	}
	weft_format_duration(node->weight, DIGITS, duration);
	weft__number_general(
		100 * (double)node->weight / (double)d->tree.nodes[0].weight, DIGITS, share);
	weft_text_add_string(text, ": ");
	weft_text_add_string(text, duration);
	weft_text_add_string(text, ", ");
	weft_text_add_string(text, share);
	weft_text_add_string(text, " %, ");
	weft_text_add_u64(text, node->count);
	weft_text_add_string(text, " ");
	const char *counted = d->profile->options.counted ? d->profile->options.counted : "samples";
	const size_t size = strlen(counted);
	weft_text_add(text, counted, size && node->count == 1 ? size - 1 : size); /* without the "s" */
}

static void draw_box(struct drawing *d, uint32_t number)
{
	const struct weft__profile_node *node = &d->tree.nodes[number];
	const double x = d->x[number], width = (double)node->weight * d->scale;
	const double y = d->top + node->depth * ROW;
	const double x2 = width > 3 * GAP ? x + width - GAP : x + width;
	struct weft_text text = {0};
	struct weft_slice name;
	describe(d, number, &text);
	d->error = d->error ? d->error : text.error;
	weft_canvas_group(d->canvas, 0, 0, 0, 0, text.bytes, text.size);
	weft_canvas_rect(d->canvas, x, y, x2, y + ROW - GAP, fill_of(d, number));
	name_of(d, number, &name);
	put(d, x + TEXT_PADDING, y + ROW - 6, x2 - x - 2 * TEXT_PADDING, name.bytes, name.size,
		(struct weft_text_style){.color = ink, .size = TEXT_SIZE});
	weft_canvas_ungroup(d->canvas);
	weft_text_finish(&text);
}

/* A parent comes before its children in the queue, which gets those that are wide enough. */
static void draw_boxes(struct drawing *d, uint32_t *queue)
{
	uint32_t count = 1;
	queue[0] = 0;
	d->x[0] = MARGIN;
	for (uint32_t i = 0; i < count; i++) {
		const struct weft__profile_node *node = &d->tree.nodes[queue[i]];
		double x = d->x[queue[i]];
		draw_box(d, queue[i]);
		for (uint32_t k = 0; k < node->child_count && node->depth + 1 < ROWS_MAX; k++) {
			const uint32_t child = d->tree.order[node->first_child + k];
			const double width = (double)d->tree.nodes[child].weight * d->scale;
			if (width < LEAST_WIDTH)
				break; /* the others are lighter */
			d->x[child] = x;
			queue[count++] = child;
			x += width;
		}
	}
}

/* The rows that have boxes. */
static uint32_t count_rows(const struct drawing *d)
{
	uint32_t rows = 1;
	for (uint32_t i = 1; i < d->tree.count; i++)
		if (d->tree.nodes[i].depth >= rows &&
			(double)d->tree.nodes[i].weight * d->scale >= LEAST_WIDTH)
			rows = d->tree.nodes[i].depth + 1;
	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

/* Where the next entry of the legend goes. */
struct legend {
	double x, y, right;
};

static void add_entry(
	const struct drawing *d, struct legend *legend, uint32_t color, struct weft_slice words)
{
	const struct weft_text_style style = {.color = dim, .size = SMALL_SIZE};
	char text[NAME_BYTES];
	weft_canvas_clean_text(words.bytes, words.size, text, sizeof(text));
	const size_t size = fit(d, text, SMALL_SIZE, false, legend->right - MARGIN - 2 * SWATCH);
	const double width = measure(d, text, size, SMALL_SIZE, false);
	if (legend->x > MARGIN && legend->x + 1.5 * SWATCH + width > legend->right) {
		legend->x = MARGIN;
		legend->y += ROW;
	}
	weft_canvas_rect(
		d->canvas, legend->x, legend->y, legend->x + SWATCH, legend->y + SWATCH, color);
	weft_canvas_text(
		d->canvas, legend->x + 1.5 * SWATCH, legend->y + SWATCH - 1, text, size, width, &style);
	legend->x += 1.5 * SWATCH + width + 2 * SWATCH;
}

/* The colours of files, in as many lines as they need. Returns the lower end. */
static double draw_legend(const struct drawing *d, double y, double right)
{
	static const char others[] = "other files", unknown[] = "file not known";
	struct legend legend = {MARGIN, y, right};
	for (unsigned i = 0; i < d->file_count; i++)
		add_entry(d, &legend, colors[i], object_of(d, &d->tree.nodes[d->files[i]]));
	if (d->has_other)
		add_entry(d, &legend, other, (struct weft_slice){others, sizeof(others) - 1});
	if (d->has_nameless)
		add_entry(d, &legend, nameless, (struct weft_slice){unknown, sizeof(unknown) - 1});
	return legend.x > MARGIN ? legend.y + ROW : y;
}

static double draw_head(struct drawing *d, const struct weft_profile_picture *picture)
{
	const double room = picture->width - 2 * MARGIN;
	double y = MARGIN;
	if (picture->title) {
		put(d, MARGIN, y + TITLE_SIZE, room, picture->title, strlen(picture->title),
			(struct weft_text_style){.color = ink, .size = TITLE_SIZE, .bold = true});
		y += TITLE_SIZE + 6;
	}
	if (picture->detail) {
		put(d, MARGIN, y + SMALL_SIZE, room, picture->detail, strlen(picture->detail),
			(struct weft_text_style){.color = dim, .size = SMALL_SIZE});
		y += SMALL_SIZE + 6;
	}
	return y + 6;
}

/* The height is known when all is drawn: the ground, which is drawn first, has room for a legend
 * with one entry a line. */
static void draw_all(struct drawing *d, const struct weft_profile_picture *picture, uint32_t *queue)
{
	const double right = picture->width - MARGIN;
	const uint64_t weight = d->tree.nodes[0].weight;
	d->scale = weight ? (right - MARGIN + GAP) / (double)weight : 0;
	const double rows = weight ? count_rows(d) * ROW : 0;
	weft_canvas_clear(d->canvas, picture->width, 0);
	weft_canvas_rect(d->canvas, 0, 0, picture->width, 4 * ROW + rows + (FILES + 2) * ROW, ground);
	d->top = draw_head(d, picture);
	if (weight)
		draw_boxes(d, queue);
	d->canvas->height = draw_legend(d, d->top + rows + 8, right) + MARGIN / 2;
}

WEFT__EXPORT int weft_profile_draw(const struct weft_profile *profile,
	const struct weft_profile_picture *given, struct weft_canvas *canvas)
{
	struct drawing d = {.profile = profile, .canvas = canvas};
	struct weft_profile_picture picture;
	WEFT__OPTIONS_COPY(&picture, given);
	d.font = picture.font ? picture.font : &weft_font_builtin;
	int error = weft__profile_tree_make(profile, &d.tree);
	if (error)
		return error;
	uint32_t *queue = malloc(d.tree.count * sizeof(*queue));
	d.x = malloc(d.tree.count * sizeof(*d.x));
	if (queue && d.x)
		draw_all(&d, &picture, queue);
	error = !queue || !d.x ? WEFT_ERROR_MEMORY : d.error ? d.error : weft_canvas_error(canvas);
	free(queue);
	free(d.x);
	weft__profile_tree_finish(&d.tree);
	return error;
}
