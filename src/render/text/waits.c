/* SPDX-License-Identifier: ISC
 *
 * Small texts above long stretches in which a task does not run: "waits for db.query · 41 ms". They
 * are placed last, and only where they fit completely, since names are more important.
 *
 * A stretch that is wide enough for a text contains at least one of a set of test points that are
 * spaced at half that width. So a task's activations are examined only at these points, however
 * many it has.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#include "base/steps.h"
#include "render/painter.h"

#define WIDE         150.0 /* px: minimum width of a stretch */
#define SPACING      18.0  /* px: minimum height of a row */
#define SIZE         10.5
#define AROUND       12.0 /* px: margin on both sides */
#define MOST         128  /* stretches that are examined per frame */
#define NAME_LETTERS 24
#define AGAIN        400.0 /* px: within this distance a row's next wait for the same has no words */

struct wait_stretch {
	double x, x2;  /* its edges in the picture */
	uint64_t time; /* a time inside it */
	bool is_last;  /* it is behind the end of the task's line */
};

/* The words that were written last in a row, without the length of the wait. */
struct last_words {
	char words[256];
	double x;
};

/* Finds the stretch around a time in which a task does not run; false if it runs then. */
static bool find_stretch(const struct painter *p, uint32_t task, uint64_t time,
	const struct weft__lane_piece *piece, struct wait_stretch *ret_stretch)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t first = p->model->tasks.first_activation[task];
	uint32_t last = p->model->tasks.end_activation[task];
	uint32_t next = weft__render_gallop_u64(a->end, first, last, time + 1);
	double x = piece->x, x2 = piece->x2;
	if (next < last && a->start[next] <= time)
		return false;
	if (next > first)
		x = fmax(x, weft__render_x(p, a->end[next - 1]));
	if (next < last)
		x2 = fmin(x2, weft__render_x(p, a->start[next]));
	const struct weft_box *box = &p->frame->picture;
	*ret_stretch =
		(struct wait_stretch){fmax(x, box->x), fmin(x2, box->x + box->width), time, false};
	return true;
}

#define DOT " \xc2\xb7 "

/* Writes "waits for db.query · 41 ms"; "still waits for …" if it waits until the trace's end;
 * "waits for any of cancel, reply · got reply after 41 ms" if it goes on with one of several. */
static size_t write_words(const struct painter *p, uint32_t task, uint64_t time, char text[256])
{
	const struct weft_story story = {.model = p->model, .layout = p->layout};
	struct weft_story_wait wait;
	char sources[WEFT_SENTENCE_BYTES], got[4 * NAME_LETTERS + 8] = "", length[32];
	if (!weft_story_wait_at(&story, task, time, &wait) || wait.source == WEFT_NONE)
		return 0;
	bool still = wait.until == UINT64_MAX;
	uint64_t until = still ? p->model->summary.end : wait.until;
	weft_story_wait_sources(p->model, &wait, sources, sizeof(sources));
	if (wait.any_count > 1 && wait.got != WEFT_NONE)
		weft_story_name(p->model, wait.got, NAME_LETTERS, got, sizeof(got));
	weft_format_duration(until > wait.since ? until - wait.since : 0, 3, length);
	int size = snprintf(text, 256, "%s %s" DOT "%s%s%s%s", still ? "still waits for" : "waits for",
		sources, *got ? "got " : "", got, *got ? " after " : "", length);
	return size > 0 && size < 256 ? (size_t)size : 0;
}

static bool take_room(struct painter *p, double x, double top, double width)
{
	return weft__render_occupied_take(
		p->occupied, (struct weft__rect){x - 4, top, x + width + 4, top + SIZE});
}

/* The part of the text that is new: only the length, if the row has the same words nearby. */
static const char *new_part(const struct last_words *last, const char *text, double x)
{
	const char *dot = strstr(text, DOT);
	size_t words = dot ? (size_t)(dot - text) : 0;
	bool is_again = words && strlen(last->words) == words &&
					memcmp(last->words, text, words) == 0 && x - last->x < AGAIN;
	return is_again ? dot + strlen(DOT) : text;
}

static void remember(struct last_words *last, const char *text, double x)
{
	const char *dot = strstr(text, DOT);
	last->x = x;
	snprintf(last->words, sizeof(last->words), "%.*s", dot ? (int)(dot - text) : 0, text);
}

