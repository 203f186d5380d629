/* SPDX-License-Identifier: ISC
 *
 * The viewer's rows: filters, runs of alike tasks that are folded and unfolded, how rows slide.
 */
#include "viewer_sample.h"

#include "render/tasks/handles.h"
#include "built.h"

static uint32_t shown(const struct script *s)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < s->viewer->model->tasks.count; task++)
		count += s->viewer->layout->row[task] != WEFT_NONE;
	return count;
}

static void a_filter_shows_and_hides(void **state)
{
	(void)state;
	struct script s = script_begin(BLOCK_READ, true);
	const struct weft_tasks *tasks = &s.viewer->model->tasks;
	uint32_t binds = 0, tries = 0, data = 0;
	for (uint32_t task = 0; task < tasks->count; task++) {
		struct weft_slice label = weft_model_string(s.viewer->model, tasks->label[task]);
		binds += tasks->kind[task] == WEFT_KIND_BIND;
		tries += tasks->kind[task] == WEFT_KIND_TRY;
		data += strstr(label.bytes, "data") || strstr(label.bytes, "Data");
	}
	script_run(&s, "key i; enter -kind:bind");
	assert_int_equal(shown(&s), tasks->count - binds);
	script_run(&s, "key i; enter kind:bind , kind:try");
	assert_int_equal(shown(&s), binds + tries);
	script_run(&s, "key i; enter data");
	assert_int_equal(shown(&s), data);
	script_run(&s, "key i; enter nothing has this label");
	assert_int_equal(shown(&s), 0);
	script_draw(&s);
	script_run(&s, "key ArrowDown shift; key g; click 500 300; command filter off");
	assert_int_equal(shown(&s), tasks->count);
	script_run(&s, "command select task:393; command hide kind");
	assert_int_equal(shown(&s), tasks->count - binds);
	script_draw(&s);
	script_end(&s);
}

/* A root that makes 60 tasks of 700 ns, one a microsecond. */
static struct weft_model *alike_tasks(void)
{
	struct weft_model_builder *builder = built_begin();
	for (uint64_t i = 1; i <= 60; i++) {
		uint64_t time = 1000 * i;
		built_add(builder,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .time_ns = time, .other = i, .kind = WEFT_KIND_TASK});
		built_add(builder,
			(struct weft_event){
				.type = WEFT_EVENT_LABEL, .time_ns = time + 1, .task = i, .text = {"grant", 5}});
		built_add(builder,
			(struct weft_event){.type = WEFT_EVENT_RESOLVE, .time_ns = time + 700, .other = i});
	}
	return built_finish(builder);
}

static struct script begin_alike(void)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, alike_tasks(), false), 0);
	return s;
}

static uint32_t first_fold(const struct script *s)
{
	const struct weft_layout *layout = s->viewer->layout;
	for (uint32_t i = 0; i < layout->fold_count; i++)
		if (layout->folds[i].folded && layout->folds[i].count >= 5)
			return i;
	return WEFT_NONE;
}

static void folds_are_pointed_at_and_unfolded(void **state)
{
	(void)state;
	struct script s = begin_alike();
	const struct weft_layout *layout = s.viewer->layout;
	uint32_t fold = first_fold(&s);
	assert_int_not_equal(fold, WEFT_NONE);
	const struct weft_fold *f = &layout->folds[fold];
	uint32_t member = layout->fold_members[f->first + f->count / 2];
	weft__viewer_select(s.viewer, member, layout->start[member]);
	weft__viewer_reveal_task(s.viewer, member, layout->start[member]);
	double x = weft__viewer_canvas_x(s.viewer, layout->start[member]) + 1;
	double y = s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, f->row);
	script_point(&s, WEFT_VIEWER_MOVE, x, y, 0, 0);
	script_wait(&s, 200);
	assert_int_equal(s.viewer->hover.fold, fold);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "\xc3\x97"));
	script_run(&s, "key f");
	assert_int_equal(s.viewer->layout->form[member], WEFT_FORM_LINE);
	close_to(
		s.viewer->frame.picture.y + weft_view_y(&s.viewer->view, s.viewer->layout->row[member]), y,
		1);
	script_draw(&s);
	script_run(&s, "key f");
	assert_int_equal(s.viewer->layout->form[member], WEFT_FORM_FOLDED);
	script_run(&s, "key F");
	assert_int_equal(first_fold(&s), WEFT_NONE);
	script_end(&s);
}

/* On its body or its handle; a double click is one; the clicked task is selected if it is wide
 * enough. */
