/* SPDX-License-Identifier: ISC
 *
 * Random walks of a person through a viewer: tests/data/golden/walks.txt has each action with a
 * hash of the picture, the panel, the prompt and the status line that it leaves. It tells at which
 * action a change of the viewer is first seen; test_viewer_steps.c has scripts to be read.
 * WEFT_GOLDEN=write writes it anew.
 */
#include "viewer_sample.h"

#include <inttypes.h>

#include "golden.h"

#define ACTIONS 160

static const char *const commands[] = {"pan left", "pan right", "pan up", "pan down", "page up",
	"page down", "zoom in", "zoom in", "zoom in", "zoom out", "fit", "zoom selection",
	"stretch begin left", "stretch begin right", "stretch end left", "stretch end right", "back",
	"forward", "start", "duration", "squeeze", "rows", "fold", "fold all", "simplify", "group",
	"filter", "filter off", "hide kind", "repack", "panel rows", "task left", "task right",
	"task up", "task down", "task right", "task down", "open", "panel story", "edge next",
	"edge next", "edge previous", "wait", "chain", "panel chain", "waker", "creator", "related",
	"escape", "problem next", "problem previous", "panel problems", "search", "search block",
	"expression", "match next", "match previous", "panel search", "measure", "panel stats",
	"stats by kind", "stats by label", "stats all", "stats row 1", "stats alike", "slow first",
	"slow next", "mark", "mark 1", "marks", "note", "unmark", "counters", "counters all", "overlay",
	"panel counters", "rates", "times", "panel menu", "close", "theme", "wasd", "group thread"};

static const char *const keys[] = {"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown",
	"ArrowLeft shift", "ArrowRight shift", "ArrowUp shift", "ArrowDown shift", "Tab", "Tab shift",
	"Enter", "Escape", "+", "-", "0", "n", "p", "v", "w", "Delete"};

static const char *const texts[] = {"block", "1.5ms", "300us", "kind=bind", "read|write", "x", ""};

#define ANY(list) list[pick(sizeof(list) / sizeof(*list))]

/* Numbers are picked one by one: compilers evaluate the arguments of a call in different orders. */
static void choose_action(char *line, size_t size)
{
	uint32_t x = pick(1400), y = pick(800), to_x = pick(1400), to_y = pick(800);
	int turn = pick(2) ? 120 : -120;
	const char *text = ANY(texts);
	switch (pick(12)) {
	case 0:
		snprintf(line, size, "wheel %u %u %d", x, y, turn);
		break;
	case 1:
		snprintf(line, size, "wheel %u %u %d %s", x, y, turn, pick(2) ? "shift" : "alt");
		break;
	case 2:
		snprintf(line, size, "drag %u %u %u %u%s", x, y, to_x, to_y, pick(3) ? "" : " shift");
		break;
	case 3:
		snprintf(line, size, "click %u %u", x, y);
		break;
	case 4:
		snprintf(line, size, "%s %u %u", pick(3) ? "move" : "double", x, y);
		break;
	case 5:
	case 6:
		snprintf(line, size, "key %s", ANY(keys));
		break;
	case 7:
		snprintf(line, size, "%s %s", pick(2) ? "type" : "enter", text);
		break;
	default:
		snprintf(line, size, "command %s", ANY(commands));
	}
}

static void hash_text(uint64_t *hash, const char *text)
{
	for (size_t i = 0; text[i]; i++)
		*hash = (*hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	*hash = (*hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static void hash_panel(uint64_t *hash, const struct weft_viewer *viewer)
{
	const struct weft_viewer_panel *panel = weft_viewer_panel(viewer);
	hash_text(hash, panel->title);
	for (uint32_t i = 0; i < panel->item_count; i++) {
		const struct weft_viewer_item *item = &panel->items[i];
		hash_text(hash, item->is_selected ? "*" : "");
		hash_text(hash, item->text);
		hash_text(hash, item->detail);
		hash_text(hash, item->command);
	}
}

static void hash_prompt(uint64_t *hash, const struct weft_viewer *viewer)
{
	const struct weft_viewer_prompt *prompt = weft_viewer_prompt(viewer);
	hash_text(hash, prompt->is_open ? "open" : "");
	hash_text(hash, prompt->is_error ? "error" : "");
	hash_text(hash, prompt->label);
	hash_text(hash, prompt->text);
	hash_text(hash, prompt->message);
}

static uint64_t hash_of(struct script *s)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct weft_text text = {0};
	struct weft_canvas *canvas = script_canvas(s);
	assert_int_equal(weft_canvas_write_text(canvas, &text), 0);
	weft_text_add(&text, "", 1);
	hash_text(&hash, text.bytes);
	hash_text(&hash, weft_viewer_status(s->viewer));
	hash_panel(&hash, s->viewer);
	hash_prompt(&hash, s->viewer);
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
	return hash;
}

static void walk(struct weft_text *list, const char *trace, bool reduced_motion)
{
	struct script s = script_begin(trace, reduced_motion);
	char action[128], line[200];
	snprintf(line, sizeof(line), "%s%s\n", trace, reduced_motion ? ", without motion" : "");
	weft_text_add_string(list, line);
	for (unsigned i = 0; i < ACTIONS; i++) {
		choose_action(action, sizeof(action));
		script_run(&s, action);
		script_wait(&s, pick(5) * 40); /* some moves are interrupted */
		snprintf(line, sizeof(line), "  %s: %016" PRIx64 "\n", action, hash_of(&s));
		weft_text_add_string(list, line);
	}
	script_end(&s);
}

static void walks_are_as_in_the_golden_text(void **state)
{
	struct weft_text list = {0};
	(void)state;
	walk(&list, BLOCK_READ, false);
	walk(&list, BLOCK_READ, true);
	walk(&list, ARP_GOOD, false);
	walk(&list, ARP_GOOD, true);
	golden_compare("walks.txt", &list);
	weft_text_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_are_as_in_the_golden_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