/* Places the text in the middle of a stretch, or at its end; in the last stretch at its beginning.
 */
static void place_words(struct painter *p, uint32_t task, const struct weft__lane *lane,
	const struct wait_stretch *stretch, struct last_words *last)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, SIZE, false, true, p->theme->background};
	double y = lane->y - weft__render_lift(lane->spacing), top = y - SIZE * 0.8,
		   bottom = y + SIZE * 0.2;
	double room = stretch->x2 - stretch->x - 2 * AROUND;
	char text[256] = "", fitted[260];
	size_t size = write_words(p, task, stretch->time, text);
	const char *part = new_part(last, text, stretch->x);
	if (size == 0 || top < box->y || bottom > box->y + box->height)
		return;
	size -= (size_t)(part - text);
	double width = weft__render_fit_text(
		p, (struct weft_slice){part, size}, room, &style, fitted, sizeof(fitted));
	if (width <= 0 || strlen(fitted) != size)
		return;
	double x = floor((stretch->x + stretch->x2 - width) / 2), end = stretch->x2 - AROUND - width;
	if (stretch->is_last)
		x = end = stretch->x + AROUND + 2;
	if (!take_room(p, x, top, width)) /* a name reaches into it */
		x = take_room(p, floor(end), top, width) ? floor(end) : -1;
	if (x < 0)
		return;
	weft_canvas_text(p->canvas, x, y, fitted, size, width, &style);
	if (part == text)
		remember(last, text, stretch->x);
}

/* Labels the waits within one piece of a task's line. Returns the number of stretches that were
 * wide enough. */
static uint32_t label_waits(struct painter *p, const struct weft__lane *lane,
	const struct weft__lane_piece *piece, struct last_words *last)
{
	uint32_t task = p->scene->by_row[piece->index], count = 0;
	double from = fmax(piece->x, p->x0), done = -INFINITY;
	double end = fmin(piece->x2, p->x0 + p->frame->picture.width);
	uint32_t steps = weft__steps(from + WIDE / 2, end, WIDE / 2);
	for (uint32_t i = 1; i <= steps; i++) {
		struct wait_stretch stretch;
		double x = from + i * (WIDE / 2);
		if (x < done)
			continue;
		if (!find_stretch(p, task, weft_view_time(p->view, x - p->x0), piece, &stretch))
			continue;
		done = stretch.x2;
		if (stretch.x2 - stretch.x < WIDE)
			continue;
		place_words(p, task, lane, &stretch, last);
		count++;
	}
	return count;
}

/* Labels the last wait of a task that has not ended and never runs again, behind the end of its
 * line. Returns the number of stretches, 0 or 1. */
static uint32_t label_last_wait(
	struct painter *p, const struct weft__lane *lane, uint32_t index, struct last_words *last)
{
	const struct weft__lane_piece *piece = &p->pieces[index];
	const struct weft_box *box = &p->frame->picture;
	uint32_t task = p->scene->by_row[piece->index];
	uint64_t end = p->model->tasks.end[task];
	struct wait_stretch stretch = {
		weft__render_x(p, end), box->x + box->width, p->model->summary.end, true};
	if ((p->model->tasks.flags[task] & (WEFT_TASK_RESOLVED | WEFT_TASK_FAILED)) ||
		end >= p->model->summary.end || stretch.x < box->x)
		return 0;
	stretch.x2 = fmin(stretch.x2, weft__render_x(p, p->model->summary.end));
	if (index + 1 < lane->last_piece)
		stretch.x2 = fmin(stretch.x2, p->pieces[index + 1].x);
	if (stretch.x2 - stretch.x < WIDE)
		return 0;
	place_words(p, task, lane, &stretch, last);
	return 1;
}

void weft__render_label_waits(struct painter *p)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->lane_count; i++) {
		const struct weft__lane *lane = &p->lanes[i];
		if (lane->row_count != 1 || lane->spacing < SPACING)
			continue;
		struct last_words last = {.x = -INFINITY};
		for (uint32_t k = lane->first_piece; k < lane->last_piece && count < MOST; k++) {
			const struct weft__lane_piece *piece = &p->pieces[k];
			if (!piece->is_line || weft__render_is_dim(p, p->scene->by_row[piece->index]))
				continue;
			if (piece->x2 - piece->x >= WIDE)
				count += label_waits(p, lane, piece, &last);
			count += label_last_wait(p, lane, k, &last);
		}
	}
}
