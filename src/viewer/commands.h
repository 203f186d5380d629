/* SPDX-License-Identifier: ISC
 *
 * What each command does: functions of the table in commands.c. `arguments` is what follows the
 * name, "" if nothing does.
 */
#ifndef WEFT_VIEWER_COMMANDS_H
#define WEFT_VIEWER_COMMANDS_H

struct weft_viewer;

void weft__run_fit(struct weft_viewer *viewer, const char *arguments);
void weft__run_zoom(struct weft_viewer *viewer, const char *arguments);
void weft__run_zoom_selection(struct weft_viewer *viewer, const char *arguments);
void weft__run_pan(struct weft_viewer *viewer, const char *arguments);
void weft__run_stretch(struct weft_viewer *viewer, const char *arguments);
void weft__run_back(struct weft_viewer *viewer, const char *arguments);
void weft__run_forward(struct weft_viewer *viewer, const char *arguments);
void weft__run_start(struct weft_viewer *viewer, const char *arguments);
void weft__run_duration(struct weft_viewer *viewer, const char *arguments);
void weft__run_rows(struct weft_viewer *viewer, const char *arguments);
void weft__run_fold(struct weft_viewer *viewer, const char *arguments);
void weft__run_fold_all(struct weft_viewer *viewer, const char *arguments);
void weft__run_simplify(struct weft_viewer *viewer, const char *arguments);
void weft__run_group(struct weft_viewer *viewer, const char *arguments);
void weft__run_filter(struct weft_viewer *viewer, const char *arguments);
void weft__run_hide(struct weft_viewer *viewer, const char *arguments);
void weft__run_repack(struct weft_viewer *viewer, const char *arguments);
void weft__run_view(struct weft_viewer *viewer, const char *arguments);
void weft__run_select(struct weft_viewer *viewer, const char *arguments);
void weft__run_moment(struct weft_viewer *viewer, const char *arguments);
void weft__run_task(struct weft_viewer *viewer, const char *arguments);
void weft__run_edge(struct weft_viewer *viewer, const char *arguments);
void weft__run_open(struct weft_viewer *viewer, const char *arguments);
void weft__run_wait(struct weft_viewer *viewer, const char *arguments);
void weft__run_waker(struct weft_viewer *viewer, const char *arguments);
void weft__run_creator(struct weft_viewer *viewer, const char *arguments);
void weft__run_related(struct weft_viewer *viewer, const char *arguments);
void weft__run_problem(struct weft_viewer *viewer, const char *arguments);
void weft__run_match(struct weft_viewer *viewer, const char *arguments);
void weft__run_search(struct weft_viewer *viewer, const char *arguments);
void weft__run_expression(struct weft_viewer *viewer, const char *arguments);
void weft__run_measure(struct weft_viewer *viewer, const char *arguments);
void weft__run_mark(struct weft_viewer *viewer, const char *arguments);
void weft__run_note(struct weft_viewer *viewer, const char *arguments);
void weft__run_unmark(struct weft_viewer *viewer, const char *arguments);
void weft__run_marks(struct weft_viewer *viewer, const char *arguments);
void weft__run_escape(struct weft_viewer *viewer, const char *arguments);
void weft__run_counters(struct weft_viewer *viewer, const char *arguments);
void weft__run_counter(struct weft_viewer *viewer, const char *arguments);
void weft__run_rates(struct weft_viewer *viewer, const char *arguments);
void weft__run_follow(struct weft_viewer *viewer, const char *arguments);
void weft__run_times(struct weft_viewer *viewer, const char *arguments);
void weft__run_theme(struct weft_viewer *viewer, const char *arguments);
void weft__run_panel(struct weft_viewer *viewer, const char *arguments);
void weft__run_close(struct weft_viewer *viewer, const char *arguments);
void weft__run_help(struct weft_viewer *viewer, const char *arguments);
void weft__run_copy(struct weft_viewer *viewer, const char *arguments);
void weft__run_export(struct weft_viewer *viewer, const char *arguments);
void weft__run_open_trace(struct weft_viewer *viewer, const char *arguments);
void weft__run_reload(struct weft_viewer *viewer, const char *arguments);
void weft__run_window(struct weft_viewer *viewer, const char *arguments);

#endif
