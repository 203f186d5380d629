/* SPDX-License-Identifier: ISC
 *
 * Commands about statistics.
 */
#include <string.h>

#include "viewer/commands/commands.h"
#include "viewer/drawing/ordinal.h"
#include "viewer/state.h"

/* Shows the panel; `has_row` has been set. */
static void show_panel(struct weft_viewer *viewer)
{
	weft__viewer_statistics_want(viewer);
	viewer->panel.is_stale = true;
	if (viewer->panel.kind != WEFT__PANEL_STATISTICS)
		weft__viewer_open_panel(viewer, WEFT__PANEL_STATISTICS);
}

void weft__run_stats_by(struct weft_viewer *viewer, const char *arguments)
{
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++)
		if (strcmp(weft_stats_by_name((enum weft_stats_by)by), arguments) == 0)
			viewer->statistics.by = (enum weft_stats_by)by;
	viewer->statistics.has_row = false;
	show_panel(viewer);
}

void weft__run_stats_all(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	viewer->statistics.has_row = false;
	show_panel(viewer);
}

void weft__run_stats_row(struct weft_viewer *viewer, const char *arguments)
{
	struct weft__statistics *s = &viewer->statistics;
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	weft__viewer_statistics_want(viewer);
	if (!weft__viewer_know_statistics(viewer))
		return;
	s->has_row = number > 0 && number <= s->found->row_count;
	s->nth = WEFT_NONE;
	if (s->has_row)
		s->key = s->found->rows[number - 1].key;
	else
		weft__viewer_show_message(viewer, "The statistics have no such row.");
	show_panel(viewer);
}

void weft__run_stats_alike(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->selection.task == WEFT_NONE) {
		weft__viewer_show_message(viewer, "No task is selected.");
		return;
	}
	weft__viewer_statistics_want(viewer);
	weft__viewer_statistics_show_alike(viewer);
	show_panel(viewer);
}

void weft__run_slow(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	weft__viewer_statistics_want(viewer);
	if (number > 0)
		weft__viewer_statistics_go(viewer, number - 1);
	else if (arguments[0] == 'f')
		weft__viewer_statistics_go(viewer, 0);
	else
		weft__viewer_statistics_step(viewer, arguments[0] == 'p' ? -1 : 1);
}
