/* SPDX-License-Identifier: ISC
 *
 * A picture as data: a list of drawing operations that any backend can replay.
 *
 * Render fills a canvas; cairo, SVG, GTK and the browser replay it, and tests read it as text.
 * Coordinates are logical pixels from the top left; colours are 0xRRGGBBAA. Text in a canvas is
 * valid UTF-8 without control characters, whatever the caller passed. A canvas belongs to one
 * thread at a time while it is filled, and is read-only afterwards. Only filling it and writing it
 * out allocate; nothing here does I/O.
 */
#ifndef WEFT_CANVAS_H
#define WEFT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_canvas_op_type {
	WEFT_CANVAS_RECT,     /* filled: x, y, x2, y2 */
	WEFT_CANVAS_LINE,     /* x, y to x2, y2 */
	WEFT_CANVAS_POLYLINE, /* points */
	WEFT_CANVAS_POLYGON,  /* points, filled */
	WEFT_CANVAS_DISC,     /* filled: centre x, y, radius x2 */
	WEFT_CANVAS_RING,     /* a circle: centre x, y, radius x2 */
	WEFT_CANVAS_HATCH,    /* lines at 45 degrees in x, y, x2, y2 */
	WEFT_CANVAS_TEXT,     /* left end of the baseline at x, y */
	WEFT_CANVAS_CLIP,     /* draw only inside x, y, x2, y2; nests */
	WEFT_CANVAS_UNCLIP,   /* ends the innermost CLIP */
	WEFT_CANVAS_GROUP,    /* names what follows `text`, with the hover area x, y, x2, y2 */
	WEFT_CANVAS_UNGROUP,  /* ends the innermost GROUP */
	WEFT_CANVAS_OPS
};

/* Each dash: its name, the lengths of its dashes and of its gaps in logical pixels. */
#define WEFT_CANVAS_DASHES(X) \
	X(SOLID, 0, 0)            \
	X(LONG, 6, 4)             \
	X(SHORT, 4, 3)            \
	X(DOTTED, 1, 3)

enum weft_canvas_dash {
#define X(name, on, off) WEFT_DASH_##name,
	WEFT_CANVAS_DASHES(X)
#undef X
	WEFT_DASHES
};

/* The lines of a HATCH lie where x + y is a multiple of this, so that hatches of neighbouring areas
 * join. */
#define WEFT_CANVAS_HATCH_STEP 8

/* Lengths of dashes and gaps in logical pixels; both 0 for a solid line. */
void weft_canvas_dash_lengths(enum weft_canvas_dash dash, double *ret_on, double *ret_off);

struct weft_canvas_op {
	uint8_t type; /* enum weft_canvas_op_type */
	uint8_t dash; /* enum weft_canvas_dash */
	bool bold;    /* text */
	bool halo;    /* text: an outline in `back` around the letters */
	uint32_t color, back;
	float x, y, x2, y2;
	float width;           /* of a line; of a text, as measured when it was added */
	float size;            /* of a text */
	uint32_t first, count; /* points: pairs in `points`; text: bytes in `text` */
};

struct weft_canvas {
	double width, height;
	const struct weft_canvas_op *ops;
	uint32_t op_count;
	const float *points; /* x, y, x, y … */
	const char *text;    /* each string ends with a NUL */
};

/* Measures text. The shell decides which font that is. */
struct weft_font {
	/* The width of valid UTF-8 in logical pixels. */
	double (*measure)(void *context, const char *text, size_t bytes, double size, bool bold);
	void *context;
};

/* DejaVu Sans, by a table of glyph widths: needs no font library, and gives the same widths on
 * every system. */
extern const struct weft_font weft_font_builtin;

int weft_canvas_create(double width, double height, struct weft_canvas **ret_canvas);
void weft_canvas_destroy(struct weft_canvas *canvas);

/* Empties the canvas for the next frame. */
void weft_canvas_clear(struct weft_canvas *canvas, double width, double height);

/* 0, or WEFT_ERROR_MEMORY if an operation could not be stored, so that the list is incomplete. */
int weft_canvas_error(const struct weft_canvas *canvas);

struct weft_pen {
	uint32_t color;
	double width;
	enum weft_canvas_dash dash;
};

struct weft_text_style {
	uint32_t color;
	double size;
	bool bold;
	bool halo;
	uint32_t back; /* the halo's colour */
};

void weft_canvas_rect(
	struct weft_canvas *canvas, double x, double y, double x2, double y2, uint32_t color);
void weft_canvas_line(struct weft_canvas *canvas, double x, double y, double x2, double y2,
	const struct weft_pen *pen);
/* `points` are x, y, x, y …; `count` is the number of pairs. */
void weft_canvas_polyline(
	struct weft_canvas *canvas, const double *points, uint32_t count, const struct weft_pen *pen);
void weft_canvas_polygon(
	struct weft_canvas *canvas, const double *points, uint32_t count, uint32_t color);
void weft_canvas_disc(
	struct weft_canvas *canvas, double x, double y, double radius, uint32_t color);
void weft_canvas_ring(
	struct weft_canvas *canvas, double x, double y, double radius, const struct weft_pen *pen);
void weft_canvas_hatch(
	struct weft_canvas *canvas, double x, double y, double x2, double y2, uint32_t color);
/* `width` is what the font measured; backends scale the text to exactly that width if they can. */
void weft_canvas_text(struct weft_canvas *canvas, double x, double y, const char *text,
	size_t bytes, double width, const struct weft_text_style *style);
void weft_canvas_clip(struct weft_canvas *canvas, double x, double y, double x2, double y2);
void weft_canvas_unclip(struct weft_canvas *canvas);
void weft_canvas_group(struct weft_canvas *canvas, double x, double y, double x2, double y2,
	const char *text, size_t bytes);
void weft_canvas_ungroup(struct weft_canvas *canvas);

/* Iterates over the lines that fill a HATCH: writes x, y, x2, y2 of the first line with a number of
 * at least *number, and sets *number to that number + 1; false if there is none. Start with 0. */
bool weft_canvas_hatch_line(const struct weft_canvas_op *op, uint32_t *number, double ret_line[4]);

/* Makes any bytes fit for a canvas: invalid UTF-8 and control characters become U+FFFD. Writes at
 * most `size` bytes with a NUL, whole characters only; returns the length without the NUL. */
size_t weft_canvas_clean_text(const char *bytes, size_t count, char *buffer, size_t size);

/* Appends the operations as text, one line each: for tests, and for comparing pictures. */
int weft_canvas_write_text(const struct weft_canvas *canvas, struct weft_text *text);

struct weft_svg_options {
	size_t
		size; /* sizeof(struct weft_svg_options), or 0; members that an older header lacks are 0 */
	const char *title; /* the description for screen readers; may be NULL */
};

/* Appends a standalone SVG document. */
int weft_canvas_write_svg(const struct weft_canvas *canvas, const struct weft_svg_options *options,
	struct weft_text *text);

#ifdef __cplusplus
}
#endif
#endif
