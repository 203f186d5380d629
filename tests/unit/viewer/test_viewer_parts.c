/* SPDX-License-Identifier: ISC
 *
 * The parts that a shell shows beside the picture, as text in tests/data/golden/viewer-parts.txt:
 * panels, boxes, controls and status lines, each after a script of actions.
 */
#include "viewer_sample.h"

#include "golden.h"

__attribute__((format(printf, 2, 3))) static void add(
	struct weft_text *text, const char *format, ...)
{
	char line[2048];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	weft_text_add_string(text, line);
}

static void add_panel(struct weft_text *text, struct weft_viewer *viewer)
{
	static const char *const types[] = {"heading", "text", "fact", "link", "toggle", "button"};
	const struct weft_viewer_panel *panel = weft_viewer_panel(viewer);
	add(text, "  panel '%s', selected %d\n", panel->title, (int)panel->selected);
	for (uint32_t i = 0; i < panel->item_count; i++) {
		const struct weft_viewer_item *item = &panel->items[i];
		add(text, "    %s%s '%s'", types[item->type], item->is_selected ? "*" : "", item->text);
		if (item->detail[0])
			add(text, ", '%s'", item->detail);
		if (item->command[0])
			add(text, ": %s", item->command);
		if (item->role)
			add(text, ", role %u", item->role);
		add(text, "\n");
	}
}

static void add_box(struct weft_text *text, const char *name, const struct weft_box *box)
{
	add(text, "  %s %g %g %g %g\n", name, box->x, box->y, box->width, box->height);
}

static void add_boxes(struct weft_text *text, struct weft_viewer *viewer)
{
	const struct weft_frame *frame = &viewer->frame;
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(viewer, &boxes);
	add_box(text, "canvas", &boxes.canvas);
	add_box(text, "panel", &boxes.panel);
	add_box(text, "bar", &viewer->toolbar.bar);
	add_box(text, "title", &frame->title);
	add_box(text, "strip", &frame->strip);
	add_box(text, "ruler", &frame->ruler);
	add_box(text, "picture", &frame->picture);
	add_box(text, "lanes", &frame->lanes);
	add_box(text, "gutter", &frame->gutter);
	add_box(text, "groups", &frame->groups);
	const struct weft_box bar = weft__viewer_rows_bar(viewer);
	add_box(text, "scroll bar", &bar);
}

static void add_controls(struct weft_text *text, struct weft_viewer *viewer)
{
	uint32_t count;
	const struct weft_viewer_control *list = weft_viewer_controls(viewer, &count);
	for (uint32_t i = 0; i < count; i++)
		add(text, "  %s '%s' '%s' at %.1f %.1f %.1f %.1f: %s%s%s\n",
			list[i].type == WEFT_VIEWER_HANDLE ? "handle" : "button", list[i].name, list[i].value,
			list[i].box.x, list[i].box.y, list[i].box.width, list[i].box.height, list[i].command,
			list[i].is_on ? ", on" : "", list[i].is_off ? ", off" : "");
}

static void add_status(struct weft_text *text, struct weft_viewer *viewer)
{
	const struct weft_viewer_prompt *prompt = weft_viewer_prompt(viewer);
	add(text, "  status '%s'\n", weft_viewer_status(viewer));
	if (prompt->is_open)
		add(text, "  prompt %s '%s': '%s'%s\n", prompt->label, prompt->text, prompt->message,
			prompt->is_error ? ", wrong" : "");
}

