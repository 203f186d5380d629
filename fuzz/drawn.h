/* SPDX-License-Identifier: ISC
 *
 * Draws a trace made from the input: model, layout, problems, a task's story, and frames of the
 * whole trace, of its middle, and of its end at the highest zoom, also as SVG. Only for traces of
 * few events, so that a target stays fast.
 */
#ifndef WEFT_FUZZ_DRAWN_H
#define WEFT_FUZZ_DRAWN_H

#include <stdint.h>
#include <stdlib.h>

#include <weft/canvas.h>
#include <weft/chain.h>
#include <weft/decoder.h>
#include <weft/layout.h>
#include <weft/model.h>
#include <weft/problems.h>
#include <weft/profile.h>
#include <weft/render.h>
#include <weft/stats.h>
#include <weft/story.h>
#include <weft/view.h>

#ifndef DRAWN_EVENTS_MAX
#define DRAWN_EVENTS_MAX 2000
#endif
#define DRAWN_STORIES 8 /* tasks whose story is made */

/* A frame has fewer: a count fails on any machine, a limit in seconds only on a slow one. */
#define DRAWN_OPERATIONS_MAX 500000

static inline void demand(int condition)
{
	if (!condition)
		abort();
}

static inline void draw_view(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, bool rates)
{
	const struct weft_render_options options = {.title = "fuzz",
		.hover = true,
		.handles = true,
		.counter_rates = rates,
		.clock_times = rates};
	const struct weft_svg_options svg = {.title = "fuzz"};
	struct weft_text text = {0};
	struct weft_canvas *canvas;
	demand(weft_canvas_create(frame->width, frame->height, &canvas) == 0);
	demand(weft_render_frame(scene, frame, view, &options, canvas) == 0);
	demand(canvas->op_count <= DRAWN_OPERATIONS_MAX);
	demand(weft_canvas_write_svg(canvas, &svg, &text) == 0);
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
}

/* Draws the whole and a thousandth of it with idle time squeezed. */
static inline void draw_squeezed(
	const struct weft_scene *scene, const struct weft_frame *frame, struct weft_view *view)
{
	struct weft_squeeze *squeeze;
	demand(weft_scene_create_squeeze(scene, &squeeze) == 0);
	if (squeeze) {
		weft_view_fit(view);
		weft_view_set_squeeze(view, squeeze);
		draw_view(scene, frame, view, false);
		weft_view_zoom(view, frame->picture.width / 2, 1000);
		draw_view(scene, frame, view, true);
	}
	weft_squeeze_destroy(squeeze);
}

/* Draws the whole, then a thousandth in the middle, then the last nanoseconds. */
static inline void draw_layout(const struct weft_layout *layout, double width, double height)
{
	struct weft_scene *scene;
	struct weft_frame frame;
	struct weft_view view;
	demand(weft_scene_create(layout->model, layout, &scene) == 0);
	weft_frame_place(layout, width, height, &frame);
	weft_frame_view(layout, &frame, &view);
	draw_view(scene, &frame, &view, false);
	weft_view_zoom(&view, frame.picture.width / 2, 1000);
	draw_view(scene, &frame, &view, true);
	weft_view_zoom(&view, frame.picture.width, 1e9);
	weft_view_pan(&view, -1e18);
	draw_view(scene, &frame, &view, false);
	draw_squeezed(scene, &frame, &view);
	weft_scene_destroy(scene);
}

/* Follows the task's chain of waits in its longest wait, or at the end. */
static inline void follow_chain(const struct weft_story *story, uint32_t task)
{
	uint64_t at = WEFT_STORY_WHOLE;
	char text[WEFT_SENTENCE_BYTES];
	struct weft_chain *chain;
	(void)weft_chain_time(story, task, 0, UINT64_MAX, &at);
	demand(weft_chain_create(story, task, at, WEFT_CHAIN_HOPS, &chain) == 0);
	demand(chain->count >= chain->kept && !chain->count == !chain->kept);
	for (uint32_t i = 0; i < chain->kept; i++)
		demand(weft_chain_hop_sentence(story, &chain->hops[i], text, sizeof(text)) > 0);
	demand(weft_chain_end_sentence(story, chain, text, sizeof(text)) > 0);
	weft_chain_destroy(chain);
}

static inline void list_waiting(const struct weft_story *story, uint64_t at)
{
	char text[WEFT_SENTENCE_BYTES];
	struct weft_waiting *waiting;
	demand(weft_waiting_create(story, at, &waiting) == 0);
	for (uint32_t i = 0; i < waiting->count; i++)
		demand(weft_waiters_sentence(story, waiting, &waiting->list[i], text, sizeof(text)) > 0);
	weft_waiting_destroy(waiting);
}

