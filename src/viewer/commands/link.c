/* SPDX-License-Identifier: ISC
 *
 * Writes a view as one line: as a command of the viewer for links, or as a shell command; and reads
 * links. Values contain no spaces and quotes: such bytes are written as %XX.
 */
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/ns.h"
#include "base/number.h"
#include "viewer/commands/commands.h"
#include "viewer/drawing/ordinal.h"
#include "viewer/state.h"

static void add_value(struct weft_text *text, const char *key, const char *value)
{
	static const char hex[] = "0123456789ABCDEF";
	weft_text_add_string(text, " ");
	weft_text_add_string(text, key);
	weft_text_add_string(text, "=");
	for (const char *c = value; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
						(byte >= 'a' && byte <= 'z') || strchr("-._:/@,*", byte);
		char escaped[] = {'%', hex[byte >> 4], hex[byte & 15], '\0'};
		weft_text_add(text, is_plain ? c : escaped, is_plain ? 1 : 3);
	}
}

static void add_times(const struct weft_viewer *viewer, struct weft_text *text)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	char time[32];
	if (weft__is_lasting(viewer, "")) {
		weft__viewer_write_duration(viewer->last_ns, time);
		add_value(text, "last", time);
		return;
	}
	weft__viewer_write_duration(weft__viewer_start(view) - view->start, time);
	add_value(text, "start", time);
	weft__viewer_write_duration(
		weft__ns_between(weft__view_duration(view) + 0.5, UINT64_MAX), time);
	add_value(text, "duration", time);
}

/* Folds are named by a member's id, groups by their number: "3,17". */
static void add_numbers(const struct weft_viewer *viewer, struct weft_text *text)
{
	const struct weft__numbers *exceptions = &viewer->rows.exceptions;
	char name[64];
	for (uint32_t i = 0; i < exceptions->count; i++) {
		weft__viewer_write_task(viewer->model, exceptions->list[i], name);
		add_value(text, "unfold", name + strlen("task:"));
	}
	for (uint32_t i = 0; i < viewer->rows.folded_groups.count; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned)viewer->rows.folded_groups.list[i]);
		add_value(text, "closed", name);
	}
}

static void add_counter(void *context, const char *key, uint32_t counter)
{
	char value[16];
	snprintf(value, sizeof(value), "%u", (unsigned)counter + 1);
	add_value(context, key, value);
}

static void add_rest(const struct weft_viewer *viewer, struct weft_text *text)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	char value[64];
	snprintf(value, sizeof(value), "%u", (unsigned)(view->focus + 0.5));
	add_value(text, "focus", value);
	if (view->is_plain)
		add_value(text, "rows", "plain");
	if (viewer->squeezing.is_on)
		add_value(text, "squeeze", "on");
	if (viewer->selection.task != WEFT_NONE) {
		weft__viewer_write_task(viewer->model, viewer->selection.task, value);
		add_value(text, "task", value + strlen("task:"));
		weft__viewer_write_duration(viewer->selection.at - view->start, value);
		add_value(text, "at", value);
	}
	if (viewer->counters.are_hidden)
		add_value(text, "counters", "off");
	if (viewer->counters.are_over)
		add_value(text, "counters", "overlay");
	if (viewer->counters.lane_height > 0) {
		snprintf(value, sizeof(value), "%.0f", viewer->counters.lane_height);
		add_value(text, "lanes", value);
	}
	if (viewer->flame.is_shown)
		add_value(text, "flame", viewer->flame.is_cpu ? "cpu" : "waits");
	if (viewer->clock_times)
		add_value(text, "times", "clock");
	if (viewer->counters.are_rates)
		add_value(text, "rates", "on");
	if (!viewer->counters.are_hidden && weft__viewer_has_many_counters(viewer) &&
		weft__viewer_has_all_counters(viewer))
		add_value(text, "counters", "all");
	else if (!viewer->counters.are_hidden)
		weft__viewer_link_counters(viewer, add_counter, text);
	if (viewer->rows.no_fold)
		add_value(text, "fold", "off");
	if (viewer->rows.no_simplify)
		add_value(text, "simplify", "off");
	if (viewer->rows.is_grouping_chosen)
		add_value(text, "group", weft_group_by_name(viewer->rows.group_by));
	if (viewer->rows.filter[0])
		add_value(text, "filter", viewer->rows.filter);
	add_numbers(viewer, text);
	if (viewer->search.found && viewer->search.text && viewer->search.text[0])
		add_value(text, "search", viewer->search.text);
}

