/* SPDX-License-Identifier: ISC
 *
 * A trace that was followed to its end is laid out like the saved one.
 */
#include <weft/growing.h>
#include <weft/refresh.h>

#include "viewer_sample.h"

#define PIECES 9

/* Follows the bytes, and shows each model. */
struct following {
	struct weft_growing *growing;
	struct weft_refresh *refresh;
	struct weft_viewer *viewer;
	uint32_t moved; /* tasks that had other rows than in a layout made at that time */
};

static void begin(struct following *f)
{
	const struct weft_viewer_options options = {.title = "sample", .reduced_motion = true};
	assert_int_equal(weft_growing_create(&f->growing), 0);
	assert_int_equal(weft_growing_add(f->growing, &(struct weft_growing_fed){.name = "part"}), 0);
	assert_int_equal(weft_growing_start(f->growing), 0);
	const struct weft_refresh_source source = weft_growing_source(f->growing);
	assert_int_equal(weft_refresh_create(&source, &f->refresh), 0);
	assert_int_equal(weft_viewer_create(&options, &f->viewer), 0);
	weft_viewer_resize(f->viewer, 1400, 800, 1000);
}

static void end(struct following *f)
{
	weft_viewer_destroy(f->viewer);
	weft_refresh_destroy(f->refresh);
	weft_growing_close(f->growing);
}

static uint32_t count_moved(const struct weft_layout *a, const struct weft_layout *b)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < a->model->tasks.count; task++)
		count += a->row[task] != b->row[task];
	return count;
}

static void show(struct following *f)
{
	struct weft_model *model;
	int status;
	do
		status = weft_refresh_read(f->refresh, 1000);
	while (status == WEFT_OK);
	assert_true(status == WEFT_AGAIN || status == WEFT_END);
	if (weft_refresh_events(f->refresh) == 0)
		return;
	assert_int_equal(weft_refresh_model(f->refresh, &model), 0);
	assert_int_equal(weft_viewer_show(f->viewer, model, true), 0);
	struct weft_layout_options options = weft__viewer_rows_options(&f->viewer->rows, NULL);
	struct weft_layout *fresh;
	assert_int_equal(weft_layout_create(model, &options, &fresh), 0);
	uint32_t moved = count_moved(f->viewer->layout, fresh);
	f->moved = status == WEFT_END ? f->moved : f->moved + moved;
	assert_true(status == WEFT_AGAIN || moved == 0);
	weft_layout_destroy(fresh);
}

static void follow(struct following *f, const char *path)
{
	size_t size = 0;
	char *bytes = sample_read(path, &size);
	assert_true(bytes && size > PIECES);
	for (size_t i = 0; i < PIECES; i++) {
		size_t from = size * i / PIECES, to = size * (i + 1) / PIECES;
		assert_int_equal(weft_growing_feed(f->growing, 0, bytes + from, to - from, 1), 0);
		show(f);
	}
	assert_int_equal(weft_growing_finish(f->growing, 0), 0);
	show(f);
	free(bytes);
}

static void expect_same(const struct weft_layout *a, const struct weft_layout *b)
{
	const size_t count = b->model->tasks.count;
	assert_int_equal(a->model->tasks.count, count);
	assert_int_equal(a->row_count, b->row_count);
	assert_int_equal(a->fold_count, b->fold_count);
	assert_memory_equal(
		a->model->tasks.id, b->model->tasks.id, count * sizeof(*a->model->tasks.id));
	assert_memory_equal(a->row, b->row, count * sizeof(*a->row));
	assert_memory_equal(a->start, b->start, count * sizeof(*a->start));
	assert_memory_equal(a->parent, b->parent, count * sizeof(*a->parent));
	assert_memory_equal(a->form, b->form, count * sizeof(*a->form));
}

static void what_was_followed_is_laid_out_like_what_was_saved(void **state)
{
	static const char *const traces[] = {
		"traces/mirage-block-read.sexp", "recorded/threads-stream.weft"};
	uint32_t moved = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++) {
		char name[128], path[512];
		struct following f = {.moved = 0};
		struct script saved = script_begin(NULL, true);
		snprintf(name, sizeof(name), "tests/data/%s", traces[i]);
		sample_path(path, sizeof(path), name);
		assert_int_equal(weft_viewer_show(saved.viewer, sample_model_at(path), false), 0);
		begin(&f);
		follow(&f, path);
		expect_same(f.viewer->layout, saved.viewer->layout);
		moved += f.moved;
		end(&f);
		script_end(&saved);
	}
	assert_true(moved > 0); /* tasks kept their rows while they were followed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_followed_is_laid_out_like_what_was_saved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
