/* SPDX-License-Identifier: ISC
 *
 * Panels with lists: problems, matches, bookmarks, counters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "viewer/state.h"

#define FOUND_SHOWN 300u

static const char *write_time(const struct weft_viewer *viewer, uint64_t time, char text[32])
{
	weft_format_duration(time > viewer->view.start ? time - viewer->view.start : 0, 5, text);
	return text;
}

/* Consequences are below their reason, with their name instead of a heading. */
static void add_problem(struct weft_viewer *viewer, uint32_t number)
{
	const struct weft_problem *problem =
		&viewer->problems.found->list[viewer->problems.found->by_gravity[number]];
	bool is_end = problem->type == WEFT_PROBLEM_FAILED; /* the task failed at its end */
	char command[256], time[32], text[WEFT_SENTENCE_BYTES + 64];
	snprintf(
		text, sizeof(text), "\u2514 %s: %s", weft_problem_name(problem->type), problem->sentence);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK,
		problem->reason == WEFT_NONE ? problem->sentence : text,
		write_time(viewer, is_end ? problem->end : problem->start, time),
		weft__viewer_panel_format(command, "problem %u", (unsigned)number + 1));
	struct weft_viewer_item *item = weft__viewer_panel_last(viewer);
	item->role = problem->severity == WEFT_SEVERITY_ERROR     ? WEFT_VIEWER_ROLE_FAILED
				 : problem->severity == WEFT_SEVERITY_WARNING ? WEFT_VIEWER_ROLE_SIGNAL
															  : WEFT_VIEWER_ROLE_NONE;
	if (number == viewer->problems.current) {
		item->is_selected = true;
		viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
	}
}

void weft__viewer_fill_problems(struct weft_viewer *viewer)
{
	char text[WEFT_SENTENCE_BYTES];
	if (!weft__viewer_know_problems(viewer))
		return;
	const struct weft_problems *problems = viewer->problems.found;
	weft_problems_sentence(problems, text, sizeof(text));
	weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT, text, "", "");
	enum weft_problem_type last = WEFT_PROBLEM_TYPES;
	for (uint32_t i = 0; i < problems->count; i++) {
		const struct weft_problem *problem = &problems->list[problems->by_gravity[i]];
		const bool is_first = problem->reason == WEFT_NONE;
		if (is_first && problem->type != last)
			weft__viewer_panel_add(
				viewer, WEFT_VIEWER_HEADING, weft_problem_name(problem->type), "", "");
		last = is_first ? problem->type : WEFT_PROBLEM_TYPES;
		add_problem(viewer, i);
	}
	if (problems->left_out)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
			weft__viewer_panel_format(
				text, "%u milder ones are not listed.", (unsigned)problems->left_out),
			"", "");
	weft__viewer_known_fill(viewer);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "", "", "");
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Next", "p", "problem next");
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Previous", "P", "problem previous");
}

#define MATCH_BYTES 128

/* The text that was searched; empty if the task's name says it. */
static struct weft_slice text_of_match(
	const struct weft_model *model, const struct weft_search_match *match, char room[MATCH_BYTES])
{
	const char *outcome;
	switch (match->field) {
	case WEFT_SEARCH_COUNTER:
		return weft_model_string(model, model->counters[match->item].name);
	case WEFT_SEARCH_MESSAGE:
		return weft_model_string(model, model->tasks.message[match->task]);
	case WEFT_SEARCH_NOTE:
		if (model->notes.type[match->item] == WEFT_NOTE_MARK) {
			weft_model_format_note(model, match->item, room, MATCH_BYTES);
			return (struct weft_slice){room, strlen(room)};
		}
		return weft_model_string(model, model->notes.text[match->item]);
	case WEFT_SEARCH_LABEL:
		return weft_model_string(model, model->notes.text[match->item]);
	case WEFT_SEARCH_PROCESS:
		weft_trace_format_process(
			model->buffers, model->buffer_count, match->item, room, MATCH_BYTES);
		return (struct weft_slice){room, strlen(room)};
	case WEFT_SEARCH_OUTCOME:
		outcome = weft_outcome_name((enum weft_outcome)model->tasks.outcome[match->task]);
		return (struct weft_slice){outcome, strlen(outcome)};
	default:
		return (struct weft_slice){"", 0};
	}
}

static void add_match(struct weft_viewer *viewer, uint32_t number)
{
	const struct weft_model *model = viewer->model;
	const struct weft_search_match *match = &viewer->search.found->matches[number];
	char text[256], name[200], command[256], time[32], room[MATCH_BYTES];
	if (match->task != WEFT_NONE)
		weft_story_name(model, match->task, 40, name, sizeof(name));
	else
		name[0] = '\0';
	struct weft_slice found = text_of_match(model, match, room);
	bool is_name = found.size == strlen(name) && memcmp(found.bytes, name, found.size) == 0;
	if (found.size == 0 || is_name)
		weft__viewer_panel_format(text, "%s", name);
	else
		weft__viewer_panel_format(text, "%s%s%.*s", name, name[0] ? ": " : "",
			found.size < 120 ? (int)found.size : 120, found.bytes);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, text, write_time(viewer, match->time, time),
		weft__viewer_panel_format(command, "match %u", (unsigned)number + 1));
	if (number == viewer->search.match) {
		weft__viewer_panel_last(viewer)->is_selected = true;
		viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
	}
}