static void a_click_folds_and_unfolds(void **state)
{
	(void)state;
	struct script s = begin_alike();
	double x, y;
	uint32_t fold = first_fold(&s);
	const struct weft_box *box = &s.viewer->frame.picture;
	uint32_t member = s.viewer->layout->fold_members[s.viewer->layout->folds[fold].first + 20];
	assert_true(weft__render_handle_point(s.viewer->layout, box, &s.viewer->view, fold, &x, &y));
	double on = weft__viewer_canvas_x(s.viewer, s.viewer->layout->start[member]) + 3;
	script_point(&s, WEFT_VIEWER_MOVE, on, y, 0, 0);
	script_wait(&s, 200);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "Click: unfold"));
	script_click(&s, on, y, 0);
	assert_int_equal(first_fold(&s), WEFT_NONE);
	assert_int_equal(s.viewer->selection.task, member);
	close_to(box->y + weft_view_y(&s.viewer->view, s.viewer->layout->row[member]), y, 1);
	script_wait(&s, 100);
	script_click(&s, on, y, 0); /* the second half of a double click */
	assert_int_equal(s.viewer->selection.related_count, 0);
	script_wait(&s, 1000);
	assert_true(weft__render_handle_point(s.viewer->layout, box, &s.viewer->view, fold, &x, &y));
	script_point(&s, WEFT_VIEWER_MOVE, x, y, 0, 0);
	assert_non_null(strstr(weft_viewer_status(s.viewer), "An unfolded group of 60 alike tasks"));
	assert_int_equal(weft_viewer_cursor(s.viewer), WEFT_VIEWER_CURSOR_POINTER);
	script_click(&s, x, y, 0);
	assert_int_equal(first_fold(&s), fold);
	script_wait(&s, 1000);
	assert_true(weft__render_handle_point(s.viewer->layout, box, &s.viewer->view, fold, &x, &y));
	weft__viewer_select(s.viewer, WEFT_NONE, 0);
	script_click(&s, x, y, 0); /* the handle of what is folded */
	assert_int_equal(first_fold(&s), WEFT_NONE);
	assert_int_equal(s.viewer->selection.task, WEFT_NONE);
	script_end(&s);
}

/* Where handles are drawn is where they are clicked, at each scale and place. */
static void handles_are_hit_where_they_are(void **state)
{
	(void)state;
	struct script s = begin_alike();
	unsigned seen = 0;
	for (int i = 0; i < 300; i++) {
		double x, y;
		uint32_t fold = 0;
		if (pick(4) == 0)
			weft__viewer_toggle_fold(s.viewer, s.viewer->layout->fold_members[0]);
		script_run(&s, pick(2) ? "wheel 300 300 -240" : "wheel 900 300 200");
		script_run(&s, pick(2) ? "key ArrowLeft" : "key ArrowRight");
		if (!weft__render_handle_point(
				s.viewer->layout, &s.viewer->frame.picture, &s.viewer->view, fold, &x, &y))
			continue;
		struct weft__hit hit;
		weft__viewer_hit(s.viewer, x, y, &hit);
		assert_int_equal(hit.handle, fold);
		weft__viewer_hit(s.viewer, x - 12, y, &hit);
		assert_int_equal(hit.handle, WEFT_NONE);
		seen++;
	}
	assert_true(seen > 100);
	script_end(&s);
}

/* Words of a drawn text, and where; false if they are nowhere. */
static bool find_words(struct script *s, const char *words, double *ret_y)
{
	struct weft_canvas *canvas = script_canvas(s);
	bool found = false;
	for (uint32_t i = 0; i < canvas->op_count && !found; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		found = op->type == WEFT_CANVAS_TEXT && op->count == strlen(words) &&
				memcmp(canvas->text + op->first, words, op->count) == 0;
		if (found)
			*ret_y = op->y;
	}
	weft_canvas_destroy(canvas);
	return found;
}

/* `count` tasks, four of which overlap at each moment, and one more that is there all the time. */
static struct weft_model *overlapping_tasks(uint64_t count)
{
	struct weft_model_builder *builder = built_begin();
	for (uint64_t i = 1; i <= count + 4; i++) {
		const char *label = i == 5 ? "lower" : "grant";
		uint64_t time = 1000 * i, ended = i == count + 4 ? 5 : i - 4;
		if (i > 4 && (ended != 5 || i == count + 4))
			built_add(builder,
				(struct weft_event){.type = WEFT_EVENT_RESOLVE, .time_ns = time, .other = ended});
		if (i > count)
			continue;
		built_add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE,
							   .time_ns = time + 1,
							   .other = i,
							   .kind = WEFT_KIND_TASK});
		built_add(builder,
			(struct weft_event){
				.type = WEFT_EVENT_LABEL, .time_ns = time + 2, .task = i, .text = {label, 5}});
	}
	return built_finish(builder);
}