WEFT__EXPORT const char *weft_viewer_link(struct weft_viewer *viewer)
{
	struct weft_text *text = &viewer->link;
	text->size = 0;
	weft_text_add_string(text, viewer->model ? "view" : "fit");
	if (viewer->model) {
		add_times(viewer, text);
		add_rest(viewer, text);
	}
	weft_text_add(text, "", 1);
	return text->error ? "fit" : text->bytes;
}

void weft__viewer_copy_link(struct weft_viewer *viewer)
{
	weft__viewer_request(viewer, WEFT_VIEWER_COPY, weft_viewer_link(viewer), 0, 0);
	weft__viewer_show_message(viewer, "The link to this view is copied.");
}

/* Adds the words of a filter as options. */
static void add_filter(struct weft_text *text, const char *filter)
{
	char word[WEFT__FILTER_BYTES];
	bool hides;
	while ((filter = weft_filter_next_word(filter, word, sizeof(word), &hides))) {
		weft_text_add_string(text, hides ? " --hide " : " --only ");
		weft__viewer_add_shell_word(text, word);
	}
}

static void add_rows(const struct weft_viewer *viewer, struct weft_text *text)
{
	if (viewer->rows.is_grouping_chosen) {
		weft_text_add_string(text, " --group-by ");
		weft_text_add_string(text, weft_group_by_name(viewer->rows.group_by));
	}
	if (viewer->rows.no_fold)
		weft_text_add_string(text, " --no-fold");
	if (viewer->rows.no_simplify)
		weft_text_add_string(text, " --no-simplify");
	if (viewer->counters.are_hidden)
		weft_text_add_string(text, " --counters none");
	else if (viewer->counters.are_over)
		weft_text_add_string(text, " --counters overlay");
	if (viewer->squeezing.is_on)
		weft_text_add_string(text, " --squeeze");
	add_filter(text, viewer->rows.filter);
}

/* A path that begins with '-' would be an option. */
static void add_path(const struct weft_viewer *viewer, struct weft_text *text)
{
	weft_text_add_string(text, viewer->path[0] == '-' ? "./" : "");
	weft__viewer_add_shell_word(text, viewer->path);
}

void weft__viewer_copy_command(struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	struct weft_text text = {0};
	char time[32], rest[96];
	weft_text_add_string(&text, "weft render ");
	add_path(viewer, &text);
	weft__viewer_write_duration(weft__viewer_start(view) - view->start, time);
	weft_text_add_string(&text, " --start ");
	weft_text_add_string(&text, time);
	weft__viewer_write_duration(
		weft__ns_between(weft__view_duration(view) + 0.5, UINT64_MAX), time);
	weft_text_add_string(&text, " --duration ");
	weft_text_add_string(&text, time);
	add_rows(viewer, &text);
	snprintf(rest, sizeof(rest), " --focus %u --theme %s -o view.png",
		(unsigned)(view->focus + 0.5), weft_theme_name(viewer->theme));
	weft_text_add_string(&text, rest);
	weft_text_add(&text, "", 1);
	if (!text.error) {
		weft__viewer_request(viewer, WEFT_VIEWER_COPY, text.bytes, 0, 0);
		weft__viewer_show_message(viewer, "The command line that draws this view is copied.");
	}
	weft_text_finish(&text);
}

void weft__viewer_copy_window(struct weft_viewer *viewer)
{
	struct weft_text text = {0};
	weft_text_add_string(&text, "weft view ");
	add_path(viewer, &text);
	weft_text_add_string(&text, " --command ");
	weft__viewer_add_shell_word(&text, weft_viewer_link(viewer));
	weft_text_add(&text, "", 1);
	if (!text.error) {
		weft__viewer_request(viewer, WEFT_VIEWER_COPY, text.bytes, 0, 0);
		weft__viewer_show_message(viewer, "The command line that opens this view is copied.");
	}
	weft_text_finish(&text);
}

