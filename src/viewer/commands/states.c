/* SPDX-License-Identifier: ISC
 *
 * The state of commands that switch something on and off: the column "state" of
 * include/weft/viewer_commands.def.
 */
#include <string.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"

/* `arguments`: "", "waits", "cpu" or "task". */
bool weft__is_showing_flame(const struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__flame_view *f = &viewer->flame;
	switch (arguments[0]) {
	case 'w':
		return f->is_shown && !f->is_cpu;
	case 'c':
		return f->is_shown && f->is_cpu;
	case 't':
		return f->is_of_task && viewer->selection.task != WEFT_NONE;
	default:
		return f->is_shown;
	}
}

#define STATE(name, condition)                                                    \
	bool weft__is_##name(const struct weft_viewer *viewer, const char *arguments) \
	{                                                                             \
		(void)arguments;                                                          \
		return condition;                                                         \
	}

STATE(plain, viewer->view.is_plain)
STATE(lens, !viewer->view.is_plain)
STATE(squeezing, viewer->squeezing.is_on)
STATE(folding, !viewer->rows.no_fold)
STATE(simplified, !viewer->rows.no_simplify)
STATE(grouped, strcmp(weft_group_by_name(weft__viewer_rows_group_by(viewer)), arguments) == 0)
STATE(showing_related, viewer->selection.related_count > 0 && !viewer->selection.chain)
STATE(showing_chain, viewer->selection.chain)
STATE(expression, viewer->search.is_expression)
STATE(measuring, viewer->range.is_armed)
STATE(showing_counters, weft__viewer_has_counters(viewer))
STATE(showing_all_counters, weft__viewer_has_all_counters(viewer))
STATE(showing_overlay, viewer->counters.are_over &&weft__viewer_has_counters(viewer))
STATE(showing_rates, viewer->counters.are_rates)
STATE(showing_clock, viewer->clock_times)
STATE(following, viewer->is_following)
STATE(theme, strcmp(weft_theme_name(viewer->theme), arguments) == 0)
STATE(wasd, viewer->has_wasd)
STATE(open_panel, viewer->panel.kind == weft__viewer_panel_named(arguments))
STATE(statistics_by, viewer->panel.kind == WEFT__PANEL_STATISTICS &&
						 strcmp(weft_stats_by_name(viewer->statistics.by), arguments) == 0)
STATE(open_help, viewer->panel.kind == WEFT__PANEL_HELP)
