/* SPDX-License-Identifier: ISC
 *
 * Random input to the viewer with a random small trace: the first half of the bytes are events,
 * five bytes each, the rest user actions, four bytes each. The viewer must not crash, hang or leave
 * the trace.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/viewer.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define EVENTS_MAX     250
#define ACTIONS_MAX    100
#define OPERATIONS_MAX 500000 /* of a frame of at most 1536 by 1024 px */

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static struct weft_event make_event(const uint8_t *b, uint64_t time)
{
	static const char *const texts[] = {"a", "queue#rx", "block 17", "block 18", "/dev/null", ""};
	const char *text = texts[b[4] % 6];
	size_t length = 0;
	while (text[length])
		length++;
	return (struct weft_event){
		.type = (uint8_t)(1 + b[0] % (WEFT_EVENT_TYPES - 1)),
		.time_ns = time,
		.task = b[1] % 24,
		.other = b[2] % 24,
		.value = (int64_t)(int8_t)b[4] * (b[3] & 1 ? 1 : 1000000007),
		.kind = b[4] % 20,
		.flag = b[3] & 1,
		.is_set = b[3] & 2,
		.band = b[3] & 1,
		.text = {text, length},
	};
}

static struct weft_model *make_model(const uint8_t *bytes, size_t size)
{
	static const struct weft_trace_thread threads[] = {{.name = "main"}};
	struct weft_trace_description description = {
		.format = "fuzz", .clock = {.name = "fuzz"}, .threads = threads, .thread_count = 1};
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model = NULL;
	uint64_t time = size ? bytes[0] * UINT64_C(1000000007) : 0;
	if (weft_model_builder_create(&builder))
		abort();
	for (size_t at = 0; at + 5 <= size && at < 5 * EVENTS_MAX; at += 5) {
		time += (uint64_t)bytes[at + 3] << (bytes[at + 3] % 12);
		struct weft_event event = make_event(bytes + at, time);
		weft_model_builder_add(builder, &event, &diagnostics);
	}
	if (weft_model_builder_finish(builder, &description, &model))
		abort();
	weft_model_builder_destroy(builder);
	return model;
}

static void draw(struct weft_viewer *viewer)
{
	struct weft_viewer_boxes boxes;
	struct weft_canvas *canvas;
	weft_viewer_boxes(viewer, &boxes);
	if (weft_canvas_create(boxes.canvas.width, boxes.canvas.height, &canvas))
		abort();
	check(weft_viewer_draw(viewer, canvas) == 0, "not drawn");
	check(canvas->op_count <= OPERATIONS_MAX, "too many operations");
	for (uint32_t i = 0; i < canvas->op_count; i++)
		check(isfinite(canvas->ops[i].x) && isfinite(canvas->ops[i].y), "not a place");
	weft_canvas_destroy(canvas);
}

static void check_view(const struct weft_viewer *viewer)
{
	const struct weft_view *view = &viewer->view;
	double length = (double)(view->end - view->start), margin = WEFT_VIEW_MARGIN / view->scale;
	check(view->scale > 0 && isfinite(view->scale) && isfinite(view->left), "no view");
	check(view->left >= -margin * 1.000001 - 1e-6, "before the trace");
	if (view->squeeze && view->width > 2 * WEFT_VIEW_MARGIN + 1)
		check(weft_view_x(view, view->end) >= view->width - WEFT_VIEW_MARGIN - 42,
			"behind the squeezed trace");
	else if (view->width > 2 * WEFT_VIEW_MARGIN + 1)
		check(view->left + view->width / view->scale <=
				  (length + margin) * 1.000001 + 2 + 40 / view->scale,
			"behind the trace");
	check(view->row_count == viewer->layout->row_count, "other rows");
	check(view->focus >= 0 && view->focus <= view->row_count, "outside the rows");
}

static void follow_link(struct weft_viewer *viewer, unsigned which, double now)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(viewer);
	char command[300];
	if (panel->item_count == 0)
		return;
	snprintf(command, sizeof(command), "%s", panel->items[which % panel->item_count].command);
	if (command[0])
		check(weft_viewer_command(viewer, command, now), "an unknown command in the panel");
}