/* ---- And back ---- */

static void decode(const char *value, size_t size, char text[WEFT__FILTER_BYTES])
{
	size_t used = 0;
	for (size_t i = 0; i < size && used < WEFT__FILTER_BYTES - 1; i++) {
		uint64_t byte;
		bool is_escape = value[i] == '%' && i + 2 < size &&
						 weft_parse_hexadecimal(value + i + 1, 2, &byte) == WEFT_PARSE_OK && byte;
		text[used++] = is_escape ? (char)byte : value[i];
		i += is_escape ? 2 : 0;
	}
	text[used] = '\0';
}

struct target {
	struct weft_view view;
	struct weft__rows rows;
	uint64_t start, duration, at, last;
	bool has_start, has_duration, has_at, is_squeezed, has_flame;
	uint32_t task;
	char search[WEFT__FILTER_BYTES];
};

static bool parse_grouping(const char *value, struct weft__rows *rows)
{
	bool is_known = weft_group_by_parse(value, &rows->group_by);
	rows->is_grouping_chosen = is_known && rows->group_by != WEFT_GROUP_BY_AUTO;
	return is_known;
}

/* Each of these functions returns false for a key that is not its own, and for a bad value. */
static bool take_time(struct target *t, const char *key, const char *value)
{
	const uint64_t begin = t->view.start;
	if (strcmp(key, "start") == 0)
		return t->has_start = !weft__viewer_parse_time(value, begin, &t->start);
	if (strcmp(key, "duration") == 0)
		return t->has_duration = !weft__viewer_parse_duration(value, &t->duration);
	if (strcmp(key, "last") == 0)
		return !weft__viewer_parse_duration(value, &t->last);
	if (strcmp(key, "at") == 0)
		return t->has_at = !weft__viewer_parse_time(value, begin, &t->at);
	return false;
}

static bool take_counters(struct weft_viewer *viewer, const char *key, const char *value)
{
	if (strcmp(key, "counters") == 0 && strcmp(value, "all") == 0)
		weft__viewer_take_all_counters(viewer);
	else if (strcmp(key, "counters") == 0 && strcmp(value, "overlay") == 0)
		viewer->counters.are_over = true;
	else if (strcmp(key, "counters") == 0)
		viewer->counters.are_hidden = strcmp(value, "off") == 0;
	else if (strcmp(key, "lanes") == 0)
		viewer->counters.lane_height = weft__number_parse(value, &value);
	else if (strcmp(key, "rates") == 0)
		viewer->counters.are_rates = strcmp(value, "on") == 0;
	else if (strcmp(key, "with") == 0)
		weft__viewer_see_counter(viewer, weft__viewer_parse_ordinal(value) - 1);
	else if (strcmp(key, "without") == 0)
		weft__viewer_toggle_counter(viewer, weft__viewer_parse_ordinal(value) - 1);
	else
		return false;
	return true;
}

static bool take_rows(
	const struct weft_viewer *viewer, struct target *t, const char *key, const char *value)
{
	uint64_t number;
	uint32_t task;
	if (strcmp(key, "fold") == 0)
		t->rows.no_fold = strcmp(value, "off") == 0;
	else if (strcmp(key, "simplify") == 0)
		t->rows.no_simplify = strcmp(value, "off") == 0;
	else if (strcmp(key, "filter") == 0)
		snprintf(t->rows.filter, sizeof(t->rows.filter), "%s", value);
	else if (strcmp(key, "group") == 0)
		return parse_grouping(value, &t->rows);
	else if (strcmp(key, "unfold") == 0)
		return (task = weft__viewer_parse_task(viewer->model, value)) != WEFT_NONE &&
			   weft__viewer_numbers_add(&t->rows.exceptions, task);
	else if (strcmp(key, "closed") == 0)
		return weft_parse_number(value, strlen(value), &number) == WEFT_PARSE_OK &&
			   number < UINT32_MAX &&
			   weft__viewer_numbers_add(&t->rows.folded_groups, (uint32_t)number);
	else
		return false;
	return true;
}

