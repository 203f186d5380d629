/* SPDX-License-Identifier: ISC
 *
 * Looks at the viewer without a shell: replays a script of actions on a trace, prints what is to be
 * read and writes what is to be seen as an SVG.
 *
 *     viewer_picture TRACE OUT.svg THEME 'size 800 600; click 300 200'
 */
#include "sample.h"
#include "viewer_script.h"

static void print_panel(struct weft_viewer *viewer)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(viewer);
	if (panel->title[0])
		printf("panel %s\n", panel->title);
	for (uint32_t i = 0; i < panel->item_count; i++)
		printf("  %u %s%s | %s | %s\n", panel->items[i].type,
			panel->items[i].is_selected ? "* " : "", panel->items[i].text, panel->items[i].detail,
			panel->items[i].command);
}

static void print_state(struct weft_viewer *viewer)
{
	const struct weft_viewer_prompt *prompt = weft_viewer_prompt(viewer);
	struct weft_viewer_request request;
	printf("status %s\nlink %s\n", weft_viewer_status(viewer), weft_viewer_link(viewer));
	if (prompt->is_open)
		printf("prompt %s: %s (%s)\n", prompt->label, prompt->text, prompt->message);
	while (weft_viewer_next_request(viewer, &request))
		printf("request %u %s %llu %llu\n", request.type, request.text,
			(unsigned long long)request.start, (unsigned long long)request.end);
	print_panel(viewer);
}

static int write_svg(struct weft_viewer *viewer, const char *path)
{
	struct weft_viewer_boxes boxes;
	struct weft_canvas *canvas;
	struct weft_text text = {0};
	weft_viewer_boxes(viewer, &boxes);
	if (weft_canvas_create(boxes.canvas.width, boxes.canvas.height, &canvas))
		return 1;
	int error = weft_viewer_draw(viewer, canvas);
	weft_canvas_write_svg(canvas, NULL, &text);
	FILE *file = fopen(path, "wb");
	if (file) {
		fwrite(text.bytes, 1, text.size, file);
		fclose(file);
	}
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
	return error || !file;
}

int main(int argc, char **argv)
{
	struct weft_viewer_options options = {.title = argc > 1 ? argv[1] : ""};
	struct script script = {.viewer = NULL};
	struct weft_model *model;
	if (argc != 5) {
		fprintf(stderr, "usage: viewer_picture TRACE OUT.svg THEME SCRIPT\n");
		return 2;
	}
	for (unsigned theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(argv[3], weft_theme_name((enum weft_theme)theme)) == 0)
			options.theme = (enum weft_theme)theme;
	model = sample_model_at(argv[1]);
	if (!model || weft_viewer_create(&options, &script.viewer))
		return 1;
	weft_viewer_resize(script.viewer, 1400, 800, 0);
	if (weft_viewer_show(script.viewer, model, false))
		return 1;
	if (write_svg(script.viewer, argv[2])) /* the first picture */
		return 1;
	script_wait(&script, 50);
	script_run(&script, argv[4]);
	print_state(script.viewer);
	int failed = write_svg(script.viewer, argv[2]);
	weft_viewer_destroy(script.viewer);
	return failed;
}
