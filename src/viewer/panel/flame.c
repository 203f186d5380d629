/* SPDX-License-Identifier: ISC
 *
 * The panel of the flame graph: what it is of, and the zoomed function with its callers and what it
 * called, for keyboards and screen readers.
 */
#include <stdio.h>

#include <weft/duration.h>

#include "base/number.h"
#include "profile/graph.h"
#include "viewer/state.h"

#define CALLERS_SHOWN 100u
#define CALLED_SHOWN  100u

static void add_heading(struct weft_viewer *viewer, const char *text)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, text, "", "");
}

/* A function with its time and share, as a link that zooms to it. */
static void add_node(struct weft_viewer *viewer, uint32_t number)
{
	const struct weft__profile_graph *graph = viewer->flame.graph;
	const struct weft__profile_node *node = &graph->tree.nodes[number];
	const struct weft_slice name = weft__profile_graph_name(graph, number);
	char text[256], detail[256], command[256], duration[32], share[WEFT__NUMBER_BYTES];
	weft_format_duration(node->weight, 3, duration);
	weft__number_general(
		100 * (double)node->weight / (double)graph->tree.nodes[0].weight, 3, share);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK,
		weft__viewer_panel_format(text, "%.*s", name.size < 200 ? (int)name.size : 200, name.bytes),
		weft__viewer_panel_format(detail, "%s, %s %%", duration, share),
		weft__viewer_panel_format(command, "flame zoom %u", (unsigned)number));
}

/* From the root on; of many, those next to the zoomed one. */
static void add_callers(struct weft_viewer *viewer)
{
	const struct weft__profile_graph *graph = viewer->flame.graph;
	uint32_t callers[CALLERS_SHOWN], count = 0;
	for (uint32_t node = graph->zoom; node && count < CALLERS_SHOWN;) {
		node = graph->tree.nodes[node].parent;
		callers[count++] = node;
	}
	if (count)
		add_heading(viewer, "Called by");
	while (count)
		add_node(viewer, callers[--count]);
}

static void add_called(struct weft_viewer *viewer)
{
	const struct weft__profile_graph *graph = viewer->flame.graph;
	const struct weft__profile_node *node = &graph->tree.nodes[graph->zoom];
	char text[256];
	if (node->child_count)
		add_heading(viewer, graph->zoom ? "It called" : "Outermost functions");
	for (uint32_t i = 0; i < node->child_count && i < CALLED_SHOWN; i++)
		add_node(viewer, graph->tree.order[node->first_child + i]);
	if (node->child_count > CALLED_SHOWN)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
			weft__viewer_panel_format(
				text, "%u more are not listed.", (unsigned)(node->child_count - CALLED_SHOWN)),
			"", "");
}

static void add_zoomed(struct weft_viewer *viewer)
{
	const struct weft__profile_graph *graph = viewer->flame.graph;
	struct weft_text text = {0};
	weft__profile_graph_describe(graph, graph->zoom, &text);
	weft_text_add(&text, "", 1);
	if (!text.error)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT, text.bytes, "", "");
	weft_text_finish(&text);
}

static void add_functions(struct weft_viewer *viewer)
{
	if (viewer->flame.graph->zoom)
		add_zoomed(viewer);
	add_callers(viewer);
	add_called(viewer);
}

void weft__viewer_fill_flame(struct weft_viewer *viewer)
{
	const struct weft__flame_view *f = &viewer->flame;
	weft__viewer_panel_add_command(viewer, "flame waits", NULL);
	weft__viewer_panel_add_command(viewer, "flame cpu", NULL);
	weft__viewer_panel_add_command(viewer, "flame task", NULL);
	if (!f->is_shown)
		return;
	if (f->is_making || f->is_ended || !f->graph || !f->graph->tree.nodes[0].weight)
		weft__viewer_panel_add(
			viewer, WEFT_VIEWER_TEXT, weft__viewer_explain_no_flame(viewer), "", "");
	else
		add_functions(viewer);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Show the tasks", "", "flame off");
}