static const struct part {
	void (*add)(struct weft_text *text, struct weft_viewer *viewer);
	const char *trace, *script;
} parts[] = {
	/* The panel is below the canvas in a narrow window; a low or thin one has no bar. */
	{add_boxes, BLOCK_READ, "size 1400 800"},
	{add_boxes, BLOCK_READ, "size 900 600; command help"},
	{add_boxes, BLOCK_READ, "size 899 600; command help"},
	{add_boxes, BLOCK_READ, "size 759 600"},
	{add_boxes, BLOCK_READ, "size 761 600"},
	{add_boxes, BLOCK_READ, "size 600 200"},
	{add_boxes, BLOCK_READ, "size 600 199"},
	{add_boxes, BLOCK_READ, "size 160 400"},
	{add_boxes, BLOCK_READ, "size 159 400"},
	{add_boxes, ARP_GOOD, "size 1400 800"},
	{add_boxes, ARP_GOOD, "command counters off"},
	{add_boxes, ARP_GOOD, "command group thread; command rows plain"},
	{add_controls, NULL, ""},
	{add_controls, BLOCK_READ, "wait 50"},
	{add_controls, BLOCK_READ, "command view start=5ms duration=1ms; wait 2000; command measure"},
	{add_controls, BLOCK_READ, "size 480 600; command panel rows; command search Xs; wait 50"},
	{add_controls, BLOCK_READ, "size 479 600; command counters off"},
	/* The buttons of a range stand beside the end that was dragged, inside the picture. */
	{add_controls, BLOCK_READ, "drag 300 300 600 300 shift"},
	{add_controls, BLOCK_READ, "drag 600 300 300 300 shift"},
	{add_controls, BLOCK_READ, "drag 600 300 1300 300 shift"},
	{add_controls, BLOCK_READ, "drag 600 300 60 300 shift"},
	{add_panel, BLOCK_READ, "click 600 132"},
	{add_panel, BLOCK_READ,
		"command select task:80; command panel story; command edge next; command edge next"},
	{add_panel, ARP_GOOD, "command select task:4430; command panel story; command measure"},
	{add_panel, BLOCK_READ, "command problem 2; command panel problems"},
	{add_panel, ARP_GOOD, "command panel problems; command problem next"},
	{add_panel, BLOCK_READ, "command panel search"},
	{add_panel, BLOCK_READ, "command search create XenStore; command match next"},
	{add_panel, BLOCK_READ, "command search Enoent; command match next; command expression"},
	{add_panel, ARP_GOOD, "command search tcp; command match previous"},
	{add_panel, BLOCK_READ, "command search nothing has this text"},
	{add_panel, BLOCK_READ, "command panel counters"},
	{add_panel, ARP_GOOD, "command panel counters; command counter 2; command rates"},
	{add_panel, BLOCK_READ, "command panel stats"},
	{add_panel, ARP_GOOD, "drag 300 300 600 300 shift; key h; command stats by kind"},
	{add_panel, ARP_GOOD, "command stats by span"},
	{add_panel, ARP_GOOD, "command select task:4430; key H; key .; key ."},
	{add_panel, BLOCK_READ, "command select task:80; key Enter; command fold all"},
	{add_panel, BLOCK_READ, "command panel rows"},
	{add_panel, ARP_GOOD,
		"command group thread; command filter -kind:bind; command fold all off; command simplify off; command panel rows"},
	{add_panel, BLOCK_READ, "command marks"},
	{add_panel, BLOCK_READ,
		"command mark; enter here; command view start=20ms duration=10ms; command mark; enter ; command mark 1; command marks"},
	{add_panel, BLOCK_READ,
		"command mark; enter here; command unmark 1; command mark; key Escape; command marks"},
	{add_panel, NULL, "command panel menu"},
	{add_panel, BLOCK_READ, "command theme dark; command times; command panel menu"},
	{add_panel, BLOCK_READ, "size 470 700; command panel menu"},
	{add_panel, BLOCK_READ, "command panel export"},
	{add_panel, BLOCK_READ, "drag 300 300 600 300 shift; command panel export"},
	/* The status line. */
	{add_status, NULL, "command fit"},
	{add_status, BLOCK_READ, "wait 50"},
	{add_status, BLOCK_READ, "move 600 132; wait 100"},
	{add_status, BLOCK_READ, "command select task:382; wait 9000"},
	{add_status, BLOCK_READ, "drag 300 300 600 300 shift; wait 9000"},
	{add_status, BLOCK_READ, "drag 600 300 300 300 shift; move 500 700; wait 9000"},
	{add_status, BLOCK_READ, "command measure"},
	{add_status, BLOCK_READ, "command select task:382; command measure"},
	{add_status, BLOCK_READ, "command select task:382; command edge next"},
	{add_status, BLOCK_READ, "command select task:382; command edge previous"},
	{add_status, BLOCK_READ, "command select task:382; command wait"},
	{add_status, BLOCK_READ, "command select task:382; command waker"},
	{add_status, BLOCK_READ, "command select task:0; command creator"},
	{add_status, BLOCK_READ, "command select task:0; command waker"},
	{add_status, BLOCK_READ, "command wait"},
	{add_status, BLOCK_READ, "command select task:0; command task left"},
	{add_status, BLOCK_READ, "command select task:0; command task up"},
	{add_status, BLOCK_READ, "command select task:382; command related"},
	{add_status, BLOCK_READ, "command select task:999999"},
	{add_status, BLOCK_READ, "command goto never"},
	{add_status, BLOCK_READ, "command nonsense"},
	{add_status, BLOCK_READ, "command back"},
	{add_status, BLOCK_READ, "command forward"},
	{add_status, BLOCK_READ, "command zoom selection"},
	{add_status, BLOCK_READ, "command rows"},
	{add_status, BLOCK_READ, "command rows; command rows"},
	{add_status, BLOCK_READ, "command fold"},
	{add_status, BLOCK_READ, "command fold all"},
	{add_status, BLOCK_READ, "command fold all; command fold all"},
	{add_status, BLOCK_READ, "command simplify"},
	{add_status, BLOCK_READ, "command simplify; command simplify"},
	{add_status, BLOCK_READ, "command group thread"},
	{add_status, BLOCK_READ, "command hide kind"},
	{add_status, BLOCK_READ, "command select task:382; command hide kind"},
	{add_status, BLOCK_READ, "command select task:0; command hide kind"},
	{add_status, BLOCK_READ, "command view nothing=1"},
	{add_status, BLOCK_READ, "command counters"},
	{add_status, ARP_GOOD, "command rates"},
	{add_status, ARP_GOOD, "command rates; command rates"},
	{add_status, BLOCK_READ, "command times"},
	{add_status, BLOCK_READ, "command times; command times"},
	{add_status, BLOCK_READ, "command follow"},
	{add_status, BLOCK_READ, "command copy link"},
	{add_status, BLOCK_READ, "command copy command"},
	{add_status, BLOCK_READ, "command copy window"},
	{add_status, BLOCK_READ, "command unmark"},
	{add_status, BLOCK_READ, "command note"},
	{add_status, BLOCK_READ, "command mark; enter here; command unmark 1"},
	{add_status, BLOCK_READ, "command match next"},
	{add_status, BLOCK_READ, "command search nothing has this text; command match next"},
	{add_status, BLOCK_READ, "command search create; command match next"},
	{add_status, BLOCK_READ, "command search (; command expression"},
	{add_status, BLOCK_READ, "command problem next"},
	/* Prompts say what is wrong while the user types. */
	{add_status, BLOCK_READ, "command start"},
	{add_status, BLOCK_READ, "command start; type 200ms"},
	{add_status, BLOCK_READ, "command start; type @1"},
	{add_status, BLOCK_READ, "command start; type @x"},
	{add_status, BLOCK_READ, "command start; type 12"},
	{add_status, BLOCK_READ, "command start; type 12 parsecs"},
	{add_status, BLOCK_READ, "command start; type 99999999999999999999s"},
	{add_status, BLOCK_READ, "command start; type soon"},
	{add_status, BLOCK_READ, "command duration"},
	{add_status, BLOCK_READ, "command duration; type 0ns"},
	{add_status, BLOCK_READ, "command search; type Xs"},
	{add_status, BLOCK_READ, "command search; type Enoent"},
	{add_status, BLOCK_READ, "command search; type nothing has this text"},
	{add_status, BLOCK_READ, "command search Xs; command match next; command search"},
	{add_status, BLOCK_READ, "command filter kind:bind; command filter"},
	{add_status, BLOCK_READ, "command mark; enter here; command note"},
};

static void each_part_is_as_in_the_golden_text(void **state)
{
	(void)state;
	struct weft_text text = {0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct script s = script_begin(parts[i].trace, true);
		script_draw(&s);
		s.now_ms += 3000; /* problems are found */
		weft_viewer_advance(s.viewer, s.now_ms);
		script_run(&s, parts[i].script);
		add(&text, "%s\n", parts[i].script);
		parts[i].add(&text, s.viewer);
		script_end(&s);
	}
	golden_compare("viewer-parts.txt", &text);
	weft_text_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_is_as_in_the_golden_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
