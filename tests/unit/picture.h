/* SPDX-License-Identifier: ISC
 *
 * A picture of a model, for tests.
 */
#ifndef WEFT_TESTS_PICTURE_H
#define WEFT_TESTS_PICTURE_H

#include <weft/render.h>

struct picture {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_frame frame;
	struct weft_view view;
	struct weft_render_options options;
	struct weft_canvas *canvas;
	enum weft_counter_form counters;
	struct weft_squeeze *squeeze;
};

/* Takes ownership of the model. `layout` may be NULL. */
static inline void picture_init_laid_out(struct picture *p, struct weft_model *model,
	const struct weft_layout_options *layout, double width, double height)
{
	*p = (struct picture){.model = model, .options = {.title = "sample"}};
	assert_int_equal(weft_layout_create(model, layout, &p->layout), 0);
	assert_int_equal(weft_scene_create(model, p->layout, &p->scene), 0);
	assert_int_equal(weft_canvas_create(width, height, &p->canvas), 0);
	weft_frame_place(p->layout, width, height, &p->frame);
	weft_frame_view(p->layout, &p->frame, &p->view);
}

static inline void picture_init(
	struct picture *p, struct weft_model *model, double width, double height)
{
	picture_init_laid_out(p, model, NULL, width, height);
}

/* Places the counters in another form than lanes. */
static inline void place_counters(struct picture *p, enum weft_counter_form form)
{
	p->counters = form;
	weft_frame_place_counters(&p->frame, form, p->model->counter_count, WEFT_LANE_HEIGHT);
	weft_frame_view(p->layout, &p->frame, &p->view);
}

static inline void squeeze(struct picture *p)
{
	assert_int_equal(weft_scene_create_squeeze(p->scene, &p->squeeze), 0);
	weft_view_set_squeeze(&p->view, p->squeeze);
}

static inline void picture_finish(struct picture *p)
{
	weft_canvas_destroy(p->canvas);
	weft_squeeze_destroy(p->squeeze);
	weft_scene_destroy(p->scene);
	weft_layout_destroy(p->layout);
	weft_model_destroy(p->model);
}

static inline void draw(struct picture *p)
{
	weft_canvas_clear(p->canvas, p->frame.width, p->frame.height);
	assert_int_equal(weft_render_frame(p->scene, &p->frame, &p->view, &p->options, p->canvas), 0);
}

static inline void resize(struct picture *p, double width, double height)
{
	weft_frame_place(p->layout, width, height, &p->frame);
	weft_frame_place_counters(&p->frame, p->counters, p->model->counter_count, WEFT_LANE_HEIGHT);
	weft_view_resize(&p->view, p->frame.picture.width, p->frame.picture.height);
}

#endif