/* A task that begins just before the trace ends, of far less than a pixel, says that it goes on. */
static void unfinished_tasks_are_marked_however_small(void **state)
{
	(void)state;
	const uint64_t end_ns = 1000000;
	unsigned triangles = 0;
	struct weft_model_builder *builder = built_begin();
	for (uint64_t i = 1; i <= 2; i++)
		built_add(builder, (struct weft_event){.type = WEFT_EVENT_CREATE,
							   .time_ns = i == 1 ? 1 : end_ns - 20,
							   .other = i,
							   .kind = WEFT_KIND_TASK});
	built_add(
		builder, (struct weft_event){.type = WEFT_EVENT_RESOLVE, .time_ns = end_ns, .other = 1});
	struct weft_model *model = built_finish(builder);
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, model, false), 0);
	struct weft_canvas *canvas = script_canvas(&s);
	double y = floor(
		s.viewer->frame.picture.y +
		weft_view_y(&s.viewer->view, s.viewer->layout->row[weft_model_find_task(model, 0, 2)]));
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type == WEFT_CANVAS_POLYLINE && op->count == 4)
			triangles += fabs(canvas->points[2 * op->first + 3] - y) < 1;
	}
	assert_int_equal(triangles, 1);
	weft_canvas_destroy(canvas);
	script_end(&s);
}

/* Where "lower" is written while rows change: before, at once, on the way and at the end. */
static void watch_rows(bool reduced_motion, bool is_live, double ret_ys[4])
{
	struct script s = script_begin(NULL, reduced_motion);
	assert_int_equal(weft_viewer_show(s.viewer, overlapping_tasks(40), is_live), 0);
	script_wait(&s, 300);
	uint32_t fold = first_fold(&s);
	assert_int_not_equal(fold, WEFT_NONE);
	assert_true(find_words(&s, "lower", &ret_ys[0]));
	weft__viewer_toggle_fold(
		s.viewer, s.viewer->layout->fold_members[s.viewer->layout->folds[fold].first]);
	assert_true(find_words(&s, "lower", &ret_ys[1]));
	script_wait(&s, 80);
	assert_true(find_words(&s, "lower", &ret_ys[2]));
	script_wait(&s, 400);
	assert_true(find_words(&s, "lower", &ret_ys[3]));
	assert_true(weft_viewer_advance(s.viewer, s.now_ms) > 0);
	script_end(&s);
}

static void rows_slide_to_where_they_are(void **state)
{
	(void)state;
	double y[4];
	watch_rows(false, false, y);
	close_to(y[1], y[0], 2);
	assert_true(fabs(y[3] - y[0]) > 10);
	assert_true((y[2] - y[0]) * (y[3] - y[2]) > 0);
	watch_rows(true, false, y); /* motion is unwanted */
	close_to(y[1], y[3], 0);
	watch_rows(false, true, y); /* followed */
	close_to(y[1], y[3], 0);
}

static void rows_are_part_of_the_link(void **state)
{
	(void)state;
	struct script a = begin_alike(), b = begin_alike();
	const struct weft_layout *layout = a.viewer->layout;
	uint32_t member = layout->fold_members[layout->folds[first_fold(&a)].first];
	weft__viewer_toggle_fold(a.viewer, member);
	script_run(&a, "command filter -kind:try, -x y; command group thread");
	char link[1000];
	snprintf(link, sizeof(link), "%s", weft_viewer_link(a.viewer));
	assert_true(weft_viewer_command(b.viewer, link, b.now_ms));
	assert_string_equal(weft_viewer_link(b.viewer), link);
	assert_int_equal(b.viewer->layout->row_count, a.viewer->layout->row_count);
	assert_true(weft_viewer_command(b.viewer, "view", b.now_ms));
	assert_int_equal(b.viewer->rows.exceptions.count, 0);
	script_end(&a);
	script_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_shows_and_hides),
		cmocka_unit_test(folds_are_pointed_at_and_unfolded),
		cmocka_unit_test(a_click_folds_and_unfolds),
		cmocka_unit_test(handles_are_hit_where_they_are),
		cmocka_unit_test(unfinished_tasks_are_marked_however_small),
		cmocka_unit_test(rows_slide_to_where_they_are),
		cmocka_unit_test(rows_are_part_of_the_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
