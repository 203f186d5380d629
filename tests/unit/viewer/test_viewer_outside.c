/* SPDX-License-Identifier: ISC
 *
 * The notes about rows with tasks above and below the visible rows.
 */
#include "viewer_sample.h"

#include "render/rows.h"
#include "trace_script.h"

/* 200 tasks that live for 100 us each in rows of their own: 100 from the start on, and, above and
 * below these in time only, 100 from 200 us on. */
#define EVENTS                                                                                       \
	"[100: create 0 1+i task]; +100; [100: resolve 0 1+i]; +100; [100: create 0 201+i task]; +100; " \
	"[100: resolve 0 201+i]; +100; run 0"

static struct script show(const char *trace)
{
	struct script s = script_begin(NULL, true);
	assert_int_equal(weft_viewer_show(s.viewer, trace_script_model(trace, 0), false), 0);
	script_run(&s, "command fold all off; wait 9000");
	return s;
}

static const struct weft__button *note(const struct script *s, const char *command)
{
	for (uint32_t i = 0; i < s->viewer->toolbar.count; i++)
		if (strcmp(s->viewer->toolbar.buttons[i].command, command) == 0)
			return &s->viewer->toolbar.buttons[i];
	return NULL;
}

/* Counts, naively, the rows with a task in the view that are outside. */
static void count(const struct script *s, unsigned *ret_above, unsigned *ret_below)
{
	const struct weft_viewer *v = s->viewer;
	uint64_t left = weft_view_time(&v->view, 0), right = weft_view_time(&v->view, v->view.width);
	uint8_t *seen = calloc(v->layout->row_count + (size_t)1, 1);
	assert_non_null(seen);
	*ret_above = *ret_below = 0;
	for (uint32_t task = 0; task < v->model->tasks.count; task++) {
		uint32_t row = v->layout->row[task];
		if (row == WEFT_NONE || v->layout->start[task] > right ||
			v->model->tasks.end[task] < left || seen[row])
			continue;
		seen[row] = 1;
		double y = weft_view_y(&v->view, row);
		*ret_above += y < 0;
		*ret_below += y > v->view.height;
	}
	free(seen);
}

static void check_notes(const struct script *s)
{
	unsigned above, below;
	char text[64];
	count(s, &above, &below);
	const struct weft__button *up = note(s, "page up"), *down = note(s, "page down");
	assert_int_equal(up != NULL, above > 0);
	assert_int_equal(down != NULL, below > 0);
	snprintf(
		text, sizeof(text), "%u row%s with tasks above \xe2\x86\x91", above, above == 1 ? "" : "s");
	if (up)
		assert_string_equal(up->text, text);
	snprintf(
		text, sizeof(text), "%u row%s with tasks below \xe2\x86\x93", below, below == 1 ? "" : "s");
	if (down)
		assert_string_equal(down->text, text);
}

static void plain_rows_outside_are_counted(void **state)
{
	(void)state;
	struct script s = show(EVENTS);
	script_run(&s, "command rows plain; wait 1000");
	assert_non_null(note(&s, "page down"));
	assert_null(note(&s, "page up"));
	for (int i = 0; i < 30; i++) {
		check_notes(&s);
		script_run(&s, "command pan down; wait 500");
		if (i == 10)
			script_run(&s, "command view start=0us duration=90us rows=plain; wait 500");
		if (i == 20)
			script_run(&s, "command view start=120us duration=50us rows=plain; wait 500");
	}
	script_end(&s);
}

/* Rows that the lens merges are outside, too. */
static void rows_that_the_lens_merges_are_counted(void **state)
{
	(void)state;
	struct script s = show("[2000: create 0 1+i task]; +100; [2000: resolve 0 1+i]");
	const struct weft_view *view = &s.viewer->view;
	unsigned merged = 0;
	for (uint32_t row = 0; row < s.viewer->layout->row_count; row++)
		merged += weft_view_row_spacing(view, row) < WEFT__LANE_HEIGHT * 0.999;
	unsigned counted = 0;
	assert_non_null(note(&s, "page down"));
	sscanf(note(&s, "page down")->text, "%u rows", &counted);
	assert_true(merged > 1500 && abs((int)merged - (int)counted) <= 1);
	script_end(&s);
}

/* Few rows are all visible. */
static void no_note_if_all_rows_are_visible(void **state)
{
	(void)state;
	struct script s = show("[12: create 0 1+i task]; +100; [12: resolve 0 1+i]");
	assert_null(note(&s, "page up"));
	assert_null(note(&s, "page down"));
	script_run(&s, "key PageDown");
	assert_non_null(strstr(weft_viewer_status(s.viewer), "No row further down"));
	script_end(&s);
}

/* A click on the note, or a key, brings the nearest of these rows into view, and no other time. */
static void a_note_leads_to_the_nearest_row(void **state)
{
	(void)state;
	for (int is_click = 0; is_click < 2; is_click++) {
		struct script s = show(EVENTS);
		script_run(&s, "command rows plain; wait 1000");
		const struct weft__button *down = note(&s, "page down");
		assert_non_null(down);
		struct weft__outside outside = weft__viewer_outside(s.viewer, &s.viewer->view);
		double left = s.viewer->view.left;
		if (is_click)
			script_click(
				&s, down->box.x + down->box.width / 2, down->box.y + down->box.height / 2, 0);
		else
			script_run(&s, "key PageDown");
		script_wait(&s, 1000);
		double y = weft_view_y(&s.viewer->view, outside.first_below);
		assert_true(y > 0 && y < s.viewer->view.height);
		close_to(s.viewer->view.left, left, 1);
		check_notes(&s);
		assert_non_null(note(&s, "page up"));
		script_run(&s, "key PageUp; wait 1000; key PageUp; wait 1000");
		assert_null(note(&s, "page up"));
		script_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_rows_outside_are_counted),
		cmocka_unit_test(rows_that_the_lens_merges_are_counted),
		cmocka_unit_test(no_note_if_all_rows_are_visible),
		cmocka_unit_test(a_note_leads_to_the_nearest_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