static bool take_flame(struct weft_viewer *viewer, struct target *t, const char *value)
{
	viewer->flame.is_cpu = strcmp(value, "cpu") == 0;
	return t->has_flame = viewer->flame.is_cpu || strcmp(value, "waits") == 0;
}

static bool take_view(
	struct weft_viewer *viewer, struct target *t, const char *key, const char *value)
{
	if (strcmp(key, "focus") == 0)
		t->view.focus = weft__number_parse(value, &value);
	else if (strcmp(key, "rows") == 0)
		t->view.is_plain = strcmp(value, "plain") == 0;
	else if (strcmp(key, "squeeze") == 0)
		t->is_squeezed = strcmp(value, "on") == 0;
	else if (strcmp(key, "flame") == 0)
		return take_flame(viewer, t, value);
	else if (strcmp(key, "task") == 0)
		return (t->task = weft__viewer_parse_task(viewer->model, value)) != WEFT_NONE;
	else if (strcmp(key, "times") == 0)
		viewer->clock_times = strcmp(value, "clock") == 0;
	else if (strcmp(key, "theme") == 0)
		return weft__viewer_set_theme(viewer, value, false);
	else if (strcmp(key, "search") == 0)
		snprintf(t->search, sizeof(t->search), "%s", value);
	else
		return false;
	return true;
}

static bool take_value(
	struct weft_viewer *viewer, struct target *t, const char *key, const char *value)
{
	return take_time(t, key, value) || take_counters(viewer, key, value) ||
		   take_rows(viewer, t, key, value) || take_view(viewer, t, key, value);
}

static void go(struct weft_viewer *viewer, struct target *t)
{
	struct weft_view *view = &t->view;
	bool was_all = weft__viewer_shows_all(viewer);
	weft__viewer_set_rows(viewer, &t->rows);
	weft__viewer_focus_next_rows(viewer, view->focus);
	view->row_count = viewer->layout->row_count;
	view->width = viewer->view.width; /* groups take some of the width */
	weft__viewer_squeeze(viewer, view, t->is_squeezed);
	uint64_t start = t->has_start ? t->start : weft__viewer_start(view);
	weft_view_resize(view, view->width, view->height);
	viewer->last_ns = t->last;
	if (t->last)
		weft__viewer_show_last(viewer, view);
	else if (t->has_start || t->has_duration)
		weft_view_set_range(
			view, start, t->has_duration ? (double)t->duration : weft__view_duration(view));
	else if (was_all)
		weft_view_fit(view);
	weft__viewer_remember(viewer, true);
	weft__viewer_glide(viewer, view);
	if (t->search[0])
		weft__viewer_search(viewer, t->search);
	if (t->search[0] && viewer->prompt.shown.is_error)
		weft__viewer_show_message(
			viewer, "The link's search is refused: %s.", viewer->prompt.message);
	if (t->task != WEFT_NONE)
		weft__viewer_select(viewer, t->task, t->has_at ? t->at : viewer->model->tasks.end[t->task]);
	if (t->has_flame != viewer->flame.is_shown)
		weft__viewer_show_flame(viewer, t->has_flame);
	weft__viewer_arrange(viewer);
}

bool weft__viewer_run_view(struct weft_viewer *viewer, const char *arguments)
{
	struct target target = {.view = *weft__viewer_wanted(viewer), .task = WEFT_NONE};
	bool good = true;
	target.view.is_plain = false; /* parts that a link leaves out have their defaults */
	viewer->counters.are_hidden = viewer->counters.are_rates = viewer->clock_times = false;
	viewer->counters.are_over = false;
	viewer->counters.lane_height = 0;
	weft__viewer_forget_counters(viewer);
	for (const char *at = arguments; *at;) {
		size_t size = strcspn(at, " ");
		const char *equals = memchr(at, '=', size);
		char key[32], value[WEFT__FILTER_BYTES];
		if (equals && (size_t)(equals - at) < sizeof(key)) {
			snprintf(key, sizeof(key), "%.*s", (int)(equals - at), at);
			decode(equals + 1, size - (size_t)(equals + 1 - at), value);
			good = take_value(viewer, &target, key, value) && good;
		} else if (size) {
			good = false;
		}
		at += size + (at[size] == ' ');
	}
	go(viewer, &target);
	return good;
}
