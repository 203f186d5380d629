/* SPDX-License-Identifier: ISC
 *
 * Draws the histograms of metrics in lanes below those of counters. They are of the whole record,
 * so their bars stand beside the words, on a scale of sizes, and no line of time crosses the lane.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>
#include <weft/text.h>

#include "base/export.h"
#include "base/number.h"
#include "render/counters/plot.h"

#define LANES_MAX   4u
#define NAME_SIZE   11.0
#define SCALE_SIZE  9.0
#define EDGE        4.0
#define GAP         8.0
#define BARS_WIDTH  240.0 /* px, at most */
#define BARS_FROM   60.0
#define BAR_MOST    12.0
#define BOUND_WIDTH 52.0 /* px; on each side of the bars */
#define FILL        0.5
#define LOG_2       0.6931471805599453

/* A metric as a whole, without labels, which has all values of its levels. */
static bool has_lane(const struct weft_model *model, uint32_t histogram)
{
	const struct weft_histogram *it = &model->histograms[histogram];
	return it->values && it->bucket_count && weft_model_string(model, it->labels).size == 2;
}

WEFT__EXPORT uint32_t weft_histogram_lanes(const struct weft_model *model)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < model->histogram_count && count < LANES_MAX; i++)
		count += has_lane(model, i);
	return count;
}

/* ---- Words ---- */

/* A size in the histogram's unit: "1.58 us", "96 bytes". */
static void write_size(
	const struct weft_model *model, const struct weft_histogram *it, double size, char text[64])
{
	const char *unit = weft_model_string(model, it->unit).bytes;
	char number[WEFT__NUMBER_BYTES];
	if (strcmp(unit, "seconds") == 0 && size < 1e9)
		weft_format_duration((uint64_t)(size * 1e9 + 0.5), 3, text);
	else
		snprintf(
			text, 64, "%s%s%.24s", weft__number_general(size, 3, number), unit[0] ? " " : "", unit);
}

/* Writes the least bound below which that many percent of the values lie. */
static void add_share(const struct weft_model *model, const struct weft_histogram *it,
	unsigned percent, struct weft_text *words)
{
	const struct weft_bucket *bucket = &model->buckets[it->first_bucket];
	const struct weft_bucket *last = bucket + it->bucket_count - 1;
	double below = (double)bucket->count;
	char size[64];
	while (bucket < last && below < (double)it->values * percent / 100)
		below += (double)(++bucket)->count;
	write_size(model, it, bucket->up_to, size);
	weft_text_add_string(words, ", ");
	weft_text_add_u64(words, percent);
	weft_text_add_string(words, isfinite(bucket->up_to) ? " % up to " : " % of any size");
	weft_text_add_string(words, isfinite(bucket->up_to) ? size : "");
}

static void add_words(
	const struct weft_model *model, const struct weft_histogram *it, struct weft_text *words)
{
	weft_text_add_u64(words, it->values);
	weft_text_add_string(words, it->values == 1 ? " value" : " values");
	weft_text_add_string(words, " until the record's end");
	add_share(model, it, 50, words);
	add_share(model, it, 99, words);
}

static void write_words(struct painter *p, uint32_t histogram, const struct weft_box *box)
{
	struct weft_text_style style = {p->theme->text, NAME_SIZE, true, true, p->theme->background};
	struct weft_text words = {0};
	char room[256];
	double x = box->x + EDGE, end = box->x + box->width, y = box->y + NAME_SIZE + 1;
	struct weft_slice name = weft_story_histogram_name(p->model, histogram, room, sizeof(room));
	x += weft__render_put_text(p, x, y, name, end - x, &style) + GAP;
	add_words(p->model, &p->model->histograms[histogram], &words);
	style.bold = false;
	style.color = p->theme->dim;
	if (!words.error)
		weft__render_put_text(
			p, x, y, (struct weft_slice){words.bytes, words.size}, end - x, &style);
	weft_text_finish(&words);
}

/* ---- Bars ---- */

/* How many bounds a bucket is behind the first one: there are eight between a number and its
 * double. The last one may have none. */
static uint32_t step_of(const struct weft_bucket *first, uint32_t bucket)
{
	if (bucket && !isfinite(first[bucket].up_to))
		return step_of(first, bucket - 1) + 1;
	return bucket ? (uint32_t)(8 / LOG_2 * log(first[bucket].up_to / first->up_to) + 0.5) : 0;
}

static void draw_bars(
	struct painter *p, const struct weft_histogram *it, const struct weft_box *box)
{
	const struct weft_bucket *first = &p->model->buckets[it->first_bucket];
	const uint32_t color = weft__render_faded(p->theme->text, FILL);
	const double step = fmin(box->width / (step_of(first, it->bucket_count - 1) + 1), BAR_MOST);
	const double bottom = box->y + box->height;
	uint64_t most = 1;
	for (uint32_t i = 0; i < it->bucket_count; i++)
		most = first[i].count > most ? first[i].count : most;
	for (uint32_t i = 0; i < it->bucket_count; i++) {
		const double x = box->x + step_of(first, i) * step;
		const double height = fmax((double)first[i].count / (double)most * box->height, 1);
		weft_canvas_rect(p->canvas, x, bottom - height, x + fmax(step, 1), bottom, color);
	}
}

/* Writes the bounds of the smallest and the largest bucket at both sides of the bars. */
static void write_bounds(
	struct painter *p, const struct weft_histogram *it, const struct weft_box *box)
{
	struct weft_text_style style = {p->theme->dim, SCALE_SIZE, false, true, p->theme->background};
	const struct weft_bucket *first = &p->model->buckets[it->first_bucket];
	const double y = box->y + box->height, high = first[it->bucket_count - 1].up_to;
	char text[64];
	write_size(p->model, it, first->up_to, text);
	const double width = weft__render_measure(p, text, &style);
	if (it->bucket_count > 1 && width < BOUND_WIDTH - EDGE)
		weft_canvas_text(p->canvas, box->x - width - EDGE, y, text, strlen(text), width, &style);
	write_size(p->model, it, high, text);
	const char *shown = isfinite(high) ? text : "more";
	weft__render_put_text(p, box->x + box->width + EDGE, y,
		(struct weft_slice){shown, strlen(shown)}, BOUND_WIDTH - EDGE, &style);
}

void weft__render_draw_histogram(struct painter *p, uint32_t histogram, const struct weft_box *box)
{
	const struct weft_histogram *it = &p->model->histograms[histogram];
	const double width = fmin(BARS_WIDTH, box->width * 2 / 5 - 2 * BOUND_WIDTH);
	const double right = box->x + box->width, bottom = box->y + box->height;
	const struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	struct weft_box words = *box;
	weft_canvas_rect(p->canvas, box->x, box->y, right, bottom, p->theme->background);
	if (width >= BARS_FROM) {
		const struct weft_box bars = {
			right - width - BOUND_WIDTH, box->y + EDGE, width, box->height - 2 * EDGE};
		draw_bars(p, it, &bars);
		write_bounds(p, it, &bars);
		words.width = bars.x - BOUND_WIDTH - GAP - box->x;
	}
	write_words(p, histogram, &words);
	weft_canvas_line(p->canvas, box->x, weft__render_crisp(bottom - 1), right,
		weft__render_crisp(bottom - 1), &pen);
}

uint32_t weft__render_next_histogram(const struct painter *p, uint32_t histogram)
{
	while (histogram < p->model->histogram_count && !has_lane(p->model, histogram))
		histogram++;
	return histogram;
}