void weft__viewer_fill_search(struct weft_viewer *viewer)
{
	const struct weft_search *search = viewer->search.found;
	char text[256];
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON,
		weft__viewer_panel_format(text, "Search: %.100s",
			viewer->search.text && viewer->search.text[0] ? viewer->search.text : "\xe2\x80\xa6"),
		"/", "search");
	weft__viewer_panel_add_command(viewer, "expression", NULL);
	if (!search)
		return;
	weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
		weft__viewer_panel_format(text, "%" PRIu64 " found, in %u task%s.", search->found,
			(unsigned)search->task_count, search->task_count == 1 ? "" : "s"),
		"", "");
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Next", "n", "match next");
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Previous", "N", "match previous");
	/* Only part of a long list is shown, around the current match. */
	uint32_t first = 0, count = search->match_count;
	if (viewer->search.match != WEFT_NONE && viewer->search.match > FOUND_SHOWN / 2)
		first = viewer->search.match - FOUND_SHOWN / 2;
	for (uint32_t i = first; i < count && i < first + FOUND_SHOWN; i++)
		add_match(viewer, i);
	if (count > first + FOUND_SHOWN)
		weft__viewer_panel_add(
			viewer, WEFT_VIEWER_TEXT, "More follow: n steps on through all.", "", "");
}

void weft__viewer_fill_marks(struct weft_viewer *viewer)
{
	char command[256], time[32];
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Add a bookmark", "m", "mark");
	if (viewer->marks.count == 0)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
			"No bookmarks yet: m sets one at the pointer, or at the selected task.", "", "");
	else if (viewer->marks.current >= viewer->marks.count)
		weft__viewer_panel_add(
			viewer, WEFT_VIEWER_TEXT, "Go to one to change its note, or to remove it.", "", "");
	for (size_t i = 0; i < viewer->marks.count; i++) {
		const struct weft__bookmark *mark = &viewer->marks.list[i];
		weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, mark->text[0] ? mark->text : "Bookmark",
			write_time(viewer, mark->time, time),
			weft__viewer_panel_format(command, "mark %zu", i + 1));
		if (i != viewer->marks.current)
			continue;
		weft__viewer_panel_last(viewer)->is_selected = true;
		viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Change its note\xe2\x80\xa6", "o",
			weft__viewer_panel_format(command, "note %zu", i + 1));
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Remove it", "Delete",
			weft__viewer_panel_format(command, "unmark %zu", i + 1));
	}
}

/* The marker that the picture uses for a counter. */
static const char *counter_mark(uint32_t counter)
{
	static const char *const marks[] = {"\xe2\x97\x8f", "\xe2\x96\xa0", "\xe2\x96\xb2",
		"\xe2\x97\x86", "\xe2\x96\xbc", "\xe2\x9c\x9a", "\xe2\x9c\x96"};
	return marks[counter % (sizeof(marks) / sizeof(marks[0]))];
}

void weft__viewer_fill_counters(struct weft_viewer *viewer)
{
	const struct weft_model *model = viewer->model;
	char text[256], detail[256], command[256];
	weft__viewer_panel_add_command(viewer, "counters", NULL);
	weft__viewer_panel_add_command(viewer, "overlay", NULL);
	if (weft__viewer_has_many_counters(viewer)) {
		weft__viewer_panel_format(text, "All %u at once", (unsigned)model->counter_count);
		weft__viewer_panel_add_command(viewer, "counters all", text);
	}
	weft__viewer_panel_add_command(viewer, "rates", NULL);
	if (model->counter_count == 0)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT, "This trace has no counters.", "", "");
	else
		weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "Each", "", "");
	for (uint32_t i = 0; i < model->counter_count; i++) {
		const struct weft_counter *counter = &model->counters[i];
		char room[256], low[32], high[32];
		struct weft_slice name = weft_story_counter_name(model, i, room, sizeof(room));
		weft__viewer_panel_format(
			text, "%s %.*s", counter_mark(i), name.size < 200 ? (int)name.size : 200, name.bytes);
		weft_counter_format(counter, counter->min, low, sizeof(low));
		weft_counter_format(counter, counter->max, high, sizeof(high));
		weft__viewer_panel_format(detail, "%s to %s", low, high);
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TOGGLE, text, detail,
			weft__viewer_panel_format(command, "counter %u", (unsigned)i + 1));
		weft__viewer_panel_last(viewer)->role = (uint8_t)(WEFT_VIEWER_ROLE_COUNTER + i % 6);
		weft__viewer_panel_last(viewer)->is_selected = !weft__viewer_hides_counter(viewer, i);
	}
}