/* Uses a control by keyboard: presses a button or moves a handle. */
static void use_control(struct weft_viewer *viewer, unsigned which, bool is_left, double now)
{
	uint32_t count;
	const struct weft_viewer_control *list = weft_viewer_controls(viewer, &count);
	char command[100];
	if (count == 0)
		return;
	const struct weft_viewer_control *control = &list[which % count];
	bool is_handle = control->type == WEFT_VIEWER_HANDLE;
	snprintf(command, sizeof(command), "%s%s", control->command,
		!is_handle ? ""
		: is_left  ? " left"
				   : " right");
	check(weft_viewer_command(viewer, command, now), "an unknown command of a control");
	check(isfinite(control->box.x) && isfinite(control->box.width), "no place");
}

static void ask_everything(struct weft_viewer *viewer, double now)
{
	struct weft_viewer_request request;
	char link[4096];
	snprintf(link, sizeof(link), "%s", weft_viewer_link(viewer));
	check(weft_viewer_command(viewer, link, now), "a link that is not known");
	while (weft_viewer_next_request(viewer, &request))
		if (request.type == WEFT_VIEWER_SAVE_NOTES) {
			size_t size = 0;
			while (request.text[size])
				size++;
			check(weft_viewer_load_notes(viewer, request.text, size) == 0, "notes are not read");
		}
	check(weft_viewer_status(viewer) && weft_viewer_prompt(viewer)->label, "no text");
}

static void press_key(struct weft_viewer *viewer, const struct weft__command *row, double now)
{
	char key[WEFT__KEY_BYTES];
	unsigned modifiers;
	const char *keys = row->command ? row->keys : "";
	while (weft__viewer_next_key(&keys, key, &modifiers))
		weft_viewer_key(viewer, key, modifiers, now);
}

static void act(struct weft_viewer *viewer, const uint8_t *b, double now)
{
	static const char *const texts[] = {
		"1us", "@7", "a", "/bl.*k", "/(", "-kind:bind", "thread:main", "", "0ns", "\\,a, -\\-b\\ "};
	double x = b[1] * 6.0 - 20, y = b[2] * 4.0 - 20;
	struct weft_viewer_pointer pointer = {
		.action = b[3] % 5,
		.button = 1,
		.is_touch = b[3] & 64,
		.modifiers = (b[3] >> 3) & 7,
		.id = b[0] >> 6,
		.x = x,
		.y = y,
	};
	switch (b[0] % 9) {
	case 0:
		weft_viewer_wheel(viewer, x, y, 0, (b[3] - 128) * 20.0, (b[3] >> 3) & 7, now);
		break;
	case 1:
		press_key(viewer, &weft__commands[b[1] % weft__command_count], now);
		break;
	case 2:
		weft_viewer_prompt_text(viewer, texts[b[1] % 10], b[3] & 1, now);
		break;
	case 3:
		weft_viewer_resize(viewer, b[1] * 6.0 + b[3] % 6, b[2] * 4.0 + b[3] % 4, now);
		break;
	case 4:
		if (b[3] & 2)
			use_control(viewer, b[1], b[3] & 1, now);
		else
			follow_link(viewer, b[1] + 256u * (b[3] & 1), now);
		break;
	case 5:
		ask_everything(viewer, now);
		break;
	case 6:
		draw(viewer);
		break;
	default:
		weft_viewer_pointer(viewer, &pointer, now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_viewer_options options = {.title = "fuzz"};
	struct weft_viewer *viewer;
	size_t half = size / 2;
	double now = 0;
	if (weft_viewer_create(&options, &viewer))
		abort();
	weft_viewer_resize(viewer, 900, 600, now);
	if (weft_viewer_show(viewer, make_model(bytes, half), size & 1))
		abort();
	for (size_t at = half; at + 4 <= size && at < half + 4 * ACTIONS_MAX; at += 4) {
		now += bytes[at + 3] % 64;
		act(viewer, bytes + at, now);
		weft_viewer_advance(viewer, now);
		check_view(viewer);
	}
	draw(viewer);
	if (size & 2) { /* the same trace after it has grown, or another one */
		size_t more = half + half / 2 < size ? half + half / 2 : size;
		if (weft_viewer_show(viewer, make_model(bytes, more), size & 1))
			abort();
		check_view(viewer);
		draw(viewer);
	}
	weft_viewer_destroy(viewer);
	return 0;
}
