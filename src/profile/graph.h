/* SPDX-License-Identifier: ISC
 *
 * A flame graph: the tree of a profile as boxes, of all functions, or of one that is zoomed to with
 * its callers. It is placed anew for each width and zoom, and drawn as often as needed.
 */
#ifndef WEFT_PROFILE_GRAPH_H
#define WEFT_PROFILE_GRAPH_H

#include "profile/profile.h"

#define WEFT__GRAPH_ROW  20.0 /* px, the height of a box and the gap below it */
#define WEFT__GRAPH_NONE UINT32_MAX

enum {
	WEFT__GRAPH_FILES = 8 /* that have a colour each */
};

enum weft__profile_color {
	WEFT__GRAPH_OTHER = WEFT__GRAPH_FILES, /* one of the other files */
	WEFT__GRAPH_NAMELESS,                  /* the file is not known */
	WEFT__GRAPH_LEAF,                      /* "[lock]": what is waited for */
	WEFT__GRAPH_ROOT,
	WEFT__GRAPH_COLORS
};

struct weft__profile_box {
	uint32_t node;
	double x, width;
};

struct weft__profile_graph {
	const struct weft_profile *profile;
	struct weft__profile_tree tree;
	uint8_t *colors; /* by node: enum weft__profile_color, or the number of a file */
	uint32_t files[WEFT__GRAPH_FILES]; /* a node of each */
	unsigned file_count;
	/* The last placing; callers are before those that they call. */
	uint32_t zoom; /* 0: all functions */
	struct weft__profile_box *boxes;
	uint32_t box_count, rows;
};

/* `profile` must outlive the graph. 0 or WEFT_ERROR_MEMORY. */
int weft__profile_graph_create(
	const struct weft_profile *profile, struct weft__profile_graph **ret_graph);
void weft__profile_graph_destroy(struct weft__profile_graph *graph);

/* Places the boxes of a node, of its callers, and of all that it called, from `x` on. */
void weft__profile_graph_place(
	struct weft__profile_graph *graph, uint32_t zoom, double x, double width);

/* The node whose box has this point; `top` is the upper end of the first row. Or NONE. */
uint32_t weft__profile_graph_at(
	const struct weft__profile_graph *graph, double top, double x, double y);

/* The node with the same callers as one of another graph; if there is none, that of the callers
 * that both have. */
uint32_t weft__profile_graph_find(const struct weft__profile_graph *graph,
	const struct weft__profile_graph *other, uint32_t node);

/* The function: "say_hello"; of the root: "all". */
struct weft_slice weft__profile_graph_name(const struct weft__profile_graph *graph, uint32_t node);
/* The file of a node, or the object of "server+0x4f10"; 0 bytes: unknown. */
struct weft_slice weft__profile_graph_file(const struct weft__profile_graph *graph, uint32_t node);
/* By how much more or less time a node has than before: from -1, all is gone, to 1, all is new. */
double weft__profile_graph_growth(const struct weft__profile_graph *graph, uint32_t node);
/* The functions that have no box, as they had time before only: the heaviest `most` of those that a
 * function with a box called. Returns how many there are in all. */
uint32_t weft__profile_graph_gone(
	const struct weft__profile_graph *graph, uint32_t *ret_nodes, uint32_t most);
/* Appends "say_hello (hello.c:12), 120 ms before" of one of these. */
void weft__profile_graph_describe_gone(
	const struct weft__profile_graph *graph, uint32_t node, struct weft_text *text);
/* Appends "say_hello (hello.c:12): 382 ms, 54.4 %, 152 waits"; and in a comparison ", 120 ms
 * before". */
void weft__profile_graph_describe(
	const struct weft__profile_graph *graph, uint32_t node, struct weft_text *text);

/* ---- draw.c ---- */

struct weft__profile_drawing {
	struct weft_canvas *canvas; /* NULL: a legend is measured, not drawn */
	const struct weft_font *font;
	double top;       /* of the first row */
	double from, to;  /* rows outside are left out */
	uint32_t dim;     /* the colour of the legend's words */
	uint32_t hovered; /* a node, or NONE */
	bool has_tips;    /* each box has a text for pointers */
};

/* Draws a line of text, shortened to `room` px by an ellipsis; nothing if not even three letters
 * fit. */
void weft__profile_draw_words(const struct weft__profile_drawing *drawing, double x, double y,
	double room, struct weft_slice words, struct weft_text_style style);
/* Draws the placed boxes. 0 or WEFT_ERROR_MEMORY. */
int weft__profile_graph_draw(
	const struct weft__profile_graph *graph, const struct weft__profile_drawing *drawing);
/* Names the colours of the boxes, in as many lines as they need. Returns the lower end. */
double weft__profile_graph_draw_legend(const struct weft__profile_graph *graph,
	const struct weft__profile_drawing *drawing, double x, double y, double right);

#endif