/* Statistics of the whole and of the middle; times within a row's limits. */
static inline void measure_all(const struct weft_story *story, enum weft_stats_by by)
{
	const struct weft_model_summary *s = &story->model->summary;
	uint64_t third = (s->end - s->start) / 3;
	for (unsigned part = 0; part < 2; part++) {
		const struct weft_stats_options options = {
			.by = by, .start_ns = part * (s->start + third), .end_ns = part * (s->end - third)};
		struct weft_stats *stats;
		struct weft_stats_diff *diff;
		char name[64];
		demand(weft_stats_create(story, &options, &stats) == 0);
		demand(stats->idle_ns <= stats->end_ns - stats->start_ns);
		for (uint32_t i = 0; i < stats->row_count; i++) {
			const struct weft_stats_row *row = &stats->rows[i];
			demand(row->ended <= row->count && row->p50_ns <= row->p99_ns);
			demand(row->p99_ns <= row->max_ns && row->max_delay_ns <= row->delay_ns);
			weft_stats_format_name(stats, row, name, sizeof(name));
		}
		for (uint32_t i = 0; i < story->model->counter_count; i++)
			weft_stats_counter_of(stats, i);
		demand(weft_stats_diff_create(stats, stats, &diff) == 0);
		demand(diff->count == stats->row_count && (!diff->count || diff->pairs[0].score == 0));
		weft_stats_diff_destroy(diff);
		weft_stats_destroy(stats);
	}
}

/* The calls of all waits, as a flame graph and for other programs. */
static inline void draw_profile(const struct weft_story *story)
{
	const struct weft_stats_options options = {.by = WEFT_STATS_BY_STACK};
	const struct weft_profile_picture picture = {.width = 300, .title = "fuzz"};
	struct weft_profile *profile;
	struct weft_stats *stats;
	struct weft_canvas *canvas;
	struct weft_text text = {0};
	char name[WEFT_STATS_NAME_BYTES];
	demand(weft_stats_create(story, &options, &stats) == 0);
	demand(weft_profile_create(NULL, &profile) == 0);
	demand(weft_canvas_create(300, 0, &canvas) == 0);
	for (uint32_t i = 0; i < stats->row_count; i++) {
		const struct weft_stats_row *row = &stats->rows[i];
		weft_stats_format_name(stats, row, name, sizeof(name));
		demand(weft_profile_add(profile, (struct weft_slice){name, strlen(name)},
				   (struct weft_slice){"[lock]", 6}, row->waiting_ns, row->count) == 0);
	}
	demand(weft_profile_draw(profile, &picture, canvas) == 0);
	demand(weft_profile_write_collapsed(profile, &text) == 0);
	demand(weft_profile_write_pprof(profile, &text) == 0);
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
	weft_profile_destroy(profile);
	weft_stats_destroy(stats);
}

static inline void list_all(const struct weft_model *model, const struct weft_layout *layout)
{
	struct weft_story_index *index;
	struct weft_problems *problems;
	demand(weft_story_index_create(model, &index) == 0);
	const struct weft_story story = {model, layout, index};
	demand(weft_problems_create(&story, &problems) == 0);
	weft_problems_destroy(problems);
	list_waiting(&story, WEFT_STORY_WHOLE);
	list_waiting(&story, model->summary.start + (model->summary.end - model->summary.start) / 2);
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++)
		measure_all(&story, (enum weft_stats_by)by);
	draw_profile(&story);
	for (uint32_t task = 0; task < model->tasks.count && task < DRAWN_STORIES; task++) {
		struct weft_story_lines *lines;
		demand(weft_story_lines_create(&story, task, &lines) == 0);
		weft_story_lines_destroy(lines);
		follow_chain(&story, task);
	}
	weft_story_index_destroy(index);
}

/* The size is small enough that rows share lanes, and large enough for every part of a frame. */
static inline void draw_model(const struct weft_model *model)
{
	const struct weft_layout_options folded = {.fold = true, .group_by = WEFT_GROUP_BY_THREAD};
	struct weft_layout *layout;
	demand(weft_layout_create(model, NULL, &layout) == 0);
	list_all(model, layout);
	draw_layout(layout, 640, 320);
	weft_layout_destroy(layout);
	demand(weft_layout_create(model, &folded, &layout) == 0);
	draw_layout(layout, 300, 60);
	weft_layout_destroy(layout);
}

static inline void draw_trace(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	struct weft_model *model;
	demand(weft_decoder_create(&decoder) == 0);
	demand(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_build_model(decoder, NULL, &model) == 0) {
		const struct weft_model_summary *s = &model->summary;
		demand(s->start <= s->end);
		if (s->events <= DRAWN_EVENTS_MAX)
			draw_model(model);
		weft_model_destroy(model);
	}
	weft_decoder_destroy(decoder);
}

#endif
